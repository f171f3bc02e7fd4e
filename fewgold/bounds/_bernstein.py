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
    deviation (divisor n), and this is what is computed here. There is no without-replacement
    factor: what narrows it near n = N is only that unrated segments keep to the scale.

    Guaranteed for simple random samples. The proof for independent draws takes three events of
    δ/3 each: either tail of the sum of x, and the lower tail of the sum of (x − μ)². Each is a
    Chernoff bound of a sum of fixed functions of the draws, and such a sum has no larger moment
    generating function without replacement (Hoeffding 1963, theorem 4); what follows is algebra.

    References
    ----------
    Audibert, Munos and Szepesvári (2009), Exploration–exploitation tradeoff using variance
    estimates in multi-armed bandits, theorem 1; Mnih, Szepesvári and Audibert (2008), Empirical
    Bernstein stopping, eq. 1; Hoeffding (1963), Probability inequalities for sums of bounded random
    variables, theorem 4.
    """

    name: ClassVar[str] = "bernstein"
    covers: ClassVar[tuple[str, ...]] = ("simple",)
    assumes: ClassVar[str] = (
        "simple random samples, a mean or slopes fixed beforehand, and any scores between the "
        "limits"
    )
    reference: ClassVar[str] = (
        "Audibert, Munos and Szepesvári (2009), Exploration–exploitation tradeoff using variance "
        "estimates in multi-armed bandits, theorem 1"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, log = estimate.n, np.log(3 / miss)
        sd = estimate.residuals.std(-1)
        return np.asarray(sd * np.sqrt(2 * log / n) + 3 * span * log / n)
