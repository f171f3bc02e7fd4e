"""Predict how many ratings a tolerance will need, before collecting any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import betaincinv

from fewgold.bounds.base import to_unit
from fewgold.bounds.sequence.paths import (
    check_design,
    known_limits,
    limits_of,
    unit_scores,
    unit_tolerance,
)
from fewgold.bounds.sequence.rules import Metric, make_rule
from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold.common.checks import Limits, check_count
from fewgold.errors import DataError
from fewgold.sample import Ratings


def guess(mean: float, sd: float, size: int, *, limits: Limits, best: float = 0.0) -> FloatArray:
    """Plausible scores of a pool, from a guess of their mean and standard deviation.

    A Beta distribution stretched over the scale, at evenly spaced quantiles. ``best`` is the share
    of segments at the lower end of the scale (no error, for MQM), which the Beta does not include;
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
            f"no scores between {low:g} and {high:g} with {best:.0%} of them at {low:g} can "
            f"have the mean {mean:g} and the standard deviation {sd:g}. Change the guess."
        )
    zeros = round(best * check_count("size", size))
    weight = rest * (1 - rest) / variance - 1
    at = (np.arange(size - zeros) + 0.5) / (size - zeros)
    drawn = betaincinv(rest * weight, (1 - rest) * weight, at)
    return np.asarray(low + (high - low) * np.concatenate([np.zeros(zeros), drawn]))


def _refill(have: int, want: int, draws: int, rng: Generator, *, fresh: bool = False) -> IntArray:
    """Assign one of the scores to each segment of a pool, in random order: (draws, want).

    With ``fresh``, the original scores themselves are not returned.
    """
    if not fresh and want <= have:
        return np.stack([rng.permutation(have)[:want] for _ in range(draws)])
    kept = 0 if fresh else have
    rows = []
    for _ in range(draws):
        # Drawing from the urn one by one is equivalent to Dirichlet shares and counts drawn from
        # them.
        counts = rng.multinomial(want - kept, rng.dirichlet(np.ones(have)))
        rows.append(rng.permutation(np.repeat(np.arange(have), counts + (kept > 0))))
    return np.stack(rows)


# A study that rates this share of the pool has saved almost nothing.
_LATE = 0.95


@dataclass(frozen=True, eq=False)
class Expected:
    """Number of ratings that a rule needed in trials; made by `expected` and `remaining`.

    Parameters
    ----------
    size
        Segments in the pool.
    tolerances
        (k,) tolerances in the units of the scores.
    ratings
        (k, draws) number of ratings at which the rule stopped.
    before
        Number of existing ratings.
    """

    size: int
    tolerances: FloatArray
    ratings: IntArray
    before: int = 0

    @property
    def mean(self) -> FloatArray:
        """Mean number of ratings: (k,)."""
        return np.asarray(self.ratings.mean(-1))

    @property
    def _error(self) -> FloatArray:
        """Monte Carlo standard error of the mean: how much another seed could change it."""
        draws = self.ratings.shape[-1]
        return np.asarray(self.ratings.std(-1, ddof=1) / np.sqrt(draws))

    def quantile(self, q: float) -> FloatArray:
        """The number of ratings that a share ``q`` of the trials did not exceed: (k,)."""
        return np.asarray(np.quantile(self.ratings, q, axis=-1, method="higher"), dtype=np.float64)

    @property
    def share(self) -> FloatArray:
        """Mean share of the pool that is rated: (k,)."""
        return self.mean / self.size

    @property
    def _late(self) -> FloatArray:
        """Share of the trials that rated 95 % of the pool or more: (k,)."""
        return np.asarray((self.ratings >= _LATE * self.size).mean(-1))

    def to_rows(self) -> list[dict[str, float]]:
        """One row per tolerance, in plain numbers."""
        columns = {
            "tolerance": self.tolerances, "ratings": self.mean, "ratings_mc": self._error,
            "p10": self.quantile(0.1), "p90": self.quantile(0.9), "share": self.share,
            "late": self._late,
        }  # fmt: skip
        return [
            {name: float(values[k]) for name, values in columns.items()}
            for k in range(self.tolerances.size)
        ]

    def summary(self) -> str:
        """A readable table."""
        lines = ["tolerance   ratings   10 % to 90 %   of the pool   nearly all"]
        for row in self.to_rows():
            middle = f"{row['p10']:.0f} to {row['p90']:.0f}"
            lines.append(
                f"{row['tolerance']:9g} {row['ratings']:9.0f} {middle:>14} {row['share']:13.0%} "
                f"{row['late']:12.0%}"
            )
        return "\n".join(lines)


