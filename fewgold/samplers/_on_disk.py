"""What samplers share that draw from a pool on disk."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import IntArray
from fewgold.errors import DataError, DesignError
from fewgold.samplers._strata import ByColumn, ByDocument, ByMetric, Stratifier
from fewgold.stored import Groups, MergedGroups, StoredPool, Wanted

# Bins on disk, at the most, where their number is not given. Within one of 50 bins a metric hardly
# varies, and a hundred ratings give each of them two.
_BINS = 50


def column_of(by: Stratifier) -> str:
    """The column that strata are made by."""
    if isinstance(by, ByDocument):
        return "document"
    if isinstance(by, ByColumn):
        return by.column
    raise DesignError(
        f"strata of a pool on disk are made by ByDocument, ByColumn or ByMetric; got {by!r}. Write "
        "your strata into a column of the files and take ByColumn."
    )


def bins_of(pool: StoredPool, by: ByMetric) -> MergedGroups:
    """The bins of a metric, or of the composite."""
    bins = by.bins or min(max(round(len(pool) / by.size), 1), _BINS)
    if not 1 <= bins <= len(pool):
        raise DataError(f"bins must be from 1 to {len(pool)}, the pool's size; got {bins}.")
    return pool.bins(by.metric, bins)


def ranks_in(group: NDArray[Any], size: IntArray, rng: np.random.Generator) -> IntArray:
    """Ranks by chance, none twice in a group, where equal groups stand next to each other."""
    rank = np.empty(len(group), dtype=np.int64)
    for start, end in _runs(group):
        rank[start:end] = rng.choice(int(size[start]), end - start, replace=False)
    return rank


def turned(group: NDArray[Any], size: IntArray, rng: np.random.Generator) -> IntArray:
    """For each group where its circle starts, the same for all its members."""
    turn = np.empty(len(group), dtype=np.int64)
    for start, end in _runs(group):
        turn[start:end] = rng.integers(int(size[start]))
    return turn


def _runs(group: NDArray[Any]) -> list[tuple[int, int]]:
    new = np.flatnonzero(group[1:] != group[:-1]) + 1
    borders = [0, *new.tolist(), len(group)]
    return list(pairwise(borders))


def bins_in_line(
    pool: StoredPool, by: ByMetric, positions: IntArray, rng: np.random.Generator
) -> Wanted:
    """What stands at some positions of the line of bins in random order."""
    bins = bins_of(pool, by)
    order = rng.permutation(bins.size.size)
    group = order[np.searchsorted(bins.size[order].cumsum(), positions, side="right")]
    return bins.wanted(group, ranks_in(group, bins.size[group], rng))


def within(groups: Groups | MergedGroups, counts: IntArray, rng: np.random.Generator) -> Wanted:
    """Simple random samples of fixed ``counts`` in each group, one after the other."""
    group = np.repeat(np.arange(counts.size), counts)
    return groups.wanted(group, ranks_in(group, groups.size[group], rng))
