"""Hoeffding's bound for sampling without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray, group_sum, spread_out
from fewgold.bounds._range import refuse_design, refuse_tuned, score_range
from fewgold.design import Design
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class Hoeffding(Bound):
    """Hoeffding–Serfling bound (Saldías et al. 2022, section 2.3).

    ``t = R sqrt(k_n ln(2/δ) / (2n))`` with ``k_n = 1 - (n-1)/N`` for a simple random sample. For a
    stratified one the terms of the strata add up: ``t² = R² ln(2/δ)/2 · Σ_h W_h² k_h/n_h``, since
    the strata are independent and Serfling bounds the moment generating function of each.

    Parameters
    ----------
    printed
        Apply the formula of the simple mean to any estimate, as the paper does. Not guaranteed.
    score_range
        R, where the limits of the scale did not come with the ratings.

    References
    ----------
    Serfling (1974), Probability inequalities for the sum in sampling without replacement.
    """

    printed: bool = False
    score_range: float | None = None

    name: ClassVar[str] = "hoeffding"
    kind: ClassVar[str] = "guaranteed"

    @property
    def label(self) -> str:
        return "hoeffding, as printed: not guaranteed here" if self.printed else super().label

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        n, size = estimate.n, estimate.design.size
        if self.printed:
            spread = np.broadcast_to((1 - (n - 1) / size) / n, estimate.value.shape)
        else:
            refuse_tuned(estimate, self.name)
            refuse_design(estimate, self.name, ("simple", "stratified"))
            spread = _serfling(estimate.design)
        span = score_range(estimate, self.name, self.score_range)
        half = span * np.sqrt(spread * np.log(2 / (1 - confidence)) / 2)
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))


def _serfling(design: Design) -> FloatArray:
    """Σ_h W_h² k_h / n_h: each of the n_h segments of a stratum brings w² = (W_h/n_h)²."""
    strata = design.groups if design.strata is None else design.strata
    taken = group_sum(np.ones(strata.shape), strata, int(strata.max()) + 1)
    stratum_size = spread_out(taken, strata) / design.inclusion
    k = 1 - design.inclusion + 1 / stratum_size
    return np.asarray((design.weights**2 * k).sum(-1))
