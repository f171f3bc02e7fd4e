"""Ridge regression on all metrics at once, each draw with the penalty of least leave-one-out error.

Slopes are fitted to the scaled deviations of the design, may be held to the sign that the
orientation of a metric asks for, and enter the variance through their g-weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fewgold.bounds import Auto, Bound
from fewgold.common.arrays import BoolArray, FloatArray, batches
from fewgold.common.checks import as_names
from fewgold.common.text import spelled
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators.linear import g_weights, with_design_note
from fewgold.sample import Ratings
from fewgold.samplers import Balanced, Sampler

# Penalties, relative to the mean variance of a standardised metric. The last shrinks slopes to
# next to none.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 1e6)
# Residuals of all strengths to hold at a time: few enough for the processor's own memory.
_CELLS = 1 << 14
# Sweeps of the coordinate descent between two exact solutions, and rounds of both.
_SWEEPS, _ROUNDS = 4, 150


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
    def _named_fields(self) -> tuple[str, ...]:
        return (*super()._named_fields, "signs", "higher_is_better")

    @property
    def spelled(self) -> str:
        direction = {None: "", True: "-higher", False: "-lower"}[self.higher_is_better]
        return spelled(self.name + direction, self, self._named_fields)

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        names = list(sample.pool.metrics) if self.metrics is None else list(self.metrics)
        z = sample.standardised(names)
        # With fewer the strength of the penalty is chosen by chance, and the se would not show it.
        enough = sample.design._slope_df >= 2 * len(names) + 2
        notes: tuple[str, ...] = ()
        if not enough.all():
            notes = (f"{ratings.n} ratings are too few for slopes: the plain mean was used",)
        columns = np.concatenate([y[..., None, :], z], axis=-2)
        dev = sample.design.scatter(columns, overwrite=True)
        scale = np.sqrt(np.square(sample.design.influence).sum(-1))[..., None]
        scale = np.where(scale > 0, scale, 1.0)
        dev /= scale[..., None]  # so that a metric's variance is about 1
        orientation = np.array([float(sample.pool.orientation.get(m, 0)) for m in names])
        fit = ridge_slopes(dev, self._signs(dev, orientation))
        beta = np.where(enough[..., None], fit.beta, 0.0)
        if self.higher_is_better is not None and enough.all() and not beta.any():
            notes = ("no metric helps in the stated direction; is higher_is_better right?",)
        inverse = np.where(enough[..., None, None], fit.inverse, 0.0)
        g = g_weights(sample.design, dev[..., 1:, :], z, inverse, scale)
        spent: FloatArray | float = 0.0
        if sample.design._balanced_slopes:
            spent = np.where(enough, fit.leverage.sum(-1), 0.0)
        elif sample.design.units is None:
            # Residuals as if each rating had been left out, instead of a count of parameters: the
            # strength of the penalty was chosen by the same ratings, and that count misses it.
            g /= np.where(enough[..., None], np.maximum(1.0 - fit.leverage, 0.1), 1.0)
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self._bound,
            method=self.spelled,
            tuned=True,
            parameters=spent,
            g_weights=g,
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


class RidgeFit(NamedTuple):
    """Slopes (..., p), leverages (..., n), and the matrix (..., p, p) from Σ z y to the slopes."""

    beta: FloatArray
    leverage: FloatArray
    inverse: FloatArray


def ridge_slopes(dev: FloatArray, signs: FloatArray) -> RidgeFit:
    """The fit at the strength of least leave-one-out error.

    ``dev`` (..., 1 + p, n) holds the centred score and metrics.
    """
    batch, (columns, n) = dev.shape[:-2], dev.shape[-2:]
    p = columns - 1
    flat = dev.reshape(-1, columns, n)
    allowed = np.broadcast_to(signs, (*batch, p)).reshape(-1, p)
    shapes = ((p,), (n,), (p, p))
    found = [np.empty((len(flat), *shape)) for shape in shapes]
    for part in batches(len(flat), _CELLS // (n * len(STRENGTHS))):
        for whole, values in zip(found, _best_of_all(flat[part], allowed[part]), strict=True):
            whole[part] = values
    return RidgeFit(*(a.reshape(*batch, *s) for a, s in zip(found, shapes, strict=True)))


def _best_of_all(dev: FloatArray, signs: FloatArray) -> RidgeFit:
    """All strengths of some draws (draws, 1 + p, n) side by side, and the best of each."""
    y, z = dev[:, 0], dev[:, 1:]
    # Scores of 1e150 are odd, but they are numbers: squares must not overflow.
    top = np.abs(y).max(-1, keepdims=True)
    top = np.where(top > 0, top, 1.0)
    y = y / top
    gram = z @ np.swapaxes(z, -1, -2)
    cross = (z @ y[..., None])[..., 0]
    # In the directions of the principal axes every strength is a mere division.
    values, axes = (gram[..., 0], np.ones_like(gram)) if len(z[0]) == 1 else np.linalg.eigh(gram)
    strengths = np.array(STRENGTHS)[:, None]
    shrink = 1.0 / (np.maximum(values, 0.0)[:, None] + strengths)  # (draws, strengths, p)
    turned = np.swapaxes(axes, -1, -2) @ z
    slopes = shrink * (cross[:, None] @ axes)
    beta = slopes @ np.swapaxes(axes, -1, -2)
    leverage = shrink @ np.square(turned)
    loss = _left_out_error(y[:, None] - slopes @ turned, leverage)
    wrong = (beta * signs[:, None] < 0).any(-1)
    draw, at = np.nonzero(wrong)
    if draw.size:
        ridged = gram[draw] + strengths[at, :, None] * np.eye(len(z[0]))
        held = _constrained(z[draw], ridged, cross[draw], beta[draw, at], signs[draw])
        beta[draw, at], leverage[draw, at] = held.beta, held.leverage
        residuals = y[draw] - (held.beta[:, None] @ z[draw])[:, 0]
        loss[draw, at] = _left_out_error(residuals, held.leverage)
    every, best = np.arange(len(y)), loss.argmin(-1)
    inverse = (axes * shrink[every, best][:, None]) @ np.swapaxes(axes, -1, -2)
    if draw.size:
        won = at == best[draw]
        inverse[draw[won]] = held.inverse[won]
    return RidgeFit(beta[every, best] * top, leverage[every, best], inverse)


def _left_out_error(residuals: FloatArray, leverage: FloatArray) -> FloatArray:
    """Sum of squared leave-one-out errors (PRESS), e / (1 − h − 1/n): the mean takes 1/n."""
    error = residuals / np.clip(1.0 - leverage - 1.0 / residuals.shape[-1], 1e-6, None)
    return np.asarray(np.vecdot(error, error))


def _constrained(
    z: FloatArray, ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> RidgeFit:
    """Fits whose free slopes ``beta`` have a wrong sign, one a row."""
    beta = constrain(ridged, cross, beta, signs)
    active = (beta != 0).astype(np.float64)
    kept, both = z * active[..., None], active[..., :, None] * active[..., None, :]
    inverse = np.linalg.inv(_reduced(ridged, active)) * both
    return RidgeFit(beta, (kept * (inverse @ kept)).sum(-2), inverse)


def constrain(
    ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> FloatArray:
    """Coordinate descent for the ridge with slopes of given sign, all draws at once."""
    clip = np.where(signs > 0, np.maximum(beta, 0), np.where(signs < 0, np.minimum(beta, 0), beta))
    wrong = (clip != beta).any(-1)
    if not wrong.any():
        return beta
    beta, slopes = beta.copy(), clip[wrong]
    a, b, s = ridged[wrong], cross[wrong], np.broadcast_to(signs, beta.shape)[wrong]
    todo = np.flatnonzero(wrong)
    for _ in range(_ROUNDS):
        for _ in range(_SWEEPS):
            for j in range(slopes.shape[-1]):
                rest = b[:, j] - (a[:, j, :] * slopes).sum(-1) + a[:, j, j] * slopes[:, j]
                step = rest / a[:, j, j]
                slopes[:, j] = np.where(step * s[:, j] < 0, 0.0, step)
        slopes, solved = _polish(a, b, s, slopes)
        beta[todo] = slopes
        if solved.all():
            break
        a, b, s, slopes = (part[~solved] for part in (a, b, s, slopes))
        todo = todo[~solved]
    return beta


def _polish(
    a: FloatArray, b: FloatArray, signs: FloatArray, slopes: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Solve exactly for the slopes that are not 0; accept where that is the optimum.

    Sweeps find out soon which slopes are 0, but near copies among the metrics make them slow
    to settle on the others.
    """
    active = (slopes != 0).astype(np.float64)
    exact = np.linalg.solve(_reduced(a, active), (b * active)[..., None])[..., 0]
    gradient = b - (a @ exact[..., None])[..., 0]  # where the slopes at 0 would go
    scale = np.abs(b).max(-1, keepdims=True)
    fits = (exact * signs >= 0) & ((active > 0) | (gradient * signs <= 1e-12 * scale))
    solved = np.asarray(fits.all(-1))
    return np.where(solved[..., None], exact, slopes), solved


def _reduced(gram: FloatArray, active: FloatArray) -> FloatArray:
    """The products of active slopes; 1 on the diagonal of those held at 0, so that it inverts."""
    both = active[..., :, None] * active[..., None, :]
    return np.asarray(gram * both + (1 - active)[..., None] * np.eye(active.shape[-1]))
