"""Choose the interval that suits the ratings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold.bounds.approximate import (
    Hall,
    Likelihood,
    Shape,
    count_units,
    ratings_alone,
)
from fewgold.bounds.bootstrap import BootstrapT
from fewgold.bounds.exact import Hypergeometric
from fewgold.common.arrays import FloatArray, FloatPair, IntArray
from fewgold.estimate import Bound, Interval, LinearEstimate

#: Largest numbers of ratings for which Hall's and the bootstrap's intervals are chosen.
HALL_BELOW, BOOTSTRAP_BELOW = 16, 50
# Tails beyond this would take an impractical number of replicates.
_BOOTSTRAP_MOST = 0.999


@dataclass(frozen=True)
class _Beyond(Hall):
    """Hall's interval, extended to contain the bootstrap's at its highest confidence."""

    def _ends(self, shape: Shape, df: FloatArray, confidence: float) -> FloatPair:
        own = super()._ends(shape, df, confidence)
        last = BootstrapT()._ends(shape, df, _BOOTSTRAP_MOST)
        return np.minimum(own[0], last[0]), np.maximum(own[1], last[1])


_CHOICES: tuple[Bound, ...] = (Hall(), BootstrapT(), Likelihood(), Hypergeometric(), _Beyond())
_HALL, _BOOTSTRAP, _LIKELIHOOD, _EXACT, _BEYOND = range(5)


@dataclass(frozen=True)
class Auto(Bound):
    """The interval that performed best in simulations for such ratings; summaries name it.

    ==========================================================  ===================================
    ratings all 0 or 1, the limits; simple random sample;       `Hypergeometric`, exact if the pool
    plain mean                                                  has no other scores
    all else, from 50 ratings on                                `Likelihood`, approximate
    16 to 49 ratings                                            `BootstrapT`, approximate
    fewer                                                       `Hall`, approximate
    documents or chunks drawn as a whole, worth 16 ratings      `Likelihood`, approximate
    fewer                                                       `Hall`, approximate
    ==========================================================  ===================================

    Ratings drawn in whole documents or chunks are worth their number divided by the design effect,
    and the worth of ratings of uneven weight is Kish's effective number: below 16 of them Hall's
    interval is chosen. Skewness needs no special case: all three approximate intervals adapt to it,
    and reach further towards the long tail. Empirical likelihood is the narrowest of them, and
    conservative if ratings are few and not skewed; Hall's is the widest and the best choice for
    very few. For documents the likelihood takes the shape from their ratings: a handful of
    documents shows none, and intervals that estimate it from them are wider and still miss.

    The choice does not depend on the confidence, so that intervals nest. Only above 99.9 % does
    Hall's interval replace the bootstrap's, extended to contain the bootstrap's of 99.9 %.

    Scores count as binary if the limits are 0 and 1 and all ratings are at the limits. A guaranteed
    bound is never chosen for other scores, because an interval that holds in the worst case is 1.1
    to 1.7 times as wide on real ratings (`STaR`); to get one, name it.

    The evidence: ``python benchmarks/intervals.py --choose``.
    """

    name: ClassVar[str] = "auto"
    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = "any design and estimate"
    reference: ClassVar[str] = "docs/intervals.md"

    def resolve(self, estimate: LinearEstimate, confidence: float = 0.95) -> Bound:
        """The bound chosen for one study; in a batch every draw has its own."""
        return self if np.ndim(estimate.value) else _CHOICES[int(_chosen(estimate, confidence))]

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        code = _chosen(estimate, confidence)
        kinds = np.unique(code)
        if kinds.size == 1:
            return _CHOICES[int(kinds[0])].interval(estimate, confidence)
        low, high = np.empty(code.shape), np.empty(code.shape)
        for kind in kinds.tolist():
            rows = np.flatnonzero(code == kind)
            low[rows], high[rows] = _CHOICES[kind].interval(estimate.draw(rows), confidence)
        return Interval(low, high)


def _chosen(estimate: LinearEstimate, confidence: float) -> IntArray:
    """Position of the bound among the choices, for each draw: (...)."""
    design = estimate.design
    members, count = count_units(design)
    count = count + 1e-6  # guards against rounding errors for equal units
    code = np.where(members < BOOTSTRAP_BELOW, _BOOTSTRAP, _LIKELIHOOD)
    code = np.where(count < HALL_BELOW, _HALL, code)
    if design.units is not None:
        worth = design.n / ratings_alone(estimate)[1] + 1e-6
        code = np.where(worth >= HALL_BELOW, _LIKELIHOOD, code)
    if confidence > _BOOTSTRAP_MOST:
        code = np.where(code == _BOOTSTRAP, _BEYOND, code)
    # Draws with binary scores for which the exact interval covers the estimate.
    scores, limits = estimate.ratings.scores, estimate.ratings.limits
    if limits != (0.0, 1.0) or not estimate.design.drawn_as("simple") or estimate.tuned:
        return code
    if not np.array_equal(estimate.residuals, scores):
        return code
    return np.where(((scores == 0.0) | (scores == 1.0)).all(-1), _EXACT, code)
