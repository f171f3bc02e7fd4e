"""Measures of a judge against people, and their influence values.

Every measure is a smooth function of weighted means over the rated segments. Its *influence values*
z say how the value changes with the weight of each segment (linearisation; Deville 1999), so that
the one variance of the design, applied to z, is the variance of every measure under every design.
The judge is known for the whole pool: the weights are calibrated so that they give its mean
exactly, which for 0/1 verdicts is poststratification, and z enters the variance minus its
regression on the judge (Särndal, Swensson and Wretman 1992, section 6.6).

Arrays are (..., n): the rated segments last, batch axes in front.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.special import stdtrit

from fewgold.common.arrays import (
    BoolArray,
    FloatArray,
    FloatPair,
    IntArray,
    batches,
    group_sum,
    spread_out,
)
from fewgold.design import Design
from fewgold.estimate import Interval

_TINY = 1e-12
# Calibration may remove at most this share of a segment's weight, or add four times as much.
_GENTLE = 0.75
# Largest table of pairs at a time, in numbers.
_ROOM = 4_000_000


@dataclass(frozen=True, eq=False)
class Paired:
    """Human and judge scores of the rated segments, and how these were drawn.

    Parameters
    ----------
    human, judge
        (..., n) scores.
    design
        How the segments were drawn.
    judge_mean
        Mean of the judge over the whole pool, or over a slice of it.
    inside
        (..., n) the segments of a slice of the pool; all if None.
    known
        Whether ``judge_mean`` is known for the target of the result. It is not if the rated
        segments represent future ones, which the judge has not scored yet.
    """

    human: FloatArray
    judge: FloatArray
    design: Design
    judge_mean: float
    inside: BoolArray | None = None
    known: bool = True

    @cached_property
    def _mass(self) -> FloatArray:
        """Design weights in the slice, before scaling to sum 1."""
        w = self.design.weights
        return np.asarray(w if self.inside is None else np.where(self.inside, w, 0.0))

    @cached_property
    def _base(self) -> FloatArray:
        """The same scaled to sum 1, or all 0 for a slice without ratings."""
        total = self._mass.sum(-1, keepdims=True)
        return np.asarray(self._mass / np.where(total > 0, total, 1.0))

    @cached_property
    def _centred_judge(self) -> tuple[FloatArray, FloatArray]:
        """The judge minus its mean over the rated segments, and the variance there."""
        dev = self.judge - (self._base * self.judge).sum(-1, keepdims=True)
        return dev, np.asarray((self._base * dev**2).sum(-1, keepdims=True))

    @cached_property
    def _g(self) -> FloatArray:
        """g-weights of calibration on the judge's mean; 1 if that would change weights too much."""
        dev, spread = self._centred_judge
        known = self.known & _above(spread, np.square(self.judge).max(-1, keepdims=True))
        off = self.judge_mean - (self._base * self.judge).sum(-1, keepdims=True)
        g = 1 + np.where(known, off, 0.0) * dev / np.where(known, spread, 1.0)
        kept = np.where(self._base > 0, g, 1.0)
        gentle = (kept.min(-1) > 1 - _GENTLE) & (kept.max(-1) < 1 + 4 * _GENTLE)
        return np.where(gentle[..., None], g, 1.0)

    @cached_property
    def weights(self) -> FloatArray:
        """(..., n), sum 1: weight of each rated segment in the pool, or in the slice."""
        return np.asarray(self._base * self._g)

    def mean(self, values: FloatArray) -> FloatArray:
        """Weighted mean (...) of values (..., n)."""
        return np.asarray((self.weights * values).sum(-1))

    def residuals(self, influence: FloatArray) -> FloatArray:
        """Turn a measure's influence values into values (..., n) whose mean has its variance.

        They are residuals of a regression on the judge, whose mean is known, and 0 outside the
        slice.
        """
        b, (dev, spread) = self._base, self._centred_judge
        left = influence - (b * influence).sum(-1, keepdims=True)
        known = self.known & (spread > 0)
        slope = (b * left * dev).sum(-1, keepdims=True) / np.where(known, spread, 1.0)
        return self._scaled(np.where(known, left - slope * dev, left) * self._g)

    def _scaled(self, left: FloatArray) -> FloatArray:
        """Residuals of a slice scaled to the whole sample, 0 outside the slice."""
        if self.inside is None:
            return np.asarray(left)
        total = self._mass.sum(-1, keepdims=True)
        return np.where(self.inside, left / np.where(total > 0, total, 1.0), 0.0)

    def variance(self, influence: FloatArray) -> FloatArray:
        """Variance (...) of a measure with these influence values."""
        return self.variance_of(self.residuals(influence))

    def variance_of(self, residuals: FloatArray) -> FloatArray:
        """Variance (...) of a mean of `residuals`, or of the difference between two."""
        dev = self.design.deviations(residuals[..., None, :])[..., 0, :]
        return np.asarray(np.where(self.design._census, 0.0, np.vecdot(dev, dev)))

    def units(self, part: BoolArray | None = None) -> FloatArray:
        """Effective number (...) of independently drawn units in a part of the rated segments.

        Kish's (Σ w)² / Σ w² over units that were drawn as a whole, with the finite population
        correction: for a simple sample n / (1 − n/N). Infinite if there is no sampling error.
        """
        mass = self._mass if part is None else np.where(part, self._mass, 0.0)
        chance = self.design._by_unit(mass * self.design._root_fpc)
        squares = np.square(chance).sum(-1)
        total = mass.sum(-1)
        found = np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1.0), np.inf)
        return np.asarray(np.where(total > 0, found, 0.0))

    @cached_property
    def df(self) -> FloatArray:
        """Degrees of freedom of the variances: at least 1."""
        slice_df = np.where(np.isfinite(self.units()), self.units(), self.design.n) - 1.0
        return np.asarray(np.maximum(np.minimum(self.design.df, slice_df) - 1.0, 1.0))

    def padded_quantile(
        self, confidence: float, variance: FloatArray, seen: FloatArray
    ) -> FloatArray:
        """Student's quantile (...) if only the part ``seen`` of a variance is estimated.

        Satterthwaite's (1946) degrees of freedom: those of the part, times (whole/part)².
        """
        part = np.where(variance > 0, seen / np.where(variance > 0, variance, 1.0), 1.0)
        df = self.df / np.maximum(part, 0.01) ** 2
        return np.asarray(stdtrit(df, (1 + confidence) / 2))

    def quantile(self, confidence: float, rare: BoolArray | None = None) -> FloatArray:
        """Student's quantile (...) of a two-sided interval.

        For a measure determined by a few ``rare`` segments it has their degrees of freedom, and
        Bessel's correction for their number, since the design's is for all segments.
        """
        if rare is None:
            return np.asarray(stdtrit(self.df, (1 + confidence) / 2))
        units = self.units(rare)
        m = np.clip(np.where(np.isfinite(units), units, self.design.n), 2.0, None)
        q = stdtrit(np.minimum(self.df, m - 1.0), (1 + confidence) / 2)
        return np.asarray(q * np.sqrt(m / (m - 1)))


