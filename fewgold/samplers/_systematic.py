"""Systematic sampling over documents in random order: implicit stratification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import IntArray
from fewgold.design import Design, neighbours
from fewgold.errors import DesignError
from fewgold.pool import Pool
from fewgold.samplers._base import Sampler, batch_design, shuffled
from fewgold.samplers._on_disk import bins_in_line, column_of, ranks_in, turned
from fewgold.samplers._strata import ByDocument, ByMetric, Stratifier, strata_of
from fewgold.stored import Excerpt, StoredPool, Wanted, salt_of

# Neighbours on the line are compared in groups of this size to estimate the variance. Smaller
# groups follow documents more closely but leave fewer degrees of freedom.
NEIGHBOURS = 4


@dataclass(frozen=True)
class Systematic(Sampler):
    """Every (N/n)-th segment of the documents in random order.

    Each segment has the same chance, exactly n/N, and no document gets more than its due, rounded
    up or down, however small the budget. The variance is estimated from neighbours on the line:
    slightly too large, since no two segments of a small document can be seen together.

    Parameters
    ----------
    by
        What stands together on the line: documents, or any other strata.
    inside
        A metric to order the segments of a document by, so that those drawn from one document
        differ in it. The order starts at a random segment and comes round to it: were it the same
        everywhere, all documents could be hit at the same rank, and neighbours would not show it.
        Random order if None.
    """

    by: Stratifier = ByDocument()
    inside: str | None = None

    @property
    def name(self) -> str:
        by = getattr(self.by, "label", "strata")
        return f"{by}-sys" if self.inside is None else f"{by}-sys-{self.inside}"

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        within = None if self.inside is None else pool.matrix([self.inside])[0]
        order = shuffled(strata_of(self.by, pool), draws, rng, within, turned=True)
        size = len(pool)
        rows = np.take_along_axis(order, regular(size, n, draws, rng), axis=-1)
        return rows, batch_design(line_design(n, size, size), draws)

    def _draw_stored(
        self, pool: StoredPool, n: int, rng: np.random.Generator
    ) -> tuple[Excerpt, Design]:
        salt, size = salt_of(rng), len(pool)
        positions = regular(size, n, 1, rng)[0]
        design = line_design(n, size, size)
        if isinstance(self.by, ByMetric):
            if self.inside is not None:
                raise DesignError(
                    "bins of a metric on disk have no order inside. Leave out inside=, or take "
                    "documents."
                )
            return pool.rows(bins_in_line(pool, self.by, positions, rng), salt), design
        found = pool.line(column_of(self.by), salt, positions)
        by = pool.label(column_of(self.by))
        if self.inside is None:
            rank, order = ranks_in(found.label, found.size, rng), None
        else:
            turn = turned(found.label, found.size, rng)
            rank, order = (found.offset - turn) % found.size, pool.columns.metric(self.inside)
        return pool.rows(Wanted(by, found.label, rank, found.size), salt, order), design


def line_design(n: int, line: int, size: int) -> Design:
    """Every (line/n)-th of a line that holds ``line`` of ``size`` segments."""
    return Design(
        kind="systematic",
        size=size,
        weights=np.full(n, line / size / n),
        inclusion=np.full(n, n / line),
        groups=neighbours(n, NEIGHBOURS),
    )


def regular(size: int, n: int, draws: int, rng: np.random.Generator) -> IntArray:
    """Positions at regular distances after a random start: (draws, n)."""
    # In whole numbers, so that every position has a chance of exactly n/N.
    start = rng.integers(size, size=(draws, 1))
    return np.asarray((start + np.arange(n) * size) // n)
