"""How many ratings it takes to measure a difference."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.errors import DesignError, FewgoldError
from fewgold.planning._difference import measurable_difference

_MOST = 10_000_000
_GRID = 16


def ratings_needed(
    difference: float,
    *,
    alpha: float,
    human: int | None = None,
    metric: int | None = None,
    power: float | None = None,
    **study: Any,
) -> int:
    """The fewest human ratings, or ratings of the metric, that measure a difference.

    Parameters
    ----------
    difference
        What is to be significant or, with ``power``, to be found.
    alpha, power, **study
        As in `measurable_difference`.
    human, metric
        Give one of them, and the other is what is asked for. Without either, people alone rate.

    Notes
    -----
    Counts are whole, so that one rating more may be a little worse. What comes back is enough, and
    one less is not; next to 0 and 1 a dip at still fewer may be missed. More metric ratings help
    only so far: their errors must be known as well. Where no number of them is enough, the error
    says what could be reached.

    Examples
    --------
    >>> ratings_needed(0.05, alpha=0.6), ratings_needed(0.05, alpha=0.6, power=0.8)
    (735, 1505)
    >>> ratings_needed(0.05, alpha=0.6, rho=0.9, eta=0.9, human=400)
    1101
    """
    if not 0 < difference < 1:
        raise FewgoldError(f"difference must lie between 0 and 1; got {difference!r}.")
    if not difference / 2 <= alpha <= 1 - difference / 2:
        raise FewgoldError(
            f"two success rates around {alpha:g} cannot differ by {difference:g}: one would lie "
            "outside 0 to 1. Give an alpha midway between those you expect."
        )
    return fewest(difference, alpha=alpha, human=human, metric=metric, power=power, **study)


def fewest(
    difference: float,
    *,
    alpha: float,
    human: int | None = None,
    metric: int | None = None,
    power: float | None = None,
    **study: Any,
) -> int:
    """As `ratings_needed`, also for what is no difference of two rates, such as a half-width."""
    if human is not None and metric is not None:
        raise FewgoldError(
            f"give human or metric, and the other is what is looked for; got human={human!r} and "
            f"metric={metric!r}."
        )
    name = "human" if human is None else "metric"

    def measured(sizes: IntArray) -> FloatArray:
        people, rest = (sizes, metric or 0) if human is None else (human, sizes)
        return measurable_difference(alpha=alpha, human=people, metric=rest, power=power, **study)

    def enough(sizes: IntArray) -> BoolArray:
        return np.asarray(measured(sizes) <= difference)

    ladder = np.unique(np.r_[0, np.geomspace(1, _MOST, 25).round().astype(np.int64)])
    good = enough(ladder)
    if not good.any():
        least = float(np.min(measured(ladder)))
        raise DesignError(
            f"no number of {name} ratings measures a difference of {difference:g}: {_MOST:,} of "
            f"them measure {least:.4f}. Ask for more ratings of the other kind, or a better metric."
        )
    first = int(good.argmax())
    low, high = (int(ladder[first - 1]) if first else -1), int(ladder[first])
    while high - low > 1:  # low is too few, high is enough
        sizes = np.unique(np.linspace(low, high, _GRID + 1).round().astype(np.int64))[1:]
        at = int(enough(sizes).argmax())
        low, high = (int(sizes[at - 1]) if at else low), int(sizes[at])
    return high
