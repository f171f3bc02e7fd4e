"""Nearest rated neighbours in metric space.

Segments are ordered by their distance, ties by row number. That order depends only on the pool, so
no result depends on which draws or segments are processed together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray, IntArray, batches

# Up to this many segments, the ranks of all pairs are cached: 32 MB for the largest table.
_TABLE = 4096
# Number of tables to keep, for the most recently used pools.
_TABLES = 4
# Distances to hold at a time: few enough for the processor's cache.
_CELLS = 1 << 17


class Nearest:
    """The rated segments nearest to each segment, by the metrics of all segments: (p, N).

    ``tabled`` looks up ranks in a table of all pairs, which pays for many draws from a small pool.
    """

    def __init__(self, points: FloatArray, *, tabled: bool) -> None:
        self.points, self.size = points, points.shape[1]
        self._tabled = tabled and self.size <= _TABLE
        # By value, so that a pool sent to a worker twice still counts as the same pool.
        self._ranks = _ranks(points.tobytes(), len(points)) if self._tabled else None

    def among(self, rows: IntArray, part: slice, first: int | None = None) -> NDArray[Any]:
        """Positions in ``rows`` (draws, n; ascending), nearest first: (draws, segments, n).

        ``part`` selects the segments of the pool, ``first`` limits the number of neighbours
        returned.
        """
        rows = np.atleast_2d(rows)
        n = rows.shape[-1]
        first = n if first is None else first
        looked_at = self._enough(n, first)
        if self._tabled and 2 * looked_at <= n:
            return self._along(rows, part, first, looked_at)
        return self._sorted(rows, part)[..., :first]

    def _enough(self, n: int, first: int) -> int:
        """Neighbours to look at so that nearly always ``first`` of them are rated."""
        share = n / self.size
        return min(int((first + 5 * np.sqrt(first * (1 - share))) / share) + 10, int(self.size))

    def _along(self, rows: IntArray, part: slice, first: int, looked_at: int) -> NDArray[Any]:
        """Search from near to far, which is fast if many segments are rated."""
        order = _order(self.points.tobytes(), len(self.points))[part, :looked_at]
        draws, n = rows.shape
        found = np.empty((draws, len(order), first), dtype=np.int32)
        number = np.empty(self.size, dtype=np.int32)
        for out, row in zip(found, rows, strict=True):
            number.fill(-1)
            number[row] = np.arange(n, dtype=np.int32)
            met = number[order]
            rated = met >= 0
            count = np.cumsum(rated, axis=-1, dtype=np.int32)
            line, step = np.nonzero(rated & (count <= first))
            out[line, count[line, step] - 1] = met[line, step]
            short = np.flatnonzero(count[:, -1] < first)
            if short.size:
                start = part.indices(self.size)[0]
                for segment in short.tolist():
                    one = slice(start + segment, start + segment + 1)
                    out[segment] = self._sorted(row[None], one)[0, 0, :first]
        return found

    def _sorted(self, rows: IntArray, part: slice) -> NDArray[Any]:
        draws, n = rows.shape
        wide = range(self.size)[part]
        bits = (n - 1).bit_length()
        if self._ranks is None:
            keys: NDArray[Any] = np.empty((draws, len(wide), n), dtype=np.int64)
            for key, row in zip(keys, rows, strict=True):
                others = self.points[:, row]
                for some in batches(len(wide), _CELLS // n):
                    key[some] = _keys(self.points[:, part][:, some], others, self.size)
        else:
            keys = np.empty((draws, len(wide), n), dtype=np.int32)
            for key, row in zip(keys, rows, strict=True):
                np.left_shift(self._ranks[row, part].T, bits, out=key, dtype=np.int32)
            keys |= np.arange(n, dtype=np.int32)
        # A key includes the number of the rated segment, so a single integer sort is enough.
        keys.sort(axis=-1)
        keys &= (1 << bits) - 1
        return keys


@lru_cache(maxsize=_TABLES)
def _order(metrics: bytes, p: int) -> NDArray[np.uint16]:
    """Neighbours of segment i from near to far, in row i: (N, N)."""
    ranks = _ranks(metrics, p)
    table = np.empty_like(ranks)
    numbers = np.arange(len(ranks), dtype=np.uint16)[:, None]
    np.put_along_axis(table.T, ranks, np.broadcast_to(numbers, ranks.shape), axis=0)
    return table


@lru_cache(maxsize=_TABLES)
def _ranks(metrics: bytes, p: int) -> NDArray[np.uint16]:
    """Rank of segment j among the neighbours of segment i, in row j and column i: (N, N)."""
    points = np.frombuffer(metrics).reshape(p, -1)
    size = points.shape[1]
    table = np.empty((size, size), dtype=np.uint16)
    rank = np.arange(size, dtype=np.uint16)[None]
    for part in batches(size, _CELLS // size):
        order = _keys(points[:, part], points, size)
        order.sort(axis=-1)
        order &= (1 << (size - 1).bit_length()) - 1
        block = np.empty(order.shape, dtype=np.uint16)
        np.put_along_axis(block, order, rank, axis=-1)
        table[:, part] = block.T
    return table


def _keys(points: FloatArray, others: FloatArray, size: int) -> IntArray:
    """Integer keys of distances from (p, m) to (p, n), with the other's number at the end: (m, n).

    The bits of a nonnegative float sort like the float itself. As many of the last bits are dropped
    as a row number of the pool takes up: a distance keeps about 13 of its 16 digits, and ties do
    not depend on how many segments are rated.
    """
    total = np.zeros((points.shape[1], others.shape[1]))
    gap = np.empty_like(total)
    # Metric by metric rather than by a matrix product, whose rounding depends on the shape.
    for mine, their in zip(points, others, strict=True):
        np.subtract(mine[:, None], their, out=gap)
        np.square(gap, out=gap)
        total += gap
    keys = total.view(np.int64)
    cut = (1 << (size - 1).bit_length()) - 1
    keys += cut // 2
    keys &= ~cut
    keys |= np.arange(others.shape[1])
    return keys


class Neighbours:
    """The k nearest rated segments of every segment, for a batch of studies.

    A new rating is compared with each segment's farthest neighbour so far, and only segments to
    which it is nearer are updated: N comparisons per rating, and fewer and fewer changes.
    """

    def __init__(self, points: FloatArray, k: int, draws: int) -> None:
        shape = (draws, points.shape[1])
        self.points, self.k, self.count = points, k, 0
        self._distance = np.zeros((*shape, k))
        self._score = np.zeros((*shape, k))
        # The neighbour to replace next, its distance, and the sum of all neighbours' scores.
        self._slot = np.zeros(shape, dtype=np.int64)
        self._farthest = np.zeros(shape)
        self._total = np.zeros(shape)

    def add(self, rows: IntArray, scores: FloatArray) -> None:
        """Add one more rated segment to each study."""
        # Squared distances as |x|² + |y|² − 2xy: one matrix product instead of a pass per metric.
        new = self.points[:, rows]
        lengths = (new**2).sum(0)[:, None] + (self.points**2).sum(0)
        near = lengths - 2.0 * (new.T @ self.points)
        if self.count < self.k:  # neighbours are not full yet
            self._distance[..., self.count] = near
            self._score[..., self.count] = scores[:, None]
            self._total += scores[:, None]
            self.count += 1
            if self.count == self.k:
                self._slot = self._distance.argmax(-1)
                self._farthest = self._distance.max(-1)
            return
        study, segment = np.nonzero(near < self._farthest)
        slot = self._slot[study, segment]
        self._distance[study, segment, slot] = near[study, segment]
        self._score[study, segment, slot] = scores[study]
        distance = self._distance[study, segment]
        slot = distance.argmax(-1)
        self._slot[study, segment] = slot
        self._farthest[study, segment] = distance[np.arange(slot.size), slot]
        self._total[study, segment] = self._score[study, segment].sum(-1)
        self.count += 1

    def predictions(self) -> FloatArray:
        """Mean score of the k nearest rated segments (fewer while fewer are rated): (draws, N)."""
        return np.asarray(self._total / max(min(self.count, self.k), 1))
