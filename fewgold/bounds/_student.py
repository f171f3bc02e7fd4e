"""Student's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from fewgold._arrays import FloatArray, group_sum
from fewgold.design import Design
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class Student(Bound):
    """Student interval with finite population correction, on the degrees of freedom left.

    Approximate: too narrow for very skewed scores and few ratings. Covers every design and
    estimate. Infinite where the ratings are too few to show a spread.
    """

    name: ClassVar[str] = "student"
    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = "any design and estimate; scores that are not very skewed"
    reference: ClassVar[str] = "Student (1908); Cochran (1977), Sampling Techniques, section 2.8"

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        se = estimate.se
        quantile = student_quantile(np.maximum(estimate.df, 1.0), confidence)
        half = np.where(np.isfinite(se), quantile * np.where(np.isfinite(se), se, 0.0), np.inf)
        half = np.maximum(half, _without_spread(estimate, confidence))
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))


def student_quantile(df: FloatArray, confidence: float) -> FloatArray:
    """Student's quantile of a two-sided interval, found once where all draws have the same df."""
    shape = df.shape
    if df.size > 1 and (df == df.flat[0]).all():
        df = df.ravel()[:1]
    return np.broadcast_to(stdtrit(df, (1 + confidence) / 2), shape)


def _without_spread(estimate: LinearEstimate, confidence: float) -> FloatArray:
    """How far off the mean can be although the ratings show no spread; infinite without a scale.

    The rule of three: were a share q of the pool at the end of the scale, n ratings would miss
    all of it with a chance of (1 − q)^n. Where weights differ, it hides where they are largest.
    """
    if estimate.ratings.limits is None:
        return np.where(estimate.spreadless, np.inf, 0.0)
    low, high = estimate.ratings.limits
    miss = 1 - ((1 - confidence) / 2) ** largest_weight(estimate.design)
    left = 1 - estimate.n / estimate.design.size
    return np.asarray(np.where(estimate.spreadless, (high - low) * miss * left, 0.0))


def largest_weight(design: Design) -> FloatArray:
    """Weight of the heaviest unit that was drawn as a whole: (...)."""
    if design.units is None:
        return np.asarray(design.weights.max(-1))
    return np.asarray(group_sum(design.weights, design.units, int(design.units.max()) + 1).max(-1))
