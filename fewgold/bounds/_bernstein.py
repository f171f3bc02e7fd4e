"""The empirical Bernstein bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._range import RangeBound
from fewgold.estimate import LinearEstimate


@dataclass(frozen=True)
class Bernstein(RangeBound):
    """Empirical Bernstein bound (Mnih et al. 2008; Saldías et al. 2022, section 2.3).

    ``t = σ̂ sqrt(2 ln(3/δ)/n) + 3 R ln(3/δ)/n``. The paper calls σ̂ the variance; it is the standard
    deviation (divisor n), and this is what is computed here. Guaranteed for a simple random
    sample: the bound is proved for independent draws, and draws without replacement concentrate
    at least as well (Hoeffding 1963, theorem 4, applied to its two Bernstein steps). There is no
    without-replacement factor, so it does not shrink to nothing at n = N.
    """

    name: ClassVar[str] = "bernstein"
    covers: ClassVar[tuple[str, ...]] = ("simple",)

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, log = estimate.n, np.log(3 / miss)
        sd = estimate.residuals.std(-1)
        return np.asarray(sd * np.sqrt(2 * log / n) + 3 * span * log / n)
