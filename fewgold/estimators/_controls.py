"""Models that predict human scores from metrics, for the learned estimators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold._validate import check_count
from fewgold.sample import Ratings


class Predictions(NamedTuple):
    """What a control foretells.

    Attributes
    ----------
    centre
        (..., n) mean prediction by the model that predicts the segment: over the pool, or over
        the segments that it was not trained on.
    at
        (..., n) prediction at each rated segment.
    spread
        (..., n) standard deviation of the predictions over the pool.
    share
        (..., n) share of the pool that ``centre`` was taken over.
    """

    centre: FloatArray
    at: FloatArray
    spread: FloatArray
    share: FloatArray


class Control(Protocol):
    """Predicts human scores from metrics, out of fold wherever it was shown the score."""

    @property
    def name(self) -> str: ...

    def predict(self, ratings: Ratings) -> Predictions: ...


@dataclass(frozen=True)
class CrossFit:
    """Any scikit-learn regressor, fitted on the other folds of the ratings.

    The model sees standardised metrics. It is cloned for every fit, so give it a ``random_state``
    where it needs one.
    """

    regressor: Any
    folds: int = 5

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        if not (hasattr(self.regressor, "fit") and hasattr(self.regressor, "predict")):
            raise TypeError(
                "CrossFit needs a scikit-learn regressor with fit and predict; got "
                f"{type(self.regressor).__name__}."
            )

    @property
    def name(self) -> str:
        return type(self.regressor).__name__

    def predict(self, ratings: Ratings) -> Predictions:
        from sklearn.base import clone

        everywhere = ratings.sample.pool.standardised().T

        def fit(train: IntArray, y: FloatArray) -> FloatArray:
            # Standardised scores: penalties and tolerances of a model should not see their scale.
            mean, spread = y.mean(), y.std()
            if not spread > 0:
                return np.full(len(everywhere), mean)
            model = clone(self.regressor).fit(everywhere[train], (y - mean) / spread)
            return np.asarray(mean + spread * model.predict(everywhere))

        return _cross_fit(ratings, self.folds, fit)


def _cross_fit(ratings: Ratings, folds: int, fit: Any) -> Predictions:
    """Predict each fold by a model of the others.

    Where all weights are equal the mean prediction is taken over the segments outside the
    training folds, and counts for their share of the pool: given the training folds, the held-out
    fold is a random sample of just those, so that the difference estimate is unbiased exactly and
    not only up to 1/N.
    """
    sample = ratings.sample
    size, shape = len(sample.pool), ratings.scores.shape
    n = shape[-1]
    labels = np.broadcast_to(sample.folds(max(min(folds, n // 2), 1)), shape)
    equal = equal_weights(ratings)
    centre, at, spread, shares = np.zeros((4, *shape))
    for draw in np.ndindex(shape[:-1]):
        rows, y, label = sample.indices[draw], ratings.scores[draw], labels[draw]
        for fold in np.unique(label):
            held: BoolArray = label == fold
            if held.all():
                continue
            predicted = fit(rows[~held], y[~held])
            outside = np.ones(size, dtype=bool)
            if equal[draw]:
                outside[rows[~held]] = False
            at[(*draw, held)] = predicted[rows[held]]
            centre[(*draw, held)] = predicted[outside].mean()
            spread[(*draw, held)] = predicted.std()
            shares[(*draw, held)] = outside.sum() / size
    return Predictions(centre, at, spread, shares)


def equal_weights(ratings: Ratings) -> BoolArray:
    """Whether all ratings of a draw have the same weight: (...)."""
    weights = ratings.sample.design.weights
    return np.asarray(np.ptp(weights, axis=-1) <= 1e-12 * weights.max(-1))
