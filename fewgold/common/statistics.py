"""Textbook statistics that several studies share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray, IntArray


def adjusted_p_values(p: FloatArray, how: str) -> FloatArray:
    """P-values (..., m) adjusted for m tests, to be compared with the level; NaN means no test.

    ``holm`` keeps the chance of any false finding below the level, whatever the dependence (Holm
    1979); ``fdr`` controls the expected share of false findings (Benjamini and Hochberg 1995);
    ``bonferroni`` controls the same as ``holm``, with less power; ``none`` leaves them as they are.

    Examples
    --------
    >>> p = np.array([0.01, 0.04, 0.03])
    >>> adjusted_p_values(p, "holm").tolist(), adjusted_p_values(p, "fdr").round(3).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    if how == "none" or not p.size:
        return np.array(p)
    tests, rank = np.isfinite(p).sum(-1, keepdims=True), np.arange(p.shape[-1])
    if how == "bonferroni":
        return np.asarray(np.minimum(p * tests, 1.0))
    order = np.argsort(p, axis=-1, kind="stable")  # NaN comes last
    ordered = np.take_along_axis(p, order, axis=-1)
    if how == "holm":
        grown = np.maximum.accumulate(ordered * (tests - rank), axis=-1)
    else:
        grown = ordered * tests / (rank + 1)
        grown = np.fmin.accumulate(grown[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty_like(p)
    np.put_along_axis(found, order, np.minimum(grown, 1.0), axis=-1)
    return np.where(np.isfinite(p), found, np.nan)


def adjusted_pairs(p: FloatArray, how: str) -> FloatArray:
    """Adjusted p-values of a symmetric table of pairs (..., S, S); 1 on the diagonal."""
    above = np.triu_indices(p.shape[-1], 1)
    found = np.ones(p.shape)
    found[..., above[0], above[1]] = adjusted_p_values(p[..., above[0], above[1]], how)
    found[..., above[1], above[0]] = found[..., above[0], above[1]]
    return found


def smallest_enough(enough: Callable[[int], bool], low: int, high: int) -> int:
    """The smallest number from ``low`` up that is enough, or ``high`` if none below it is.

    By bisection: once a number is enough, so are all above it.

    Examples
    --------
    >>> smallest_enough(lambda n: n * n >= 50, 1, 100)
    8
    """
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low


def intraclass_correlation(values: FloatArray, groups: IntArray) -> FloatArray:
    """Correlation of two members of a group, by one-way analysis of variance: (..., n) -> (...).

    About 0 if members of a group are no more alike than others, 1 if they are all equal; NaN with
    one group only, or with one member in each (Cochran 1977, section 9.4).
    """
    sizes = np.unique(groups, return_counts=True)[1]
    n, count = groups.size, sizes.size
    if not 1 < count < n:
        return np.full(values.shape[:-1], np.nan)
    deviations = values[..., np.argsort(groups, kind="stable")]
    deviations = deviations - deviations.mean(-1, keepdims=True)
    totals = np.add.reduceat(deviations, np.cumsum(sizes) - sizes, axis=-1)
    among = (totals**2 / sizes).sum(-1)
    between, within = among / (count - 1), ((deviations**2).sum(-1) - among) / (n - count)
    usual = (n - (sizes**2).sum() / n) / (count - 1)  # size of a group
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((between - within) / (between + (usual - 1) * within))


def correlation(x: FloatArray, y: FloatArray) -> float:
    """Pearson's correlation over the places where both are known; NaN if either is constant."""
    both = np.isfinite(x) & np.isfinite(y)
    x, y = x[both], y[both]
    if not x.size or any(np.ptp(v) <= 1e-12 * np.abs(v).max() for v in (x, y)):
        return float("nan")
    return float(np.corrcoef(x, y)[0, 1])


def padded_share(hits: BoolArray | FloatArray) -> tuple[float, float]:
    """Share of hits among all draws, and its Monte-Carlo standard error.

    For the error, two hits and two misses are added (Agresti and Coull 1998), so that 100 hits of
    100 have an error too.
    """
    draws, count = hits.size, float(hits.sum())
    p = (count + 2) / (draws + 4)
    return count / draws, float(np.sqrt(p * (1 - p) / (draws + 4)))
