"""Sampling enough of every slice: a sampler per value of a column, and one design for all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.common.checks import check_count
from fewgold.design import Design, DesignKind
from fewgold.errors import BudgetError
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler
from fewgold.samplers.simple import SimpleRandom
from fewgold.samplers.strata import Stratifier, strata_of
from fewgold.samplers.stratified import allocate, nearest_counts


@dataclass(frozen=True)
class WithinSlices(Sampler):
    """Draw separately from each slice, at least ``per_slice`` segments each.

    The budget is allocated in proportion to the sizes of the slices; a slice that would get fewer
    than ``per_slice`` gets that many, or all it has. Weights correct for this, so the mean of the
    whole pool stays unbiased.

    Parameters
    ----------
    by
        Labels of the segments of a pool, such as ``ByColumn("language")``.
    sampler
        The sampler used within each slice.
    per_slice
        Fewest segments per slice.
    """

    by: Stratifier
    sampler: Sampler = SimpleRandom()
    per_slice: int = 30

    def __post_init__(self) -> None:
        check_count("per_slice", self.per_slice, least=2)

    @property
    def name(self) -> str:
        column = getattr(self.by, "column", None) or getattr(self.by, "label", "slices")
        return f"{self.sampler.name}-by-{column}-{self.per_slice}"

    def counts(self, sizes: IntArray, n: int) -> IntArray:
        """The number of segments to draw from slices of these sizes."""
        least = np.minimum(self.per_slice, sizes)
        if least.sum() > n:
            raise BudgetError(
                f"{self.per_slice} segments from each of {sizes.size} slices make {least.sum()}, "
                f"but the budget is {n}.",
                hints={
                    "python": "Raise the budget, or ask for fewer per slice (per_slice=…).",
                    "cli": "Raise the budget, or ask for fewer per slice with --per-slice.",
                },
            )
        held = np.zeros(sizes.size, dtype=bool)
        while True:  # those below the minimum get the minimum, and the others share the rest
            free = ~held
            share = np.where(held, least, 0).astype(np.float64)
            if free.any():
                rest = n - int(least[held].sum())
                share[free] = allocate(sizes[free].astype(np.float64), sizes[free], rest)
            low = free & (share < least)
            if not low.any():
                break
            held |= low
        found = least.astype(np.int64)
        free = ~held
        if free.any():
            rest = n - int(least[held].sum())
            found[free] = nearest_counts(share[free], sizes[free], rest)
        return found

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        codes = strata_of(self.by, pool)
        sizes = np.bincount(codes)
        counts = self.counts(sizes, n)
        rows, designs = [], []
        for k, count in enumerate(counts.tolist()):
            if not count:
                continue
            own = np.flatnonzero(codes == k)
            chosen, design = self.sampler._draw(pool.take(own), count, draws, rng)
            rows.append(own[chosen])
            designs.append(design)
        every = np.concatenate(rows, -1)
        return every, _joined(pool, every, designs)

    def _cost_moments(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        return self._cost_by_drawing(pool, cost, n)


def _joined(pool: Pool, rows: IntArray, designs: list[Design]) -> Design:
    """Join the designs of samples from parts that together make up the pool."""
    size, join = len(pool), np.concatenate
    shift = np.cumsum([0, *(d._n_groups for d in designs)])
    parts: dict[str, Any] = {
        "weights": join([d.weights * d.size / size for d in designs], -1),
        "influence": join([d.influence * d.size / size for d in designs], -1),
        "inclusion": join([d.inclusion for d in designs], -1),
        "groups": join([d.groups + k for d, k in zip(designs, shift, strict=False)], -1),
    }
    if all(d.units is not None for d in designs):
        units = [np.asarray(d.units) for d in designs]
        first = np.cumsum([0, *(int(u.max()) + 1 for u in units)])
        parts["units"] = join([u + k for u, k in zip(units, first, strict=False)], -1)
    if any(d.balance is not None for d in designs):
        parts["balance"] = _blocks(designs)
    kind = designs[0].kind if len({d.kind for d in designs}) == 1 else DesignKind.OTHER
    if kind == DesignKind.SIMPLE:
        kind = DesignKind.STRATIFIED
    if all(d.documents is not None for d in designs):
        # Documents have the same key in every part; their shares are those of the whole pool.
        own = np.arange(size) if pool.documents is None else pool.codes
        share = np.bincount(own) / size
        parts |= {
            "documents": join([np.asarray(d.documents) for d in designs], -1),
            "shares": share[own[rows]],
            "concentration": float(np.square(share).sum()),
        }
    return replace(
        Design(kind, size, parts["weights"], parts["inclusion"], parts["groups"]),
        **parts,
        unbiased=all(d.unbiased for d in designs),
    )


def _blocks(designs: list[Design]) -> FloatArray:
    """Variates of each part, 0 in the others: (draws, p, n)."""
    batch, n = designs[0].weights.shape[:-1], sum(d.n for d in designs)
    rows, start = [], 0
    for design in designs:
        if design.balance is not None:
            wide = np.zeros((*batch, design.balance.shape[-2], n))
            wide[..., start : start + design.n] = design.balance
            rows.append(wide)
        start += design.n
    return np.concatenate(rows, -2)


@dataclass(frozen=True)
class ByLabels:
    """Labels by id, such as those of a column that the pool itself does not keep."""

    column: str
    labels: dict[str, str]

    def __call__(self, pool: Pool) -> IntArray:
        return codes_of(np.array([self.labels[str(i)] for i in pool.ids.tolist()]))
