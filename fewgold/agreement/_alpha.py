"""Krippendorff's α."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray


def krippendorff(y: FloatArray, item: IntArray) -> float:
    """Krippendorff's α for interval data; NaN where no item has two ratings.

    Squared differences of two values sum to 2m times their squared deviations, so no pair of
    values need be looked at (Krippendorff 2019, Content Analysis, section 12.3).
    """
    y, item = _shared(y, item)
    if not y.size:
        return float("nan")
    per = np.bincount(item)
    squares = np.square(y - (np.bincount(item, y) / np.maximum(per, 1))[item])
    weight = per / np.maximum(per - 1, 1)
    observed = (weight[item] * squares).sum() / y.size
    expected = np.square(y - y.mean()).sum() / (y.size - 1)
    return float(1 - observed / expected) if expected > 0 else float("nan")


def krippendorff_nominal(y: FloatArray, item: IntArray) -> float:
    """Krippendorff's α for nominal data: two scores are the same or they are not.

    NaN where no item has two ratings, or where all of them are the same.
    """
    y, item = _shared(y, item)
    if not y.size:
        return float("nan")
    _, value = np.unique(y, return_inverse=True)
    wide = int(value.max()) + 1
    cell, count = np.unique(item * wide + value, return_counts=True)
    per = np.bincount(item)
    alike = np.bincount(cell // wide, count.astype(np.float64) ** 2, per.size)
    # Of each item m² − Σ n_c² ordered pairs differ, and a value is paired with m − 1 others.
    observed = ((per**2 - alike) / np.maximum(per - 1, 1)).sum() / y.size
    expected = (y.size**2 - (np.bincount(value).astype(np.float64) ** 2).sum()) / (
        y.size * (y.size - 1)
    )
    return float(1 - observed / expected) if expected > 0 else float("nan")


def _shared(y: FloatArray, item: IntArray) -> tuple[FloatArray, IntArray]:
    """The ratings of items with two or more."""
    kept = np.bincount(item)[item] > 1
    return y[kept], item[kept]
