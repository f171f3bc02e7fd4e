"""Base classes of bounds: refusals that name an alternative, and clipping to the scale."""

from __future__ import annotations

from collections.abc import Mapping
from zlib import crc32

import numpy as np

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.design import Design
from fewgold.errors import DesignError
from fewgold.estimate import Bound, Interval, LinearEstimate
from fewgold.sample import Ratings


def bound_hints(text: str, *names: str) -> dict[str, str]:
    """Hints for each audience, with the bounds as it would write them in place of each ``{}``."""
    classes = ["".join(part.title() for part in name.split("-")) for name in names]
    return {
        "python": text.format(*(f"bound={each}()" for each in classes)),
        "cli": text.format(*(f"--bound {name}" for name in names)),
        "web": text.format(*(f"the bound {name}" for name in names)),
    }


def not_covered(
    name: str, covers: str, design: Design, more: Mapping[str, str] | None = None
) -> DesignError:
    """The refusal of a design, naming bounds that cover it and ``more`` ways out."""
    if design.drawn_as("stratified"):
        hints = bound_hints(
            "Use {}, which covers it, or {}, which is approximate", "stratified-betting", "student"
        )
    elif design.drawn_as("waves"):
        hints = bound_hints(
            "Use {}, which is approximate: with a top-up, the size of the second wave may have "
            "been chosen by looking at the first. To look and continue with a guarantee, see ",
            "student",
        )
        hints["python"] += "fewgold.bounds.sequence and "
        hints = {audience: f"{hint}fewgold stop" for audience, hint in hints.items()}
    elif design.gaps:
        hints = bound_hints(
            "Use {} or {}, which are approximate: no guarantee can rest on the assumption that "
            "unrated segments are missing at random. ",
            *("auto", "student"),
        )
        worst = {"python": "PartialRatings.bounds(estimator)", "cli": "--gaps bounds"}
        for audience, hint in hints.items():
            hints[audience] = (
                f"{hint}{worst.get(audience, 'Bounds of the worst case')} assumes nothing about "
                "them and keeps the guarantee"
            )
    else:
        hints = bound_hints("Use {}, which is approximate and covers every design", "student")
        hints["cli"] += "; a guaranteed one needs a sample selected with --strategy random+mean"
    return DesignError(
        f"{name} covers {covers}, and this sample's design is {design._label!r}.",
        hints={
            audience: f"{hint}; {more[audience]}" if more else f"{hint}."
            for audience, hint in hints.items()
        },
    )


def limits_missing(name: str) -> DesignError:
    """The refusal where the limits of the scale are not known."""
    hints = bound_hints(
        "from the scale and not from the answers; or use {}, which is approximate and does not "
        "need them.",
        "student",
    )
    given = {
        "python": "Give them with the ratings, as limits=(0, 25) of estimate_mean or sample.rate,",
        "cli": "Give them with --limits 0,25,",
        "web": "Enter the ends of the scale,",
    }
    return DesignError(
        f"{name} needs the limits of the scale.",
        hints={audience: f"{given[audience]} {hint}" for audience, hint in hints.items()},
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
    """Chances of missing below the lower and above the upper end: (2,)."""
    return (1 - confidence) * np.array([1 - upper, upper])


def to_unit(scores: FloatArray, limits: tuple[float, float]) -> FloatArray:
    """Rescale scores to the range from 0 to 1."""
    return np.clip((scores - limits[0]) / (limits[1] - limits[0]), 0.0, 1.0)


def order_of_drawing(ratings: Ratings) -> IntArray | slice:
    """Positions of the ratings in an order of drawing: (n,), or a slice if they are already in one.

    Samples are listed in the order of drawing, except for existing labels: these stand in the order
    of the table, perhaps sorted by date or by score. They get a random order, separately in each
    stratum, that depends only on which rows are labelled.
    """
    sample, design = ratings.sample, ratings.sample.design
    if sample.info.chosen is None:
        return slice(None)
    strata = design.groups if design.strata is None else design.strata
    seed = crc32(np.ascontiguousarray(sample.indices, dtype="<i8").tobytes())
    mixed = np.random.default_rng(seed).permutation(sample.n)
    found = np.empty(sample.n, dtype=np.int64)
    found[np.argsort(strata, kind="stable")] = mixed[np.argsort(strata[mixed], kind="stable")]
    return found


def checked_limits(name: str, estimate: LinearEstimate) -> tuple[float, float]:
    """The limits of the scale, for bounds that are proved for simple random samples."""
    if not estimate.design.drawn_as("simple"):
        raise not_covered(name, "simple random samples", estimate.design)
    if estimate.ratings.limits is None:
        raise limits_missing(name)
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
