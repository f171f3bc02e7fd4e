"""What bounds for scores with two values have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import IntArray
from fewgold.bounds._instead import for_design
from fewgold.bounds._reach import HAIR
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class BinaryBound(Bound):
    """A bound for the plain mean of scores at either limit of the scale, sampled at random.

    That *all* scores of the pool lie there must be known from the scale; ratings in between are
    refused, but ratings without any do not show it.
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
        ends = (low + (high - low) * np.asarray(end)[where.reshape(count.shape)] for end in share)
        first, last = ends
        value = estimate.value  # which rounding may put outside an interval without width
        hair = HAIR * (high - low) if estimate.n < estimate.design.size else 0.0
        return Interval(np.minimum(first - hair, value), np.maximum(last + hair, value))

    def _limits(self, estimate: LinearEstimate) -> tuple[float, float]:
        """The two values that scores can have; refuses what this bound is not exact for."""
        design, scores, limits = estimate.design, estimate.ratings.scores, estimate.ratings.limits
        if design.kind != "simple":
            raise DesignError(
                f"{self.name} covers simple samples, and this one is {design.kind}. Use "
                f"{for_design(design.kind)}."
            )
        if estimate.tuned or not np.array_equal(estimate.residuals, scores):
            raise DesignError(
                f"{self.name} covers the plain mean, and this estimate is {estimate.method!r}. Use "
                "the mean, bound=Betting(), which goes by the ratings alone, or bound=Student(), "
                "which covers every estimate."
            )
        if limits is None:
            raise DesignError(
                f"{self.name} needs to know the two values that scores can have. Give them with "
                "the ratings, sample.rate(scores, limits=(0, 1)), or use bound=Student()."
            )
        between = (scores != limits[0]) & (scores != limits[1])
        if between.any():
            raise DesignError(
                f"{self.name} covers scores of two values, the limits {limits[0]:g} and "
                f"{limits[1]:g}, and {int(between.sum())} ratings lie between, first "
                f"{scores[between][0]:g}. Use bound=Betting(), which is guaranteed for all scores "
                "within the limits, or bound=Student()."
            )
        return limits
