"""Base classes of bounds: refusals that name an alternative, and clipping to the scale."""

from __future__ import annotations

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.design import Design
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate


def design_hint(design: Design) -> str:
    """A hint naming bounds that cover this design."""
    if design.drawn_as("stratified"):
        return (
            "bound=StratifiedBetting(), which covers it, or bound=Student(), which is approximate"
        )
    if design.drawn_as("waves"):
        return (
            "bound=Student(), which is approximate: with a top-up, the size of the second wave "
            "may have been chosen by looking at the first. To look and continue with a "
            "guarantee, see fewgold.bounds.sequence and fewgold stop"
        )
    if design.gaps:
        return (
            "bound=Auto() or bound=Student(), which are approximate: no guarantee can rest on "
            "the assumption that unrated segments are missing at random. "
            "PartialRatings.bounds(estimator) assumes nothing about them and keeps the guarantee"
        )
    return "bound=Student(), which is approximate and covers every design"


def limits_hint(name: str) -> str:
    """The hint shown if the limits of the scale are not known."""
    return (
        f"{name} needs the limits of the scale. Give them with the ratings, "
        "sample.rate(scores, limits=(0, 25)), from the scale and not from the answers; or use "
        "bound=Student(), which is approximate and does not need them."
    )


# Tolerance for rounding, as a share of the scale, so that barely possible values are included.
ROUNDING = 1e-13


def clip_to_possible(estimate: LinearEstimate, interval: Interval, span: float) -> Interval:
    """Clip an interval to the means that the scale allows, whatever the unrated scores are.

    N·mean is the sum of the rated scores and N − n values between the limits, whatever the design.
    This is certain, so an interval keeps its guarantee, and is a point at n = N.
    """
    left = estimate.residuals
    if estimate.limits is not None:
        least, most = (np.asarray(limit) for limit in estimate.limits)
    else:  # only the width of the scale is known
        least, most = left.max(-1) - span, left.min(-1) + span
    share = estimate.n / estimate.design.size
    known = estimate.offset + left.sum(-1) / estimate.design.size
    room = ROUNDING * span if share < 1 else 0.0
    low = np.maximum(interval.low, np.minimum(known + (1 - share) * least - room, estimate.value))
    high = np.minimum(interval.high, np.maximum(known + (1 - share) * most + room, estimate.value))
    return Interval(np.asarray(low), np.asarray(high))


class TwoTailedBound(Bound):
    """A bound for scores between known limits; ``upper`` is the upper end's share of misses."""

    upper: float

    def __post_init__(self) -> None:
        check_share(self.upper)

    @property
    def needs_limits(self) -> bool:
        return True


def check_share(upper: float) -> None:
    if not 0 < upper < 1:
        raise DesignError(
            "upper, the share of the error probability at the upper end, must lie between 0 and "
            f"1; got {upper!r}."
        )


def tail_misses(confidence: float, upper: float) -> FloatArray:
    """Chances to miss below the lower and above the upper end: (2,)."""
    return (1 - confidence) * np.array([1 - upper, upper])


def to_unit(scores: FloatArray, limits: tuple[float, float]) -> FloatArray:
    """Rescale scores to the range from 0 to 1."""
    return np.clip((scores - limits[0]) / (limits[1] - limits[0]), 0.0, 1.0)


def checked_limits(name: str, estimate: LinearEstimate) -> tuple[float, float]:
    """The limits of the scale, for bounds that are proved for simple random samples."""
    if not estimate.design.drawn_as("simple"):
        raise DesignError(
            f"{name} covers simple random samples, and this one is {estimate.design._label}. Use "
            f"{design_hint(estimate.design)}."
        )
    if estimate.ratings.limits is None:
        raise DesignError(limits_hint(name))
    return estimate.ratings.limits


def interval_of_totals(
    estimate: LinearEstimate, limits: tuple[float, float], least: FloatArray, most: FloatArray
) -> Interval:
    """The interval, from the smallest and largest unrated total on the unit scale.

    Clipped to possible values, and wide enough to contain the value of the estimate.
    """
    scores, value, size = estimate.ratings.scores, estimate.value, estimate.design.size
    low, high = limits
    left, room = size - estimate.n, 1e-12 * (high - low)
    if not left:
        mean = scores.mean(-1)
        return Interval(np.minimum(mean, value), np.maximum(mean, value))
    total = scores.sum(-1) + left * low
    first, last = (
        (total + (high - low) * np.clip(end, 0.0, left).reshape(value.shape)) / size
        for end in (least, most)
    )
    return Interval(
        np.minimum(np.maximum(first - room, low), value),
        np.maximum(np.minimum(last + room, high), value),
    )
