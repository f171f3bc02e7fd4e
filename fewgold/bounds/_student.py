"""Student's interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class Student(Bound):
    """Student interval with finite population correction, on the degrees of freedom left.

    Approximate: too narrow for very skewed scores and few ratings. Covers every design and
    estimate. Infinite where the ratings are too few to show a spread.
    """

    name: ClassVar[str] = "student"
    kind: ClassVar[str] = "approximate"

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        se, df = estimate.se, np.maximum(estimate.df, 1e-9)
        quantile = stdtrit(np.maximum(df, 1.0), (1 + confidence) / 2)
        half = np.where(np.isfinite(se), quantile * np.where(np.isfinite(se), se, 0.0), np.inf)
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))
