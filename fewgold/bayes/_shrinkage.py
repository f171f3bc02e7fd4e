"""Rates of categories that are drawn to their centres, summed over how strongly and to where.

Neither the strength κ nor the place θ and the slope of the centres are plugged in: they are summed
over, each with its posterior weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit, gammaln, xlogy

from fewgold._arrays import FloatArray, batches
from fewgold.bayes._cell_nodes import Nodes, fejer, single_node
from fewgold.bayes._priors import Beta
from fewgold.bayes._windows import shrink

_DROP = 14.0
_AT_ONCE = 50_000  # numbers in the arrays of one block


def shrunk(
    rated: FloatArray,
    items: FloatArray,
    places: FloatArray,
    slopes: tuple[float, ...],
    strengths: tuple[float, ...],
    rate: Beta,
    panels: int,
) -> Nodes:
    """The mixture over κ, slopes and θ, in blocks of the batch that fit the cache."""
    if rated.shape[-2] == 1:  # nothing to be drawn to: its rate is the overall rate
        return single_node(rated, *rate)
    wide = len(strengths) * len(slopes) * panels * rated.shape[-2]
    parts = []
    for rows in batches(len(rated), max(1, _AT_ONCE // wide)):
        share = items[rows] / items[rows].sum(-1, keepdims=True)
        kappa = np.repeat(strengths, len(slopes))[:, None, None]  # one for each of the M models
        slope = np.tile(slopes, len(strengths))[:, None, None]
        offset = slope * places[rows, None, None]  # (D, M, 1, J)
        model = _Models(rated[rows, None, None], share[:, None, None], kappa, rate)
        parts.append(_integrated(model, offset, -0.5 * slope[..., 0] ** 2, panels))
    return Nodes(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _integrated(model: _Models, offset: FloatArray, log_prior: FloatArray, panels: int) -> Nodes:
    """Nodes of θ for each model, where it has its mass: θ = logit sin² ω, a Fejér rule over ω.

    In ω a rate near 0 or 1 has no long tail, as it has in θ, and others are nearly normal.
    """

    def log_f(omega: FloatArray) -> FloatArray:
        log_slope = -np.log(np.sin(omega) * np.cos(omega))
        return np.asarray(model.log_posterior(_theta(omega), offset) + log_slope)

    ends = np.zeros(offset.shape[:2]), np.full(offset.shape[:2], 0.5 * np.pi)
    low, high = shrink(log_f, *ends, _DROP)
    x, w = fejer(panels)
    omega = low[..., None] + (high - low)[..., None] * x
    log_w = log_f(omega) + np.log((high - low)[..., None] * w) + log_prior
    weight = np.exp(log_w - log_w.max((-1, -2), keepdims=True))
    a, b = model.betas(_theta(omega), offset)
    return Nodes(weight / weight.sum((-1, -2), keepdims=True), a, b)


def _theta(omega: FloatArray) -> FloatArray:
    return np.asarray(2 * np.log(np.sin(omega) / np.cos(omega)))


class _Models(NamedTuple):
    """Ratings (D, 1, 1, J, 2), shares (D, 1, 1, J), strengths (M, 1, 1), prior of the rate."""

    rated: FloatArray
    share: FloatArray
    kappa: FloatArray
    rate: Beta

    def betas(self, theta: FloatArray, offset: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Beta parameters of the v_j given θ (D, M, T): (D, M, T, J)."""
        place = theta[..., None] + offset
        a, b = self.kappa * expit(place), self.kappa * expit(-place)
        return a + self.rated[..., 1], b + self.rated[..., 0]

    def log_posterior(self, theta: FloatArray, offset: FloatArray) -> FloatArray:
        """Log of prior times likelihood of (κ, slope, θ), but for the prior of the slope."""
        place = theta[..., None] + offset
        up, down = expit(place), expit(-place)
        slope, (a, b) = (self.share * up * down).sum(-1), self.rate
        prior = np.log(slope)
        if (a, b) != (1.0, 1.0):
            mean, rest = (self.share * up).sum(-1), (self.share * down).sum(-1)
            prior = prior + xlogy(a - 1, mean) + xlogy(b - 1, rest)
        like = _log_rising(self.kappa * up, self.rated[..., 1])
        like += _log_rising(self.kappa * down, self.rated[..., 0])
        like -= _log_rising(self.kappa, self.rated.sum(-1))
        return np.asarray(prior + like.sum(-1))


def _log_rising(start: FloatArray, steps: FloatArray) -> FloatArray:
    """log of start (start + 1) … (start + steps − 1)."""
    start = np.maximum(start, 1e-300)
    return np.asarray(gammaln(start + steps) - gammaln(start))
