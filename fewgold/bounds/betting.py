"""Betting on the scores of a simple random sample, one by one in the random order of drawing.

Scores are moved to [0, 1]. If m is the mean of the pool, the mean of the segments not drawn before
rating t is μ_t(m) = (N m − x_1 − … − x_{t−1})/(N − t + 1), and x_t is a fair draw from it. So the
capital Π (1 + λ_t (x_t − μ_t)) of a bettor with bets λ_t ≥ 0 on high scores, fixed before x_t is
seen, is a nonnegative martingale if m is the mean, and a supermartingale if the mean is less: the
chance that it ever reaches 1/δ is δ at most (Ville 1939; Waudby-Smith and Ramdas 2020, theorem
3.1). Means at which it does are rejected, and the rest form the interval. The other end is found by
reversing the scale.

To avoid rounding errors, m is written as (x_1 + … + x_n + r)/N, where r ≥ 0 is the sum of the
unrated scores. Then N m − x_1 − … − x_{t−1} = r + x_t + … + x_n, and none of these is negative.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fewgold.bounds.base import (
    TwoTailedBound,
    checked_limits,
    interval_of_totals,
    order_of_drawing,
    tail_misses,
    to_unit,
)
from fewgold.common.arrays import FloatArray, FloatPair, IntArray, batches
from fewgold.estimate import Interval, LinearEstimate

# Prior variance before the first rating, and its weight in ratings. A poor guess costs width, never
# coverage; the same holds for the cap.
PRIOR, WEIGHT = 0.05, 2.0
CAP = 0.9
# Below 80 % confidence the bets for 80 % are used, since smaller ones would be useless.
_MOST = 0.1


@dataclass(frozen=True)
class OrderedBound(TwoTailedBound):
    """A bound that uses the ratings in the order of drawing, and the limits of the scale.

    It ignores residuals, and holds for the mean of the pool whatever the estimator. It covers
    simple random samples, whose order of drawing is random.
    """

    metric: str | None = None
    upper: float = 0.5

    kind: ClassVar[str] = "guaranteed"
    assumes: ClassVar[str] = (
        "simple random samples of a size fixed beforehand, ratings in the order of drawing, any "
        "estimate, and any scores between the limits"
    )

    @abstractmethod
    def _smallest_total(self, side: Bets, miss: FloatArray) -> FloatArray:
        """Smallest unrated total not rejected, wrong with probability at most ``miss``: (rows,)."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        limits = checked_limits(self.name, estimate)
        left = estimate.design.size - estimate.n
        least = most = np.zeros(estimate.value.shape)
        if left:
            miss = np.repeat(tail_misses(confidence, self.upper), estimate.value.size)
            totals = self._smallest_total(Bets.of(estimate, limits, self.metric), miss)
            least, most = np.split(totals, 2)
        return interval_of_totals(estimate, limits, least, left - most)


