"""Systematic sampling over documents in random order: implicit stratification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray, IntArray, codes_of
from fewgold._validate import check_count
from fewgold.design import Design, DesignKind, neighbours
from fewgold.errors import DesignError
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler, batch_design, shuffled
from fewgold.samplers.strata import ByDocument, ByMetric, Stratifier, strata_of
from fewgold.stored import Excerpt, StoredPool
from fewgold.stored.groups import Wanted, salt_of

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
        from fewgold.samplers.on_disk import bins_in_line, column_of, ranks_in, turned

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
        kind=DesignKind.SYSTEMATIC,
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


# Whole documents, or chunks of consecutive segments, as the units that are drawn.


@dataclass(frozen=True)
class Clusters(Sampler):
    """Segments that stand together in their documents, for raters who need the context.

    The documents stand in a circle in random order, and a pattern of n positions is turned by a
    random angle: one stretch for whole documents, evenly spaced stretches for chunks. So every
    segment has the same chance n/N and the budget is met to the segment; the price is that a
    stretch may end inside a document: at most two whole documents are cut short, and a chunk may
    run on into the next document.

    The units are what varies, so the variance compares them, not their segments.

    Parameters
    ----------
    size
        Consecutive segments in a chunk; None for whole documents.
    """

    size: int | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            check_count("size", self.size)

    @property
    def name(self) -> str:
        return "docs-whole" if self.size is None else f"docs-chunks{self.size}"

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        size, codes = len(pool), pool.codes
        circle = shuffled(codes, draws, rng, within=np.arange(size, dtype=np.float64))
        pattern, chunk = _pattern(size, n, self.size or n)
        turn = rng.integers(size, size=(draws, 1))
        rows = np.take_along_axis(circle, (pattern + turn) % size, axis=-1)
        if self.size is None:
            units, groups = _relabel(codes[rows]), np.zeros_like(rows)
        else:
            units = np.broadcast_to(chunk, rows.shape)
            groups = neighbours(int(chunk[-1]) + 1, NEIGHBOURS)[units]
        design = Design(
            kind=DesignKind.CLUSTERS,
            size=size,
            weights=np.full(rows.shape, 1 / n),
            inclusion=np.full(rows.shape, n / size),
            groups=groups,
            units=units,
        )
        return rows, design

    def _draw_stored(
        self, pool: StoredPool, n: int, rng: np.random.Generator
    ) -> tuple[Excerpt, Design]:
        salt, size = salt_of(rng), len(pool)
        pattern, chunk = _pattern(size, n, self.size or n)
        found = pool.line("document", salt, (pattern + int(rng.integers(size))) % size)
        wanted = Wanted(pool.label("document"), found.label, found.offset, found.size)
        part = pool.rows(wanted, salt, "id_" if pool.columns.order is None else "order_")
        units = chunk
        groups = neighbours(int(chunk[-1]) + 1, NEIGHBOURS)[units]
        if self.size is None:
            units = _relabel(codes_of(found.label)[None])[0]
            groups = np.zeros(n, dtype=np.int64)
        return part, Design(
            kind=DesignKind.CLUSTERS,
            size=size,
            weights=np.full(n, 1 / n),
            inclusion=np.full(n, n / size),
            groups=groups,
            units=units,
        )

    def _cost_stored(self, pool: StoredPool, n: int) -> tuple[float, float]:
        mean, size = float(pool.moments.mean[-1]), len(pool)
        documents = n / (size / pool.n_documents)
        return n * mean, documents * (1 - n / size) * pool.document_cost_variance

    def _cost_moments(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        return self._cost_by_drawing(pool, cost, n)


def _pattern(size: int, n: int, chunk: int) -> tuple[IntArray, IntArray]:
    """Positions of n segments in evenly spaced stretches of ``chunk``, and the stretch of each."""
    which = np.arange(n) // chunk
    count = int(which[-1]) + 1
    gap = which * (size - n) // count
    return np.arange(n) + gap, which


def _relabel(labels: IntArray) -> IntArray:
    """Labels 0, 1, … in order of appearance along the last axis."""
    out = np.empty_like(labels)
    for k, row in enumerate(labels):
        seen: dict[int, int] = {}
        out[k] = [seen.setdefault(int(v), len(seen)) for v in row]
    return out
