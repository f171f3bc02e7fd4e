"""Labels and counts as they come, checked and as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import BoolArray, IntArray
from fewgold.errors import DataError


def whole_numbers(name: str, value: Any) -> IntArray:
    """Counts: whole numbers, none negative."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be a whole number of 0 or more; got {value!r}.") from None
    bad = ~(np.isfinite(array) & (array >= 0) & (array == np.floor(array)))
    if bad.any():
        came = array[bad].flat[0]
        raise DataError(f"{name} must be a whole number of 0 or more; got {came:g}.")
    return array.astype(np.int64)


def as_labels(name: str, values: ArrayLike) -> BoolArray:
    """Labels as booleans (..., n)."""
    array = np.asarray(values)
    if array.ndim == 0:
        raise DataError(f"{name} labels must be a list or an array; got {values!r}.")
    if array.dtype == bool:
        return array
    ones = array == 1
    bad = ~(ones | (array == 0))
    if bad.any():
        raise DataError(
            f"{name} labels must be 0 or 1; got {array[bad].flat[0]!r}. Cut scores at a threshold "
            "first."
        )
    return np.asarray(ones)
