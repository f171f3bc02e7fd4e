"""Ridge regression on all metrics, with the penalty chosen by leave-one-out error.

Slopes are fitted to the scaled deviations of the design, may be constrained to the sign that
follows from a metric's orientation, and enter the variance through their g-weights. With few
ratings for the number of metrics, no penalty is chosen: the fits of all penalties are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from fewgold.bounds import Auto, Bound
from fewgold.common.arrays import BoolArray, FloatArray, batches
from fewgold.common.checks import as_names
from fewgold.common.text import spelled
from fewgold.design import Design
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators.linear import g_weights, pool_controls, with_design_note
from fewgold.sample import Ratings
from fewgold.samplers import Balanced, Sampler

# Penalties, relative to the mean variance of a standardised metric. The last one shrinks slopes
# almost to 0.
STRENGTHS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 1e6)
# Residuals of all penalties to hold at a time: few enough for the processor's cache.
_CELLS = 1 << 14
# With at least this many degrees of freedom, slopes are fitted for any number of metrics.
_LEAST_DF = 19
# Sweeps of the coordinate descent between two exact solutions, and rounds of both.
_SWEEPS, _ROUNDS = 4, 150


@dataclass(frozen=True)
class Ridge(Estimator):
    """Regression on several metrics: the estimator that we recommend.

    Slopes β on the standardised metrics z minimise Σ a² (y − ȳ − β·(z − z̄))² + λ |β|² Σ a², with
    the weight a that the design gives a deviation (`Design.scatter`). The penalty λ is chosen by
    the leave-one-out error of the ratings themselves, PRESS = Σ a² e²/(1 − h − w)², with the
    leverage h and the weight w of a rating.

    This requires 2p + 2 degrees of freedom for p metrics. With fewer, but at least 20 ratings,
    slopes are averaged over all penalties from p/(3n) up, with weights proportional to
    PRESS^(−n/8). In a balanced sample PRESS then has only errors orthogonal to the balanced
    variates. So dozens of metrics may be used with as few ratings as metrics, or fewer. With even
    fewer ratings the plain mean is used, and a note says so.

    If the orientation of a metric is known (given with the pool, or a common metric), its slope is
    constrained to that sign, which makes better use of few ratings.

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

    @cached_property
    def spelled(self) -> str:
        direction = {None: "", True: "-higher", False: "-lower"}[self.higher_is_better]
        return spelled(self.name + direction, self, self._named_fields)

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        names = list(sample.pool.metrics) if self.metrics is None else list(self.metrics)
        z = sample.standardised(names)
        plenty, some = _enough(sample.design, len(names))
        enough = plenty | some
        notes: tuple[str, ...] = ()
        if not enough.all():
            notes = (f"{ratings.n} ratings are too few for slopes: the plain mean was used",)
        columns = np.concatenate([y[..., None, :], z], axis=-2)
        beside = sample.design._fit_beside_weights(len(names))
        dev = sample.design.scatter(columns, overwrite=True, beside_weights=beside)
        scale = np.sqrt(np.square(sample.design.influence).sum(-1))[..., None]
        scale = np.where(scale > 0, scale, 1.0)
        dev /= scale[..., None]  # so that a metric's variance is about 1
        orientation = np.array([float(sample.pool.orientation.get(m, 0)) for m in names])
        signs, own = self._signs(dev, orientation), sample.design._centring_shares
        if beside:
            own = np.square(sample.design._weight_basis).sum(-2)
        balance = sample.design.balance
        if balance is not None:
            balance = sample.design.scatter(balance, beside_weights=beside)
        fit = ridge_slopes(dev, signs, own, choose=plenty, balance=balance)
        beta = np.where(enough[..., None], fit.beta, 0.0)
        if self.higher_is_better is not None and enough.all() and not beta.any():
            notes = (
                "no metric helps in the stated direction: check whether higher scores are better",
            )
        inverse = np.where(enough[..., None, None], fit.inverse, 0.0)
        g = g_weights(sample.design, dev[..., 1:, :], sample.design.means(z) / scale, inverse)
        spent: FloatArray | float = 0.0
        left_out = enough
        if sample.design._balanced_slopes:
            # Balanced variates already account for their slopes; dozens of slopes need more.
            spent = np.where(enough & plenty, fit.leverage.sum(-1), 0.0)
            left_out = enough & ~plenty
        sway = inflation = None
        if y.ndim == 1:
            sway = inverse @ dev[1:] * (sample.design.influence / scale)
            inflation = np.ones(y.shape)
        if sample.design.units is None:
            # Leave-one-out residuals instead of a count of parameters, which would ignore that the
            # penalty was chosen on the same ratings. The two ratings of a stratum are mirror images
            # about their mean: without one of them the other would not count either.
            beyond = sample.design._centring_shares - sample.design.weights
            leverage = fit.leverage / np.maximum(1.0 - beyond, 1e-6)
            shrunk = np.where(left_out[..., None], np.maximum(1.0 - leverage, 0.1), 1.0)
            g /= shrunk
            inflation = None if inflation is None else inflation / shrunk
        controls = None
        if y.ndim == 1:
            controls = pool_controls(
                ratings, sample.pool.standardised(names), beta, sway, inflation
            )
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self._bound,
            method=self.spelled,
            tuned=True,
            parameters=spent,
            g_weights=g,
            beside_weights=beside,
            notes=with_design_note(ratings, notes),
            controls=controls,
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


