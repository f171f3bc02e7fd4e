"""Maurer and Pontil's empirical Bernstein bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._range import RangeBound
from fewgold.estimate import LinearEstimate


@dataclass(frozen=True)
class MaurerPontil(RangeBound):
    """Empirical Bernstein bound of Maurer and Pontil, for simple random samples.

    ``t = s sqrt(2 ln(4/δ)/n) + 7 R ln(4/δ)/(3(n−1))`` on both sides, s with divisor n − 1. It is
    proved for independent draws. Hoeffding's reduction carries sums over to drawing without
    replacement, but the step that bounds s goes by self-bounding functions and not by a sum, so
    here the bound is *conjectured*: `BernsteinSerfling` is proved. There is no
    without-replacement factor. One rating has no spread: the interval is all that is possible.

    References
    ----------
    Maurer and Pontil (2009), Empirical Bernstein bounds and sample variance penalization,
    theorem 4, with δ/2 on each side.
    """

    name: ClassVar[str] = "maurer-pontil"
    kind: ClassVar[str] = "conjectured"
    covers: ClassVar[tuple[str, ...]] = ("simple",)
    assumes: ClassVar[str] = (
        "simple random samples, a mean or slopes fixed beforehand, and any scores between the "
        "limits"
    )
    reference: ClassVar[str] = (
        "Maurer and Pontil (2009), Empirical Bernstein bounds and sample variance penalization, "
        "theorem 4"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, log = estimate.n, np.log(4 / miss)
        if n < 2:
            return np.full(estimate.value.shape, np.inf)
        sd = estimate.residuals.std(-1, ddof=1)
        return np.asarray(sd * np.sqrt(2 * log / n) + 7 * span * log / (3 * (n - 1)))
