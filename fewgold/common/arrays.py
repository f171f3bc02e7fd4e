"""Array helpers. Core axis last, batch axes in front: every array is (..., n)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
#: For example, the two ends of an interval.
FloatPair: TypeAlias = tuple[FloatArray, FloatArray]
RNGLike: TypeAlias = np.random.Generator | np.random.SeedSequence | int | None


def single(values: FloatArray) -> FloatArray:
    """A single number as a float, which prints and formats as one; arrays are unchanged.

    >>> isinstance(single(np.asarray(0.5)), float)
    True
    """
    found: FloatArray = np.asarray(values)[()]
    return found


def group_sum(values: FloatArray, groups: IntArray, n_groups: int) -> FloatArray:
    """Sum ``values`` within ``groups`` along the last axis: (..., n) -> (..., n_groups)."""
    values, groups = np.broadcast_arrays(values, groups)
    if n_groups == 1:
        return np.asarray(values.sum(-1, keepdims=True, dtype=np.float64))
    batch = values.shape[:-1]
    rows = np.arange(int(np.prod(batch, dtype=int))).reshape(*batch, 1)
    flat = np.bincount(
        (groups + n_groups * rows).ravel(), values.ravel(), minlength=rows.size * n_groups
    )
    return flat.reshape(*batch, n_groups).astype(np.float64, copy=False)


def spread_out(per_group: FloatArray, groups: IntArray) -> FloatArray:
    """Give each member the value of its group: (..., n_groups) -> (..., n)."""
    batch = np.broadcast_shapes(per_group.shape[:-1], groups.shape[:-1])
    if per_group.shape[-1] == 1:
        return np.broadcast_to(per_group, (*batch, groups.shape[-1]))
    return np.take_along_axis(
        np.broadcast_to(per_group, (*batch, per_group.shape[-1])),
        np.broadcast_to(groups, (*batch, groups.shape[-1])),
        axis=-1,
    )


def from_pivot(columns: FloatArray, overwrite: bool) -> FloatArray:
    """Columns (..., k, n) minus their first entry, before means are computed.

    Huge means with tiny spreads would lose their digits otherwise.
    """
    out = columns if overwrite else np.empty(columns.shape)
    return np.subtract(columns, columns[..., :1].copy(), out=out)


def codes_of(labels: NDArray[np.generic]) -> IntArray:
    """Labels as whole numbers 0, 1, … in the order of their first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    codes: IntArray = rank[inverse.ravel()]
    return codes


def batches(total: int, size: int) -> Iterator[slice]:
    """Cut ``range(total)`` into slices of at most ``size``."""
    for start in range(0, total, max(size, 1)):
        yield slice(start, min(start + max(size, 1), total))


def as_rng(rng: RNGLike) -> np.random.Generator:
    """A random generator, from a seed, a seed sequence, a generator or None."""
    return np.random.default_rng(rng)
