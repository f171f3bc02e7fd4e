"""What samplers share that draw from a pool on disk."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.design import Design
from fewgold.errors import DataError, DesignError
from fewgold.pool import Pool
from fewgold.samplers.strata import ByColumn, ByDocument, ByMetric, Stratifier
from fewgold.samplers.stratified import (
    LEAST,
    allocate,
    joined_design,
    masses,
    merge,
    nearest_counts,
    strata_of_share,
    within_design,
)
from fewgold.samplers.systematic import line_design, regular
from fewgold.stored import StoredPool
from fewgold.stored.groups import Groups, MergedGroups, Wanted, salt_of

if TYPE_CHECKING:
    from fewgold.samplers.stratified import Stratified

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
    return pool._scan.bins(by.metric, bins)


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


# Stratified sampling from a pool on disk: the same design, from sizes that the engine counts.


def draw_stratified(
    sampler: Stratified, pool: StoredPool, n: int, rng: np.random.Generator
) -> tuple[Pool, Design]:
    """Rows and their design; see `Stratified`."""
    salt, size = salt_of(rng), len(pool)
    plain = sampler.allocation == "proportional" and sampler.rounding == "unbiased"
    if plain and not isinstance(sampler.by, ByMetric) and n < size:
        # Strata that get less than two go into a line. There may be millions of them, and none has
        # to be looked at here.
        least = ceil((LEAST - 1e-9) * size / n)
        large = pool._scan.groups(column_of(sampler.by), least)
        in_line = size - int(large.size.sum())
        if in_line * n / size >= LEAST - 1e-9:
            share = large.size * n / size
            found = _with_line(pool, sampler, large, share, None, n, salt, rng, in_line, least)
            return pool._rows(found[0], salt), found[1]
    groups, share = shares(sampler, pool, n)
    wanted, design = _drawn(sampler, pool, groups, share, n, salt, rng)
    return pool._rows(wanted, salt), design


def shares(
    sampler: Stratified, pool: StoredPool, n: int
) -> tuple[Groups | MergedGroups, FloatArray]:
    """The strata, and what is due to each of them."""
    if callable(sampler.allocation):
        raise DesignError(
            "an allocation of your own needs every segment in memory, and this pool is on disk. "
            "Take 'proportional', 'optimal' or 'optimal-cost'."
        )
    detailed = sampler.allocation != "proportional"
    groups: Groups | MergedGroups
    if isinstance(sampler.by, ByMetric):
        groups = bins_of(pool, sampler.by)
        sd, cost = pool._scan.spread_in(groups) if detailed else (None, None)
    else:
        groups = pool._scan.groups(column_of(sampler.by), detailed=detailed)
        sd, cost = groups.sd, groups.cost
    if detailed and sd is None:
        pool._scan.score(None)  # says that metrics are needed
    if sampler.allocation != "optimal-cost":
        cost = None
    mass = masses(groups.size, sd, cost, floored=sampler.rounding == "unbiased")
    return groups, allocate(mass, groups.size, n)


def _drawn(
    sampler: Stratified, pool: StoredPool, groups: Groups | MergedGroups, share: FloatArray,
    n: int, salt: str, rng: np.random.Generator,
) -> tuple[Wanted, Design]:  # fmt: skip
    sizes = groups.size
    if sampler.rounding == "printed":
        counts = nearest_counts(share, sizes, n)
        return within(groups, counts, rng), within_design(sizes, counts)
    small = strata_of_share(share, sizes)
    if not small.any():
        counts = nearest_counts(share, sizes, n, least=LEAST)
        return within(groups, counts, rng), within_design(sizes, counts)
    if sampler.allocation == "proportional" and share[small].sum() >= LEAST - 1e-9:
        in_line = int(sizes[small].sum())
        return _with_line(pool, sampler, groups, share, small, n, salt, rng, in_line, None)
    into = merge(share, sizes, small)
    share = np.asarray(np.bincount(into, share), dtype=np.float64)
    whole = MergedGroups(groups, into) if isinstance(groups, Groups) else groups.again(into)
    least = min(LEAST, int(share.min() + 1e-9) or 1)
    counts = nearest_counts(share, whole.size, n, least=least)
    return within(whole, counts, rng), within_design(whole.size, counts)


def _with_line(
    pool: StoredPool, sampler: Stratified, groups: Groups | MergedGroups, share: FloatArray,
    small: BoolArray | None, n: int, salt: str, rng: np.random.Generator, in_line: int,
    most: int | None,
) -> tuple[Wanted, Design]:  # fmt: skip
    """Large strata by themselves; the small ones in a line in random order.

    ``small`` says which of the groups stand in line; None if they are not among them, but all those
    of fewer than ``most`` segments.
    """
    size = len(pool)
    n_line = min(max(round(n * in_line / size), 1), in_line)
    positions = regular(in_line, n_line, 1, rng)[0]
    line = line_design(n_line, in_line, size)
    if small is None:
        column = column_of(sampler.by)
        found = pool._scan.line(column, salt, positions, most)
        rank = ranks_in(found.label, found.size, rng)
        wanted = Wanted(pool._scan.label(column), found.label, rank, found.size)
        large: IntArray = np.arange(groups.size.size)
    else:
        order = rng.permutation(np.flatnonzero(small))
        group = order[np.searchsorted(groups.size[order].cumsum(), positions, side="right")]
        wanted = groups.wanted(group, ranks_in(group, groups.size[group], rng))
        large = np.flatnonzero(~small)
    if not large.size:
        return wanted, line
    sizes = groups.size[large]
    counts = nearest_counts(share[large], sizes, n - n_line, least=LEAST)
    group = np.repeat(large, counts)
    own = groups.wanted(group, ranks_in(group, groups.size[group], rng))
    return own.then(wanted), joined_design(within_design(sizes, counts), line)