@dataclass(frozen=True)
class Betting(OrderedBound):
    """Betting interval for a sample without replacement (Waudby-Smith and Ramdas).

    A mean m is rejected if the capital of a bettor against it, rating by rating, ever reaches 1/δ
    times the initial capital: ``K_t = Π (1 + λ_s (x_s − μ_s(m)))`` with ``μ_s(m) = (N m −
    S_{s−1})/(N − s + 1)``, on each side with δ/2. The bets are ``λ_s = w_s sqrt(2 ln(2/δ) /
    (v_{s−1} Σ w²))``, capped at ``0.9/μ_s``, where v is the variance of the earlier ratings and
    ``w_s = (N−n)/(N−s)``, since the error of a wrong mean grows as the pool is used up.

    Guaranteed for every population between the limits, simple random samples, and ratings in the
    order of drawing. It is narrower for a smaller spread of the scores, unlike Hoeffding's bound.
    The capital is decreasing in m, so each end is the root of one function.

    Parameters
    ----------
    metric
        Name of a metric, or ``"mean"`` for the mean of all, used as a control variate with slopes
        from earlier ratings to reduce the spread. Fix it before any rating is known.
    upper
        Share of the error probability at the upper end. Fix it before any rating is known.

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

    def _smallest_total(self, side: Bets, miss: FloatArray) -> FloatArray:
        return fixed_size_total(side, miss)


def fixed_size_total(side: Bets, miss: FloatArray) -> FloatArray:
    """Smallest unrated total not rejected, by bets for a size fixed beforehand: (rows,)."""
    rows, n = side.rest.shape
    unrated = float(side.size - n)
    weight = unrated / (side.left - 1)
    variance = running_variance(side.payoff, PRIOR, WEIGHT)
    drive = 2 * np.log(1 / np.minimum(miss, _MOST)) / np.square(weight).sum()
    bets = weight * np.sqrt(drive[:, None] / variance)
    # If capital grew evenly, it would reach its goal this far below the mean of the ratings.
    off = unrated * np.sqrt(variance[:, -1] * drive)
    start = unrated * side.payoff.mean(-1) - 1.1 * off
    ends = (np.zeros(rows), np.full(rows, unrated))
    return smallest_unrated(side, bets, -np.log(miss), CAP, ends, (start, 0.1 * off))


# Capital ---


@dataclass(frozen=True, eq=False)
class Bets:
    """Bets on high scores, one row per draw, and what their capital depends on: (rows, n)."""

    rest: FloatArray  # sum of the ratings from this one on, in [0, 1] each
    payoff: FloatArray  # the rating minus the control variate
    margin: FloatArray | None  # how far below 0 the control variate may push a payoff
    size: int  # segments in the pool

    @classmethod
    def of(cls, estimate: LinearEstimate, limits: tuple[float, float], metric: str | None) -> Bets:
        """Bets on high scores for all draws, then on low ones with the scale reversed."""
        n, size, sample = estimate.n, estimate.design.size, estimate.ratings.sample
        order = order_of_drawing(estimate.ratings)
        scores = to_unit(estimate.ratings.scores.reshape(-1, n)[:, order], limits)
        x = np.concatenate([scores, 1.0 - scores])
        rest = np.cumsum(x[:, ::-1], axis=-1)[:, ::-1]
        if metric is None:
            return cls(rest, x, None, size)
        values, rows = sample.pool._metric_values(metric), sample.indices.reshape(-1, n)[:, order]
        control, (least, most) = control_variate(scores, values, rows)
        payoff = x - np.concatenate([control, -control])
        return cls(rest, payoff, np.concatenate([most, -least]), size)

    @property
    def left(self) -> FloatArray:
        """Segments not drawn before each rating: (n,)."""
        return self.size - np.arange(self.rest.shape[-1], dtype=np.float64)

    def rows(self, chosen: slice | IntArray) -> Bets:
        margin = None if self.margin is None else self.margin[chosen]
        return replace(self, rest=self.rest[chosen], payoff=self.payoff[chosen], margin=margin)

    def log_capital(self, unrated: FloatArray, bets: FloatArray, cap: float) -> FloatArray:
        """Logarithm of the highest capital if the unrated scores sum to ``unrated``: (rows,)."""
        mean = self.rest + unrated[:, None]
        mean /= self.left
        capital = capital_factors(mean, self.payoff, self.margin, bets, cap)
        with np.errstate(over="ignore", under="ignore"):
            np.cumprod(capital, axis=-1, out=capital)
        # Infinite capital is replaced by a large number, since the search uses its logarithm.
        return np.asarray(np.log(np.minimum(capital.max(-1), 1e300)))


def capital_factors(
    mean: FloatArray, payoff: FloatArray, margin: FloatArray | None, bets: FloatArray, cap: float
) -> FloatArray:
    """Factors 1 + λ (payoff − μ) by which ratings multiply the capital; overwrites ``mean`` μ.

    Bets λ are capped at ``cap / (μ + margin)``, so that no rating loses more than this share of the
    capital. Each factor is decreasing in the mean of the pool, and so is the capital.
    """
    most = mean.copy() if margin is None else mean + margin
    np.maximum(most, 1e-300, out=most)
    np.divide(cap, most, out=most)
    np.minimum(most, bets, out=most)
    np.subtract(payoff, mean, out=mean)
    mean *= most
    mean += 1.0
    return mean


def running_variance(values: FloatArray, prior: float, weight: float) -> FloatArray:
    """Variance of the values before each one, shrunk towards ``prior``: (rows, n).

    The prior counts as much as ``weight`` values; of v_t only x_1 … x_{t−1} are known.
    """
    count = np.arange(1.0, values.shape[-1] + 1)
    mean = np.cumsum(values, axis=-1) / count
    squares = np.zeros(values.shape)
    np.cumsum(np.square(values - mean)[:, :-1], axis=-1, out=squares[:, 1:])
    return np.asarray((weight * prior + squares) / (weight + count - 1))


def control_variate(
    scores: FloatArray, metric: FloatArray, rows: IntArray, start: int = 10, shrink: float = 10.0
) -> tuple[FloatArray, FloatPair]:
    """A predictable control variate: a metric's prediction of each rating, and its range.

    β_{t−1} (z_t − mean of z over all segments not drawn before) has mean 0 given the past, so
    subtracting it from x_t keeps the bet fair. ``metric`` (N,) is the pool's, ``rows`` (draws, n)
    the segments in the order of drawing. Slopes β come from earlier ratings, are shrunk by
    (t−1)/(t−1+shrink), and are 0 for the first ``start`` ratings. Any function of the metrics is
    fair: extreme values are clipped to 3 standard deviations, so that a few of them do not force
    small bets.
    """
    spread = metric.std()
    pool = np.clip((metric - metric.mean()) / (spread if spread > 0 else 1.0), -3.0, 3.0)
    z = pool[rows]
    count = np.arange(z.shape[-1], dtype=np.float64)  # ratings before
    z_mean, x_mean = (_before(v) / np.maximum(count, 1.0) for v in (z, scores))
    cross = _before(z * scores) - count * z_mean * x_mean
    square = _before(z * z) - count * z_mean**2
    slope = cross / np.maximum(square, 1e-9) * (count / (count + shrink))
    slope = np.where((count >= start) & (square > 1e-9), slope, 0.0)
    centre = (pool.sum() - _before(z)) / (len(pool) - count)
    ends = (slope * (pool.min() - centre), slope * (pool.max() - centre))
    extremes = np.minimum(0.0, np.minimum(*ends)), np.maximum(0.0, np.maximum(*ends))
    return np.asarray(slope * (z - centre)), extremes


def _before(values: FloatArray) -> FloatArray:
    """Cumulative sums of the values before each one."""
    out = np.zeros(values.shape)
    np.cumsum(values[:, :-1], axis=-1, out=out[:, 1:])
    return out


# The search for the end of an interval, for many draws at once ---

# Ends are found to this share of the scale, rounded outwards.
PRECISION = 1e-6
# Numbers to process at once: they should stay in the cache.
_BLOCK = 1 << 15


def smallest_unrated(
    side: Bets,
    bets: FloatArray,
    goal: FloatArray,
    cap: float,
    within: FloatPair,
    guess: FloatPair | None = None,
) -> FloatArray:
    """Smallest unrated total that the betting test does not reject, rounded down: (rows,).

    A total is rejected if the logarithm of its capital ever reaches ``goal``. ``within`` holds the
    ends of the search, ``guess`` the starting point and the first step.
    """
    low, high = (np.asarray(end, dtype=np.float64) for end in within)
    start, step = guess or (low + (high - low) / 2, (high - low) / 4)
    found, places = np.empty(len(low)), np.stack([low, high, start, step])
    for block in batches(len(low), max(1, _BLOCK // side.rest.shape[-1])):
        part = side.rows(block), bets[block], goal[block], cap, places[:, block]
        found[block] = _search(*part)
    return found


def _search(
    side: Bets, bets: FloatArray, goal: FloatArray, cap: float, places: FloatArray
) -> FloatArray:
    """Find where the maximum capital falls below its goal: the rejected end of the last bracket.

    Doubling steps until the root is bracketed, then false position, with bisection if three of its
    steps gained less. Draws are independent of each other, so that a batch gives the same as single
    draws.
    """
    low, high, start, step = places
    near = PRECISION * side.size
    found: FloatArray = low.copy()
    live = np.arange(len(low))
    unknown = np.full(len(low), np.nan)  # capital over its goal, at the ends a and b
    x, step = np.clip(start, low, high), np.maximum(step, near)
    # a, b, f_a, f_b, x, step, count of false positions, which end moved last, width before
    state = np.stack([low, high, unknown, unknown, x, step, *np.zeros((3, len(low)))])
    while live.size:
        a, b, f_a, f_b, x, step, turn, last, before = state
        f = side.log_capital(x, bets, cap) - goal
        up = f >= 0
        f_a, f_b = anderson_bjorck(f, f_a, f_b, last)
        at_end = np.where(up, x >= b, x <= a)
        a, b = np.where(up, x, a), np.where(up, b, x)
        done = at_end | (b - a <= near)
        found[live[done]] = a[done]
        between = ~(np.isnan(f_a) | np.isnan(f_b))
        outward = np.where(up, np.minimum(x + step, b), np.maximum(x - step, a))
        inner = b - f_b * (b - a) / np.where(between, f_b - f_a, 1.0)
        inner = np.clip(inner, a + near / 2, b - near / 2)
        turn = turn + between
        check = between & (turn % 3 == 1)
        inner = np.where(check & (turn > 1) & (b - a > before / 2), (a + b) / 2, inner)
        before = np.where(check, b - a, before)
        x, last = np.where(between, inner, outward), np.where(up, 1.0, -1.0)
        state = np.stack([a, b, f_a, f_b, x, 2 * step, turn, last, before])
        if done.any():
            keep = np.flatnonzero(~done)
            live, side, bets, goal = live[keep], side.rows(keep), bets[keep], goal[keep]
            state = state[:, keep]
    return found


def anderson_bjorck(f: FloatArray, f_a: FloatArray, f_b: FloatArray, last: FloatArray) -> FloatPair:
    """Values at the ends of a bracket after a point with value f has replaced one of them.

    If the same end moves again (``last`` is 1 for a, −1 for b), the value at the other one is
    scaled down, so that it moves too (Anderson and Björck 1973).
    """
    up = f >= 0
    old = np.where(up, f_a, f_b)
    scale = 1 - f / np.where(old == 0, 1.0, old)
    scale = np.where(scale > 0, scale, 0.5)
    scale = np.where(last == np.where(up, 1, -1), scale, 1.0)
    return np.where(up, f, f_a * scale), np.where(up, f_b * scale, f)


# STaR: bets that depend on the capital still missing ---

STAR_CAP, EAGER, AIM = 0.95, 0.9, 1.1
# The share of the error probability spent on finding the starting point.
_SCOUT = 0.01
# Width of a cell, as a share of twice the standard error of a binary score.
_CELL = 0.04
# Means to try at once, and numbers to process at once.
_WIDTH = 12
_STAR_BLOCK = 1 << 19


@dataclass(frozen=True)
class STaR(OrderedBound):
    """STaR bets (Voráček and Orabona 2025), adapted to samples without replacement.

    Like `Betting`, but each bet depends on how far the capital is from its goal and on how much of
    the sample remains: ``λ_t = 0.9 w_t sqrt(2 ln(1.1/(δ K_{t−1})) / (v_t Σ_{s≥t} w_s²))``, capped
    at ``0.95/μ_t``, with ``v_t = σ̂² + (x̄ − μ_t)₊²`` from the earlier ratings.

    Guaranteed for every population between the limits, simple random samples of a size fixed
    beforehand, and ratings in the order of drawing. Since K depends on the candidate mean, so do
    the bets, and the capital need not be decreasing in the mean. So the scale is divided beforehand
    into cells, and all means of a cell are tested with the bets for its upper end: with these the
    capital is decreasing within the cell. The end of the interval is in the first cell whose end is
    not rejected. A true mean below it would have been rejected by the bets of its own cell, which
    has probability at most δ. `Betting` with a hundredth of the error probability gives the
    starting point.

    Parameters
    ----------
    metric
        Name of a metric, or ``"mean"`` for the mean of all, used as a control variate with slopes
        from earlier ratings to reduce the spread. Fix it before any rating is known.
    upper
        Share of the error probability at the upper end. Fix it before any rating is known.

    References
    ----------
    Voráček and Orabona (2025), STaR-Bets: sequential target-recalculating bets for tighter
    confidence intervals.
    """

    name: ClassVar[str] = "star"
    reference: ClassVar[str] = (
        "Voráček and Orabona (2025), STaR-Bets: sequential target-recalculating bets for tighter "
        "confidence intervals"
    )

    def _smallest_total(self, side: Bets, miss: FloatArray) -> FloatArray:
        rows, n = side.rest.shape
        goal = -np.log((1 - _SCOUT) * miss)
        floor = fixed_size_total(side, _SCOUT * miss)
        total = side.rest[:, 0]
        # The width of cells at each mean is proportional to the standard error of a binary score
        # there.
        angle = _CELL * np.sqrt((1 - n / side.size) / n)
        last = int(np.ceil(np.pi / 2 / angle))
        start = np.arcsin(np.sqrt(np.clip((total + floor) / side.size, 0.0, 1.0)))
        cell = np.floor(start / angle).astype(np.int64) + 1
        found = np.full(rows, float(side.size - n))
        seek = np.arange(rows)
        while seek.size:
            tried = cell[seek, None] + np.arange(-1, _WIDTH)
            ends = side.size * np.sin(np.minimum(tried * angle, np.pi / 2)) ** 2
            ends = np.maximum(ends - total[seek, None], floor[seek, None])
            first, bets = _play(side.rows(seek), ends[:, 1:], goal[seek])
            hit = np.flatnonzero(first < _WIDTH)
            at = first[hit]
            within = (ends[hit, at], np.maximum(ends[hit, at + 1], ends[hit, at]))
            chosen = seek[hit]
            found[chosen] = smallest_unrated(
                side.rows(chosen), bets[hit], goal[chosen], STAR_CAP, within
            )
            cell[seek] += _WIDTH
            seek = seek[(first == _WIDTH) & (tried[:, -1] < last)]
        return found


def _play(side: Bets, unrated: FloatArray, goal: FloatArray) -> tuple[IntArray, FloatArray]:
    """Bet against each of the means given by ``unrated`` totals (rows, means).

    The first mean that is not rejected, or their number (rows,), and the bets for it (rows, n).
    """
    (rows, n), width = side.rest.shape, unrated.shape[-1]
    cell, bets = np.empty(rows, dtype=np.int64), np.empty((rows, n))
    for block in batches(rows, max(1, _STAR_BLOCK // (n * width))):
        cell[block], bets[block] = _play_block(side.rows(block), unrated[block], goal[block])
    return cell, bets


def _play_block(side: Bets, unrated: FloatArray, goal: FloatArray) -> tuple[IntArray, FloatArray]:
    rows, n = side.rest.shape
    before = np.arange(n, dtype=np.float64)
    weight = np.square((side.size - n) / (side.left - 1))
    ahead = weight / np.cumsum(weight[::-1])[::-1]
    # Ratings first: (n, rows, means), so that each step of the game is contiguous in memory.
    mean = (side.rest.T[:, :, None] + unrated) / side.left[:, None, None]
    seen = np.zeros((n, rows))
    np.cumsum(side.payoff.T[:-1], axis=0, out=seen[1:])
    seen /= np.maximum(before, 1.0)[:, None]
    pull = np.maximum(seen[:, :, None] - mean, 0.0)
    pull *= pull
    pull *= (before / (before + WEIGHT))[:, None, None]
    pull += running_variance(side.payoff, PRIOR, WEIGHT).T[:, :, None]
    drive = np.divide(2 * EAGER**2 * ahead[:, None, None], pull, out=pull)
    most = mean if side.margin is None else mean + side.margin.T[:, :, None]
    most = STAR_CAP / np.maximum(most, 1e-300)
    gain = side.payoff.T[:, :, None] - mean
    # Steps are sequential, so the number of operations per step matters.
    lacking = np.broadcast_to(goal[:, None] + np.log(AIM), unrated.shape).copy()
    least, step = (
        lacking.copy(),
        np.empty(unrated.shape),
    )  # the part of the log capital still missing
    zero, one = np.zeros(unrated.shape), np.ones(unrated.shape)
    for bet, cap, won in zip(drive, most, gain, strict=True):
        np.maximum(lacking, zero, out=step)
        np.multiply(bet, step, out=bet)
        np.sqrt(bet, out=bet)
        np.minimum(bet, cap, out=bet)
        np.multiply(bet, won, out=step)
        step += one
        np.log(step, out=step)  # many times faster than log1p, and no factor is near 0
        lacking -= step
        np.minimum(least, lacking, out=least)
    rejected = least <= np.log(AIM)
    cell = np.where(rejected.all(-1), unrated.shape[-1], np.argmin(rejected, axis=-1))
    chosen = np.minimum(cell, unrated.shape[-1] - 1)
    return cell, np.ascontiguousarray(drive[:, np.arange(rows), chosen].T)
