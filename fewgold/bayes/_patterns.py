"""Several metrics on the same items: the categories are the patterns of their ratings.

One metric after the other, as if each had rated items of its own, counts what they share twice: a
metric and its copy would make the result surer. A pattern is counted once. The price is more
categories, most of them with few ratings, which is why those are drawn together (`Pooled`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import IntArray
from fewgold.bayes._labels import as_labels
from fewgold.errors import DataError


def patterns(labels: ArrayLike) -> tuple[IntArray, tuple[str, ...]]:
    """The pattern of each item, of those that occur.

    Parameters
    ----------
    labels
        (K, N): ratings of 0 and 1 by K metrics for N items.

    Returns
    -------
    codes : (N,)
        Category of each item, in the order of the names.
    names
        Ratings in the order of the metrics, as "101". Without metrics one category, "all".

    Examples
    --------
    >>> codes, names = patterns([[1, 1, 0, 0], [0, 1, 0, 0]])
    >>> codes.tolist(), names
    ([1, 2, 0, 0], ('00', '10', '11'))
    """
    ones = as_labels("metric", labels)
    if ones.ndim != 2:
        raise DataError(
            f"labels must be (K, N), a row for each metric; got the shape {ones.shape}."
        )
    if not len(ones):
        return np.zeros(ones.shape[1], dtype=np.int64), ("all",)
    found, codes = np.unique(ones.T, axis=0, return_inverse=True)
    names = tuple("".join("01"[int(one)] for one in row) for row in found)
    return codes.ravel().astype(np.int64), names
