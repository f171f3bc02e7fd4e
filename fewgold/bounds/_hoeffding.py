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

    ``t = R sqrt(k_n ln(2/δ) / (2n))`` with ``k_n = 1 - (n-1)/N`` for a simple random sample. For a
    stratified one the terms of the strata add up: ``t² = R² ln(2/δ)/2 · Σ_h W_h² k_h/n_h``, since
    the strata are independent and Serfling bounds the moment generating function of each.

    References
    ----------
    Serfling (1974), Probability inequalities for the sum in sampling without replacement.
    """

    name: ClassVar[str] = "hoeffding"
    covers: ClassVar[tuple[str, ...]] = ("simple", "stratified")

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
    taken = group_sum(np.ones(strata.shape), strata, int(strata.max()) + 1)
    stratum_size = spread_out(taken, strata) / design.inclusion
    k = 1 - design.inclusion + 1 / stratum_size
    return np.asarray((design.weights**2 * k).sum(-1))