def _above(spread: FloatArray, size: FloatArray) -> BoolArray:
    """Whether a variance is more than rounding error, for squares of this size."""
    return np.asarray(spread > _TINY * np.maximum(size, 1e-300))


@dataclass(frozen=True, eq=False)
class Measure:
    """A value, its influence values and the ends of its scale.

    Parameters
    ----------
    value
        (...); NaN if undefined, such as recall if people found nothing good.
    influence
        (..., n), 0 if the value is undefined.
    low, high
        Ends of its scale; infinite for differences.
    rare
        (..., n) the rated segments of the rarer kind, if the measure depends on few of them.
    pads
        Pseudo-ratings that the interval of a table with more than two levels adds (`Padded`).
    """

    value: FloatArray
    influence: FloatArray
    low: float = 0.0
    high: float = 1.0
    rare: BoolArray | None = None
    pads: float = 2.0


@dataclass(frozen=True, eq=False)
class Padded:
    """Verdicts with added pseudo-ratings, for the intervals of tables.

    Few ratings may miss a cell of the table entirely and then show no variance. Agresti and Caffo
    (2000) add a success and a failure to each of two samples: here to the human verdicts where the
    judge says 1, and where it says 0, so the judge's known shares stay unchanged. With more than
    two levels ``ratings`` of them are spread over the table, half of them evenly and half as if
    judge and people were independent: two, but one for quadratic weights, which are sensitive to
    pseudo-ratings on distant levels. The reported values do not use them.
    """

    of: Paired
    levels: FloatArray
    ratings: float = 2.0

    @cached_property
    def _pads(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pseudo-ratings (..., K²) per cell, their weight, and the factor (..., n) for ratings."""
        of, k = self.of, self.levels.size
        b = of._base
        squares = np.square(b).sum(-1, keepdims=True)
        n = np.where(squares > 0, 1 / np.where(squares > 0, squares, 1.0), 0.0)
        h, j = _places(self.levels, of.human), _places(self.levels, of.judge)
        if k != 2:
            people, judge = (group_sum(of.weights, place, k) for place in (h, j))
            chance = (people[..., :, None] * judge[..., None, :]).reshape(*b.shape[:-1], k * k)
            count = self.ratings / 2 * (1 / k**2 + chance)
            each = np.broadcast_to(1 / (n + count.sum(-1, keepdims=True)), count.shape)
            return count, each, 1 - each[..., :1] * count.sum(-1, keepdims=True)
        share = np.stack([1 - self._judge_share, self._judge_share], axis=-1)
        seen = n * group_sum(b, j, k)
        each = share / (seen + 2)
        per = group_sum(of.weights, j, k)
        left = each * seen / np.where(per > 0, per, 1.0)
        return (
            np.ones((*b.shape[:-1], k * k)),
            np.tile(each, k),
            spread_out(left, j),
        )

    @cached_property
    def _judge_share(self) -> FloatArray:
        """Share of the pool to which the judge gives the second level."""
        of, (low, high) = self.of, self.levels
        share = np.asarray(np.clip((of.judge_mean - low) / (high - low), 0.0, 1.0))
        if not of.known:
            share = (of.design.n * share + 1) / (of.design.n + 2)
        return np.broadcast_to(share, of.human.shape[:-1])

    @cached_property
    def human(self) -> FloatArray:
        return self._joined(self.of.human, np.repeat(self.levels, self.levels.size))

    @cached_property
    def judge(self) -> FloatArray:
        return self._joined(self.of.judge, np.tile(self.levels, self.levels.size))

    @cached_property
    def weights(self) -> FloatArray:
        count, each, left = self._pads
        return np.concatenate([self.of.weights * left, count * each], axis=-1)

    @property
    def judge_mean(self) -> float:
        return self.of.judge_mean

    @property
    def known(self) -> bool:
        return self.of.known

    def mean(self, values: FloatArray) -> FloatArray:
        return np.asarray((self.weights * values).sum(-1))

    def _joined(self, real: FloatArray, pads: FloatArray) -> FloatArray:
        return np.concatenate([real, np.broadcast_to(pads, (*real.shape[:-1], pads.size))], -1)

    def variance(self, influence: FloatArray) -> FloatPair:
        """Variance (...) from influence values (..., n + K²), and the part estimated by the design.

        If the judge has two levels, their shares are known, and only the variation within each
        counts; pseudo-ratings count as ratings of a simple random sample.
        """
        of, (count, each, left) = self.of, self._pads
        n, place = of.human.shape[-1], _places(self.levels, self.judge)
        within = self.levels.size == 2 and of.known
        if not within:
            place = np.zeros_like(place)
        total = group_sum(self.weights, place, self.levels.size)
        sums = group_sum(self.weights * influence, place, self.levels.size)
        z = influence - spread_out(sums / np.where(total > 0, total, 1.0), place)
        real = z[..., :n]
        real = of._scaled(real * of._g) if within else of.residuals(real)
        seen = of.variance_of(real * left)
        squares = np.square(of._base * of.design._root_fpc).sum(-1)
        plain = np.square(of._base).sum(-1)
        fpc = squares / np.where(plain > 0, plain, 1.0)
        return seen + fpc * (count * np.square(each * z[..., n:])).sum(-1), seen


#: The data from which measures are computed.
Scored: TypeAlias = Paired | Padded


class MeasuredValue(NamedTuple):
    """An estimate with its standard error and interval: arrays where there are batch axes."""

    value: FloatArray
    se: FloatArray
    low: FloatArray
    high: FloatArray


def figure(
    measure: Callable[[Scored], Measure],
    of: Paired,
    confidence: float,
    levels: FloatArray | None = None,
) -> MeasuredValue:
    """A measure of the rated segments with its design-based interval.

    With ``levels`` it is a function of the table of verdicts: Student's interval with
    pseudo-ratings (`Padded`), clipped to the scale. Otherwise, on a scale with ends, Wilson's
    interval with p(1 − p)/variance for the number of ratings, as Korn and Graubard (1998) do for
    shares in surveys; without ends, Student's.
    """
    found = measure(of)
    q, certain = of.quantile(confidence, found.rare), of.design._census
    value, span = found.value, found.high - found.low
    if levels is not None:
        padded = Padded(of, levels, found.pads)
        made = measure(padded)
        variance, seen = padded.variance(made.influence)
        se, q = np.sqrt(variance), of.padded_quantile(confidence, variance, seen)
        low, high = made.value - q * se, made.value + q * se
        # Pseudo-ratings pull towards the middle: the value itself is always inside.
        low, high = np.fmin(low, value), np.fmax(high, value)
    else:
        se = np.sqrt(of.variance(found.influence))
        low, high = value - q * se, value + q * se
        if np.isfinite(span):
            p = np.clip((value - found.low) / span, 0.0, 1.0)
            spread, variance = p * (1 - p), (se / span) ** 2
            flat = (variance <= _TINY) | (spread <= _TINY)
            n = np.where(flat, of.units(), spread / np.where(flat, 1.0, variance))
            ends = wilson(p, np.maximum(n, _TINY), q)
            low, high = found.low + span * ends.low, found.low + span * ends.high
    low, high = np.maximum(low, found.low), np.minimum(high, found.high)
    known = ~np.isnan(value)
    low, high = (np.where(certain, value, end) for end in (low, high))
    return MeasuredValue(
        value, *(np.where(known, x, np.nan) for x in (np.where(certain, 0.0, se), low, high))
    )


def wilson(p: FloatArray, n: FloatArray, q: FloatArray) -> Interval:
    """Wilson's (1927) interval for a share p of n (any positive number) at the quantile q."""
    with np.errstate(invalid="ignore"):
        grown = 1 + q**2 / n
        half = q * np.sqrt(np.maximum(p * (1 - p), 0.0) / n + (q / (2 * n)) ** 2) / grown
        centre = (p + q**2 / (2 * n)) / grown
    return Interval(np.asarray(centre - half), np.asarray(centre + half))


# Verdicts of 0 and 1


def mean_human(of: Scored) -> Measure:
    """Mean human score over the pool."""
    value = of.mean(of.human)
    return Measure(value, of.human - value[..., None], -np.inf, np.inf)


def mean_judge(of: Scored) -> Measure:
    """Mean score of the judge, if it is not known for the whole target."""
    value = of.mean(of.judge)
    return Measure(value, of.judge - value[..., None], -np.inf, np.inf)


def share_human(of: Scored) -> Measure:
    """Share of segments that people find good, for scores of 0 and 1."""
    open_ended = mean_human(of)
    return Measure(open_ended.value, open_ended.influence)


def _ratio(of: Scored, above: FloatArray, below: FloatArray) -> Measure:
    """Weighted mean of ``above`` divided by that of ``below``, which includes it."""
    whole = of.mean(below)[..., None]
    known = whole > _TINY
    value = of.mean(above)[..., None] / np.where(known, whole, 1.0)
    z = np.where(known, (above - value * below) / np.where(known, whole, 1.0), 0.0)
    return Measure(np.where(known, value, np.nan)[..., 0], z)


def accuracy(of: Scored) -> Measure:
    """Share of segments on which judge and people agree."""
    return _ratio(of, (of.human == of.judge) * 1.0, np.ones(of.human.shape))


def sensitivity(of: Scored) -> Measure:
    """ρ or recall: share of the segments that people find good which the judge calls good."""
    return _ratio(of, of.human * of.judge, of.human)


def specificity(of: Scored) -> Measure:
    """η: share of the segments that people find bad which the judge calls bad."""
    return _ratio(of, (1 - of.human) * (1 - of.judge), 1 - of.human)


def precision(of: Scored) -> Measure:
    """Share of the segments that the judge calls good which people find good."""
    return _ratio(of, of.human * of.judge, of.judge)


def negative_value(of: Scored) -> Measure:
    """Share of the segments that the judge calls bad which people find bad."""
    return _ratio(of, (1 - of.human) * (1 - of.judge), 1 - of.judge)


def f1(of: Scored) -> Measure:
    """Harmonic mean of precision and recall, 2 tp / (2 tp + fp + fn)."""
    return _ratio(of, 2 * of.human * of.judge, of.human + of.judge)


def confusion(of: Scored, levels: FloatArray) -> FloatArray:
    """Shares (..., k, k) of the pool: rows are human levels, columns the judge's."""
    k = levels.size
    cell = np.searchsorted(levels, of.human) * k + np.searchsorted(levels, of.judge)
    found = group_sum(of.weights, cell.astype(np.int64), k * k)
    return found.reshape(*found.shape[:-1], k, k)


# Agreement beyond chance


def kappa(of: Scored, levels: FloatArray, weight: str = "none") -> Measure:
    """Cohen's κ, 1 − observed over expected disagreement.

    ``weight`` is how much two levels disagree: ``none`` (1 if they differ), ``linear`` in their
    distance, or ``quadratic`` (Cohen 1960, 1968). Distances are those of the levels' values.
    """
    levels = np.asarray(levels, dtype=np.float64)
    apart = _apart(levels, weight)
    h, j = _places(levels, of.human), _places(levels, of.judge)
    observed = apart[h, j]
    by_human = (
        group_sum(of.weights, h, levels.size) @ apart
    )  # distance from people's levels to the judge's
    by_judge = group_sum(of.weights, j, levels.size) @ apart
    # Mean disagreement of each segment with the judge's verdicts, and with the human ones.
    to_judge, to_human = spread_out(by_judge, h), spread_out(by_human, j)
    seen, chance = of.mean(observed)[..., None], of.mean(to_judge)[..., None]
    known = chance > _TINY * max(float(apart.max()), _TINY)
    chance = np.where(known, chance, 1.0)
    value = np.where(known, 1 - seen / chance, np.nan)[..., 0]
    z = -observed / chance + seen / chance**2 * (to_judge + to_human - chance)
    return Measure(value, np.where(known, z, 0.0), -1.0, 1.0, pads=_pads_for(weight))


def ac1(of: Scored, levels: FloatArray, weight: str = "none") -> Measure:
    """Gwet's AC1: like κ, but chance agreement falls rather than grows as one class dominates.

    With π_k the mean share of class k among K: chance = Σ π_k (1 − π_k) / (K − 1) (Gwet 2008). With
    a ``weight`` as in `kappa` it is AC2: two levels have the agreement 1 − distance/largest
    distance, and chance agreement is multiplied by their sum (Gwet 2014, section 5.3).
    """
    levels = np.asarray(levels, dtype=np.float64)
    h, j = _places(levels, of.human), _places(levels, of.judge)
    k = levels.size
    if k < 2:
        same = (h == j) * 1.0
        value = of.mean(same)
        return Measure(value, same - value[..., None], -1.0, 1.0)
    apart = _apart(levels, weight)
    agree = 1 - apart / apart.max()
    same, scale = agree[h, j], agree.sum() / (k * (k - 1))
    shares = (group_sum(of.weights, h, k) + group_sum(of.weights, j, k)) / 2
    chance = scale * (shares * (1 - shares)).sum(-1, keepdims=True)
    slope = scale * (1 - 2 * shares)
    grown = (spread_out(slope, h) + spread_out(slope, j)) / 2
    seen = of.mean(same)[..., None]
    # dv = (dseen (1 − chance) − dchance (1 − seen)) / (1 − chance)²
    z = (same - seen) / (1 - chance)
    z = z - (grown - of.mean(grown)[..., None]) * (1 - seen) / (1 - chance) ** 2
    value = ((seen - chance) / (1 - chance))[..., 0]
    most = scale * (1 - 1 / k)  # chance agreement if all classes are as frequent
    return Measure(value, z, min(-1.0, -most / (1 - most)), 1.0, pads=_pads_for(weight))


def _apart(levels: FloatArray, weight: str) -> FloatArray:
    """Disagreement of two levels (K, K)."""
    gap = np.abs(levels[:, None] - levels)
    return {"none": (gap > 0) * 1.0, "linear": gap, "quadratic": gap**2}[weight]


def _pads_for(weight: str) -> float:
    return 1.0 if weight == "quadratic" else 2.0


def _places(levels: FloatArray, values: FloatArray) -> IntArray:
    return np.asarray(np.searchsorted(levels, values), dtype=np.int64)


# Scores


def mean_difference(of: Scored) -> Measure:
    """Mean of judge minus people over the pool, with the judge's mean known."""
    gap = -of.human if of.known else of.judge - of.human
    mean = of.mean(gap)
    value = mean + of.judge_mean if of.known else mean
    return Measure(value, gap - mean[..., None], -np.inf, np.inf)


def mean_distance(of: Scored) -> Measure:
    """Mean distance between the two scores of a segment."""
    gap = np.abs(of.judge - of.human)
    value = of.mean(gap)
    return Measure(value, gap - value[..., None], 0.0, np.inf)


def pearson(of: Scored) -> Measure:
    """Pearson's correlation."""
    return _correlation(of, of.human, of.judge)


def _correlation(
    of: Scored, x: FloatArray, y: FloatArray, more: FloatArray | float = 0.0
) -> Measure:
    """Correlation of two columns; ``more`` is the extra influence of sample-dependent columns."""
    dx, dy = x - of.mean(x)[..., None], y - of.mean(y)[..., None]
    sx, sy = np.sqrt(of.mean(dx**2))[..., None], np.sqrt(of.mean(dy**2))[..., None]
    small = _TINY * np.maximum(np.abs(x).max(-1, keepdims=True), 1e-300)
    tiny = _TINY * np.maximum(np.abs(y).max(-1, keepdims=True), 1e-300)
    known = (sx > small) & (sy > tiny)
    sx, sy = np.where(known, sx, 1.0), np.where(known, sy, 1.0)
    a, b = dx / sx, dy / sy
    value = np.where(known, of.mean(a * b)[..., None], np.nan)
    r = np.where(known, value, 0.0)
    z = np.where(known, a * b - r * (a**2 + b**2) / 2 + more / (sx * sy), 0.0)
    return Measure(np.clip(value[..., 0], -1.0, 1.0), z, -1.0, 1.0)


def spearman(of: Scored) -> Measure:
    """Spearman's rank correlation: Pearson's of mid-ranks among the pool.

    Ranks are estimated, so a segment moves the ranks of all others: its influence has two more
    terms, the means of the other score's ranks above it (Hoeffding's projection).
    """
    x, above_x = _ranks(of, of.human)
    y, above_y = _ranks(of, of.judge)
    further = above_x(y - 0.5) + above_y(x - 0.5)
    found = _correlation(of, x, y, further - of.mean(further)[..., None])
    # The variance of mid-ranks depends only on the ties, (1 − Σ p³)/12: use the influence of the
    # ties instead of that of the ranks in `_correlation`.
    r = np.where(np.isnan(found.value), 0.0, found.value)[..., None]
    z = found.influence
    for rank in (x, y):
        dev = rank - 0.5
        spread = of.mean(dev**2)[..., None]
        known = spread > _TINY
        wrong = dev**2 / np.where(known, spread, 1.0)
        share = _tie_shares(of, rank)
        cubes = of.mean(share**2)[..., None]
        right = -(share**2 - cubes) / 4 / np.where(known, spread, 1.0)
        z = z + np.where(known, r / 2 * (wrong - 1 - right), 0.0)
    return Measure(found.value, z, -1.0, 1.0)


def _ranks(of: Scored, values: FloatArray) -> tuple[FloatArray, Callable[[FloatArray], FloatArray]]:
    """Mid-ranks (..., n) between 0 and 1, and the weighted sum of a column over higher values.

    Ties count half in both results.
    """
    levels, inverse = np.unique(values, return_inverse=True)
    place = inverse.reshape(values.shape).astype(np.int64)

    def below(column: FloatArray | float) -> FloatArray:
        per = group_sum(of.weights * column, place, levels.size)
        return spread_out(np.cumsum(per, -1) - per / 2, place)

    def above(column: FloatArray) -> FloatArray:
        return np.asarray((of.weights * column).sum(-1, keepdims=True) - below(column))

    return below(1.0), above


def _tie_shares(of: Scored, values: FloatArray) -> FloatArray:
    """Share of the pool (..., n) that has the same value as each segment."""
    place = np.unique(values, return_inverse=True)[1].reshape(values.shape).astype(np.int64)
    return spread_out(group_sum(of.weights, place, int(place.max()) + 1), place)


def kendall(of: Scored) -> Measure:
    """Kendall's τ-b: concordant minus discordant pairs, corrected for ties."""
    n = of.human.shape[-1]
    batch = of.human.shape[:-1]
    flat = [np.reshape(a, (-1, n)) for a in (of.human, of.judge, of.weights)]
    order = np.empty(flat[0].shape)
    for draws in batches(len(order), max(_ROOM // (n * n), 1)):
        x, y, w = (a[draws] for a in flat)
        for rows in batches(n, max(_ROOM // n, 1)):
            signs = np.sign(x[:, rows, None] - x[:, None, :])
            signs *= np.sign(y[:, rows, None] - y[:, None, :])
            order[draws, rows] = np.vecdot(signs, w[:, None, :])
    order = order.reshape(*batch, n)
    ties = [_tie_shares(of, a) for a in (of.human, of.judge)]
    untied = [1 - of.mean(t)[..., None] for t in ties]
    known = (untied[0] > _TINY) & (untied[1] > _TINY)
    a, b = (np.where(known, u, 1.0) for u in untied)
    root = np.sqrt(a * b)
    value = of.mean(order)[..., None] / root
    z = 2 * order / root + value * (ties[0] / a + ties[1] / b)
    z = z - of.mean(z)[..., None]
    value = np.where(known, value, np.nan)[..., 0]
    return Measure(np.clip(value, -1.0, 1.0), np.where(known, z, 0.0), -1.0, 1.0)


def auc(of: Scored) -> Measure:
    """Probability that the judge scores a good segment above a bad one; ties count half.

    The influence values are those of DeLong, DeLong and Clarke-Pearson (1988), weighted.
    """
    good, bad = of.human == 1, of.human == 0
    p1, p0 = (of.mean(x * 1.0)[..., None] for x in (good, bad))
    known = (p1 > _TINY) & (p0 > _TINY)
    p1, p0 = np.where(known, p1, 1.0), np.where(known, p0, 1.0)
    levels, inverse = np.unique(of.judge, return_inverse=True)
    place = inverse.reshape(of.judge.shape).astype(np.int64)

    def below(part: BoolArray) -> FloatArray:
        per = group_sum(of.weights * part, place, levels.size)
        return spread_out(np.cumsum(per, -1) - per / 2, place)

    beaten = below(bad) / p0
    beating = 1 - below(good) / p1
    value = np.where(known, of.mean(good * beaten)[..., None] / p1, np.nan)
    v = np.where(known, value, 0.0)
    z = np.where(good, (beaten - v) / p1, (beating - v) / p0)
    rarer = np.where(p1 <= p0, good, bad)
    return Measure(np.clip(value[..., 0], 0, 1), np.where(known, z, 0.0), rare=rarer)
