"""Nearest rated neighbours, kept up to date rating by rating."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold._neighbours import squared_distances


class Neighbours:
    """The k nearest rated segments of every segment, for a batch of studies.

    A new rating is compared with the farthest neighbour so far, and only the segments that it
    comes nearer to are looked at again: N comparisons a rating, and ever fewer changes.
    """

    def __init__(self, points: FloatArray, k: int, draws: int) -> None:
        shape = (draws, points.shape[1])
        self.points, self.k, self.count = points, k, 0
        self._distance = np.zeros((*shape, k))
        self._score = np.zeros((*shape, k))
        # The neighbour to give way next, how far it is, and the sum of all neighbours' scores.
        self._slot = np.zeros(shape, dtype=np.int64)
        self._farthest = np.zeros(shape)
        self._total = np.zeros(shape)

    def add(self, rows: IntArray, scores: FloatArray) -> None:
        """One more rated segment in each study."""
        near = squared_distances(self.points[:, rows], self.points)
        if self.count < self.k:  # every segment has room for it
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
