"""Monitors, slowly: sums over all beginnings, bets rating by rating, budgets by trying."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence


def mixture_evidence(log_e: Sequence[float], weights: Sequence[float]) -> list[float]:
    """log Σ_{j ≤ t} w_j Π_{i=j..t} L_i for each t, each sum from the start."""
    found = []
    for t in range(len(log_e)):
        total = sum(w * math.exp(sum(log_e[j : t + 1])) for j, w in enumerate(weights[: t + 1]))
        found.append(math.log(total) if total > 0 else -math.inf)
    return found


def bet(
    scores: Sequence[float], size: int, reference: float, drop: float,
    variance: float = 0.05, weight: float = 2.0, cap: float = 0.9,
) -> float:  # fmt: skip
    """Capital after betting that the mean is above the reference, one rating after the other."""
    capital, seen = 1.0, list[float]()
    for x in scores:
        left = size - len(seen)
        fair = max(size * reference - sum(seen), 0.0) / left
        squares = weight * variance
        for k, y in enumerate(seen):
            squares += (y - sum(seen[: k + 1]) / (k + 1)) ** 2
        spread = squares / (weight + len(seen))
        off = drop * size / left
        stake = min(off / (spread + off * off), cap / max(fair, 1e-300))
        capital *= 1 + stake * (x - fair)
        seen.append(x)
    return capital


def evidence_before(
    values: Sequence[float], expected: Sequence[float], own: Sequence[float], drop: float,
    weights: Sequence[float],
) -> list[float]:  # fmt: skip
    """log of the weighted evidence that batches are worse than those before, for each look."""
    found = []
    for last in range(len(values)):
        total = 0.0
        for j in range(1, last + 1):
            logarithm = 0.0
            for t in range(j, last + 1):
                w = [1 / v for v in expected[:t]]
                mean = sum(a * b for a, b in zip(w, values[:t], strict=True)) / sum(w)
                shift = drop * sum(w[:j]) / sum(w)
                variance, seen = expected[t] + 1 / sum(w), own[t] + 1 / sum(w)
                stake = shift / variance
                logarithm += stake * (mean - values[t]) - stake**2 * (2 * variance + seen) / 6
            total += weights[j] * math.exp(logarithm)
        found.append(math.log(total) if total > 0 else -math.inf)
    return found


def sign_test(change: Sequence[float]) -> float:
    """Two-sided p-value of the sum under all choices of signs."""
    size = [abs(c) for c in change if c != 0]
    total = abs(sum(change))
    sums = [
        abs(sum(s * a for s, a in zip(signs, size, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(size))
    ]
    return sum(s >= total - 1e-12 for s in sums) / len(sums)


def running_halfwidth(errors: Sequence[float], alpha: float, tightest: int) -> list[float]:
    """Half-widths of the asymptotic confidence sequence, by the printed formula."""
    goal = tightest * errors[0] ** 2
    rho = math.sqrt((-2 * math.log(alpha) + math.log(-2 * math.log(alpha) + 1)) / goal)
    found = []
    for t in range(1, len(errors) + 1):
        v = sum(e * e for e in errors[:t])
        inside = v * rho**2 + 1
        found.append(math.sqrt(inside / rho**2 * math.log(inside / alpha**2)) / t)
    return found
