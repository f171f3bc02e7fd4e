"""Stratified sampling that handles strata too small for the budget without bias.

The budget is allocated to the strata in proportion to their sizes or by Neyman's optimal allocation
(`allocate`), rounded to whole segments (`nearest_counts`), and each stratum is sampled at random.
Strata with an allocation of fewer than two segments are sampled together along a line, or are
merged. For a pool on disk the same design is drawn from the stratum sizes counted by the engine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TypeAlias

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import check_choice
from fewgold.design import Design, DesignKind, collapse
from fewgold.errors import BudgetError, DesignError
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler, batch_design, shuffled
from fewgold.samplers.chances import Chances, capped, uneven_design
from fewgold.samplers.phases import draw_in_phases
from fewgold.samplers.strata import (
    ByDocument,
    ByMetric,
    Stratifier,
    any_of,
    at_positions,
    bins_of,
    column_of,
    random_ranks,
    strata_of,
)
from fewgold.samplers.systematic import Systematic, along_line, line_design, regular
from fewgold.stored import StoredPool
from fewgold.stored.groups import Groups, MergedGroups, Wanted, salt_of

# With two segments per stratum its variance can be estimated, and rounding costs almost nothing.
LEAST = 2
# Smallest spread of a stratum under optimal allocation, as a share of the pooled one.
_FLOOR = 0.25

Allocation: TypeAlias = str | Callable[[Pool, IntArray], FloatArray]
_ALLOCATIONS = {"proportional": "prop", "optimal": "opt", "optimal-cost": "opt-cost"}


def allocate(mass: FloatArray, sizes: IntArray, n: int) -> FloatArray:
    """Allocate ``n`` in proportion to ``mass``, at most a stratum's size (Saldías et al., eq. 2).

    If strata would get more than they hold, the one with the largest excess is taken whole and the
    rest is reallocated among the others.
    """
    share = np.zeros(sizes.size)
    open_, left = np.ones(sizes.size, dtype=bool), float(n)
    weight = np.where(mass > 0, mass, 0.0).astype(np.float64)
    while open_.any():
        if not weight[open_].any():  # nothing distinguishes the open strata, so use their size
            weight = np.where(open_, sizes, 0.0)
        # Divide by the largest first, so that extreme masses do not overflow.
        scaled = weight[open_] / weight[open_].max()
        share[open_] = left * scaled / scaled.sum()
        excess = np.where(open_, share - sizes, -np.inf)
        worst = int(excess.argmax())
        if excess[worst] <= 1e-12 * max(n, 1):
            break
        share[worst], left = sizes[worst], left - sizes[worst]
        open_[worst] = False
    return np.minimum(share, sizes)


def nearest_counts(share: FloatArray, sizes: IntArray, n: int, least: int = 0) -> IntArray:
    """Whole numbers that sum to ``n`` and minimise Σ|n_h − n'_h|: largest remainders first.

    Every stratum gets at least ``least`` (or all it has, if it is smaller).
    """
    if np.minimum(least, sizes).sum() > n:
        raise BudgetError(
            f"{sizes.size} strata with at least {least} segments each need more than {n} "
            "segments. Merge strata, or raise the budget."
        )
    floor = np.maximum(np.floor(share + 1e-9), np.minimum(least, sizes)).astype(np.int64)
    counts: IntArray = np.minimum(floor, sizes)
    while counts.sum() > n:  # the minimum counts exceed the shares
        room = np.where(counts > np.minimum(least, sizes), counts - share, -np.inf)
        counts[int(room.argmax())] -= 1
    while counts.sum() < n:
        short = n - int(counts.sum())
        gap = np.where(counts < sizes, share - counts, -np.inf)
        order = np.argsort(-gap, kind="stable")[:short]
        counts[order[gap[order] > -np.inf]] += 1
    return counts


def masses(
    sizes: IntArray, spread: FloatArray | None, cost: FloatArray | None, *, floored: bool
) -> FloatArray:
    """Masses for the allocation: N_h or N_h σ_h, over root mean cost (Cochran 1977, 5.5)."""
    if spread is None:
        return sizes.astype(np.float64)
    if floored:
        # Scores may vary in a stratum even if the metric does not: without a floor such strata
        # would get only one or two ratings.
        spread = np.maximum(spread, _FLOOR * np.sqrt(sizes @ spread**2 / sizes.sum()))
    mass = sizes * spread
    return np.asarray(mass if cost is None else mass / np.sqrt(cost))


def due_too_few(share: FloatArray, sizes: IntArray) -> BoolArray:
    """Strata allocated fewer than two segments although they hold more: (H,)."""
    return np.asarray((share < LEAST - 1e-9) & (share < sizes))


def within_design(sizes: IntArray, counts: IntArray) -> Design:
    """Simple random samples of fixed ``counts`` in each stratum, strata one after the other."""
    return Design.stratified(np.repeat(np.arange(sizes.size), counts), sizes)


def joined_design(own: Design, line: Design) -> Design:
    """The design of large strata by themselves, followed by small ones sampled along a line."""
    return Design(
        kind=DesignKind.SYSTEMATIC,
        size=line.size,
        weights=np.concatenate([own.weights * own.size / line.size, line.weights]),
        inclusion=np.concatenate([own.inclusion, line.inclusion]),
        groups=np.concatenate([own.groups, line.groups + int(own.groups.max()) + 1]),
    )


def merge(share: FloatArray, sizes: IntArray, small: BoolArray) -> IntArray:
    """New label of each stratum: small ones with similar rates are joined until they get two."""
    label = np.full(share.size, -1, dtype=np.int64)
    large = np.flatnonzero(~small)
    label[large] = np.arange(large.size)
    following, held = large.size, 0.0
    for h in np.flatnonzero(small)[np.argsort((share / sizes)[small], kind="stable")]:
        label[h], held = following, held + share[h]
        if held >= LEAST - 1e-9:
            following, held = following + 1, 0.0
    if held > 0 or (label == following).any():  # the last gets too little: merge it
        last = label == following
        if following > large.size:
            label[last] = following - 1
        elif large.size:
            label[last] = label[large[(share / sizes)[large].argmin()]]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True)
class Stratified(Sampler):
    """Draw from every stratum: documents, metric bins, or any labels.

    Parameters
    ----------
    by
        How strata are made: `ByDocument`, `ByMetric`, `ByColumn` or a callable.
    allocation
        ``proportional`` to size; ``optimal`` (Neyman, by the standard deviation of the metrics in a
        stratum: Saldías et al. (2022), eq. 2, whose text says variance); ``optimal-cost`` (the same
        per unit of cost); or a callable that gives the mass of each stratum from the pool and the
        strata.
    rounding
        ``unbiased``: strata allocated fewer than two segments are pooled. Under proportional
        allocation they are put on a line in random order and every (N/n)-th segment is taken, so
        that each segment has the same chance; otherwise strata with similar rates are merged.
        ``printed``: whole numbers nearest to the allocation, as in Saldías et al. (2022). Strata
        may then get nothing, which biases the mean.
    chances
        Uneven chances, which replace the allocation: a stratum gets the rounded sum of its chances,
        and chances are adjusted to match. If some strata would get fewer than two, all are put on a
        line in random order, as in `Systematic`.
    """

    by: Stratifier = ByDocument()
    allocation: Allocation = "proportional"
    rounding: str = "unbiased"
    chances: Chances | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.allocation, str):
            check_choice("allocation", self.allocation, tuple(_ALLOCATIONS))
        check_choice("rounding", self.rounding, ("unbiased", "printed"))
        if self.chances is not None and (self.allocation, self.rounding) != (
            "proportional",
            "unbiased",
        ):
            raise DesignError(
                "uneven chances determine the allocation. Leave out allocation= and rounding=, "
                "or chances=."
            )

    @property
    def name(self) -> str:
        by = getattr(self.by, "label", "strata")
        how = _ALLOCATIONS[self.allocation] if isinstance(self.allocation, str) else "own"
        tail = "-printed" if self.rounding == "printed" else ""
        return f"{by}-{how}{tail}" + ("" if self.chances is None else f"-{self.chances.name}")

    def _mass(self, pool: Pool, strata: IntArray, sizes: IntArray) -> FloatArray:
        if self.allocation == "proportional":
            return masses(sizes, None, None, floored=True)
        if callable(self.allocation):
            return np.asarray(self.allocation(pool, strata), dtype=np.float64)
        score = pool.composite()
        mean = np.bincount(strata, score) / sizes
        spread = np.sqrt(np.bincount(strata, (score - mean[strata]) ** 2) / sizes)
        cost = None
        if self.allocation == "optimal-cost" and pool.cost is not None:
            cost = np.bincount(strata, pool.cost) / sizes
        return masses(sizes, spread, cost, floored=self.rounding == "unbiased")

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        if self.chances is not None:
            return self._draw_uneven(pool, self.chances, n, draws, rng)
        strata = strata_of(self.by, pool)
        sizes = np.bincount(strata)
        share = allocate(self._mass(pool, strata, sizes), sizes, n)
        if self.rounding == "printed":
            return draw_within(strata, sizes, nearest_counts(share, sizes, n), draws, rng)
        small = due_too_few(share, sizes)
        if not small.any():
            counts = nearest_counts(share, sizes, n, least=LEAST)
            return draw_within(strata, sizes, counts, draws, rng)
        if self.allocation == "proportional" and share[small].sum() >= LEAST - 1e-9:
            return self._draw_with_line(strata, share, small, n, draws, rng)
        merged = merge(share, sizes, small)[strata]
        share = np.asarray(np.bincount(merged, (share / sizes)[strata]), dtype=np.float64)
        sizes = np.bincount(merged)
        counts = nearest_counts(share, sizes, n, least=min(LEAST, int(share.min() + 1e-9) or 1))
        return draw_within(merged, sizes, counts, draws, rng)

    def _draw_uneven(
        self, pool: Pool, chances: Chances, n: int, draws: int, rng: Generator
    ) -> tuple[IntArray, Design]:
        """Sample strata separately in random order, or all along a line if some get too few."""
        strata = strata_of(self.by, pool)
        sizes = np.bincount(strata)
        inclusion = chances.inclusion(pool, n)
        share = np.asarray(np.bincount(strata, inclusion), dtype=np.float64)
        if due_too_few(share, sizes).any():
            return Systematic(by=self.by, chances=chances)._draw(pool, n, draws, rng)
        counts = nearest_counts(share, sizes, n, least=LEAST)
        inclusion = inclusion.copy()
        rows, sure = [], np.zeros(sizes.size, dtype=np.int64)
        for h, count in enumerate(counts.tolist()):
            own = np.flatnonzero(strata == h)
            inclusion[own] = capped(inclusion[own], count)
            order = rng.permuted(np.tile(own, (draws, 1)), axis=-1)
            chosen, sure[h] = along_line(order, inclusion, count, rng)
            rows.append(chosen)
        stratum = np.repeat(np.arange(sizes.size), counts)
        groups = collapse(stratum, (counts - sure).astype(np.float64), sizes - sure)
        # Segments taken with certainty have no sampling error: they form their own group.
        place = np.arange(n) - np.repeat(counts.cumsum() - counts, counts)
        groups = np.where(place < (counts - sure)[stratum], groups, 2 * sizes.size)
        every = np.concatenate(rows, -1)
        return every, uneven_design(DesignKind.UNEVEN, inclusion, every, groups)

    def _draw_with_line(
        self,
        strata: IntArray,
        share: FloatArray,
        small: BoolArray,
        n: int,
        draws: int,
        rng: Generator,
    ) -> tuple[IntArray, Design]:
        """Draw from large strata separately, and from small ones along a line in random order."""
        total = strata.size
        in_line = np.flatnonzero(small[strata])
        n_line = min(max(round(share[small].sum()), 1), in_line.size)
        codes = np.unique(strata[in_line], return_inverse=True)[1]
        order = in_line[shuffled(codes, draws, rng)]
        rows = np.take_along_axis(order, regular(in_line.size, n_line, draws, rng), axis=-1)
        line = line_design(n_line, in_line.size, total)
        if in_line.size == total:
            return rows, batch_design(line, draws)
        own = np.flatnonzero(~small[strata])
        codes = np.unique(strata[own], return_inverse=True)[1]
        sizes = np.bincount(codes)
        counts = nearest_counts(share[~small], sizes, n - n_line, least=LEAST)
        chosen, design = draw_within(codes, sizes, counts, draws, rng)
        both = joined_design(design.draw(0), line)
        return np.concatenate([own[chosen], rows], -1), batch_design(both, draws)

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        if self.chances is not None:
            return draw_in_phases(self, pool, n, rng)
        salt, size = salt_of(rng), len(pool)
        plain = self.allocation == "proportional" and self.rounding == "unbiased"
        if plain and not isinstance(self.by, ByMetric) and n < size:
            # Strata that get fewer than two go into a line. There may be millions of them, so none
            # is inspected here.
            least = ceil((LEAST - 1e-9) * size / n)
            column = column_of(self.by)
            large = pool._scan.groups(column, least)
            n_small = size - int(large.size.sum())
            if n_small * n / size >= LEAST - 1e-9:
                line = _Line(n, n_small, size, rng)
                found = pool._scan.line(column, salt, line.positions, least)
                rank = random_ranks(found.label, found.size, rng)
                drawn = Wanted(pool._scan.label(column), found.label, rank, found.size)
                every = np.arange(large.size.size)
                wanted, design = line.beside(large, every, large.size * n / size, drawn)
                return pool._rows(wanted, salt), design
        wanted, design = self._wanted(*self._shares(pool, n), n, size, rng)
        return pool._rows(wanted, salt), design

    def _shares(self, pool: StoredPool, n: int) -> tuple[Groups | MergedGroups, FloatArray]:
        """The strata of a pool on disk, and the allocation of each."""
        if callable(self.allocation):
            raise DesignError(
                "a custom allocation needs every segment in memory, and this pool is on disk. "
                "Use 'proportional', 'optimal' or 'optimal-cost'."
            )
        detailed = self.allocation != "proportional"
        groups: Groups | MergedGroups
        if isinstance(self.by, ByMetric):
            groups = bins_of(pool, self.by)
            sd, cost = pool._scan.spread_in(groups) if detailed else (None, None)
        else:
            groups = pool._scan.groups(column_of(self.by), detailed=detailed)
            sd, cost = groups.sd, groups.cost
        if detailed and sd is None:
            pool._scan.score(None)  # raises if there are no metrics
        if self.allocation != "optimal-cost":
            cost = None
        mass = masses(groups.size, sd, cost, floored=self.rounding == "unbiased")
        return groups, allocate(mass, groups.size, n)

    def _wanted(
        self, groups: Groups | MergedGroups, share: FloatArray, n: int, size: int,
        rng: Generator,
    ) -> tuple[Wanted, Design]:  # fmt: skip
        """The same choices as in `_draw`, for strata known by their sizes."""
        sizes = groups.size
        small = due_too_few(share, sizes)
        if self.rounding == "printed":
            counts = nearest_counts(share, sizes, n)
        elif not small.any():
            counts = nearest_counts(share, sizes, n, least=LEAST)
        elif self.allocation == "proportional" and share[small].sum() >= LEAST - 1e-9:
            line = _Line(n, int(sizes[small].sum()), size, rng)
            found = at_positions(groups, np.flatnonzero(small), line.positions, rng)
            return line.beside(groups, np.flatnonzero(~small), share, found)
        else:
            into = merge(share, sizes, small)
            share = np.asarray(np.bincount(into, share), dtype=np.float64)
            groups = groups.merged(into)
            least = min(LEAST, int(share.min() + 1e-9) or 1)
            counts = nearest_counts(share, groups.size, n, least=least)
        group = np.repeat(np.arange(counts.size), counts)
        return any_of(groups, group, rng), within_design(groups.size, counts)

    def _cost_stored(self, pool: StoredPool, n: int) -> tuple[float, float]:
        if self.allocation == "proportional":  # also with uneven chances
            return super()._cost_stored(pool, n)  # strata do not increase the variance
        groups, share = self._shares(pool, n)
        cost, sd = pool._scan.cost_in(groups)
        return float(share @ cost), float(share @ ((1 - share / groups.size) * sd**2))

    def _cost_moments(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        return self._cost_by_drawing(pool, cost, n)


def draw_within(
    strata: IntArray, sizes: IntArray, counts: IntArray, draws: int, rng: Generator
) -> tuple[IntArray, Design]:
    """Simple random samples of fixed ``counts`` in each stratum, strata one after the other."""
    order = np.argsort(strata + rng.random((draws, strata.size)), axis=-1)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    position = np.concatenate([start[h] + np.arange(c) for h, c in enumerate(counts)])
    return order[:, position], batch_design(within_design(sizes, counts), draws)


class _Line:
    """Small strata of a pool on disk, on a line in random order, sampled at regular intervals."""

    def __init__(self, n: int, n_small: int, size: int, rng: Generator) -> None:
        self.n, self.rng = n, rng
        n_line = min(max(round(n * n_small / size), 1), n_small)
        self.positions = regular(n_small, n_line, 1, rng)[0]
        self.design = line_design(n_line, n_small, size)

    def beside(
        self, groups: Groups | MergedGroups, large: IntArray, share: FloatArray, drawn: Wanted
    ) -> tuple[Wanted, Design]:
        """Append the segments ``drawn`` from the line to those of the ``large`` strata."""
        if not large.size:
            return drawn, self.design
        sizes = groups.size[large]
        counts = nearest_counts(share[large], sizes, self.n - self.design.n, least=LEAST)
        own = any_of(groups, np.repeat(large, counts), self.rng)
        return own.then(drawn), joined_design(within_design(sizes, counts), self.design)
