"""Regression on all metrics at once, shrunk as far as the ratings ask for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._pretty import spelled
from fewgold._validate import as_names
from fewgold.bounds import Auto, Bound
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators._mean import with_design_note
from fewgold.estimators._ridge_slopes import ridge_slopes
from fewgold.estimators._weighing import weighing
from fewgold.sample import Ratings
from fewgold.samplers import Balanced, Sampler

_DIRECTION = {None: "", True: "-higher", False: "-lower"}


@dataclass(frozen=True)
class Ridge(Estimator):
    """Regression on several metrics: the estimator that we recommend.

    The strength of the penalty is chosen by the leave-one-out error of the ratings themselves.
    Where the orientation of a metric is known (given with the pool, or a common metric) its slope
    may not have the wrong sign, which saves ratings that would be spent on learning it.

    Parameters
    ----------
    metrics
        Names of metrics, or one name; None for all.
    higher_is_better
        Whether larger human scores mean better output: False for MQM-like penalties. None reads it
        from the ratings: the direction in which they follow the oriented metrics.
    signs
        False drops the sign constraints.
    """

    metrics: tuple[str, ...] | str | None = None
    higher_is_better: bool | None = None
    signs: bool = True
    sampler: Sampler = Balanced()
    bound: Bound | str = Auto()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.metrics is not None:
            object.__setattr__(self, "metrics", as_names(self.metrics))

    @property
    def name(self) -> str:
        return "ridge" if self.signs else "ridge-free"

    @property
    def _told(self) -> tuple[str, ...]:
        return (*super()._told, "signs", "higher_is_better")

    @property
    def spelled(self) -> str:
        way = _DIRECTION[self.higher_is_better]
        return spelled(self.name + way, self, self._told)

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        names = list(sample.pool.metrics) if self.metrics is None else list(self.metrics)
        z = sample.standardised(names)
        # With fewer the strength of the penalty is chosen by chance, and the se would not show it.
        enough = sample.design.freedom >= 2 * len(names) + 2
        notes: tuple[str, ...] = ()
        if not enough.all():
            notes = (f"{ratings.n} ratings are too few for slopes: the plain mean was used",)
        columns = np.concatenate([y[..., None, :], z], axis=-2)
        dev = sample.design.scatter(columns, overwrite=True)
        force = np.sqrt(np.square(sample.design.influence).sum(-1))[..., None]
        force = np.where(force > 0, force, 1.0)
        dev /= force[..., None]  # so that a metric's variance is about 1
        orientation = np.array([float(sample.pool.orientation.get(m, 0)) for m in names])
        fit = ridge_slopes(dev, self._signs(dev, orientation))
        beta = np.where(enough[..., None], fit.beta, 0.0)
        if self.higher_is_better is not None and enough.all() and not beta.any():
            notes = ("no metric helps in the stated direction; is higher_is_better right?",)
        inverse = np.where(enough[..., None, None], fit.inverse, 0.0)
        lean = weighing(sample.design, dev[..., 1:, :], z, inverse, force)
        if sample.design.units is None:
            # Residuals as if each rating had been left out, instead of a count of parameters: the
            # strength of the penalty was chosen by the same ratings, and that count misses it.
            lean /= np.where(enough[..., None], np.maximum(1.0 - fit.lever, 0.1), 1.0)
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self._bound,
            method=self.spelled,
            tuned=True,
            weighing=lean,
            notes=with_design_note(ratings, notes),
        )

    def _signs(self, dev: FloatArray, orientation: FloatArray) -> FloatArray:
        """Allowed sign of each slope (..., p); 0 where it is free."""
        signs = np.broadcast_to(orientation, (*dev.shape[:-2], orientation.size))
        if not self.signs:
            return np.zeros(signs.shape)
        if self.higher_is_better is not None:
            return signs * (1.0 if self.higher_is_better else -1.0)
        lead = (dev[..., 1:, :] @ dev[..., 0, :, None])[..., 0] @ orientation
        return np.asarray(signs * np.sign(lead)[..., None])
