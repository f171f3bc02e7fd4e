"""What is known of the rates of metric categories before any rating.

v_j = P(adequate | category j). Given the strength κ and the centres μ_j, v_j ~ Beta(κ μ_j,
κ (1 − μ_j)), so that a category with few ratings is drawn to its centre as if by κ further ratings.
Neither κ nor the centres are plugged in: they are summed over, each with its posterior weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit, gammaln, ndtri, xlogy

from fewgold._arrays import FloatArray, batches
from fewgold.bayes._priors import Beta, _pair
from fewgold.bayes._windows import shrink
from fewgold.errors import FewgoldError

#: Panels of the rule for θ: for distributions, and for mean and sd.
PANELS, FEW_PANELS = 64, 32
_DROP = 14.0
_AT_ONCE = 50_000  # numbers in the arrays of one block


class Nodes(NamedTuple):
    """A mixture: with chance ``weight`` (D, M, P) the v_j are independent Beta(a, b), (D, M, P, J).

    The P points of each of the M models are those of `fejer`, or a single one.
    """

    weight: FloatArray
    a: FloatArray
    b: FloatArray


class CellPrior(Protocol):
    """Turns ratings (D, J, 2) and the number of items of each category (D, J) into a mixture.

    ``panels`` says how finely a rate is cut where it is summed over.
    """

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes: ...


@dataclass(frozen=True)
class Separate:
    """Each category by itself: v_j ~ Beta(a, b), uniform by default.

    With many categories or few ratings it draws the result to a/(a + b): use it where each
    category has some ten ratings, or to get what `PoolPosterior` gives for one metric.
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        _pair("Separate", (self.a, self.b))

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        cells = rated[:, None, None]
        return Nodes(np.ones((len(rated), 1, 1)), self.a + cells[..., 1], self.b + cells[..., 0])


@dataclass(frozen=True)
class Pooled:
    """Categories are drawn to a common rate, by as much as the ratings say that they agree.

    Parameters
    ----------
    rate
        (a, b) of the Beta prior of the overall rate Σ_j (share of j in the pool) μ_j.
    strengths
        Values of κ, equally likely beforehand: from categories that tell nearly all (½) to such
        that tell nearly nothing (128).
    """

    rate: Beta = (1.0, 1.0)
    strengths: tuple[float, ...] = (0.5, 2.0, 8.0, 32.0, 128.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _pair("rate", self.rate))
        _check_strengths(self.strengths)

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        nowhere = np.zeros((len(items), 1))
        models = (0.0,), self.strengths, self.rate
        return _shrunk(rated, items, nowhere, *models, panels)


@dataclass(frozen=True)
class Trend:
    """Categories in order are drawn to a trend over them, rising, falling or flat.

    The centres are μ_j = logistic(θ + slope · z_j), with z_j the normal score of the middle of
    category j in the pool, or the ``places`` given. What does not follow the trend is left to κ, so
    that a metric whose best values lie in its middle does little harm.

    Parameters
    ----------
    rate, strengths
        As for `Pooled`.
    slopes
        Values of the slope, weighed beforehand as by a standard normal density.
    places
        Where the categories lie; by default their normal scores, in the order of their numbers.
    """

    rate: Beta = (1.0, 1.0)
    strengths: tuple[float, ...] = (2.0, 16.0, 128.0)
    slopes: tuple[float, ...] = (-2.5, -1.5, -0.75, 0.0, 0.75, 1.5, 2.5)
    places: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", _pair("rate", self.rate))
        _check_strengths(self.strengths)

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        models = self.slopes, self.strengths, self.rate
        return _shrunk(rated, items, self._places(items), *models, panels)

    def _places(self, items: FloatArray) -> FloatArray:
        if self.places is None:
            middle = np.cumsum(items, axis=-1) - 0.5 * items
            share = middle / np.maximum(items.sum(-1, keepdims=True), 1)
            return np.asarray(ndtri(np.clip(share, 1e-4, 1 - 1e-4)))
        if len(self.places) != items.shape[-1]:
            raise FewgoldError(
                f"places must have one number for each category; got {len(self.places)} for "
                f"{items.shape[-1]} categories."
            )
        return np.broadcast_to(np.asarray(self.places, dtype=np.float64), items.shape)


def _check_strengths(strengths: tuple[float, ...]) -> None:
    if not strengths or not all(0 < k < np.inf for k in strengths):
        raise FewgoldError(f"strengths must be positive numbers; got {strengths!r}.")


def _shrunk(
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
        return Separate(*rate).nodes(rated, items)
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


@lru_cache(maxsize=8)
def fejer(panels: int) -> tuple[FloatArray, FloatArray]:
    """Nodes (1 + cos(kπ/n))/2, k = 1 … n − 1, and weights of Fejér's second rule on [0, 1].

    Every second node is one of the rule with half the panels.
    """
    angle = np.pi / panels * np.arange(1, panels)
    odd = np.arange(1, panels, 2)
    sums = (np.sin(np.multiply.outer(angle, odd)) / odd).sum(-1)
    return 0.5 * (1 + np.cos(angle)), 2 * np.sin(angle) / panels * sums


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
