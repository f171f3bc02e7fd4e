"""Uneven chances: rate more where ratings are expected to stray further from what metrics predict.

The variance of a mean corrected by metrics is about Σ σ² (1/π − 1) / N², where σ is the spread of
a rating around its prediction and π the chance of the segment to be drawn. It is least for π in
proportion to σ (Neyman's allocation, segment by segment; Särndal, Swensson and Wretman 1992, section
12.2). σ is never known, so that chances are a mixture with equal ones: a wrong guess of σ then costs
little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.errors import BudgetError, DataError, DesignError
from fewgold.pool import Pool

#: The expected spread of the rating of every segment, (N,) and not negative, from the pool.
Spread: TypeAlias = Callable[[Pool], FloatArray]


@dataclass(frozen=True)
class Chances:
    """Inclusion probabilities that follow the expected spread of ratings.

    Parameters
    ----------
    spread
        What the spread is known from: any callable that gives one number per segment of a pool.
    uniform
        Share of equal chances in the mixture, above 0 and up to 1.
    """

    spread: Spread
    uniform: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.uniform <= 1:
            raise DesignError(
                "uniform is the share of equal chances in the mixture, above 0 and up to 1; got "
                f"{self.uniform!r}."
            )

    def inclusion(self, pool: Pool, n: int) -> FloatArray:
        """The chance of each segment to be among ``n``: (N,), with sum n and none above 1."""
        spread = np.asarray(self.spread(pool), dtype=np.float64)
        if spread.shape != (len(pool),):
            raise DataError(
                f"the expected spread must be one number per segment, shape ({len(pool)},); got "
                f"{spread.shape}."
            )
        bad = ~np.isfinite(spread) | (spread < 0)
        if bad.any():
            raise DataError(
                f"{int(bad.sum())} of {bad.size} expected spreads are negative, missing or "
                f"infinite, first for id {pool.ids[bad][0]!s}. Give a number of at least 0 for "
                "every segment."
            )
        if not spread.any():
            raise DataError(
                "all expected spreads are 0, so that they favour no segment. Leave them out, or "
                "give spreads above 0."
            )
        # Divided by the largest first, so that spreads near the limits of floats do no harm.
        relative = spread / spread.max()
        return capped(self.uniform + (1 - self.uniform) * relative / relative.mean(), n)


def capped(mass: FloatArray, n: int) -> FloatArray:
    """Chances in proportion to ``mass``, none above 1, with sum ``n``: (N,).

    Segments that are due more than 1 are taken for sure and the rest is shared out again among the
    others (water-filling), in closed form: with masses in falling order, k of them are taken for
    sure if the k-th is the last one due more than 1.
    """
    positive = int((mass > 0).sum())
    if n > positive:
        raise BudgetError(
            f"{n} segments cannot be drawn where only {positive} have a chance above 0. Lower the "
            "budget, or give every segment a chance."
        )
    falling = np.sort(mass)[::-1]
    left = falling[::-1].cumsum()[::-1]  # mass of the k-th and all after it
    # Where k are taken already, the next one is due (n − k) mass / left.
    over = (n - np.arange(mass.size)) * falling > left * (1 + 1e-12)
    k = int(np.argmin(over)) if not over.all() else mass.size
    certain = mass > falling[k] if k < mass.size else np.ones(mass.size, dtype=bool)
    if k < mass.size and int(certain.sum()) != k:  # ties at the border are due alike
        k = int(certain.sum())
    rest = float(mass[~certain].sum())
    share = np.minimum(mass * ((n - k) / rest if rest > 0 else 0.0), 1.0)
    return np.asarray(np.where(certain, 1.0, share))