def expected(
    scores: Any,
    tolerance: float | Sequence[float],
    *,
    limits: Limits,
    size: int | None = None,
    metric: Any = None,
    confidence: float = 0.95,
    rule: str = "kelly",
    upper: float = 0.5,
    draws: int = 200,
    rng: RNGLike = 0,
) -> Expected:
    """Predict how many ratings it takes to stop at a tolerance, on data like ``scores``.

    Parameters
    ----------
    scores
        Scores of similar segments: last year's, those of a pilot, or made up by `guess`.
    tolerance
        One tolerance or several.
    limits
        Ends of the rating scale.
    size
        Segments in the pool, as many as ``scores`` by default. A larger pool is filled from a Pólya
        urn of the scores, separately in each trial, to allow for what a pilot does not show; a
        smaller pool is a random subset.
    metric
        Scores of a metric for the same segments.
    confidence, rule, upper
        As in `path`.
    draws
        Number of trials, each in its own random order.
    rng
        A seed or a generator.

    Examples
    --------
    >>> from fewgold.bounds import sequence
    >>> made = sequence.expected(sequence.guess(2.0, 3.0, 600, limits="mqm"), [0.5, 1.0],
    ...                          limits="mqm", draws=100)
    >>> bool(made.share[1] < made.share[0] < 0.7)
    True
    """
    ends = known_limits(limits)
    x = np.asarray(scores, dtype=np.float64).ravel()
    if not x.size or not np.isfinite(x).all():
        raise DataError("scores must be one number or more, without gaps.")
    if x.min() < ends[0] or x.max() > ends[1]:
        raise DataError(
            f"scores must lie between {ends[0]:g} and {ends[1]:g}; got {x.min():g} to "
            f"{x.max():g}. Correct the scores or the limits."
        )
    count = x.size if size is None else check_count("size", size)
    generator = as_rng(rng)
    trials = _refill(x.size, count, check_count("draws", draws, 2), generator)
    z = None if metric is None else np.asarray(metric, dtype=np.float64).ravel()
    if z is not None and (z.size != x.size or not np.isfinite(z).all()):
        raise DataError(f"the metric needs a finite number for each of the {x.size} scores.")
    return _tried(to_unit(x, ends), z, trials, tolerance, ends, (rule, confidence, upper), 0)


def remaining(
    ratings: Ratings,
    tolerance: float | Sequence[float],
    *,
    metric: str | None = None,
    confidence: float = 0.95,
    rule: str = "kelly",
    upper: float = 0.5,
    draws: int = 200,
    rng: RNGLike = 0,
) -> Expected:
    """Predict the total number of ratings, if the unrated segments are like the rated ones.

    The ratings so far are kept; the rest comes from a Pólya urn of them. This is a rough guide:
    scores that have not occurred yet are not in the urn.
    """
    limits = limits_of(ratings)
    check_design(ratings.sample.design)
    scores, control = unit_scores(ratings, metric)
    if len(scores) > 1:
        raise DataError("this is a batch of draws. Give one of them: ratings.draw(k).")
    size = len(ratings.sample.pool)
    n = ratings.n
    urn = _refill(n, size - n, check_count("draws", draws, 2), as_rng(rng), fresh=True)
    trials = np.concatenate([np.broadcast_to(np.arange(n), (draws, n)), urn], -1)
    z = None if control is None else control[0][control[1][0]]
    return _tried(scores[0], z, trials, tolerance, limits, (rule, confidence, upper), n)


def _tried(
    x: FloatArray,
    z: FloatArray | None,
    trials: IntArray,
    tolerance: float | Sequence[float],
    limits: tuple[float, float],
    how: tuple[str, float, float],
    before: int,
) -> Expected:
    name, confidence, upper = how
    asked = np.atleast_1d(np.asarray(tolerance, dtype=np.float64))
    found = []
    for wanted in asked:
        rule = make_rule(name, unit_tolerance(float(wanted), limits), confidence, upper)
        size = trials.shape[-1]
        if z is None:
            found.append(rule.stops(x[trials], size, None))
            continue
        # Each trial has its own pool, and so its own metric.
        own: list[Metric] = [(z[one], np.arange(size)[None, :]) for one in trials]
        parts = [rule.stops(x[one][None, :], size, m) for one, m in zip(trials, own, strict=True)]
        found.append(np.concatenate(parts))
    return Expected(trials.shape[-1], asked, np.stack(found), before)
