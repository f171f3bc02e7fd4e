"""Student's interval, and intervals that adapt to skewness: Hall and empirical likelihood.

For skewness, an estimate under any design is treated as a simple sample of the drawn units: their
deviations from the mean have the skewness of the error.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import stdtrit

from fewgold.common.arrays import BoolArray, FloatArray, FloatPair, group_sum
from fewgold.design import Design, DesignKind
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class Student(Bound):
    """Student's t interval with finite population correction.

    Approximate: too narrow for very skewed scores and few ratings. Covers every design and
    estimate. Infinite if there are too few ratings to estimate a spread.
    """

    name: ClassVar[str] = "student"
    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = (
        "any design and estimate, with a working model of documents if these were spread; "
        "scores that are not very skewed"
    )
    reference: ClassVar[str] = "Student (1908); Cochran (1977), Sampling Techniques, section 2.8"

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        se = np.asarray(estimate.se)
        half = student_quantile(np.maximum(estimate.df, 1.0), confidence) * se
        if estimate.spreadless.any():
            half = np.maximum(half, _without_spread(estimate, confidence))
        return Interval(np.asarray(estimate.value - half), np.asarray(estimate.value + half))


def student_quantile(df: FloatArray, confidence: float) -> FloatArray:
    """Student's quantile of a two-sided interval, computed once if all draws have the same df."""
    shape = df.shape
    if df.size > 1 and (df == df.flat[0]).all():
        df = df.ravel()[:1]
    return np.broadcast_to(stdtrit(df, (1 + confidence) / 2), shape)


def _without_spread(estimate: LinearEstimate, confidence: float) -> FloatArray:
    """Largest plausible error of the mean when ratings show no spread; infinite without a scale.

    The rule of three: if a share q of the pool were at the end of the scale, n ratings would miss
    all of it with probability (1 − q)^n. If weights differ, the worst case is in the heaviest unit.
    """
    if estimate.ratings.limits is None:
        return np.where(estimate.spreadless, np.inf, 0.0)
    design, (low, high) = estimate.design, estimate.ratings.limits
    miss = 1 - ((1 - confidence) / 2) ** design._by_unit(design.weights).max(-1)
    left = 1 - estimate.n / design.size
    return np.asarray(np.where(estimate.spreadless, (high - low) * miss * left, 0.0))


# Groups with fewer units than this on average say little about skewness: pairs say nothing.
_LARGE = 10
# With weights less even than this, groups with lower sampling rates would look like a long tail.
_EVEN = 0.95


@dataclass(frozen=True)
class Shape:
    """Simple samples that stand in for a batch of estimates to find the shape of the error.

    Deviations of units sum to 0 and their squares to ``members``; they are padded with 0.
    ``fraction`` is the sampling fraction implied by the finite population correction, and
    ``effect`` the design effect if units are ratings that were not drawn one by one.
    """

    units: FloatArray  # (draws, u)
    members: FloatArray  # (draws,) number of units of the draw
    fraction: FloatArray  # (draws,)
    effect: FloatArray | float = 1.0  # (draws,)

    @property
    def skewness(self) -> FloatArray:
        """Skewness of the units, corrected for their number as ``scipy.stats.skew`` does."""
        n = np.maximum(self.members, 3.0)
        return np.asarray((self.units**3).sum(-1) / n * np.sqrt(n * (n - 1)) / (n - 2))

    def __getitem__(self, which: BoolArray) -> Shape:
        effect = np.broadcast_to(self.effect, self.members.shape)[which]
        return Shape(self.units[which], self.members[which], self.fraction[which], effect)


def shape_of(estimate: LinearEstimate) -> Shape:
    """The shape of estimates under any design, batch axes flattened.

    If groups have few units, deviations are taken from the mean of all units: within a pair they
    are mirror images, which hides the skewness of the scores. With uneven weights they are taken
    from the means of the groups, since differences between groups would otherwise look like
    skewness of the error.
    """
    design = estimate.design
    members, count = count_units(design)
    most = int(members.max())
    # Groups with sampling error, and draws whose groups are too small.
    some = (design.influence > 0).astype(np.float64)
    used = (group_sum(some, design.groups, int(design.groups.max()) + 1) > 0).sum(-1)
    small = (used > 1) & (count < _LARGE * used) & (count > _EVEN * members)
    dev = estimate.deviations()
    if small.any():
        together = replace(design, groups=np.broadcast_to(np.int64(0), design.groups.shape))
        dev = np.where(small[..., None], estimate.deviations(together), dev)
    dev = dev[..., :most]
    # Weights that vary within a group leave a nonzero mean, which is not part of the shape.
    dev = dev - dev.sum(-1, keepdims=True) / members[..., None]
    dev = np.where(np.arange(most) < members[..., None], dev, 0.0)
    square = np.square(dev).sum(-1)
    scale = np.sqrt(members / np.where(square > 0, square, 1.0))
    mass = design.influence**2
    total = mass.sum(-1)
    part = (mass * design.inclusion).sum(-1) / np.where(total > 0, total, 1.0)
    # With uneven chances it differs in every draw; rounding to steps of 4 % lets draws share
    # replicates.
    uneven = (np.ptp(design.inclusion, axis=-1) > 1e-9) & (total > 0)
    uneven &= design.kind in (DesignKind.UNEVEN, DesignKind.SYSTEMATIC, DesignKind.BALANCED)
    part = np.where(uneven, np.exp(np.round(25 * np.log(np.where(uneven, part, 1.0))) / 25), part)
    return Shape(
        (dev * scale[..., None]).reshape(-1, dev.shape[-1]),
        np.ravel(members),
        np.ravel(np.where(total > 0, part, 1.0)),
    )


