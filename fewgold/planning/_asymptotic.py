"""Large studies: what a metric is worth beside human ratings, in closed form.

With n paired human ratings among N items that the metric rates, Var α̂ = α(1 − α) [(1 − K)/n + K/N],
where K is the squared correlation of metric and human. It is within 2 % of the posterior sd at
n = 100 for metrics with an accuracy up to 0.7, within 4 % at 0.9, and far off at 0.99.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray


def information(alpha: ArrayLike, rho: ArrayLike, eta: ArrayLike) -> FloatArray:
    """K = α(1 − α)(ρ + η − 1)²/(p(1 − p)): the squared correlation of metric and human.

    The share of a human rating that a rating of the metric is worth, at best. 0 where either of
    them never changes.

    Examples
    --------
    >>> information(0.6, [0.6, 0.7, 0.9], [0.6, 0.7, 0.9]).round(3)
    array([0.038, 0.155, 0.631])
    """
    a, r, e = (np.asarray(x, dtype=np.float64) for x in (alpha, rho, eta))
    p = a * r + (1 - a) * (1 - e)
    below = p * (1 - p)
    top = a * (1 - a) * (r + e - 1) ** 2
    return np.asarray(np.where(below > 0, top / np.where(below > 0, below, 1.0), 0.0))[()]


def asymptotic_sd(
    *, alpha: ArrayLike, rho: ArrayLike, eta: ArrayLike, human: ArrayLike, metric: ArrayLike
) -> FloatArray:
    """Sd of α for ``human`` paired ratings and ``metric`` more of the metric alone.

    Examples
    --------
    >>> asymptotic_sd(alpha=0.6, rho=0.9, eta=0.9, human=1000, metric=10_000).round(4)
    np.float64(0.0101)
    """
    k = information(alpha, rho, eta)
    a, n, m = (np.asarray(x, dtype=np.float64) for x in (alpha, human, metric))
    with np.errstate(divide="ignore"):
        return np.asarray(np.sqrt(a * (1 - a) * ((1 - k) / n + k / (n + m))))[()]


def break_even(alpha: ArrayLike, rho: ArrayLike, eta: ArrayLike) -> FloatArray:
    """Cost of a metric rating over that of a human one below which the metric pays.

    ((1 − √(1 − K))/√K)², for ρ and η estimated from the paired ratings. Above it, money for the
    metric is better spent on human ratings.

    Examples
    --------
    >>> break_even(0.6, [0.6, 0.7, 0.9], [0.6, 0.7, 0.9]).round(3)
    array([0.01 , 0.042, 0.244])
    """
    k = np.asarray(information(alpha, rho, eta))
    # (1 − √(1 − K))/√K = √K/(1 + √(1 − K)), which keeps its digits at K near 0.
    return np.asarray(k / (1 + np.sqrt(np.maximum(1 - k, 0.0))) ** 2)[()]


def best_ratio(alpha: float, rho: float, eta: float, cost_ratio: float) -> float:
    """n/N = √((1 − K) c_m/(K c_h)), at most 1: humans rate this share of what the metric rates."""
    k = float(information(alpha, rho, eta))
    return 1.0 if k == 0 else min(1.0, float(np.sqrt((1 - k) * cost_ratio / k)))
