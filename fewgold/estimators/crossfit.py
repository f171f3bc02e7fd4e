"""Models that predict human scores from metrics, for the learned estimators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray
from fewgold.common.checks import check_count
from fewgold.estimators.regressors import check_regressor, regressor
from fewgold.sample import Ratings

# With fewer ratings a model fitted to some of them predicts the others no better than the mean.
LEAST = 4
# Models by name need more ratings, for inner folds and for the leaves of trees.
_LEAST_NAMED = 20


class Predictions(NamedTuple):
    """Predictions of a control.

    Attributes
    ----------
    centre
        (..., n) mean prediction of the model used for the segment, over the pool or over the
        segments that it was not trained on.
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
    """Predicts human scores from metrics, out of fold for rated segments."""

    @property
    def name(self) -> str: ...

    def predict(self, ratings: Ratings) -> Predictions: ...


@dataclass(frozen=True)
class CrossFit(Control):
    """Any scikit-learn regressor, fitted on the other folds of the ratings.

    The model sees standardised metrics. It is cloned for every fit, so give it a ``random_state``
    if it uses random numbers.

    Parameters
    ----------
    regressor
        A model or pipeline with ``fit`` and ``predict``; or a name, such as
        ``"hist_gradient_boosting"`` or ``"package.module:Class"`` (`regressor_names`).
    folds
        Number of cross-fitting folds.

    Examples
    --------
    >>> from fewgold.estimators import Learned
    >>> Learned(CrossFit("random_forest")).name
    'cv-sklearn:random_forest'
    """

    regressor: Any
    folds: int = 5

    def __post_init__(self) -> None:
        check_count("folds", self.folds, least=2)
        if isinstance(self.regressor, str):
            check_regressor(self.regressor)
        elif not (hasattr(self.regressor, "fit") and hasattr(self.regressor, "predict")):
            raise TypeError(
                "CrossFit needs a scikit-learn regressor with fit and predict, or the name of one; "
                f"got {type(self.regressor).__name__}."
            )

    @property
    def name(self) -> str:
        if isinstance(self.regressor, str):
            return f"sklearn:{self.regressor}"
        return type(self.regressor).__name__

    @property
    def _named_fields(self) -> tuple[str, ...]:
        return ("regressor",) if isinstance(self.regressor, str) else ()

    @property
    def _least(self) -> int:
        """Fewest ratings to learn from: models by name choose their own settings."""
        return _LEAST_NAMED if isinstance(self.regressor, str) else LEAST

    def predict(self, ratings: Ratings) -> Predictions:
        return cross_fit(ratings, self.folds, self._fit)

    def centred_over(self, ratings: Ratings, weights: FloatArray) -> FloatArray:
        """Predictions minus their mean over the pool with these weights (N,): (n,)."""
        found = cross_fit(ratings, self.folds, self._fit, weights)
        return found.at - found.centre

    @cached_property
    def _model(self) -> Any:
        return regressor(self.regressor) if isinstance(self.regressor, str) else self.regressor

    def _fit(self, x: FloatArray, y: FloatArray) -> Model:
        from sklearn.base import clone
        from sklearn.exceptions import ConvergenceWarning

        # Scores are standardised so that a model's penalties and tolerances do not depend on their
        # scale.
        mean, spread = float(y.mean()), float(y.std())
        if not spread > 0:
            return lambda other: np.full(len(other), mean)
        with warnings.catch_warnings():
            # Ignore convergence warnings: a model that stops early predicts worse, which the
            # residuals show.
            warnings.simplefilter("ignore", ConvergenceWarning)
            warnings.filterwarnings("ignore", "Confidence interval of the Spearman")  # isotonic
            model = clone(self._model).fit(x, (y - mean) / spread)
        return lambda other: np.asarray(mean + spread * np.ravel(model.predict(other)))


#: Predicts scores from standardised metrics, (m, p) to (m,).
Model: TypeAlias = Callable[[FloatArray], FloatArray]
#: Fits a model to standardised metrics (n, p) and scores (n,).
Fit: TypeAlias = Callable[[FloatArray, FloatArray], Model]


def cross_fit(
    ratings: Ratings, folds: int | None, fit: Fit, over: FloatArray | None = None
) -> Predictions:
    """Predict each fold with a model fitted to the others; without folds, all ratings are used.

    If all weights are equal, the mean prediction is taken over the segments outside the training
    folds, and counts for their share of the pool: given the training folds, the held-out fold is a
    random sample of those, so the difference estimate is exactly unbiased and not only up to 1/N.
    With ``over``, weights of all segments of the pool (N,), it is the weighted mean over the pool.
    """
    sample = ratings.sample
    size, shape = len(sample.pool), ratings.scores.shape
    n = shape[-1]
    known = sample.pool.standardised().T
    equal = equal_weights(ratings)
    labels = np.zeros(shape, dtype=np.int64)
    if folds is not None:
        labels = np.broadcast_to(sample.folds(max(min(folds, n // 2), 1)), shape)
    centre, at, spread, shares = np.zeros((4, *shape))
    for draw in np.ndindex(shape[:-1]):
        rows, y, label = sample.indices[draw], ratings.scores[draw], labels[draw]
        held = [label == fold for fold in np.unique(label)]
        trained = [~h for h in held] if folds is not None else [np.ones(n, dtype=bool)]
        pairs = [(h, t) for h, t in zip(held, trained, strict=True) if t.any()]
        models = [fit(known[rows[t]], y[t]) for _, t in pairs]
        if over is not None:
            for (h, _), model in zip(pairs, models, strict=True):
                centre[(*draw, h)] = model(known) @ over / over.sum()
                at[(*draw, h)] = model(known[rows[h]])
            continue
        moments = sample.pool._moments_of(models)
        for (h, t), model, (mean, sd) in zip(pairs, models, moments, strict=True):
            # Leave out the segments a fold was trained on, if that makes the estimate unbiased.
            drop = int(t.sum()) if equal[draw] and folds is not None else 0
            at[(*draw, h)] = model(known[rows[h]])
            total = size * mean - (model(known[rows[t]]).sum() if drop else 0.0)
            centre[(*draw, h)] = total / max(size - drop, 1)
            spread[(*draw, h)] = sd
            shares[(*draw, h)] = (size - drop) / size
    return Predictions(centre, at, spread, shares)


def equal_weights(ratings: Ratings) -> BoolArray:
    """Whether all ratings of a draw have the same weight: (...)."""
    weights = ratings.sample.design.weights
    return np.asarray(np.ptp(weights, axis=-1) <= 1e-12 * weights.max(-1))
