"""Betting on the scores of a simple random sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._ordered import OrderedBound
from fewgold.bounds._refused import least_unrated
from fewgold.bounds._sides import Side, running_variance

# What is expected of the variance before the first rating, and how many ratings that counts for. A
# poor guess costs width, never coverage; nor does the cap.
PRIOR, WEIGHT = 0.05, 2.0
CAP = 0.9
# Bets for a lower confidence than 80 % are those for 80 %: they would be too small to be useful.
_MOST = 0.1


@dataclass(frozen=True)
class Betting(OrderedBound):
    """Betting interval for a sample without replacement (Waudby-Smith and Ramdas).

    A mean m is refused if one who bets against it, rating by rating, ever has 1/δ times what he
    began with: ``K_t = Π (1 + λ_s (x_s − μ_s(m)))`` with ``μ_s(m) = (N m − S_{s−1})/(N − s + 1)``,
    for either side with δ/2. The bets are ``λ_s = w_s sqrt(2 ln(2/δ) / (v_{s−1} Σ w²))``, capped at
    ``0.9/μ_s``, where v is the variance of the ratings before and ``w_s = (N−n)/(N−s)``: what a
    wrong mean is off by grows as the pool runs out.

    Guaranteed for every population between the limits, simple random samples and ratings in the
    order they were drawn in. It narrows with the spread of the scores, which Hoeffding's does
    not. The capital falls in m, so that each end is a root of one function.

    Parameters
    ----------
    metric
        Name of a metric, or ``"mean"`` for the mean of all, that takes a part of the spread away: a
        control variate with slopes from the ratings before. Fix it before the ratings come.
    upper
        Share of the misses that the upper end may have. Fix it before the ratings come.

    References
    ----------
    Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without replacement, theorem
    3.1; (2024), Estimating means of bounded random variables by betting, eq. 24–26 and section 5.
    """

    name: ClassVar[str] = "betting"
    reference: ClassVar[str] = (
        "Waudby-Smith and Ramdas (2020), Confidence sequences for sampling without replacement, "
        "theorem 3.1"
    )

    def _least(self, side: Side, miss: FloatArray) -> FloatArray:
        return bet_for_size(side, miss)


def bet_for_size(side: Side, miss: FloatArray) -> FloatArray:
    """Least sum of the unrated scores, by bets that suit a size that was fixed before: (rows,)."""
    rows, n = side.rest.shape
    unrated = float(side.size - n)
    weight = unrated / (side.left - 1)
    variance = running_variance(side.payoff, PRIOR, WEIGHT)
    drive = 2 * np.log(1 / np.minimum(miss, _MOST)) / np.square(weight).sum()
    bets = weight * np.sqrt(drive[:, None] / variance)
    # Capital that grew evenly would reach its goal that far below the mean of the ratings.
    off = unrated * np.sqrt(variance[:, -1] * drive)
    start = unrated * side.payoff.mean(-1) - 1.1 * off
    ends = (np.zeros(rows), np.full(rows, unrated))
    return least_unrated(side, bets, -np.log(miss), CAP, ends, (start, 0.1 * off))
