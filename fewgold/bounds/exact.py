"""Exact bounds for binary scores: the count at the upper limit is hypergeometric."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from fewgold.bounds.base import ROUNDING, bound_hints, not_covered
from fewgold.common.arrays import IntArray
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class BinaryBound(Bound):
    """A bound for the plain mean of a random sample of binary scores, at the limits of the scale.

    That *all* scores of the pool are at the limits must be known from the scale; ratings in between
    are refused, but their absence does not prove it.
    """

    kind: ClassVar[str] = "guaranteed"
    assumes: ClassVar[str] = (
        "simple random samples, the plain mean, and pools with scores at the two limits only"
    )

    @property
    def needs_limits(self) -> bool:
        return True

    @property
    def label(self) -> str:
        return f"{super().label} for scores of two values"

    @abstractmethod
    def _shares(self, count: IntArray, n: int, size: int, miss: float) -> Interval:
        """Interval for the share of the pool at the upper limit, from ``count`` of ``n``."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        low, high = self._limits(estimate)
        count = (estimate.ratings.scores == high).sum(-1)
        # Draws with the same count have the same interval.
        distinct, where = np.unique(count, return_inverse=True)
        share = self._shares(distinct, estimate.n, estimate.design.size, 1 - confidence)
        where = where.reshape(count.shape)
        first, last = (low + (high - low) * np.asarray(end)[where] for end in share)
        value = estimate.value  # which rounding may put outside an interval of width 0
        room = ROUNDING * (high - low) if estimate.n < estimate.design.size else 0.0
        return Interval(np.minimum(first - room, value), np.maximum(last + room, value))

    def _limits(self, estimate: LinearEstimate) -> tuple[float, float]:
        """The two values that scores can have; refuses cases for which this bound is not exact."""
        design, scores, limits = estimate.design, estimate.ratings.scores, estimate.ratings.limits
        if not design.drawn_as("simple"):
            raise not_covered(self.name, "simple samples", design)
        if estimate.tuned or not np.array_equal(estimate.residuals, scores):
            raise DesignError(
                f"{self.name} covers the plain mean, and this estimate is {estimate.method!r}.",
                hints=bound_hints(
                    "Use the mean; {}, which uses only the ratings; or {}, which covers every "
                    "estimate.",
                    *("betting", "student"),
                ),
            )
        if limits is None:
            raise DesignError(
                f"{self.name} needs to know the two values that scores can have.",
                hints={
                    "python": "Give them with the ratings, sample.rate(scores, limits=(0, 1)), or "
                    "use bound=Student().",
                    "cli": "Give them with --limits 0,1, or use --bound student.",
                    "web": "Enter them as the ends of the scale, or use the bound student.",
                },
            )
        between = (scores != limits[0]) & (scores != limits[1])
        if between.any():
            raise DesignError(
                f"{self.name} covers scores of two values, the limits {limits[0]:g} and "
                f"{limits[1]:g}, and {int(between.sum())} ratings lie between, first "
                f"{scores[between][0]:g}.",
                hints=bound_hints(
                    "Use {}, which is guaranteed for all scores within the limits, or {}.",
                    *("betting", "student"),
                ),
            )
        return limits


# Probabilities with a smaller relative difference count as equal: 1 − 0.95 is not quite 1/20.
_TIE = 1e-10


@dataclass(frozen=True)
class Hypergeometric(BinaryBound):
    """Exact interval for scores of two values and the plain mean of a simple random sample.

    Contains every number K of ones in the pool that neither tail rejects: P(X ≥ k | K) and P(X ≤ k
    | K) both above δ/2, where X, the ones among n of N, is hypergeometric. Guaranteed for drawing
    without replacement; a point at n = N.

    References
    ----------
    Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations, The
    American Statistician 41.
    """

    name: ClassVar[str] = "hypergeometric"
    reference: ClassVar[str] = (
        "Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations"
    )

    def _shares(self, count: IntArray, n: int, size: int, miss: float) -> Interval:
        low = least_ones(count, n, size, miss / 2)
        high = size - least_ones(n - count, n, size, miss / 2)  # swap ones and zeros
        return Interval(low / size, high / size)


def least_ones(count: IntArray, n: int, size: int, tail: float) -> IntArray:
    """Smallest number of ones in the pool with P(``count`` or more) above the tail probability.

    By bisection: the probability grows with the number of ones, and is 1 if all unrated segments
    are ones. A probability of exactly ``tail`` is rejected, whatever the rounding.
    """
    from scipy.stats import hypergeom

    low = count.astype(np.int64)  # at least the ones observed
    high = low + (size - n)
    while (low < high).any():
        middle = (low + high) // 2
        likely = hypergeom.sf(count - 1, size, middle, n) > tail * (1 + _TIE)
        low, high = np.where(likely, low, middle + 1), np.where(likely, middle, high)
    return low


@dataclass(frozen=True)
class ClopperPearson(BinaryBound):
    """Clopper–Pearson interval for scores of two values and the mean of a simple random sample.

    Exact for independent draws, and wider than necessary without replacement: `Hypergeometric` uses
    the size of the pool. It is clipped to possible values, so that it is a point at n = N.

    Guaranteed from 50 % confidence up; lower levels are refused. Without replacement, the tail
    beyond c is lighter than the binomial's if the pool's share p is at most c N/((n−1)(N+1))
    (Uhlmann 1966). An end misses on at most δ/2 ≤ 1/4 of the binomial, so that c ≥ n p, which is
    enough, except for p < 1/n (Greenberg and Mohri 2014), where it misses if any one is observed.
    That has a probability of n p ≤ −ln(1 − δ/2) ≤ δ, and the other end then never misses. So the
    interval keeps its guarantee, though one end alone may miss slightly more often than δ/2.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits, Biometrika 26.
    Uhlmann (1966), Vergleich der hypergeometrischen mit der Binomial-Verteilung, Metrika 10.
    Greenberg and Mohri (2014), Tight lower bound on the probability of a binomial exceeding its
    expectation, Statistics and Probability Letters 86.
    """

    name: ClassVar[str] = "clopper-pearson"
    reference: ClassVar[str] = (
        "Clopper and Pearson (1934), The use of confidence or fiducial limits; Uhlmann (1966) for "
        "samples without replacement"
    )

    def _shares(self, count: IntArray, n: int, size: int, miss: float) -> Interval:
        if miss > 0.5 * (1 + 1e-12):
            raise DesignError(
                f"{self.name} is proved for a confidence of 50 % or more; got {1 - miss:.0%}.",
                hints=bound_hints("Use {} or {}.", "hypergeometric", "betting"),
            )
        k, tail = count.astype(np.float64), miss / 2
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
        return Interval(np.maximum(low, k / size), np.minimum(high, (k + size - n) / size))
