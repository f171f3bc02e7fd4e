"""Slow and obvious twins of domain estimates: loops over rated segments, from the formulas."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def slice_mean(scores: Sequence[float], size: int) -> tuple[float, float]:
    """Mean of a slice of a simple random sample and its standard error, given how many were rated.

    Cochran (1977), section 2.11: the rated segments of a domain are a simple random sample of it.
    """
    n = len(scores)
    mean = sum(scores) / n
    square = sum((y - mean) ** 2 for y in scores) / (n - 1)
    return mean, math.sqrt(square / n * (1 - n / size))


def assisted_mean(
    scores: Sequence[float],
    weights: Sequence[float],
    rows: Sequence[int],
    predicted: Sequence[float],
    omega: Sequence[float],
) -> float:
    """Mean prediction over the part of the pool, plus the weighted mean of what it got wrong."""
    known = sum(o * p for o, p in zip(omega, predicted, strict=True)) / sum(omega)
    above = below = 0.0
    for y, w, i in zip(scores, weights, rows, strict=True):
        above += w * omega[i] * (y - predicted[i])
        below += w * omega[i]
    return known + above / below


def ratio(y: Sequence[float], x: Sequence[float], size: int) -> tuple[float, float]:
    """Ratio of sums on a simple random sample, and its linearised error (Cochran 1977, 6.3)."""
    n, r = len(y), sum(y) / sum(x)
    square = sum((a - r * b) ** 2 for a, b in zip(y, x, strict=True)) / (n - 1)
    return r, math.sqrt(square * (1 / n - 1 / size)) / (sum(x) / n)


def shrunk(values: Sequence[float], errors: Sequence[float]) -> tuple[list[float], list[float]]:
    """Posterior means and sds of θ ~ N(μ, τ²) with flat μ and τ ≥ 0, on a fine grid of both."""
    y, v = np.array(values), np.square(errors)
    taus = np.linspace(0, 10 * max(y.std(), np.sqrt(v.mean())), 1501)
    mus = np.linspace(y.min() - 60, y.max() + 60, 2401)
    mass, first, second = 0.0, np.zeros(y.size), np.zeros(y.size)
    for tau in taus:
        total = v + tau**2
        log = -0.5 * ((y[:, None] - mus) ** 2 / total[:, None] + np.log(total)[:, None]).sum(0)
        weight = np.exp(log)
        centre = (y[:, None] * tau**2 + mus * v[:, None]) / total[:, None]
        spread = (v * tau**2 / total)[:, None]
        mass += weight.sum()
        first += (weight * centre).sum(1)
        second += (weight * (centre**2 + spread)).sum(1)
    mean = first / mass
    return mean.tolist(), np.sqrt(second / mass - mean**2).tolist()
