"""Ratings in random order on the scale from 0 to 1, and the capital of bets on them.

`_ordered` says what is bet on and why it holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fewgold._arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Side:
    """Bets on high scores, one row for each draw: all that their capital is made of.

    Parameters
    ----------
    rest
        (rows, n) sum of the ratings from this one on, in [0, 1] each.
    payoff
        (rows, n) the rating, less what the metric foretold of it.
    margin
        (rows, n) by how much the metric may lower a payoff below 0.
    size
        Segments in the pool.
    """

    rest: FloatArray
    payoff: FloatArray
    margin: FloatArray | None
    size: int

    @property
    def left(self) -> FloatArray:
        """Segments not drawn before each rating: (n,)."""
        return self.size - np.arange(self.rest.shape[-1], dtype=np.float64)

    def rows(self, chosen: slice | IntArray) -> Side:
        margin = None if self.margin is None else self.margin[chosen]
        return replace(self, rest=self.rest[chosen], payoff=self.payoff[chosen], margin=margin)

    def best(self, unrated: FloatArray, bets: FloatArray, cap: float) -> FloatArray:
        """Logarithm of the highest capital, if the unrated scores sum to ``unrated``: (rows,).

        Bets are capped at ``cap / (μ_t + margin)``, so that no rating takes more than that share
        of the capital. Each factor falls in ``unrated``, and so does the capital.
        """
        mean = self.rest + unrated[:, None]
        mean /= self.left
        most = mean.copy() if self.margin is None else mean + self.margin
        np.maximum(most, 1e-300, out=most)
        np.divide(cap, most, out=most)
        np.minimum(most, bets, out=most)
        np.subtract(self.payoff, mean, out=mean)
        mean *= most
        mean += 1.0
        with np.errstate(over="ignore", under="ignore"):
            np.cumprod(mean, axis=-1, out=mean)
        # Capital without end counts as a lot: the search goes by its logarithm.
        return np.asarray(np.log(np.minimum(mean.max(-1), 1e300)))


@dataclass(frozen=True, eq=False)
class Ordered:
    """Ratings of many draws in random order, on the scale from 0 to 1: (draws, n).

    Parameters
    ----------
    scores
        (draws, n) the ratings.
    size
        Segments in the pool.
    foretold
        (draws, n) what a metric foretold of each rating, less the mean of that over all segments
        not drawn before, by a slope from the ratings before.
    reach
        Least and largest value that ``foretold`` could have had: (draws, n) each.
    """

    scores: FloatArray
    size: int
    foretold: FloatArray | None = None
    reach: tuple[FloatArray, FloatArray] | None = None

    @property
    def n(self) -> int:
        return int(self.scores.shape[-1])

    def sides(self) -> Side:
        """Bets on high scores for all draws, and then, the scale turned, on low ones: 2 draws."""
        x = np.concatenate([self.scores, 1.0 - self.scores])
        rest = np.cumsum(x[:, ::-1], axis=-1)[:, ::-1]
        if self.foretold is None or self.reach is None:
            return Side(rest, x, None, self.size)
        payoff = x - np.concatenate([self.foretold, -self.foretold])
        return Side(rest, payoff, np.concatenate([self.reach[1], -self.reach[0]]), self.size)


def running_variance(values: FloatArray, prior: float, weight: float) -> FloatArray:
    """Variance of the values before each one, drawn towards ``prior``: (rows, n).

    The prior counts as much as ``weight`` values; of v_t only x_1 … x_{t−1} are known.
    """
    count = np.arange(1.0, values.shape[-1] + 1)
    mean = np.cumsum(values, axis=-1) / count
    squares = np.zeros(values.shape)
    np.cumsum(np.square(values - mean)[:, :-1], axis=-1, out=squares[:, 1:])
    return np.asarray((weight * prior + squares) / (weight + count - 1))
