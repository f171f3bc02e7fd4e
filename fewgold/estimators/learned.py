"""The difference estimator with a learned control."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold.bounds import Auto, Bound
from fewgold.common.arrays import FloatArray
from fewgold.estimate import FittedControls, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators.crossfit import LEAST, Control
from fewgold.estimators.knn import KNN
from fewgold.estimators.linear import (
    plain_mean,
    regression_slopes,
    slope_sway,
    with_design_note,
)
from fewgold.sample import Ratings
from fewgold.samplers import Sampler, SimpleRandom


@dataclass(frozen=True)
class Learned(Estimator):
    """Mean prediction of a control over the pool, plus the mean residual of the ratings.

    Parameters
    ----------
    control
        `KNN`, or `CrossFit` around any scikit-learn regressor or the name of one.
    slope
        ``fitted``: multiply the predictions by the slope of least variance, so that a poor control
        does no harm. ``one``: use them unchanged; with a cross-fitted control on a simple random
        sample the estimate is then exactly unbiased. ``printed``: Saldías et al. (2022), eq. 3,
        E[XZ] without centring for the standardised prediction.
    """

    control: Control = KNN()
    slope: str = "fitted"
    sampler: Sampler = SimpleRandom()
    bound: Bound | str = Auto()

    @property
    def name(self) -> str:
        tail = {"fitted": "", "one": "-diff", "printed": ""}[self.slope]
        return f"cv-{self.control.name}{tail}"

    @property
    def _named_fields(self) -> tuple[str, ...]:
        printed = self.control.name.endswith("-printed")
        own = self.slope == "one" or (self.slope == "printed") == printed
        return (*super()._named_fields, *(["slope"] if own else []))

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        y = ratings.scores
        if ratings.n < getattr(self.control, "_least", LEAST):
            note = f"{ratings.n} ratings are too few to learn from: the plain mean was used"
            return plain_mean(ratings, self._bound, self.spelled, (note,))
        predictions = self.control.predict(ratings)
        z = predictions.at - predictions.centre
        # A model with constant predictions differs from its mean only by rounding errors.
        flat = predictions.spread.max(-1) <= 1e-12 * np.abs(predictions.at).max(-1)
        z = np.where(flat[..., None], 0.0, z)
        notes: tuple[str, ...] = ()
        n_slopes: FloatArray = np.zeros(y.shape[:-1])
        g_weights: FloatArray | None = None
        if self.slope == "one":
            beta = np.ones(y.shape[:-1])
        elif self.slope == "printed":
            # β = E[XZ] with Z the prediction standardised over the pool (eq. 3).
            variance = predictions.spread[..., 0] ** 2
            beta = (y * z).mean(-1) / np.where(flat | (variance <= 0), np.inf, variance)
            notes = (
                "control as printed in the paper: trained on the same segments that it predicts",
            )
            n_slopes = np.ones(y.shape[:-1])
        else:
            unit = np.abs(z).max(-1, keepdims=True)
            unit = np.where(unit > 0, unit, 1.0)
            columns = np.stack([y - y[..., :1], z / unit], axis=-2)
            slopes, n_slopes, g_weights = regression_slopes(ratings.sample.design, columns)
            beta = slopes[..., 0] / unit[..., 0]
        parameters = np.minimum(n_slopes, np.maximum(ratings.sample.design._slope_df - 1, 0))
        # Predictions for the training segments need no correction: those are rated.
        weights = ratings.sample.design.weights
        known = (weights * (1.0 - predictions.share) * z).sum(-1)
        return LinearEstimate(
            offset=beta * known,
            residuals=y - beta[..., None] * z,
            ratings=ratings,
            bound=self._bound,
            method=self.spelled,
            tuned=True,
            parameters=parameters,
            g_weights=g_weights,
            beside_weights=ratings.sample.design._fit_beside_weights(1),
            notes=with_design_note(ratings, notes),
            controls=None if flat.any() else self._controls(ratings, beta, z),
        )

    def _controls(
        self, ratings: Ratings, slope: FloatArray, z: FloatArray
    ) -> FittedControls | None:
        """The control of one study; None if it cannot predict a part of the pool."""
        over = getattr(self.control, "centred_over", None)
        in_memory = ratings.sample.pool._rows_in_memory
        if ratings.scores.ndim > 1 or over is None or self.slope == "printed" or not in_memory:
            return None
        slopes, sway = np.atleast_1d(slope), None
        if self.slope == "fitted":
            sway = slope_sway(ratings.sample.design, z[None], slopes)
        return FittedControls(slopes, lambda weights: over(ratings, weights)[None], sway)
