"""Nearest rated neighbours in metric space, kept up to date as ratings come in."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray


def squared_distances(points: FloatArray, others: FloatArray) -> FloatArray:
    """Squared Euclidean distances between columns of (p, m) and (p, n): (m, n)."""
    # |x|² + |y|² − 2xy: one matrix product instead of a pass a metric.
    lengths = (points**2).sum(0)[:, None] + (others**2).sum(0)
    return np.asarray(lengths - 2.0 * (points.T @ others))


class NearestRated:
    """The k nearest rated segments of every segment, for a batch of studies.

    A new rating is compared with the farthest neighbour so far, so that adding one costs N·k and
    not N·n.
    """

    def __init__(self, points: FloatArray, k: int, draws: int) -> None:
        self.points, self.count = points, 0
        size = points.shape[1]
        self.distance = np.full((draws, size, k), np.inf)
        self.score = np.zeros((draws, size, k))

    def add(self, rows: IntArray, scores: FloatArray) -> None:
        """One more rated segment in each study."""
        near = squared_distances(self.points[:, rows], self.points)
        worst = self.distance.argmax(-1)
        farthest = np.take_along_axis(self.distance, worst[..., None], -1)[..., 0]
        study, segment = np.nonzero(near < farthest)
        slot = worst[study, segment]
        self.distance[study, segment, slot] = near[study, segment]
        self.score[study, segment, slot] = scores[study]
        self.count += 1

    def predictions(self) -> FloatArray:
        """Mean score of the k nearest rated segments (fewer while fewer are rated): (draws, N)."""
        known = np.isfinite(self.distance)
        total = np.where(known, self.score, 0.0).sum(-1)
        return np.asarray(total / np.maximum(known.sum(-1), 1))
