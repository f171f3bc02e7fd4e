"""Stratified sampling from a pool on disk: the same design, from sizes that the engine counts."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.design import Design
from fewgold.errors import DesignError
from fewgold.samplers._allocation import allocate, nearest_counts
from fewgold.samplers._on_disk import bins_of, column_of, ranks_in, within
from fewgold.samplers._plan import (
    LEAST,
    joined_design,
    masses,
    merge,
    strata_of_share,
    within_design,
)
from fewgold.samplers._strata import ByMetric
from fewgold.samplers._systematic import line_design, regular
from fewgold.stored import Excerpt, Groups, MergedGroups, StoredPool, Wanted, salt_of

if TYPE_CHECKING:
    from fewgold.samplers._stratified import Stratified


def draw_stratified(
    sampler: Stratified, pool: StoredPool, n: int, rng: np.random.Generator
) -> tuple[Excerpt, Design]:
    """Rows and their design; see `Stratified`."""
    salt, size = salt_of(rng), len(pool)
    plain = sampler.allocation == "proportional" and sampler.rounding == "unbiased"
    if plain and not isinstance(sampler.by, ByMetric) and n < size:
        # Strata that get less than two go into a line. There may be millions of them, and none has
        # to be looked at here.
        least = ceil((LEAST - 1e-9) * size / n)
        large = pool.groups(column_of(sampler.by), least)
        in_line = size - int(large.size.sum())
        if in_line * n / size >= LEAST - 1e-9:
            share = large.size * n / size
            found = _with_line(pool, sampler, large, share, None, n, salt, rng, in_line, least)
            return pool.rows(found[0], salt), found[1]
    groups, share = shares(sampler, pool, n)
    wanted, design = _drawn(sampler, pool, groups, share, n, salt, rng)
    return pool.rows(wanted, salt), design


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
        sd, cost = pool.spread_in(groups) if detailed else (None, None)
    else:
        groups = pool.groups(column_of(sampler.by), detailed=detailed)
        sd, cost = groups.sd, groups.cost
    if detailed and sd is None:
        pool.score(None)  # says that metrics are needed
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
        found = pool.line(column, salt, positions, most)
        rank = ranks_in(found.label, found.size, rng)
        wanted = Wanted(pool.label(column), found.label, rank, found.size)
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
