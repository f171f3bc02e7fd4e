"""What is known of the rates of metric categories before any rating.

v_j = P(adequate | category j). Given the strength κ and the centres μ_j, v_j ~ Beta(κ μ_j,
κ (1 − μ_j)), so that a category with few ratings is drawn to its centre as if by κ further ratings.
Neither κ nor the centres are plugged in: they are summed over, each with its posterior weight.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from fewgold._arrays import FloatArray
from fewgold.bayes._cell_nodes import PANELS, Nodes, single_node
from fewgold.bayes._priors import Beta, beta_pair
from fewgold.bayes._shrinkage import shrunk
from fewgold.errors import FewgoldError


@dataclass(frozen=True)
class Separate:
    """Each category by itself: v_j ~ Beta(a, b), uniform by default.

    With many categories or few ratings it draws the result to a/(a + b): use it where each
    category has some ten ratings, or to get what `PoolPosterior` gives for one metric.
    """

    a: float = 1.0
    b: float = 1.0

    def __post_init__(self) -> None:
        beta_pair("Separate", (self.a, self.b))

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        return single_node(rated, self.a, self.b)


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
        object.__setattr__(self, "rate", beta_pair("rate", self.rate))
        _check_strengths(self.strengths)

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        nowhere = np.zeros((len(items), 1))
        models = (0.0,), self.strengths, self.rate
        return shrunk(rated, items, nowhere, *models, panels)


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
        object.__setattr__(self, "rate", beta_pair("rate", self.rate))
        _check_strengths(self.strengths)

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes:
        models = self.slopes, self.strengths, self.rate
        return shrunk(rated, items, self._places(items), *models, panels)

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
