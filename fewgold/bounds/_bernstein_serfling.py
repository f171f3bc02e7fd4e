"""The empirical Bernstein bound for sampling without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._range import RangeBound
from fewgold.estimate import LinearEstimate

_KAPPA = 7 / 3 + 3 / np.sqrt(2)


@dataclass(frozen=True)
class BernsteinSerfling(RangeBound):
    """Empirical Bernstein–Serfling bound, guaranteed for simple random samples.

    ``t = σ̂ sqrt(2 ρ_n l/n) + (7/3 + 3/√2) R l/n`` with σ̂ of divisor n, ρ_n = 1 − (n−1)/N up to
    n = N/2 and (1 − n/N)(1 + 1/n) beyond, and l = ln(7/δ). The theorem is one-sided and costs 5δ':
    2δ' for the mean and 3δ' for σ̂. The other side shares the bound of σ̂, so that both cost 7δ'.
    The second term does not shrink with ρ_n.

    References
    ----------
    Bardenet and Maillard (2015), Concentration inequalities for sampling without replacement,
    theorem 4.3 (corollary 3.6 for the mean, lemma 4.1 for σ̂).
    """

    name: ClassVar[str] = "bernstein-serfling"
    covers: ClassVar[tuple[str, ...]] = ("simple",)
    assumes: ClassVar[str] = (
        "simple random samples, a mean or slopes fixed beforehand, and any scores between the "
        "limits"
    )
    reference: ClassVar[str] = (
        "Bardenet and Maillard (2015), Concentration inequalities for sampling without "
        "replacement, theorem 4.3"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, size, log = estimate.n, estimate.design.size, np.log(7 / miss)
        rho = 1 - (n - 1) / size if n <= size / 2 else (1 - n / size) * (1 + 1 / n)
        sd = estimate.residuals.std(-1)
        return np.asarray(sd * np.sqrt(2 * rho * log / n) + _KAPPA * span * log / n)
