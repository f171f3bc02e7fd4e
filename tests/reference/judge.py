"""Measures of a judge, slow and obvious: loops over pairs, derivatives by small steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

#: A measure as a function of people's scores, the judge's and the weights.
Value = Callable[[Any, Any, Any], float]


def table(human: Any, judge: Any, weights: Any, levels: Any) -> Any:
    """Weighted shares, rows by people and columns by the judge."""
    found = np.zeros((len(levels), len(levels)))
    for y, g, w in zip(human, judge, weights, strict=True):
        found[list(levels).index(y), list(levels).index(g)] += w
    return found / found.sum()


def kappa(levels: Any, power: int) -> Value:
    def value(human: Any, judge: Any, weights: Any) -> float:
        p = table(human, judge, weights, levels)
        seen = expected = 0.0
        for i, a in enumerate(levels):
            for j, b in enumerate(levels):
                apart = float(a != b) if power == 0 else abs(a - b) ** power
                seen += apart * p[i, j]
                expected += apart * p[i].sum() * p[:, j].sum()
        return 1 - seen / expected

    return value


def ac1(levels: Any) -> Value:
    def value(human: Any, judge: Any, weights: Any) -> float:
        p = table(human, judge, weights, levels)
        share = (p.sum(1) + p.sum(0)) / 2
        chance = (share * (1 - share)).sum() / (len(levels) - 1)
        return float((np.trace(p) - chance) / (1 - chance))

    return value


def kendall(human: Any, judge: Any, weights: Any) -> float:
    """τ-b over all pairs, each with the product of its weights."""
    order = ties_y = ties_g = total = 0.0
    for y1, g1, w1 in zip(human, judge, weights, strict=True):
        for y2, g2, w2 in zip(human, judge, weights, strict=True):
            w = w1 * w2
            total += w
            order += w * np.sign(y1 - y2) * np.sign(g1 - g2)
            ties_y += w * (y1 == y2)
            ties_g += w * (g1 == g2)
    return float(order / np.sqrt((total - ties_y) * (total - ties_g)))


def spearman(human: Any, judge: Any, weights: Any) -> float:
    """Pearson's correlation of mid-ranks, each found by counting."""
    w = np.asarray(weights) / np.sum(weights)

    def ranks(values: Any) -> Any:
        return np.array([(w * (values < v)).sum() + (w * (values == v)).sum() / 2 for v in values])

    x, y = ranks(np.asarray(human)), ranks(np.asarray(judge))
    dx, dy = x - w @ x, y - w @ y
    return float((w @ (dx * dy)) / np.sqrt((w @ dx**2) * (w @ dy**2)))


def influence(value: Value, human: Any, judge: Any, weights: Any, step: float = 1e-6) -> Any:
    """By how much the value changes with the weight of each segment, weights being rescaled."""
    found = []
    for k in range(len(human)):
        ends = []
        for sign in (1, -1):
            moved = np.array(weights, dtype=float)
            moved[k] += sign * step
            ends.append(value(human, judge, moved / moved.sum()))
        found.append((ends[0] - ends[1]) / (2 * step))
    return np.array(found)


def variance_of_simple_sample(z: Any, judge: Any, size: int) -> float:
    """Variance of a poststratified mean of z, judge 0 or 1, by the textbook's formula.

    Residuals from the means of the two strata, with the g-weights of poststratification.
    """
    n = len(z)
    left = np.array(z, dtype=float)
    for label in (0, 1):
        left[judge == label] -= left[judge == label].mean()
    return float((1 - n / size) / n * (left**2).sum() / (n - 1))


def ac2(levels: Any) -> Value:
    """Gwet's AC2 with quadratic weights (Gwet 2014, section 5.3)."""

    def value(human: Any, judge: Any, weights: Any) -> float:
        p = table(human, judge, weights, levels)
        agree = 1 - np.subtract.outer(levels, levels) ** 2 / (levels[-1] - levels[0]) ** 2
        share = (p.sum(1) + p.sum(0)) / 2
        k = len(levels)
        chance = agree.sum() / (k * (k - 1)) * (share * (1 - share)).sum()
        return float(((agree * p).sum() - chance) / (1 - chance))

    return value
