"""What cannot be, whatever the chance: limits that follow from the scale alone."""

from __future__ import annotations

import numpy as np

from fewgold.estimate import Interval, LinearEstimate

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
