"""Pools like those that are known: of a pilot, of last year, or of a guess."""

from __future__ import annotations

import numpy as np
from scipy.special import betaincinv

from fewgold._arrays import FloatArray, IntArray
from fewgold._validate import Limits, as_limits, check_count
from fewgold.errors import DataError


def guess(mean: float, sd: float, size: int, *, limits: Limits, best: float = 0.0) -> FloatArray:
    """Scores of a pool of which one can only guess the mean and the standard deviation.

    A Beta distribution stretched over the scale, at evenly spaced quantiles. ``best`` is the share
    of segments at the lower end of the scale (no error, for MQM), which the Beta does not make;
    mean and sd are those of all segments.
    """
    low, high = known_limits(limits)
    if not 0 <= best < 1:
        raise DataError(f"best is a share of the segments, from 0 to below 1; got {best!r}.")
    m, v = (mean - low) / (high - low), (sd / (high - low)) ** 2
    rest = m / (1 - best)
    variance = (v + m * m) / (1 - best) - rest * rest
    if not (0 < rest < 1 and 0 < variance < rest * (1 - rest)):
        raise DataError(
            f"no scores between {low:g} and {high:g}, {best:.0%} of them at {low:g}, have the mean "
            f"{mean:g} and the standard deviation {sd:g}. Change the guess."
        )
    zeros = round(best * check_count("size", size))
    weight = rest * (1 - rest) / variance - 1
    at = (np.arange(size - zeros) + 0.5) / (size - zeros)
    drawn = betaincinv(rest * weight, (1 - rest) * weight, at)
    return np.asarray(low + (high - low) * np.concatenate([np.zeros(zeros), drawn]))


def refill(
    have: int, want: int, draws: int, rng: np.random.Generator, *, fresh: bool = False
) -> IntArray:
    """Which of the scores each segment of a pool gets, in random order: (draws, want).

    ``fresh`` leaves the scores themselves out of what the urn gives.
    """
    if not fresh and want <= have:
        return np.stack([rng.permutation(have)[:want] for _ in range(draws)])
    kept = 0 if fresh else have
    rows = []
    for _ in range(draws):
        # Drawing from the urn one by one comes to shares by Dirichlet, and counts by those.
        counts = rng.multinomial(want - kept, rng.dirichlet(np.ones(have)))
        rows.append(rng.permutation(np.repeat(np.arange(have), counts + (kept > 0))))
    return np.stack(rows)


def check_scores(x: FloatArray, limits: tuple[float, float]) -> None:
    if not x.size or not np.isfinite(x).all():
        raise DataError("scores must be numbers, one at least, without gaps.")
    if x.min() < limits[0] or x.max() > limits[1]:
        raise DataError(
            f"scores must lie between {limits[0]:g} and {limits[1]:g}; got {x.min():g} to "
            f"{x.max():g}. Correct them, or the limits."
        )


def known_limits(limits: Limits) -> tuple[float, float]:
    ends = as_limits(limits)
    if ends is None:
        raise DataError("limits are needed: the ends of the scale, such as (0, 25) or 'mqm'.")
    return ends
