"""The difference of two systems that were rated on segments of their own, or partly so."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.design import Design
from fewgold.estimate import LinearEstimate


def unit_deviations(design: Design, scores: FloatArray, made: LinearEstimate) -> FloatArray:
    """Deviations of an estimate, each in the place of its segment or document among all: (u,)."""
    rated = np.isfinite(scores)
    if design.units is None:
        place, size = np.flatnonzero(rated), rated.size
    else:
        place, size = _first_seen(design.units[rated]), int(design.units.max()) + 1
    found = np.zeros(size)
    found[place] = made.deviations()
    return found


def finite_variance(
    design: Design, scores: FloatArray, made: tuple[LinearEstimate, LinearEstimate]
) -> float | None:
    """Variance of a difference of two partly overlapping samples of a finite pool, else None.

    For samples of n and m of N segments with k in common it is
    A (1/n − 1/N) + B (1/m − 1/N) − 2 C (k/nm − 1/N), C being the covariance on the shared ones.
    """
    if design.kind == "process" or design.units is not None:
        return None
    rated = np.isfinite(scores)
    both = np.asarray(rated.all(0))
    n, m, k = int(rated[0].sum()), int(rated[1].sum()), int(both.sum())
    own = [one.residuals for one in made]
    a, b = (float(np.var(x, ddof=1)) for x in own)
    c = float(np.cov(*(x[both[r]] for x, r in zip(own, rated, strict=True)))[0, 1])
    most = float(np.sqrt(a * b))
    c = min(max(c, -most), most)
    over = 1 / design.size
    found = a * (1 / n - over) + b * (1 / m - over) - 2 * c * (k / (n * m) - over)
    return max(found, 1e-3 * (a * (1 / n - over) + b * (1 / m - over)))


def _first_seen(labels: IntArray) -> IntArray:
    """Labels without repetition, in the order of their first appearance."""
    values, first = np.unique(labels, return_index=True)
    return np.asarray(values[np.argsort(first)])


def welch(a: LinearEstimate, b: LinearEstimate, apart: float | None) -> tuple[float, float, float]:
    """Difference of two estimates, its variance (``apart`` if not the sum) and Welch's df."""
    va, vb = float(a.se) ** 2, float(b.se) ** 2
    total = va + vb
    if not (0 < total < np.inf):
        return float(a.value - b.value), np.inf, 1.0
    df = total**2 / (va**2 / max(float(a.df), 1.0) + vb**2 / max(float(b.df), 1.0))
    return float(a.value - b.value), total if apart is None else float(apart), df
