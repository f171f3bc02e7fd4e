"""Nearest neighbours as a control, for all draws at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import FloatArray, batches
from fewgold._neighbours import Nearest
from fewgold._validate import check_count
from fewgold.estimators._controls import Model, Predictions, cross_fit, equal_weights
from fewgold.estimators._knn_predict import BLOCK, MOST, bytes_needed, predictions
from fewgold.estimators._knn_sums import Studies
from fewgold.sample import Ratings
from fewgold.stored import Excerpt


@dataclass(frozen=True)
class KNN:
    """Mean of the k nearest rated segments in the space of standardised metrics.

    Where several are equally far, those that come first in the pool count.

    Parameters
    ----------
    k
        Neighbours; fewer where fewer are rated. 25 in Saldías et al. (2022).
    folds
        Cross-fitting folds. None predicts rated segments from themselves too, as printed.
    batch
        Draws of a simulation to work on at a time, at most. None takes as many as the processor's
        own memory holds. The result is the same; fewer are taken where working memory would
        exceed some 200 MB.
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
    def _told(self) -> tuple[str, ...]:
        """What signatures need not tell: the name does, or it has no say in the result."""
        return ("batch",) if self.folds is not None else ("batch", "folds")

    def predict(self, ratings: Ratings) -> Predictions:
        if isinstance(ratings.sample.pool, Excerpt):
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

        studies = Studies(
            sorted_by_row(sample.indices), sorted_by_row(ratings.scores), sorted_by_row(label),
            fresh, count, self.folds is not None,
        )  # fmt: skip
        nearest = Nearest(sample.pool.standardised(), tabled=len(rows) * n >= size)
        found = np.empty((4, *rows.shape))
        at_once = self.batch or BLOCK // (bytes_needed(n, count) * size)
        for part in batches(len(rows), min(at_once, MOST // (16 * count * size))):
            found[:, part] = predictions(studies.some(part), nearest, self.k)
        out = np.empty_like(found)
        np.put_along_axis(out, order[None], found, axis=-1)
        return Predictions(*out.reshape(4, *shape))

    def _fit(self, x: FloatArray, y: FloatArray) -> Model:
        """A model for pools that are not in memory; ties go by the order of drawing."""
        from scipy.spatial import cKDTree

        tree, k = cKDTree(x), min(self.k, len(y))

        def predict(other: FloatArray) -> FloatArray:
            near = tree.query(other, k=k, workers=-1)[1].reshape(len(other), k)
            return np.asarray(y[near].mean(-1))

        return predict