def ratings_alone(estimate: LinearEstimate) -> tuple[FloatArray, FloatArray]:
    """Deviations of the ratings as if drawn one by one, and the design effect: (..., n) and (...).

    The design effect is the factor by which drawing documents or chunks as a whole multiplies the
    variance, at most the number of ratings in one of them: n ratings are worth n over this factor
    of ratings drawn one by one (Kish 1965, Survey Sampling, section 8.2). It is 1 where no document
    or chunk was drawn.
    """
    design = estimate.design
    alone = replace(design, units=None, groups=np.broadcast_to(np.int64(0), design.groups.shape))
    dev = estimate.deviations(alone)[..., : design.n]
    if design.units is None:
        return dev, np.ones(dev.shape[:-1])
    apart, together = (np.square(d).sum(-1) for d in (dev, estimate.deviations()))
    most = design.n / count_units(design)[0]
    return dev, np.clip(together / np.where(apart > 0, apart, 1.0), 1.0, most)


def count_units(design: Design) -> FloatPair:
    """Number of units in each draw, and the equivalent number of equal weight: (...) both."""
    weights, members = design._by_unit(design.weights), np.full(design.weights.shape[:-1], design.n)
    if design.units is not None:
        members = design.units.max(-1) + 1
    return members.astype(np.float64), np.asarray(weights.sum(-1) ** 2 / np.square(weights).sum(-1))


@dataclass(frozen=True)
class ShapeBound(Bound):
    """A bound that finds its ends, in standard errors from the value, from the shape alone.

    Student's interval is used where no shape can be estimated: fewer than three units, no spread,
    or a census.
    """

    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = (
        "any design and estimate, with a working model of documents if these were spread; "
        "ratings that show the shape of the scores"
    )

    @abstractmethod
    def _ends(self, shape: Shape, df: FloatArray, confidence: float) -> FloatPair:
        """Ends in standard errors from the value: (draws,) each."""

    def _shape(self, estimate: LinearEstimate) -> Shape:
        return shape_of(estimate)

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        plain = Student().interval(estimate, confidence)
        shape, batch = self._shape(estimate), estimate.value.shape
        se, df = np.ravel(estimate.se), np.ravel(estimate.df)
        usable = np.isfinite(se) & (se > 0) & ~np.ravel(estimate.spreadless)
        usable &= (shape.members >= 3) & (df >= 2) & (shape.fraction < 1)
        usable &= (shape.units != 0).any(-1)
        if not usable.any():
            return plain
        ends = self._ends(shape[usable], df[usable], confidence)
        value = np.ravel(estimate.value)[usable]
        low, high = np.ravel(plain.low).copy(), np.ravel(plain.high).copy()
        low[usable] = value + se[usable] * np.minimum(ends[0], 0.0)
        high[usable] = value + se[usable] * np.maximum(ends[1], 0.0)
        return Interval(low.reshape(batch), high.reshape(batch))


@dataclass(frozen=True)
class Hall(ShapeBound):
    """Student's interval, corrected for skewness by Hall's cubic, with a finite population.

    The studentised mean of skewed scores is itself skewed, in the other direction. With ``A =
    γ̂/sqrt(n(1−f))``, γ̂ the skewness of the ratings, corrected for their number, and f = n/N, the
    function ``g(u) = (∛(1 + 3p(u−q)) − 1)/p``, p = (2−f)A/6 and q = (1−2f)A/6, undoes that up to
    terms in 1/n, and the interval is ``[x̄ − se·g(t), x̄ − se·g(−t)]``.

    Approximate: covers more often than Student's on skewed scores, but is occasionally very wide,
    when few ratings happen to be very skewed. Covers every design and estimate through the
    deviations of its units.
    """

    name: ClassVar[str] = "hall"
    reference: ClassVar[str] = (
        "Hall (1992), On the removal of skewness by transformation, JRSS B 54; Sugden, Smith and "
        "Jones (2000), Cochran's rule for simple random sampling, JRSS B 62, for the finite pool"
    )

    def _ends(self, shape: Shape, df: FloatArray, confidence: float) -> FloatPair:
        f = shape.fraction
        a = shape.skewness / np.sqrt(shape.members * (1 - f))
        t = student_quantile(df, confidence)
        return -hall_transform(t, a, f), -hall_transform(-t, a, f)


