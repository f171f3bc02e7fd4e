"""Stratified sampling, with strata too small for the budget handled without bias."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold._validate import check_choice
from fewgold.design import Design
from fewgold.pool import Pool
from fewgold.samplers._allocation import allocate, nearest_counts
from fewgold.samplers._base import Sampler, batch_design, shuffled
from fewgold.samplers._plan import (
    LEAST,
    joined_design,
    masses,
    merge,
    strata_of_share,
    within_design,
)
from fewgold.samplers._strata import ByDocument, Stratifier, strata_of
from fewgold.samplers._stratified_on_disk import draw_stratified, shares
from fewgold.samplers._systematic import line_design, regular
from fewgold.stored import Excerpt, MergedGroups, StoredPool

Allocation: TypeAlias = str | Callable[[Pool, IntArray], FloatArray]
_ALLOCATIONS = ("proportional", "optimal", "optimal-cost")


@dataclass(frozen=True)
class Stratified(Sampler):
    """Draw from every stratum: documents, metric bins, or any labels.

    Parameters
    ----------
    by
        How strata are made: `ByDocument`, `ByMetric`, `ByColumn` or a callable.
    allocation
        ``proportional`` to size; ``optimal`` (Neyman, by the standard deviation of the metrics in a
        stratum: Saldías et al. (2022), eq. 2, whose words say variance);
        ``optimal-cost`` (the same per unit of cost); or a callable that gives the mass of each
        stratum from the pool and the strata.
    rounding
        ``unbiased``: strata that are due fewer than two segments are pooled. Under proportional
        allocation they stand in a line in random order and every (N/n)-th segment is taken, so
        that each segment has the same chance; otherwise strata of similar rates are merged.
        ``printed``: whole numbers nearest to the allocation, as in Saldías et al. (2022). Strata
        may then get nothing, which biases the mean.
    """

    by: Stratifier = ByDocument()
    allocation: Allocation = "proportional"
    rounding: str = "unbiased"

    def __post_init__(self) -> None:
        if isinstance(self.allocation, str):
            check_choice("allocation", self.allocation, _ALLOCATIONS)
        check_choice("rounding", self.rounding, ("unbiased", "printed"))

    @property
    def name(self) -> str:
        by = getattr(self.by, "label", "strata")
        short = {"proportional": "prop", "optimal": "opt", "optimal-cost": "opt-cost"}
        how = short[self.allocation] if isinstance(self.allocation, str) else "own"
        return f"{by}-{how}" + ("-printed" if self.rounding == "printed" else "")

    def _mass(self, pool: Pool, strata: IntArray, sizes: IntArray) -> FloatArray:
        if self.allocation == "proportional":
            return masses(sizes, None, None, floored=True)
        if callable(self.allocation):
            return np.asarray(self.allocation(pool, strata), dtype=np.float64)
        spread = stratum_sd(pool.composite(), strata, sizes)
        cost = None
        if self.allocation == "optimal-cost" and pool.cost is not None:
            cost = np.bincount(strata, pool.cost) / sizes
        return masses(sizes, spread, cost, floored=self.rounding == "unbiased")

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        strata = strata_of(self.by, pool)
        sizes = np.bincount(strata)
        share = allocate(self._mass(pool, strata, sizes), sizes, n)
        if self.rounding == "printed":
            return draw_within(strata, sizes, nearest_counts(share, sizes, n), draws, rng)
        small = strata_of_share(share, sizes)
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

    def _draw_with_line(
        self,
        strata: IntArray,
        share: FloatArray,
        small: BoolArray,
        n: int,
        draws: int,
        rng: np.random.Generator,
    ) -> tuple[IntArray, Design]:
        """Large strata by themselves; the small ones in a line in random order."""
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

    def _draw_stored(
        self, pool: StoredPool, n: int, rng: np.random.Generator
    ) -> tuple[Excerpt, Design]:
        return draw_stratified(self, pool, n, rng)

    def _cost_stored(self, pool: StoredPool, n: int) -> tuple[float, float]:
        if self.allocation == "proportional":
            return super()._cost_stored(pool, n)  # strata do not make the variance larger
        groups, share = shares(self, pool, n)
        if isinstance(groups, MergedGroups):
            cost, sd = pool.cost_in(groups)
        else:
            assert groups.cost is not None and groups.cost_sd is not None
            cost, sd = groups.cost, groups.cost_sd
        return float(share @ cost), float(share @ ((1 - share / groups.size) * sd**2))

    def _cost_moments(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        return self._cost_by_drawing(pool, cost, n)


def stratum_sd(values: FloatArray, strata: IntArray, sizes: IntArray) -> FloatArray:
    """Standard deviation of ``values`` in each stratum (divisor N_h)."""
    mean = np.bincount(strata, values) / sizes
    return np.asarray(np.sqrt(np.bincount(strata, (values - mean[strata]) ** 2) / sizes))


def draw_within(
    strata: IntArray, sizes: IntArray, counts: IntArray, draws: int, rng: np.random.Generator
) -> tuple[IntArray, Design]:
    """Simple random samples of fixed ``counts`` in each stratum, strata one after the other."""
    order = np.argsort(strata + rng.random((draws, strata.size)), axis=-1)
    start = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    position = np.concatenate([start[h] + np.arange(c) for h, c in enumerate(counts)])
    return order[:, position], batch_design(within_design(sizes, counts), draws)
