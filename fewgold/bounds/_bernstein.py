"""The empirical Bernstein bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold.bounds._range import refuse_design, refuse_tuned, score_range
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class Bernstein(Bound):
    """Empirical Bernstein bound (Mnih et al. 2008; Saldías et al. 2022, section 2.3).

    ``t = σ̂ sqrt(2 ln(3/δ)/n) + 3 R ln(3/δ)/n``. The paper calls σ̂ the variance; it is the standard
    deviation (divisor n), and this is what is computed here. Guaranteed for a simple random
    sample: the bound is proved for independent draws, and draws without replacement concentrate
    at least as well (Hoeffding 1963, theorem 4, applied to its two Bernstein steps). There is no
    without-replacement factor, so it does not shrink to nothing at n = N.

    Parameters
    ----------
    printed
        Apply the formula of the simple mean to any estimate, as the paper does. Not guaranteed.
    score_range
        R, where the limits of the scale did not come with the ratings.
    """

    printed: bool = False
    score_range: float | None = None

    name: ClassVar[str] = "bernstein"
    kind: ClassVar[str] = "guaranteed"

    @property
    def label(self) -> str:
        return "bernstein, as printed: not guaranteed here" if self.printed else super().label

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        if not self.printed:
            refuse_tuned(estimate, self.name)
            refuse_design(estimate, self.name, ("simple",))
        span = score_range(estimate, self.name, self.score_range)
        n, log = estimate.n, np.log(3 / (1 - confidence))
        sd = estimate.residuals.std(-1)
        half = sd * np.sqrt(2 * log / n) + 3 * span * log / n
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))
