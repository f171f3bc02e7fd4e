"""Regression on all metrics at once, shrunk as far as the ratings ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bounds import Bound, Student
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators._control_variates import weighing
from fewgold.estimators._mean import plain_mean
from fewgold.sample import Ratings
from fewgold.samplers import Balanced, Sampler

# Relative to the mean variance of a standardised metric. The last shrinks slopes to next to none.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 1e6)
_DIRECTION = {None: "", True: "-higher", False: "-lower"}
_SWEEPS, _ROUNDS = 15, 40


@dataclass(frozen=True)
class Ridge(Estimator):
    """Regression on several metrics: the estimator that we recommend.

    The strength of the penalty is chosen by the leave-one-out error of the ratings themselves.
    Where the orientation of a metric is known (given with the pool, or a common metric) its slope
    may not have the wrong sign, which saves ratings that would be spent on learning it.

    Parameters
    ----------
    metrics
        Names of metrics; None for all.
    higher_is_better
        Whether larger human scores mean better output: False for MQM-like penalties. None reads it
        from the ratings: the direction in which they follow the oriented metrics.
    signs
        False drops the sign constraints.
    """

    metrics: tuple[str, ...] | None = None
    higher_is_better: bool | None = None
    signs: bool = True
    sampler: Sampler = Balanced()
    bound: Bound = Student()

    @property
    def name(self) -> str:
        return "ridge" if self.signs else "ridge-free"

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        names = list(sample.pool.metrics) if self.metrics is None else list(self.metrics)
        z = sample.standardised(names)
        # With fewer the strength of the penalty is chosen by chance, and the se would not show it.
        enough = sample.design.freedom >= 2 * len(names) + 2
        notes: tuple[str, ...] = ()
        if not enough.all():
            notes = (f"{ratings.n} ratings are too few for slopes: the plain mean was used",)
        raw = sample.design.scatter(np.concatenate([y[..., None, :], z], axis=-2))
        force = (sample.design.influence**2).sum(-1)[..., None, None]
        force = np.where(force > 0, force, 1.0)
        dev = raw / np.sqrt(force)  # so that a metric's variance is about 1
        orientation = np.array([float(sample.pool.orientation.get(m, 0)) for m in names])
        fit = ridge_slopes(dev, self._signs(dev, orientation))
        beta = np.where(enough[..., None], fit.beta, 0.0)
        if self.higher_is_better is not None and enough.all() and not beta.any():
            notes = ("no metric helps in the stated direction; is higher_is_better right?",)
        inverse = np.where(enough[..., None, None], fit.inverse / force, 0.0)
        lean = weighing(sample.design, raw[..., 1:, :], z, inverse)
        if sample.design.units is None:
            # Residuals as if each rating had been left out, instead of a count of parameters: the
            # strength of the penalty was chosen by the same ratings, and that count misses it.
            lean = lean / np.where(enough[..., None], np.maximum(1.0 - fit.lever, 0.1), 1.0)
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self.bound,
            method=self.name + _DIRECTION[self.higher_is_better],
            tuned=True,
            weighing=lean,
            notes=plain_mean(ratings, self.bound, "", notes).notes,
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


class RidgeFit(NamedTuple):
    """Slopes (..., p), leverages (..., n), and the matrix (..., p, p) from Σ z y to the slopes."""

    beta: FloatArray
    lever: FloatArray
    inverse: FloatArray


def ridge_slopes(dev: FloatArray, signs: FloatArray) -> RidgeFit:
    """The fit at the strength of least leave-one-out error.

    ``dev`` (..., 1 + p, n) holds the centred score and metrics.
    """
    y, z = dev[..., 0, :], dev[..., 1:, :]
    # Scores of 1e150 are odd, but they are numbers: squares must not overflow.
    top = np.abs(y).max(-1, keepdims=True)
    top = np.where(top > 0, top, 1.0)
    y = y / top
    n, p = z.shape[-1], z.shape[-2]
    gram = z @ np.swapaxes(z, -1, -2)
    cross = (z @ y[..., None])[..., 0]
    best: RidgeFit | None = None
    least: FloatArray = np.full(y.shape[:-1], np.inf)
    for strength in STRENGTHS:
        ridged = gram + strength * np.eye(p)
        beta: FloatArray = np.asarray(np.linalg.solve(ridged, cross[..., None])[..., 0], float)
        if signs.any():
            beta = _constrain(ridged, cross, beta, signs)
        active = (beta != 0).astype(np.float64)
        kept = z * active[..., None]
        inverse = np.linalg.inv(ridged * _frame(active) + _hold(active)) * _frame(active)
        lever = (kept * (inverse @ kept)).sum(-2)
        error = (y - (beta[..., None, :] @ z)[..., 0, :]) / np.clip(1 - lever - 1 / n, 1e-6, None)
        loss, fit = (error**2).sum(-1), RidgeFit(beta, lever, inverse)
        if best is None:
            least, best = loss, fit
        else:
            win = loss < least
            least = np.where(win, loss, least)
            best = RidgeFit(
                np.where(win[..., None], fit.beta, best.beta),
                np.where(win[..., None], fit.lever, best.lever),
                np.where(win[..., None, None], fit.inverse, best.inverse),
            )
    assert best is not None
    return best._replace(beta=best.beta * top)


def _frame(active: FloatArray) -> FloatArray:
    """1 for pairs of active slopes, else 0."""
    return np.asarray(active[..., :, None] * active[..., None, :])


def _hold(active: FloatArray) -> FloatArray:
    """1 on the diagonal of slopes that are held at nought, to keep the matrix invertible."""
    return np.asarray((1 - active)[..., None] * np.eye(active.shape[-1]))


def _constrain(
    ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> FloatArray:
    """Coordinate descent for the ridge with slopes of given sign, all draws at once."""
    clip = np.where(signs > 0, np.maximum(beta, 0), np.where(signs < 0, np.minimum(beta, 0), beta))
    wrong = (clip != beta).any(-1)
    if not wrong.any():
        return beta
    beta, slopes = beta.copy(), clip[wrong]
    a, b, s = ridged[wrong], cross[wrong], np.broadcast_to(signs, beta.shape)[wrong]
    for _ in range(_ROUNDS):
        for _ in range(_SWEEPS):
            for j in range(slopes.shape[-1]):
                rest = b[:, j] - (a[:, j, :] * slopes).sum(-1) + a[:, j, j] * slopes[:, j]
                step = rest / a[:, j, j]
                slopes[:, j] = np.where(step * s[:, j] < 0, 0.0, step)
        slopes, solved = _polish(a, b, s, slopes)
        if solved.all():
            break
    beta[wrong] = slopes
    return beta


def _polish(
    a: FloatArray, b: FloatArray, signs: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Solve exactly for the slopes that are not nought; accept where that is the optimum.

    Sweeps find out soon which slopes are nought, but near copies among the metrics make them slow
    to settle on the others.
    """
    active = (slopes != 0).astype(np.float64)
    exact = np.linalg.solve(a * _frame(active) + _hold(active), (b * active)[..., None])[..., 0]
    pull = b - (a @ exact[..., None])[..., 0]  # where the slopes at nought want to go
    scale = np.abs(b).max(-1, keepdims=True)
    fits = (exact * signs >= 0) & ((active > 0) | (pull * signs <= 1e-12 * scale))
    solved = np.asarray(fits.all(-1))
    return np.where(solved[..., None], exact, slopes), solved