def _enough(design: Design, p: int) -> tuple[BoolArray, BoolArray]:
    """Whether there are enough ratings to choose a penalty for p slopes, or to average over all.

    With fewer, the chosen penalty is noise, and the standard error would not show it. Units drawn
    as a whole, such as documents, count once: their segments are alike.
    """
    df = design._slope_df
    units = df if design.units is None else np.minimum(df, design.units.max(-1))
    return np.asarray(df >= 2 * p + 2), np.asarray(units >= _LEAST_DF)


class RidgeFit(NamedTuple):
    """Slopes (..., p), leverages (..., n), and the matrix (..., p, p) from Σ z y to the slopes."""

    beta: FloatArray
    leverage: FloatArray
    inverse: FloatArray


def ridge_slopes(
    dev: FloatArray,
    signs: FloatArray,
    weights: FloatArray,
    choose: BoolArray | bool = True,
    balance: FloatArray | None = None,
) -> RidgeFit:
    """The fit at the penalty with the least leave-one-out error, or an average over penalties.

    ``dev`` (..., 1 + p, n) holds the centred score and metrics, ``weights`` (..., n) the leverages
    of the ratings without metrics: their weights in the subtracted means. If ``choose`` (...) is
    False, the fits of all penalties are averaged, using the errors orthogonal to ``balance`` (...,
    q, n), the centred balanced variates.
    """
    batch, (columns, n) = dev.shape[:-2], dev.shape[-2:]
    p = columns - 1
    flat = dev.reshape(-1, columns, n)
    allowed = np.broadcast_to(signs, (*batch, p)).reshape(-1, p)
    shares = np.broadcast_to(weights, (*batch, n)).reshape(-1, n)
    sure = np.broadcast_to(choose, batch).reshape(-1)
    known = np.empty((len(flat), 0, n)) if balance is None else balance.reshape(len(flat), -1, n)
    shapes = ((p,), (n,), (p, p))
    found = [np.empty((len(flat), *shape)) for shape in shapes]
    for part in batches(len(flat), _CELLS // (n * len(STRENGTHS))):
        some = _fit_all_strengths(flat[part], allowed[part], shares[part], sure[part], known[part])
        for whole, values in zip(found, some, strict=True):
            whole[part] = values
    return RidgeFit(*(a.reshape(*batch, *s) for a, s in zip(found, shapes, strict=True)))


def _fit_all_strengths(
    dev: FloatArray, signs: FloatArray, weights: FloatArray, choose: BoolArray, balance: FloatArray
) -> RidgeFit:
    """Fit all penalties to some draws (draws, 1 + p, n); the best for each draw, or a mixture.

    A mixture of fits is linear in the scores like each fit, so its leverages and matrix are
    mixtures of theirs.
    """
    y, z = dev[:, 0], dev[:, 1:]
    # Squares of scores such as 1e150 must not overflow.
    top = np.abs(y).max(-1, keepdims=True)
    top = np.where(top > 0, top, 1.0)
    y = y / top
    gram = z @ np.swapaxes(z, -1, -2)
    cross = (z @ y[..., None])[..., 0]
    # Along the principal axes every penalty is just a division.
    values, axes = (gram[..., 0], np.ones_like(gram)) if len(z[0]) == 1 else np.linalg.eigh(gram)
    strengths = np.array(STRENGTHS)[:, None]
    shrink = 1.0 / (np.maximum(values, 0.0)[:, None] + strengths)  # (draws, strengths, p)
    turned = np.swapaxes(axes, -1, -2) @ z
    slopes = shrink * (cross[:, None] @ axes)
    beta = slopes @ np.swapaxes(axes, -1, -2)
    leverage = shrink @ np.square(turned)
    errors = _left_out_errors(y[:, None] - slopes @ turned, leverage, weights[:, None])
    wrong = (beta * signs[:, None] < 0).any(-1)
    draw, at = np.nonzero(wrong)
    if draw.size:
        ridged = gram[draw] + strengths[at, :, None] * np.eye(len(z[0]))
        held = _constrained(z[draw], ridged, cross[draw], beta[draw, at], signs[draw])
        beta[draw, at], leverage[draw, at] = held.beta, held.leverage
        residuals = y[draw] - (held.beta[:, None] @ z[draw])[:, 0]
        errors[draw, at] = _left_out_errors(residuals, held.leverage, weights[draw])
    # With a penalty far below p/n, many metrics overfit few ratings, which adds noise to the
    # average.
    mix = _mixture(errors, choose, balance, strengths[:, 0] >= len(z[0]) / (3 * y.shape[-1]))
    free = np.where(wrong, 0.0, mix)[:, None]
    inverse = (axes * (free @ shrink)) @ np.swapaxes(axes, -1, -2)
    if draw.size:
        share = mix[draw, at]
        counts = share > 0
        np.add.at(inverse, draw[counts], share[counts, None, None] * held.inverse[counts])
    mix = mix[:, None]
    return RidgeFit((mix @ beta)[:, 0] * top, (mix @ leverage)[:, 0], inverse)


def _left_out_errors(
    residuals: FloatArray, leverage: FloatArray, weights: FloatArray
) -> FloatArray:
    """Leave-one-out errors, e / (1 − h − w): the mean takes the weight w."""
    return np.asarray(residuals / np.clip(1.0 - leverage - weights, 1e-6, None))


def _mixture(
    errors: FloatArray, choose: BoolArray, balance: FloatArray, averaged: BoolArray
) -> FloatArray:
    """Weight of each penalty (draws, strengths), from errors (draws, strengths, n).

    1 or 0 if one is chosen, otherwise proportional to PRESS^(−n/8): with errors of variance
    PRESS/n, −n/2 log PRESS is the log likelihood of the ratings, each predicted by the others. A
    quarter of it is used, since few ratings exaggerate differences between penalties. On real sets
    n/2 and n/4 had larger errors at n = 20 and standard errors that were too small.

    A balanced sample has little to gain from slopes: the average uses only the errors that remain
    after regressing out the balanced variates (draws, q, n). It is taken over the penalties marked
    in ``averaged`` (strengths,).
    """
    loss = np.vecdot(errors, errors)
    mix = np.zeros(loss.shape)
    mix[np.arange(len(loss)), loss.argmin(-1)] = 1.0
    if choose.all():
        return mix
    if balance.size:
        gram = balance @ np.swapaxes(balance, -1, -2)
        along = errors @ np.swapaxes(balance, -1, -2) @ np.linalg.pinv(gram, hermitian=True)
        left = errors - along @ balance
        loss = np.vecdot(left, left)
    logs = np.log(
        np.maximum(loss, 1e-24)
    )  # scores are of order 1: anything smaller is rounding error
    likelihood = np.exp(errors.shape[-1] / 8 * (logs.min(-1, keepdims=True) - logs))
    likelihood = likelihood * averaged
    return np.where(choose[:, None], mix, likelihood / likelihood.sum(-1, keepdims=True))


def _constrained(
    z: FloatArray, ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> RidgeFit:
    """Constrained fits for draws whose free slopes ``beta`` have a wrong sign, one per row."""
    beta = constrain(ridged, cross, beta, signs)
    active = (beta != 0).astype(np.float64)
    kept, both = z * active[..., None], active[..., :, None] * active[..., None, :]
    inverse = np.linalg.inv(_reduced(ridged, active)) * both
    return RidgeFit(beta, (kept * (inverse @ kept)).sum(-2), inverse)


def constrain(
    ridged: FloatArray, cross: FloatArray, beta: FloatArray, signs: FloatArray
) -> FloatArray:
    """Coordinate descent for ridge slopes with given signs, all draws at once."""
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
    """Solve exactly for the nonzero slopes; accept the solution if it is the optimum.

    Sweeps quickly find which slopes are 0, but nearly collinear metrics make the others converge
    slowly.
    """
    active = (slopes != 0).astype(np.float64)
    exact = np.linalg.solve(_reduced(a, active), (b * active)[..., None])[..., 0]
    gradient = b - (a @ exact[..., None])[..., 0]  # the gradient at slopes of 0
    scale = np.abs(b).max(-1, keepdims=True)
    fits = (exact * signs >= 0) & ((active > 0) | (gradient * signs <= 1e-12 * scale))
    solved = np.asarray(fits.all(-1))
    return np.where(solved[..., None], exact, slopes), solved


def _reduced(gram: FloatArray, active: FloatArray) -> FloatArray:
    """The Gram matrix of active slopes, made invertible by 1 on the diagonal of others."""
    both = active[..., :, None] * active[..., None, :]
    return np.asarray(gram * both + (1 - active)[..., None] * np.eye(active.shape[-1]))