def hall_transform(u: FloatArray, a: FloatArray, f: FloatArray) -> FloatArray:
    """Hall's cubic: the value of the skewed statistic where the transformed one is ``u``.

    ``a`` is the skewness over sqrt(n(1−f)) and ``f`` the share of the pool that was drawn.
    """
    p, q = (2 - f) * a / 6, (1 - 2 * f) * a / 6
    none = np.abs(p) < 1e-9
    safe = np.where(none, 1.0, p)
    return np.asarray(np.where(none, u - q, (np.cbrt(1 + 3 * safe * (u - q)) - 1) / safe))


@dataclass(frozen=True)
class Likelihood(ShapeBound):
    """Adjusted empirical likelihood: the means that nearly equal weights can produce.

    A mean m is in the interval if −2 log R(m) ≤ t²(1 − f), where R is the largest product of n + 1
    times the weights of n + 1 units, the weights having the mean m. The added unit is ``extra``
    times as far from m as the units' mean and on the other side, so that such weights exist for
    every m. Both arms are multiplied by √(n/(n − 1)), since variances divide by n − 1. The interval
    reaches further towards the long tail, as it should, without any formula for skewness, and it
    cannot become extremely wide as Hall's can. t is Student's quantile, and 1 − f the finite
    population correction.

    For documents or chunks drawn as a whole, the units are single ratings, because a few documents
    show less of the shape than their many ratings, and −2 log R is divided by the design effect.

    Very few units cannot reject any mean at a high confidence: −2 log R has a limit, and near it
    intervals are very wide. Where t²(1 − f) is more than 0.6 of the limit (fewer than 13 units at
    95 %), both arms are those at 0.6 of the limit, times the ratio of Student's quantiles.

    Approximate: right in the limit, and of all intervals here it has the coverage closest to 95 %
    for its width on skewed scores. Covers every design and estimate through the deviations of its
    units.

    Parameters
    ----------
    extra
        How far out the added unit is. Chen et al. use max(1, ln(n)/2). A constant suffices (Liu and
        Chen 2010), and since Student's quantile is used, more would only widen intervals from many
        ratings.
    """

    extra: float = 1.5

    name: ClassVar[str] = "likelihood"
    reference: ClassVar[str] = (
        "Owen (1988), Empirical likelihood ratio confidence intervals for a single functional; "
        "Chen, Variyath and Abraham (2008), Adjusted empirical likelihood and its properties; Wu "
        "and Rao (2006), Pseudo-empirical likelihood ratio confidence intervals for complex "
        "surveys"
    )

    def __post_init__(self) -> None:
        if not 0 < self.extra < np.inf:
            raise FewgoldError(f"extra must be a number above 0, such as 1; got {self.extra!r}.")

    def _shape(self, estimate: LinearEstimate) -> Shape:
        drawn = shape_of(estimate)
        if estimate.design.units is None:
            return drawn
        dev, effect = ratings_alone(estimate)
        n = dev.shape[-1]
        dev = dev - dev.mean(-1, keepdims=True)
        square = np.square(dev).sum(-1, keepdims=True)
        units = (dev * np.sqrt(n / np.where(square > 0, square, 1.0))).reshape(-1, n)
        # With one or two documents Student's interval is used, whatever the ratings are.
        members = np.where(drawn.members < 3, drawn.members, float(n))
        return Shape(units, members, drawn.fraction, np.ravel(effect))

    def _ends(self, shape: Shape, df: FloatArray, confidence: float) -> FloatPair:
        left, effect = 1 - shape.fraction, np.broadcast_to(shape.effect, df.shape)
        full = student_quantile(df, confidence) ** 2 * left * effect
        most = np.minimum(full, _NEAR_LIMIT * _limit(shape.members, self.extra))
        beyond = np.sqrt(full / np.maximum(most, 1e-9))
        ends = np.empty((2, *df.shape))
        for n in np.unique(shape.members).astype(np.int64):
            which = np.flatnonzero(shape.members == n)
            units, goal = shape.units[which, :n], most[which]
            far = _furthest(np.concatenate([-units, units]), np.tile(goal, 2), self.extra)
            scale = np.sqrt(n / left[which] / effect[which]) * beyond[which]
            ends[0, which], ends[1, which] = -far[: which.size] * scale, far[which.size :] * scale
        return ends[0], ends[1]


