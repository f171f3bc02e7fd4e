"""Bets for an interval that is to become no wider than a tolerance, and their capital.

The proof is that of `fewgold.bounds._ordered`: the capital against the true mean is a nonnegative
martingale, and the chance that it *ever* reaches 1/δ is δ at most (Ville 1939). Nothing in it asks
for a size that was fixed before, so one may look after every rating and stop when one likes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.bounds._betting import CAP, PRIOR, WEIGHT
from fewgold.bounds._foretell import foretell
from fewgold.bounds._sides import running_variance

#: Ends of intervals are multiples of this share of the scale, so that they do not depend on how
#: they were searched for.
LATTICE = 1e-6


def mean_of(steps: IntArray) -> FloatArray:
    """The mean that lies so many steps of the lattice up the scale."""
    return np.asarray(steps * LATTICE, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Game:
    """Bets that the mean is higher than some candidate, one row for each draw: (rows, n) all.

    Parameters
    ----------
    seen
        Sum of the ratings before this one, in [0, 1] each.
    after
        The same with this one.
    payoff
        The rating, less what the metric foretold of it.
    margin
        By how much the metric may lower a payoff below 0.
    bets
        Stakes, which look at the ratings before only, to be capped.
    size
        Segments in the pool.
    """

    seen: FloatArray
    after: FloatArray
    payoff: FloatArray
    margin: FloatArray | None
    bets: FloatArray
    size: int

    @property
    def n(self) -> int:
        return int(self.seen.shape[-1])

    @property
    def left(self) -> FloatArray:
        """Segments not drawn before each rating: (n,); 1 where columns were added at the end."""
        return np.maximum(self.size - np.arange(self.n, dtype=np.float64), 1.0)

    def __getitem__(self, at: tuple[slice | IntArray, slice]) -> Game:
        """The same game, of some rows and of the first columns."""
        margin = None if self.margin is None else self.margin[at]
        parts = {name: getattr(self, name)[at] for name in ("seen", "after", "payoff", "bets")}
        return replace(self, margin=margin, **parts)

    def expected(self, means: FloatArray) -> FloatArray:
        """Mean of what was left before each rating, if that of the pool is ``means``: (rows, n).

        Never a hair below 0: rounding there would refuse sparse scores.
        """
        mean = self.size * means[:, None] - self.seen
        np.maximum(mean, 0.0, out=mean)
        mean /= self.left
        return mean

    def factors(self, means: FloatArray, bets: FloatArray | None = None) -> FloatArray:
        """What each rating multiplies the capital with, if ``means`` are true: (rows, n).

        Bets are capped at ``CAP / (μ_t + margin)``, so that no rating takes more than that share of
        the capital. Each factor falls in the mean: so does the capital, and an end is a root.
        A game of one row can be played against many means.
        """
        mean = self.expected(means)
        most = mean.copy() if self.margin is None else mean + self.margin
        np.maximum(most, 1e-300, out=most)
        np.divide(CAP, most, out=most)
        np.minimum(most, self.bets if bets is None else bets, out=most)
        np.subtract(self.payoff, mean, out=mean)
        mean *= most
        mean += 1.0
        return mean

    def capital(self, means: FloatArray) -> FloatArray:
        """Logarithm of the capital after each rating: (rows, n)."""
        factors = self.factors(means)
        np.log(factors, out=factors)
        return np.cumsum(factors, axis=-1, out=factors)


def games(
    scores: FloatArray,
    size: int,
    tolerance: float,
    metric: tuple[FloatArray, IntArray] | None = None,
) -> tuple[Game, Game]:
    """Bets on high scores, and on low ones with the scale turned.

    ``scores`` (draws, n) and ``tolerance`` are on the scale from 0 to 1; ``metric`` is that of the
    pool (N,) with the rows drawn (draws, n).

    A bet that wins d on average with variance v makes capital grow fastest at d/(v + d²) (Kelly
    1956, to second order). A mean that is off by the tolerance is off by tolerance · N/(N − t + 1)
    in what is left before rating t: that is d.
    """
    told = np.zeros(1)
    margins: tuple[FloatArray | None, FloatArray | None] = (None, None)
    if metric is not None:
        told, (least, most) = foretell(scores, *metric)
        margins = (most, -least)
    off = tolerance * size / (size - np.arange(scores.shape[-1], dtype=np.float64))
    sides = []
    for x, payoff, margin in zip(
        (scores, 1.0 - scores), (scores - told, 1.0 - scores + told), margins, strict=True
    ):
        after = np.cumsum(x, axis=-1)
        seen = np.concatenate([np.zeros((len(x), 1)), after[:, :-1]], axis=-1)
        variance = running_variance(payoff, PRIOR, WEIGHT)
        sides.append(Game(seen, after, payoff, margin, off / (variance + off * off), size))
    return sides[0], sides[1]
