"""What bounds have in common that read the ratings one by one, in the random order of drawing.

Scores are moved to [0, 1]. If m is the mean of the pool, that of what was not drawn before rating t
is μ_t(m) = (N m − x_1 − … − x_{t−1})/(N − t + 1), and x_t is a fair draw from it. So the capital
Π (1 + λ_t (x_t − μ_t)) of one who bets λ_t ≥ 0 on high scores, fixed before x_t is seen, is a
nonnegative martingale if m is the mean, and a supermartingale if the mean is less: the chance that
it ever reaches 1/δ is δ at most (Ville 1939; Waudby-Smith and Ramdas 2020, theorem 3.1). Means at
which it does are refused, and the rest is the interval. For its other end the scale is turned.

To keep clear of rounding, m is written as (x_1 + … + x_n + r)/N, where r ≥ 0 is the sum of the
unrated scores. Then N m − x_1 − … − x_{t−1} = r + x_t + … + x_n, and none of these is negative.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._foretell import foretell
from fewgold.bounds._instead import for_design, limits_of
from fewgold.bounds._sides import Ordered, Side
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate

# Room for rounding, as a share of the scale: a mean at the very end of an interval is in it.
_HAIR = 1e-12


@dataclass(frozen=True)
class OrderedBound(Bound):
    """A bound that goes by the ratings in the order they were drawn in, and by their limits.

    It does not look at residuals, and holds for the mean of the pool whatever estimator made the
    value. It covers simple random samples, whose order of drawing is random.
    """

    metric: str | None = None
    upper: float = 0.5

    kind: ClassVar[str] = "guaranteed"
    assumes: ClassVar[str] = (
        "simple random samples of a size fixed beforehand, ratings in the order of drawing, any "
        "estimate, and any scores between the limits"
    )

    def __post_init__(self) -> None:
        check_share(self.upper)

    @property
    def needs_limits(self) -> bool:
        return True

    @abstractmethod
    def _least(self, side: Side, miss: FloatArray) -> FloatArray:
        """Least sum of the unrated scores, wrong with a chance of ``miss`` at most: (rows,)."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        limits = checked_limits(self.name, estimate)
        if estimate.n == estimate.design.size:
            return assemble(estimate, limits, None)
        data = ordered(estimate, limits, self.metric)
        miss = (1 - confidence) * np.array([1 - self.upper, self.upper])
        least, most = np.split(self._least(data.sides(), np.repeat(miss, len(data.scores))), 2)
        return assemble(estimate, limits, (least, data.size - data.n - most))


def check_share(upper: float) -> None:
    if not 0 < upper < 1:
        raise DesignError(
            f"upper is the share of the misses at the upper end, between 0 and 1; got {upper!r}."
        )


def assemble(
    estimate: LinearEstimate,
    limits: tuple[float, float],
    unrated: tuple[FloatArray, FloatArray] | None,
) -> Interval:
    """The interval, from the sums that the unrated scores may have on the scale from 0 to 1.

    Never beyond what is possible at all, and wide enough to hold the value of the estimate. None
    where there are no unrated scores.
    """
    scores, value, size = estimate.ratings.scores, estimate.value, estimate.design.size
    if unrated is None:
        mean = scores.mean(-1)
        return Interval(np.minimum(mean, value), np.maximum(mean, value))
    low, high = limits
    left, hair = size - estimate.n, _HAIR * (high - low)
    total = scores.sum(-1) + left * low
    least, most = (
        (total + (high - low) * np.clip(end, 0.0, left).reshape(value.shape)) / size
        for end in unrated
    )
    return Interval(
        np.minimum(np.maximum(least - hair, low), value),
        np.maximum(np.minimum(most + hair, high), value),
    )


def checked_limits(name: str, estimate: LinearEstimate) -> tuple[float, float]:
    """The limits of the scale, if the design is one that these bounds are proved for."""
    if estimate.design.kind != "simple":
        raise DesignError(
            f"{name} covers simple random samples, and this one is {estimate.design.kind}. Use "
            f"{for_design(estimate.design.kind)}."
        )
    if estimate.ratings.limits is None:
        raise DesignError(limits_of(name))
    return estimate.ratings.limits


def ordered(
    estimate: LinearEstimate, limits: tuple[float, float], metric: str | None = None
) -> Ordered:
    """The ratings of an estimate on the scale from 0 to 1, with a metric to foretell them."""
    n, size = estimate.n, estimate.design.size
    scores = to_unit(estimate.ratings.scores.reshape(-1, n), limits)
    if metric is None:
        return Ordered(scores, size)
    pool = estimate.ratings.sample.pool
    rows = estimate.ratings.sample.indices.reshape(-1, n)
    return Ordered(scores, size, *foretell(scores, pool.everywhere(metric), rows))


def to_unit(scores: FloatArray, limits: tuple[float, float]) -> FloatArray:
    """Scores moved to the scale from 0 to 1."""
    return np.clip((scores - limits[0]) / (limits[1] - limits[0]), 0.0, 1.0)