# The farthest mean that an adjusted empirical likelihood allows, for many draws at once ---
#
# To n units x of mean 0 one unit is added beyond the candidate mean, ``extra`` times as far from it
# as 0 is. Newton's method is fast and nearly always converges; otherwise a bracket is used.

_TRIES = 15
_NEAR = 1e-9
_NEAR_LIMIT = 0.6


def _limit(n: FloatArray, extra: float) -> FloatArray:
    """−2 log R of infinitely distant means: n units are on one side, the extra one on the other."""
    log_r = n * np.log((n + 1) * extra / (n * (1 + extra))) + np.log((n + 1) / (1 + extra))
    return np.asarray(-2 * log_r)


def _furthest(x: FloatArray, most: FloatArray, extra: float) -> FloatArray:
    """The mean above that of x, 0, at which −2 log R is ``most``: (draws, n), (draws,) -> (draws,).

    Infinite if no mean is rejected.
    """
    found = np.full(most.shape, np.inf)
    live = np.flatnonzero(most < _limit(np.array(1.0 * x.shape[-1]), extra))
    found[live] = _newton(x[live], most[live], extra)
    lost = live[np.isnan(found[live])]
    found[lost] = _bracketed(x[lost], most[lost], extra)
    return found


def _newton(x: FloatArray, most: FloatArray, extra: float) -> FloatArray:
    """Newton steps in the mean and the multiplier together; NaN if they did not converge."""
    found = np.full(len(x), np.nan)
    live = np.arange(len(x))
    # A column for the extra unit; units move against the mean, the extra one with it.
    x = np.concatenate([x, np.zeros((len(x), 1))], axis=-1)
    move = np.full(x.shape[-1], -1.0)
    move[-1] = extra
    mean = np.sqrt(most / (x.shape[-1] - 1))
    g = x + move * mean[:, None]
    pull = g.sum(-1) / np.square(g).sum(-1) / 2
    for _ in range(_TRIES):
        if not live.size:
            break
        g = x + move * mean[:, None]
        tilt = 1 + pull[:, None] * g
        # Halving the multiplier often enough makes all weights positive.
        while (bad := tilt.min(-1) <= 0).any():
            pull = np.where(bad, pull / 2, pull)
            tilt = 1 + pull[:, None] * g
        pulled = g / tilt
        off, over = pulled.sum(-1), 2 * np.log(tilt).sum(-1) - most
        across = (move / np.square(tilt)).sum(-1)
        rise = 2 * pull * (move / tilt).sum(-1)
        bend = np.square(pulled).sum(-1)
        # [−bend across; 2 off rise] (steps) = −(off, over)
        det = -bend * rise - 2 * off * across
        step = (bend * over + 2 * off * off) / np.where(det == 0, np.nan, det)
        new = np.clip(mean + step, mean / 2, mean * 2)
        pull = pull + (off + across * (new - mean)) / bend
        done = (np.abs(new - mean) <= _NEAR * mean) & (np.abs(over) <= 1e-7)
        found[live[done]] = new[done]
        keep = np.flatnonzero(~done & np.isfinite(new) & np.isfinite(pull))
        live, x, most, mean, pull = live[keep], x[keep], most[keep], new[keep], pull[keep]
    return found


def _bracketed(x: FloatArray, most: FloatArray, extra: float) -> FloatArray:
    """Fallback if Newton's method fails: draw by draw, finding the multiplier for each mean."""
    from scipy.optimize import brentq

    found = np.empty(len(x))
    for k, (units, goal) in enumerate(zip(x, most, strict=True)):

        def over(mean: float, units: FloatArray = units, goal: float = goal) -> float:
            g = np.append(units - mean, extra * mean)
            # Between these all weights are above 0, and the sum falls in the multiplier.
            ends = (1 - 1e-13) * -1 / g.max(), (1 - 1e-13) * -1 / g.min()
            near = 1e-15 * (ends[1] - ends[0])
            multiplier = brentq(lambda m: (g / (1 + m * g)).sum(), *ends, xtol=near, maxiter=500)
            return float(2 * np.log1p(multiplier * g).sum() - goal)

        high = float(np.sqrt(goal / x.shape[-1]))
        while over(high) < 0:
            high *= 2
        found[k] = brentq(over, 0.0, high, rtol=1e-12)
    return found
