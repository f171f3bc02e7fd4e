"""What bounds name when they refuse: every refusal says what does cover the case."""

from __future__ import annotations

import numpy as np

from fewgold.design import Design
from fewgold.estimate import Interval, LinearEstimate


def for_design(design: Design) -> str:
    """Bounds for samples of that design."""
    if design.drawn_as("stratified"):
        return (
            "bound=StratifiedBetting(), which covers it, or bound=Student(), which is approximate"
        )
    if design.drawn_as("waves"):
        return (
            "bound=Student(), which is approximate: a top-up makes two waves, and the size of the "
            "second may have been chosen by looking at the first. To look and go on with a "
            "guarantee, see fewgold.bounds.sequence and fewgold stop"
        )
    if design.gaps:
        return (
            "bound=Auto() or bound=Student(), which are approximate: that the unrated segments are "
            "missing at random is an assumption, and no guarantee can rest on it. "
            "PartialRatings.bounds(estimator) assumes nothing of them and keeps the guarantee"
        )
    return "bound=Student(), which is approximate and covers every design"


def limits_of(name: str) -> str:
    """What to do where the limits of the scale are not known."""
    return (
        f"{name} needs to know between which limits scores lie. Give them with the ratings, "
        "sample.rate(scores, limits=(0, 25)), from the scale and not from the answers; or use "
        "bound=Student(), which is approximate and goes without."
    )


# What cannot be, whatever the chance: limits that follow from the scale alone.


# Room for rounding, as a share of the scale: what is just possible is in the interval.
HAIR = 1e-13


def within_reach(estimate: LinearEstimate, interval: Interval, span: float) -> Interval:
    """The part of an interval that unrated segments within the scale can still lead to.

    N·mean is the sum of what was rated and N − n values between the limits, whatever the design. No
    chance is involved, so an interval keeps its guarantee, and is a point at n = N.
    """
    left = estimate.residuals
    if estimate.limits is not None:
        least, most = (np.asarray(limit) for limit in estimate.limits)
    else:  # only the width of the scale is known
        least, most = left.max(-1) - span, left.min(-1) + span
    share = estimate.n / estimate.design.size
    known = estimate.offset + left.sum(-1) / estimate.design.size
    hair = HAIR * span if share < 1 else 0.0
    low = np.maximum(interval.low, np.minimum(known + (1 - share) * least - hair, estimate.value))
    high = np.minimum(interval.high, np.maximum(known + (1 - share) * most + hair, estimate.value))
    return Interval(np.asarray(low), np.asarray(high))
