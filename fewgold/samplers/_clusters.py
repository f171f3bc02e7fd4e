"""Whole documents, or chunks of consecutive segments, as the units that are drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray, IntArray, codes_of
from fewgold._validate import check_count
from fewgold.design import Design, neighbours
from fewgold.pool import Pool
from fewgold.samplers._base import Sampler, shuffled
from fewgold.samplers._systematic import NEIGHBOURS
from fewgold.stored import Excerpt, StoredPool, Wanted, salt_of


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
            kind="clusters",
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
            kind="clusters",
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
