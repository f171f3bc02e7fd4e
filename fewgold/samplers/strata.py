"""Ways to cut a pool into strata, in memory and on disk.

In memory, any callable from a pool to N labels works. On disk, only the sizes of strata are known,
and a segment is identified by its stratum and its rank in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fewgold.common.arrays import IntArray, codes_of
from fewgold.errors import DataError, DesignError, UnknownNameError
from fewgold.pool import Pool
from fewgold.stored import StoredPool
from fewgold.stored.groups import Groups, MergedGroups, Wanted

# Largest default number of bins on disk. A metric hardly varies within one of 50 bins, and a
# hundred ratings give each bin two.
_BINS = 50

Stratifier: TypeAlias = Callable[[Pool], NDArray[Any]]


@dataclass(frozen=True)
class ByDocument:
    """One stratum per document."""

    label: ClassVar[str] = "docs"

    def __call__(self, pool: Pool) -> IntArray:
        return pool.codes


@dataclass(frozen=True)
class ByMetric:
    """Bins of similar metric scores, with about equal numbers of segments.

    Parameters
    ----------
    metric
        A metric's name, or None for the mean of the standardised metrics.
    bins
        Number of bins; by default bins have about ``size`` segments each.
    size
        Segments per bin; 80 in Saldías et al. (2022).
    """

    metric: str | None = None
    bins: int | None = None
    size: int = 80

    label: ClassVar[str] = "metrics"

    def __call__(self, pool: Pool) -> IntArray:
        score = pool.composite() if self.metric is None else pool.matrix([self.metric])[0]
        bins = self._count(len(pool))
        ranks = np.argsort(np.argsort(score, kind="stable"), kind="stable")
        return np.asarray(ranks * bins // len(pool), dtype=np.int64)

    def _count(self, size: int, most: int | None = None) -> int:
        usual = max(round(size / self.size), 1)
        bins = self.bins or (usual if most is None else min(usual, most))
        if not 1 <= bins <= size:
            raise DataError(f"bins must be from 1 to {size}, the pool's size; got {bins}.")
        return bins


@dataclass(frozen=True)
class ByColumn:
    """One stratum per value of a column: ``system``, ``document`` or any text column."""

    column: str

    def __call__(self, pool: Pool) -> IntArray:
        known = dict(pool.texts)
        if pool.system is not None:
            known["system"] = pool.system
        if pool.documents is not None:
            known["document"] = pool.documents
        if self.column not in known:
            hint = {
                "python": "Name it in texts=[…] when the pool is made.",
                "cli": "Name it with --texts.",
            }
            raise UnknownNameError("column", self.column, known, hint)
        return codes_of(known[self.column])


def strata_of(by: Stratifier, pool: Pool) -> IntArray:
    """The strata as whole numbers 0, 1, … without gaps: (N,)."""
    labels = np.asarray(by(pool))
    if labels.shape != (len(pool),):
        raise DataError(
            f"a stratifier must give one label per segment, shape ({len(pool)},); got "
            f"{labels.shape}."
        )
    return codes_of(labels)


def column_of(by: Stratifier) -> str:
    """The column that defines the strata."""
    if isinstance(by, ByDocument):
        return "document"
    if isinstance(by, ByColumn):
        return by.column
    raise DesignError(
        f"strata of a pool on disk are made by ByDocument, ByColumn or ByMetric; got {by!r}. "
        "Write your strata to a column of the files and use ByColumn."
    )


def bins_of(pool: StoredPool, by: ByMetric) -> MergedGroups:
    """The bins of a metric, or of the composite."""
    return pool._scan.bins(by.metric, by._count(len(pool), _BINS))


def random_ranks(group: NDArray[Any], size: IntArray, rng: Generator) -> IntArray:
    """Random ranks without repeats within a group; members of a group are adjacent."""
    rank = np.empty(len(group), dtype=np.int64)
    for start, end in _runs(group):
        rank[start:end] = rng.choice(int(size[start]), end - start, replace=False)
    return rank


def random_starts(group: NDArray[Any], size: IntArray, rng: Generator) -> IntArray:
    """A random start for each group, shared by all its members."""
    found = np.empty(len(group), dtype=np.int64)
    for start, end in _runs(group):
        found[start:end] = rng.integers(int(size[start]))
    return found


def _runs(group: NDArray[Any]) -> Iterator[tuple[int, int]]:
    """Where equal groups begin and end."""
    new = np.flatnonzero(group[1:] != group[:-1]) + 1
    return pairwise([0, *new.tolist(), len(group)])


def at_positions(
    groups: Groups | MergedGroups, some: IntArray, positions: IntArray, rng: Generator
) -> Wanted:
    """The segments at given positions of a line of groups in random order."""
    order = rng.permutation(some)
    group = order[np.searchsorted(groups.size[order].cumsum(), positions, side="right")]
    return any_of(groups, group, rng)


def any_of(groups: Groups | MergedGroups, group: IntArray, rng: Generator) -> Wanted:
    """A random row of each ``group``, without repeats; equal groups are adjacent."""
    return groups.wanted(group, random_ranks(group, groups.size[group], rng))
