"""Betting on the scores of a stratified sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold.bounds._instead import for_design, limits_of
from fewgold.bounds._ordered import check_share, to_unit
from fewgold.bounds._reach import within_reach
from fewgold.bounds._stratified_bets import lower_end, turns_of
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class StratifiedBetting(Bound):
    """A betting interval for stratified samples, narrower than Hoeffding's for most scores.

    With strata, a hypothetical mean of the pool leaves the means of the strata open, and against
    all of them one cannot bet at once. But a bet whose capital goes by the pool's mean alone can be
    had for a little capital. Let μ_t be the mean of what is left of a stratum of N_h at its t-th
    of n_h ratings, p_t any guess of it from the ratings before, and ``a_t = W_h (N_h − n_h) /
    (n_h (N_h − t))``. Since ``1 + y ≤ exp(y)``, the product over all ratings of

        (1 + c a_t (x_t − p_t)) exp(−c a_t (μ_t − p_t))

    is a supermartingale for any c with ``c a_t p_t < 1``; and as Σ a_t (x_t − μ_t) is the
    stratified mean less that of the pool, its logarithm is ``c (value − mean) − Σ g(c a_t (x_t −
    p_t))`` with ``g(u) = u − ln(1 + u)``. Means at which a fixed mixture over c reaches 1/δ are
    refused (Markov). The price: on a simple random sample it is some 30 % wider than `Betting`, and
    strata must gain that much before they are worth it.

    Guaranteed for every population between the limits and stratified random samples of fixed
    sizes, with ratings in the order of drawing within each stratum.

    Parameters
    ----------
    upper
        Share of the misses that the upper end may have. Fix it before the ratings come.

    References
    ----------
    Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without replacement, theorem
    3.2, from which it differs by ln(1 + u) in place of its quadratic bound (Fan et al. 2015).
    """

    upper: float = 0.5

    name: ClassVar[str] = "stratified-betting"
    kind: ClassVar[str] = "guaranteed"
    assumes: ClassVar[str] = (
        "stratified or simple random samples of sizes fixed beforehand, ratings in the order of "
        "drawing, any estimate, and any scores between the limits"
    )
    reference: ClassVar[str] = (
        "after Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without "
        "replacement, theorem 3.2; proof in the docstring"
    )

    def __post_init__(self) -> None:
        check_share(self.upper)

    @property
    def needs_limits(self) -> bool:
        return True

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        design, ratings = estimate.design, estimate.ratings
        if design.kind not in ("simple", "stratified"):
            raise DesignError(
                f"{self.name} covers simple and stratified samples, and this one is {design.kind}. "
                f"Use {for_design(design.kind)}."
            )
        if ratings.limits is None:
            raise DesignError(limits_of(self.name))
        low, high = ratings.limits
        unit, turns = to_unit(ratings.scores, ratings.limits), turns_of(design)
        miss = (1 - confidence) * np.array([1 - self.upper, self.upper])
        least = lower_end(unit, design.weights, turns, float(miss[0]))
        most = 1.0 - lower_end(1.0 - unit, design.weights, turns, float(miss[1]))
        ends = Interval(low + (high - low) * least, low + (high - low) * most)
        plain = LinearEstimate(
            np.zeros(estimate.value.shape),
            ratings.scores,
            ratings,
            self,
            "mean",
            limits=(low, high),
        )
        first, last = within_reach(plain, ends, high - low)
        return Interval(np.minimum(first, estimate.value), np.maximum(last, estimate.value))
