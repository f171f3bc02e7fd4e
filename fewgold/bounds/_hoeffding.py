"""Hoeffding's bound for sampling without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray, group_sum, spread_out
from fewgold.bounds._range import RangeBound
from fewgold.design import Design
from fewgold.estimate import LinearEstimate


@dataclass(frozen=True)
class Hoeffding(RangeBound):
    """Hoeffding–Serfling bound (Saldías et al. 2022, section 2.3).

    ``t = R sqrt(k_n ln(2/δ) / (2n))`` with ``k_n = 1 - (n-1)/N`` for a simple random sample, and
    ``(1 - n/N)(1 + 1/n)`` beyond n = N/2, where the segments left out are the smaller sample and
    tell as much. For a stratified one the terms of the strata add up: ``t² = R² ln(2/δ)/2 ·
    Σ_h W_h² k_h/n_h``, since the strata are independent and Serfling bounds the moment generating
    function of each. As printed, the first k_n and one stratum for all.

    References
    ----------
    Serfling (1974), Probability inequalities for the sum in sampling without replacement, theorem
    2.2; Bardenet and Maillard (2015), corollary 2.5, for more than half of the pool.
    """

    name: ClassVar[str] = "hoeffding"
    covers: ClassVar[tuple[str, ...]] = ("simple", "stratified")
    assumes: ClassVar[str] = (
        "simple or stratified random samples, a mean or slopes fixed beforehand, and any scores "
        "between the limits"
    )
    reference: ClassVar[str] = (
        "Serfling (1974), Probability inequalities for the sum in sampling without replacement, "
        "theorem 2.2"
    )

    def _half_width(self, estimate: LinearEstimate, span: float, miss: float) -> FloatArray:
        n, size = estimate.n, estimate.design.size
        if self.printed:
            spread = np.broadcast_to((1 - (n - 1) / size) / n, estimate.value.shape)
        else:
            spread = _serfling(estimate.design)
        return np.asarray(span * np.sqrt(spread * np.log(2 / miss) / 2))


def _serfling(design: Design) -> FloatArray:
    """Σ_h W_h² k_h / n_h: each of the n_h segments of a stratum brings w² = (W_h/n_h)²."""
    strata = design.groups if design.strata is None else design.strata
    counts = group_sum(np.ones(strata.shape), strata, int(strata.max()) + 1)
    taken, share = spread_out(counts, strata), design.inclusion
    k = np.minimum(1 - share + share / taken, (1 - share) * (1 + 1 / taken))
    return np.asarray((design.weights**2 * k).sum(-1))
