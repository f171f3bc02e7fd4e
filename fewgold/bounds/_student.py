"""Student's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from fewgold._arrays import FloatArray
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
        half = np.maximum(half, _if_all_alike(estimate, confidence))
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))


def student_quantile(df: FloatArray, confidence: float) -> FloatArray:
    """Student's quantile of a two-sided interval, found once where all draws have the same df."""
    shape = df.shape
    if df.size > 1 and (df == df.flat[0]).all():
        df = df.ravel()[:1]
    return np.broadcast_to(stdtrit(df, (1 + confidence) / 2), shape)


def _if_all_alike(estimate: LinearEstimate, confidence: float) -> FloatArray:
    """How far off the mean can be although all ratings are equal, where the scale is known.

    The rule of three: were a share q of the pool at the end of the scale, n ratings would miss
    all of it with a chance of (1 − q)^n.
    """
    if estimate.ratings.limits is None:
        return np.zeros(estimate.value.shape)
    low, high = estimate.ratings.limits
    miss = 1 - ((1 - confidence) / 2) ** (1 / estimate.n)
    left = 1 - estimate.n / estimate.design.size
    return np.asarray(np.where(estimate.all_alike, (high - low) * miss * left, 0.0))
