"""Many tests at once."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray, FloatArray

CORRECTIONS = ("holm", "fdr", "none")


def adjust(p: FloatArray, how: str) -> FloatArray:
    """Adjusted p-values (..., m), to be compared with the level.

    ``holm`` keeps the chance of any false finding below the level, whatever the dependence (Holm
    1979); ``fdr`` the expected share of false ones among the findings (Benjamini and Hochberg
    1995).

    Examples
    --------
    >>> p = np.array([0.01, 0.04, 0.03])
    >>> adjust(p, "holm").tolist(), adjust(p, "fdr").round(3).tolist()
    ([0.03, 0.06, 0.06], [0.03, 0.04, 0.04])
    """
    m = p.shape[-1]
    if how == "none" or m == 0:
        return np.array(p)
    order = np.argsort(p, axis=-1, kind="stable")
    ordered = np.take_along_axis(p, order, axis=-1)
    if how == "holm":
        grown = np.maximum.accumulate(ordered * np.arange(m, 0, -1), axis=-1)
    else:
        grown = ordered * m / np.arange(1, m + 1)
        grown = np.minimum.accumulate(grown[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty_like(p)
    np.put_along_axis(found, order, np.minimum(grown, 1.0), axis=-1)
    return found


def adjust_pairs(p: FloatArray, how: str) -> FloatArray:
    """The same for a symmetric table of pairs (..., S, S); 1 on the diagonal."""
    above = np.triu_indices(p.shape[-1], 1)
    found = np.ones(p.shape)
    found[..., above[0], above[1]] = adjust(p[..., above[0], above[1]], how)
    found[..., above[1], above[0]] = found[..., above[0], above[1]]
    return found


def better(value: FloatArray, adjusted: FloatArray, level: float, higher: bool) -> BoolArray:
    """True where the row is significantly better than the column: (..., S, S)."""
    way = value > 0 if higher else value < 0
    return np.asarray((adjusted <= level) & way)
