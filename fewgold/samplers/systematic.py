"""Systematic sampling of segments, whole documents or chunks, over documents in random order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import md5
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.common.checks import check_count
from fewgold.design import Design, DesignKind, neighbours
from fewgold.errors import DesignError
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler, batch_design, shuffled
from fewgold.samplers.chances import Chances, uneven_design
from fewgold.samplers.phases import draw_in_phases
from fewgold.samplers.strata import (
    ByDocument,
    ByMetric,
    Stratifier,
    at_positions,
    bins_of,
    column_of,
    random_ranks,
    random_starts,
    strata_of,
)
from fewgold.stored import StoredPool
from fewgold.stored.groups import Wanted, salt_of

# Neighbours on the line are compared in groups of this size to estimate the variance. Smaller
# groups follow documents more closely but leave fewer degrees of freedom.
NEIGHBOURS = 4
# Length of a stretch of a document whose segments are taken to be alike when chunks are drawn.
_STRETCH = 8


@dataclass(frozen=True)
class Systematic(Sampler):
    """Every (N/n)-th segment of the documents in random order.

    Each segment has the same chance, exactly n/N, and every document gets its expected number,
    rounded up or down, however small the budget. The variance is estimated from neighbours on the
    line, minus the part due to documents, which are spread evenly (by a working model).

    Parameters
    ----------
    by
        What stays together on the line: documents, or any other strata.
    inside
        A metric to order the segments of a document by, so that those drawn from one document
        differ in it. The order starts at a random segment and wraps around: otherwise all documents
        could be hit at the same rank, and neighbours would not show it. None for random order.
    chances
        Uneven chances: a segment takes up as much of the line as its chance. None for equal
        chances.
    """

    by: Stratifier = ByDocument()
    inside: str | None = None
    chances: Chances | None = None

    @property
    def name(self) -> str:
        by = getattr(self.by, "label", "strata")
        inside = "" if self.inside is None else f"-{self.inside}"
        return f"{by}-sys{inside}" + ("" if self.chances is None else f"-{self.chances.name}")

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        within = None if self.inside is None else pool.matrix([self.inside])[0]
        order = shuffled(strata_of(self.by, pool), draws, rng, within, turned=True)
        if self.chances is not None:
            inclusion = self.chances.inclusion(pool, n)
            rows, certain = along_line(order, inclusion, n, rng)
            # One group, since a few neighbours with very different weights say little about each
            # other.
            groups = (np.arange(n) >= n - certain).astype(np.int64)
            design = uneven_design(DesignKind.SYSTEMATIC, inclusion, rows, groups)
        else:
            size = len(pool)
            rows = np.take_along_axis(order, regular(size, n, draws, rng), axis=-1)
            design = batch_design(line_design(n, size, size), draws)
        # An order within documents controls more than the model of documents accounts for.
        if isinstance(self.by, ByDocument) and self.inside is None:
            design = replace(design, **spread_documents(pool, rows))
        return rows, design

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        if self.chances is not None:
            return draw_in_phases(self, pool, n, rng)
        salt, size = salt_of(rng), len(pool)
        positions = regular(size, n, 1, rng)[0]
        design = line_design(n, size, size)
        if isinstance(self.by, ByMetric):
            if self.inside is not None:
                raise DesignError(
                    "bins of a metric on disk have no inner order. Leave out inside=, or use "
                    "documents."
                )
            bins = bins_of(pool, self.by)
            wanted = at_positions(bins, np.arange(bins.size.size), positions, rng)
            return pool._rows(wanted, salt), design
        found = pool._scan.line(column_of(self.by), salt, positions)
        if isinstance(self.by, ByDocument) and self.inside is None:
            design = replace(design, **_stored_documents(pool, found.label, found.size))
        by = pool._scan.label(column_of(self.by))
        if self.inside is None:
            rank, order = random_ranks(found.label, found.size, rng), None
        else:
            start = random_starts(found.label, found.size, rng)
            rank = (found.offset - start) % found.size
            order = pool._scan.columns.metric(self.inside)
        return pool._rows(Wanted(by, found.label, rank, found.size), salt, order), design


def line_design(n: int, line: int, size: int) -> Design:
    """Every (line/n)-th of a line that holds ``line`` of ``size`` segments."""
    return Design(
        kind=DesignKind.SYSTEMATIC,
        size=size,
        weights=np.full(n, line / size / n),
        inclusion=np.full(n, n / line),
        groups=neighbours(n, NEIGHBOURS),
    )


def spread_documents(pool: Pool, rows: IntArray, by_document: bool = True) -> dict[str, Any]:
    """What a `Design` needs to know about the documents of the drawn ``rows`` (..., n).

    If the sample was not spread over documents, every segment counts as its own document.
    """
    size = len(pool)
    codes, labels = np.arange(size), pool.ids
    if by_document:
        assert pool.documents is not None
        codes, labels = pool.codes, pool.documents
    share = np.bincount(codes) / size
    own = codes[rows]
    _, first, place = np.unique(own.ravel(), return_index=True, return_inverse=True)
    keys = _keys(labels[rows.ravel()[first]])[place].reshape(own.shape)
    concentration = float(np.square(share).sum())
    return {"documents": keys, "shares": share[own], "concentration": concentration}


def _stored_documents(pool: StoredPool, labels: NDArray[Any], sizes: IntArray) -> dict[str, Any]:
    """The same for a pool on disk, from the labels and sizes of the drawn documents: (n,) both."""
    size, count = pool._scan.sizes("document")
    return {
        "documents": _keys(labels),
        "shares": sizes / len(pool),
        "concentration": float((count * np.square(size / len(pool))).sum()),
    }


def _keys(labels: NDArray[Any]) -> IntArray:
    """A number for each label that is the same in every wave, whichever segments remain."""
    known = {label: md5(str(label).encode()).digest()[:6] for label in set(labels.tolist())}
    return np.array([int.from_bytes(known[label], "big") for label in labels.tolist()])


def regular(size: int, n: int, draws: int, rng: Generator) -> IntArray:
    """Positions at regular intervals after a random start: (draws, n)."""
    # Integer arithmetic, so that every position has a chance of exactly n/N.
    start = rng.integers(size, size=(draws, 1))
    return np.asarray((start + np.arange(n) * size) // n)


def along_line(
    order: IntArray, inclusion: FloatArray, n: int, rng: Generator
) -> tuple[IntArray, int]:
    """Rows hit by points at distance 1 on a line where each row is as long as its chance.

    ``order`` (draws, m) is the line of each draw, the same rows in each. Rows with a chance of 1
    are taken with certainty and come last: (draws, n), and how many they are.
    """
    draws, size = order.shape
    sure = inclusion >= 1 - 1e-12
    certain = np.sort(order[0][sure[order[0]]])
    left = n - certain.size
    last = np.broadcast_to(certain, (draws, certain.size))
    if not left:
        return np.array(last), int(certain.size)
    line = order[~sure[order]].reshape(draws, size - certain.size)
    ends = inclusion[line].cumsum(-1)
    ends *= left / ends[:, -1:]  # a whole number up to rounding errors
    points = rng.random((draws, 1)) + np.arange(left)
    hit = np.stack([np.searchsorted(e, p, side="right") for e, p in zip(ends, points, strict=True)])
    rows = np.take_along_axis(line, np.minimum(hit, line.shape[-1] - 1), axis=-1)
    return np.concatenate([rows, last], -1), int(certain.size)


@dataclass(frozen=True)
class Clusters(Sampler):
    """Consecutive segments of documents, for raters who need the context.

    The documents are put on a circle in random order, and a pattern of n positions is turned by a
    random angle: one stretch for whole documents, evenly spaced stretches for chunks. So every
    segment has the same chance n/N and the budget is met exactly; the drawback is that a stretch
    may end inside a document: at most two whole documents are cut short, and a chunk may run on
    into the next document.

    Whole units are drawn, so the variance compares units, not their segments.

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

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        size, codes = len(pool), pool.codes
        circle = shuffled(codes, draws, rng, within=np.arange(size, dtype=np.float64))
        pattern, chunk = _pattern(size, n, self.size or n)
        turn = rng.integers(size, size=(draws, 1))
        rows = np.take_along_axis(circle, (pattern + turn) % size, axis=-1)
        design = self._design(codes[rows], chunk, size)
        if self.size is None:
            return rows, design
        sizes = np.bincount(codes)
        rank = np.empty(size, dtype=np.int64)
        line = np.argsort(codes, kind="stable")
        rank[line] = np.arange(size) - (np.cumsum(sizes) - sizes)[codes[line]]
        return rows, replace(design, **_stretches(codes, rank, sizes, rows))

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        salt, size = salt_of(rng), len(pool)
        pattern, chunk = _pattern(size, n, self.size or n)
        found = pool._scan.line("document", salt, (pattern + int(rng.integers(size))) % size)
        wanted = Wanted(pool._scan.label("document"), found.label, found.offset, found.size)
        part = pool._rows(wanted, salt, "id_" if pool._scan.columns.order is None else "order_")
        return part, self._design(codes_of(found.label)[None], chunk, size).draw(0)

    def _design(self, documents: IntArray, chunk: IntArray, size: int) -> Design:
        """The design of segments (draws, n) in chunks (n,), with their documents."""
        if self.size is None:
            units = np.stack([codes_of(own) for own in documents])
            groups = np.zeros_like(units)
        else:
            units = np.broadcast_to(chunk, documents.shape)
            groups = neighbours(int(chunk[-1]) + 1, NEIGHBOURS)[units]
        n = chunk.size
        return Design(
            kind=DesignKind.CLUSTERS,
            size=size,
            weights=np.full(units.shape, 1 / n),
            inclusion=np.full(units.shape, n / size),
            groups=groups,
            units=units,
        )

    def _cost_stored(self, pool: StoredPool, n: int) -> tuple[float, float]:
        mean, size = float(pool._scan.moments.mean[-1]), len(pool)
        documents = n / (size / pool.n_documents)
        return n * mean, documents * (1 - n / size) * pool._scan.document_cost_variance

    def _cost_moments(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        return self._cost_by_drawing(pool, cost, n)


def _stretches(codes: IntArray, rank: IntArray, sizes: IntArray, rows: IntArray) -> dict[str, Any]:
    """What a `Design` needs to know about the surroundings of chunks: stretches of documents.

    Segments that are near each other are more alike than those at two ends of a long document,
    and chunks at regular intervals are spread over stretches as they are over documents.
    """
    count = np.maximum(np.rint(sizes / _STRETCH).astype(np.int64), 1)
    stretch = (np.cumsum(count) - count)[codes] + rank * count[codes] // sizes[codes]
    share = np.bincount(stretch) / codes.size
    own, concentration = stretch[rows], float(np.square(share).sum())
    return {"documents": own, "shares": share[own], "concentration": concentration}


def _pattern(size: int, n: int, chunk: int) -> tuple[IntArray, IntArray]:
    """Positions of n segments in evenly spaced stretches of ``chunk``, and the stretch of each."""
    which = np.arange(n) // chunk
    count = int(which[-1]) + 1
    gap = which * (size - n) // count
    return np.arange(n) + gap, which
