"""Nearest neighbours as a control, for all draws and folds at once.

Neighbours are visited from near to far, and each fold uses the first k in its training set.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, batches
from fewgold.common.checks import check_count
from fewgold.common.neighbours import Nearest
from fewgold.estimators.crossfit import Control, Model, Predictions, cross_fit, equal_weights
from fewgold.sample import Ratings

# Working memory in bytes: the default, and the most for a batch size set by the user.
BLOCK, MOST = 1 << 24, 1 << 27


@dataclass(frozen=True)
class KNN(Control):
    """Mean of the k nearest rated segments in the space of standardised metrics.

    Ties are resolved by the order in the pool.

    Parameters
    ----------
    k
        Number of neighbours; fewer if fewer are rated. 25 in Saldías et al. (2022).
    folds
        Cross-fitting folds. None predicts rated segments from themselves too, as printed.
    batch
        Largest number of draws of a simulation to process at a time. None takes as many as fit in
        the processor's cache. The result is the same; fewer are taken if working memory would
        exceed about 200 MB.
    """

    k: int = 25
    folds: int | None = 5
    batch: int | None = None

    def __post_init__(self) -> None:
        check_count("k", self.k)
        if self.folds is not None:
            check_count("folds", self.folds, least=2)
        if self.batch is not None:
            check_count("batch", self.batch)

    @property
    def name(self) -> str:
        return "knn" if self.folds is not None else "knn-printed"

    @property
    def _named_fields(self) -> tuple[str, ...]:
        """Fields that signatures omit: already in the name, or without influence on the result."""
        return ("batch",) if self.folds is not None else ("batch", "folds")

    def predict(self, ratings: Ratings) -> Predictions:
        if not ratings.sample.pool._rows_in_memory:
            return cross_fit(ratings, self.folds, self._fit)
        sample, shape = ratings.sample, ratings.scores.shape
        n, size = shape[-1], len(sample.pool)
        rows = sample.indices.reshape(-1, n)
        order = np.argsort(rows, axis=-1)  # ascending, so that ties go by row number
        if self.folds is None:  # one fold that holds nothing out
            count, label, fresh = 1, np.zeros(shape, dtype=np.int64), np.zeros(len(rows), bool)
        else:
            count = max(min(self.folds, n // 2), 1)
            label, fresh = sample.folds(count), equal_weights(ratings).ravel()

        def sorted_by_row(values: NDArray[Any]) -> NDArray[Any]:
            flat = np.broadcast_to(values, shape).reshape(-1, n)
            return np.take_along_axis(flat, order, axis=-1)

        rated = RatedBatch(
            sorted_by_row(sample.indices), sorted_by_row(ratings.scores), sorted_by_row(label),
            fresh, count, self.folds is not None,
        )  # fmt: skip
        nearest = Nearest(sample.pool.standardised(), tabled=len(rows) * n >= size)
        found = np.empty((4, *rows.shape))
        at_once = self.batch or BLOCK // (bytes_needed(n, count) * size)
        for part in batches(len(rows), min(at_once, MOST // (16 * count * size))):
            found[:, part] = predictions(rated.some(part), nearest, self.k)
        out = np.empty_like(found)
        np.put_along_axis(out, order[None], found, axis=-1)
        return Predictions(*out.reshape(4, *shape))

    def centred_over(self, ratings: Ratings, weights: FloatArray) -> FloatArray:
        """Predictions minus their mean over the pool with these weights (N,): (n,)."""
        found = cross_fit(ratings, self.folds, self._fit, weights)
        return found.at - found.centre

    def _fit(self, x: FloatArray, y: FloatArray) -> Model:
        """A model for pools that are not in memory; ties are resolved by the order of drawing."""
        from scipy.spatial import cKDTree

        tree, k = cKDTree(x), min(self.k, len(y))

        def predict(other: FloatArray) -> FloatArray:
            near = tree.query(other, k=k, workers=-1)[1].reshape(len(other), k)
            return np.asarray(y[near].mean(-1))

        return predict


class RatedBatch(NamedTuple):
    """A batch of draws, each in ascending order of rows.

    ``label`` (draws, n) is the fold of each rating, one of ``folds``. ``fresh`` (draws,) marks
    draws whose mean predictions leave out the training folds. Without ``held`` all ratings train
    all folds.
    """

    rows: IntArray
    y: FloatArray
    label: IntArray
    fresh: BoolArray
    folds: int
    held: bool

    def some(self, part: slice) -> RatedBatch:
        return self._replace(
            rows=self.rows[part], y=self.y[part], label=self.label[part], fresh=self.fresh[part]
        )

    @property
    def trains(self) -> BoolArray:
        """Whether a rating belongs to the training set of a fold: (folds, draws, n)."""
        fold = np.arange(self.folds)[:, None, None]
        return np.asarray((self.label != fold) | (not self.held))


def nearest_sums(nearest: Nearest, part: slice, batch: RatedBatch, need: IntArray) -> FloatArray:
    """Sums of the first ``need`` scores that train each fold: (folds, draws, segments)."""
    draws, n = batch.rows.shape
    folds, start = len(need), part.start
    enough = _steps(n, int(need.max()), float(batch.trains.mean(-1).min()))
    near = nearest.among(batch.rows, part, enough)
    segments = near.shape[1]
    found = _NeighbourSums(
        first=n * np.repeat(np.arange(draws), segments),
        y=batch.y.ravel(),
        label=(batch.label if batch.held else batch.label - 1).ravel().astype(np.int32),
        left=np.repeat(need, segments, axis=-1).astype(np.int32),
        sums=np.zeros((folds, draws * segments)),
    )
    found.go(near.reshape(-1, enough), int(need.min()))
    short = np.flatnonzero((found.left > 0).any(0))
    if short.size:  # a few need more than most
        rest = found.only(short)
        lines = np.empty((short.size, n - enough), dtype=near.dtype)
        for line, (draw, segment) in zip(
            lines, zip(*divmod(short, segments), strict=True), strict=True
        ):
            one = slice(start + int(segment), start + int(segment) + 1)
            line[:] = nearest.among(batch.rows[draw], one)[0, 0, enough:]
        rest.go(lines, 0)
        found.sums[:, short] = rest.sums
    return found.sums.reshape(folds, draws, segments)


def _steps(n: int, k: int, share: float) -> int:
    """Ratings to visit so that nearly every segment finds k in its training set."""
    least = max(share, 1 / n)
    return min(n, ceil((k + 3 * sqrt(k * (1 - least))) / least) + 2)


class _NeighbourSums(NamedTuple):
    """Sums over neighbours from near to far, for m pairs of a draw and a segment.

    ``first`` (m,) is where the ratings of the draw begin in ``y`` and ``label``. ``left`` and
    ``sums`` (folds, m) say how many more scores a fold needs, and their sum so far.
    """

    first: IntArray
    y: FloatArray
    label: NDArray[np.int32]
    left: NDArray[np.int32]
    sums: FloatArray

    def only(self, some: IntArray) -> _NeighbourSums:
        return self._replace(
            first=self.first[some], left=self.left[:, some], sums=self.sums[:, some]
        )

    def go(self, near: NDArray[Any], free: int) -> None:
        """Add the scores of ``near`` (m, steps); no fold has enough before step ``free``."""
        fold = np.arange(len(self.sums), dtype=np.int32)[:, None]
        part = np.empty_like(self.sums)
        for step, position in enumerate(np.ascontiguousarray(near.T)):
            if step % 32 == 31 and not self.left.any():
                return
            at = self.first + position
            takes = self.label[at] != fold
            if step >= free:
                takes &= self.left > 0
            np.subtract(self.left, takes, out=self.left)
            np.add(self.sums, np.multiply(takes, self.y[at], out=part), out=self.sums)


def bytes_needed(n: int, folds: int) -> int:
    """Bytes for each segment of the pool and draw: sorted keys, then sums and counts by fold."""
    return 16 * n + 32 * folds


def predictions(batch: RatedBatch, nearest: Nearest, k: int) -> FloatArray:
    """Centre, prediction, spread and share of each rating: (4, draws, n)."""
    rows, label, size = batch.rows, batch.label, nearest.size
    trains = batch.trains
    trained = trains.sum(-1)
    need = np.minimum(k, trained)
    everywhere = np.empty((*trained.shape, size))
    wide = MOST // (bytes_needed(rows.shape[-1], batch.folds) * len(rows))
    for part in batches(size, wide):
        everywhere[..., part] = nearest_sums(nearest, part, batch, need)
    everywhere /= np.maximum(need, 1)[..., None]
    rated = np.take_along_axis(everywhere, rows[None], axis=-1)
    spread = everywhere.std(-1)
    # Leave out what a fold was trained on, where that makes the estimate unbiased (`cross_fit`).
    left_out = trains & batch.fresh[:, None]
    np.put_along_axis(everywhere, rows[None], np.where(left_out, 0.0, rated), axis=-1)
    outside = size - left_out.sum(-1)
    centre = everywhere.sum(-1) / np.maximum(outside, 1)
    share = np.where(trained > 0, outside / size, 0.0)
    of_fold = np.stack([centre, spread, share]).swapaxes(-1, -2)  # (3, draws, folds)
    centre, spread, share = np.take_along_axis(of_fold, label[None], axis=-1)
    at = np.take_along_axis(rated, label[None], axis=0)[0]
    return np.stack([centre, at, spread, share])
