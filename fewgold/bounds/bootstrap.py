"""Bootstrap intervals: bootstrap-t, BCa, and Rao and Wu's rescaled bootstrap.

Replicates are drawn once with a fixed seed, and shared by all draws of the same size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from fewgold.bounds.approximate import Shape, ShapeBound, Student, student_quantile
from fewgold.bounds.base import bound_hints
from fewgold.common.arrays import FloatArray, FloatPair, IntArray, batches
from fewgold.common.checks import check_count
from fewgold.design import Design
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound, Interval, LinearEstimate

# Number of draws whose replicates are held at once.
_DRAWS = 1024
# Pools larger than this many times the sample are practically infinite.
_LARGEST = 1000
# Fewest replicates beyond each end of an interval, and the most replicates in all.
_BEYOND, _MOST = 10, 20_000


@dataclass(frozen=True)
class Replicated(Bound):
    """A bound by bootstrap samples."""

    replicates: int = 2000

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, least=100)

    def _steps(self, confidence: float) -> list[tuple[float, int]]:
        """Confidences, each with a number of replicates, whose intervals are joined.

        Higher confidences need more replicates to resolve their tails. They use different
        replicates, so each interval must also contain those with fewer replicates, as far as these
        resolve the tails: otherwise it could be inside the interval of a lower confidence.
        """
        needed = int(np.ceil(2 * _BEYOND / (1 - confidence) - 1e-6))
        if needed > max(_MOST, self.replicates):
            raise FewgoldError(
                f"{self.name} would need {needed:,} replicates to resolve the tails at a "
                f"confidence of {confidence:.10g}; the limit is {_MOST:,}.",
                hints=bound_hints("Use {} or {}.", "hall", "student"),
            )
        steps, replicates = [], self.replicates
        while replicates < needed:
            steps.append((1 - 2 * _BEYOND / replicates, replicates))
            replicates = min(2 * replicates, _MOST)
        return [*steps, (confidence, replicates)]

    def _joined(self, made: Callable[[float, int], FloatPair], confidence: float) -> FloatPair:
        """The ends, low and high, of the union of the intervals of all steps."""
        lows, highs = zip(*(made(*step) for step in self._steps(confidence)), strict=True)
        return np.asarray(np.min(lows, axis=0)), np.asarray(np.max(highs, axis=0))


@lru_cache(maxsize=8)
def pseudo_samples(n: int, size: int, replicates: int) -> FloatPair:
    """Samples of n from pseudo-populations made of a sample of n (Booth, Butler and Hall 1994).

    Each pseudo-population holds every unit size // n times, and a random subset of size % n units
    once more. Returns the shares of each unit in the samples and in their pseudo-populations:
    (replicates, n) both.
    """
    rng = np.random.default_rng([n, size, replicates])
    copies, rest = divmod(size, n)
    pools = np.full((replicates, n), copies, dtype=np.int64)
    if rest:
        pools += rng.permuted(np.tile(np.arange(n) < rest, (replicates, 1)), axis=-1)
    samples = np.empty((replicates, n))
    for pool, sample in zip(pools, samples, strict=True):
        sample[:] = rng.multivariate_hypergeometric(pool, n, method="marginals")
    return samples / n, pools / size


def by_size(shape: Shape) -> Iterator[tuple[IntArray, FloatArray, int]]:
    """Group draws by number of units and pool size: their indices, units, and pool size."""
    members = shape.members.astype(np.int64)
    fraction = np.maximum(shape.fraction, 1 / _LARGEST)
    size = np.maximum(np.rint(members / fraction).astype(np.int64), members + 1)
    for n, pool in np.unique(np.stack([members, size], -1), axis=0):
        which = np.flatnonzero((members == n) & (size == pool))
        for part in batches(which.size, _DRAWS):
            yield which[part], shape.units[which[part], :n], int(pool)


def quantiles(values: FloatArray, chance: FloatArray) -> FloatArray:
    """Quantile of each row at its own probability: (draws, replicates), (draws,) -> (draws,)."""
    line = np.sort(values, axis=-1)
    place = np.clip(chance, 0.0, 1.0) * (values.shape[-1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, values.shape[-1] - 1)
    pick = np.take_along_axis(line, np.stack([below, above], -1), axis=-1)
    part = place - below
    return np.asarray(pick[:, 0] * (1 - part) + pick[:, 1] * part)


@dataclass(frozen=True)
class BootstrapT(Replicated, ShapeBound):
    """Bootstrap-t interval with a finite population.

    Samples of the same size are drawn without replacement from pools made of copies of the sample,
    and the quantiles of their studentised errors replace Student's. A replicate's standard
    deviation is set to at least a third of the sample's: if most scores are equal, some replicates
    have almost no spread, and their statistic is meaningless.

    Approximate. The replicates come from a fixed seed and depend on n and N alone, so that the
    interval is a function of the ratings. Covers every design and estimate through the deviations
    of its units.

    Parameters
    ----------
    replicates
        Number of bootstrap samples; more are drawn if a higher confidence requires them.
    """

    name: ClassVar[str] = "bootstrap-t"
    reference: ClassVar[str] = (
        "Efron (1981); Booth, Butler and Hall (1994), Bootstrap methods for finite populations, "
        "JASA 89"
    )

    def _ends(self, shape: Shape, df: FloatArray, confidence: float) -> FloatPair:
        return self._joined(partial(self._quantiles, shape, df), confidence)

    def _quantiles(
        self, shape: Shape, df: FloatArray, confidence: float, replicates: int
    ) -> FloatPair:
        low, high = np.empty(df.shape), np.empty(df.shape)
        miss = (1 - confidence) / 2
        for which, units, size in by_size(shape):
            n = units.shape[-1]
            samples, pools = pseudo_samples(n, size, replicates)
            mean = units @ samples.T
            variance = (np.square(units) @ samples.T - mean**2) * n / (n - 1)
            np.maximum(variance, 1 / 9, out=variance)
            error = units @ (samples - pools).T
            t = error / np.sqrt(variance * ((1 - n / size) / n))
            # Replicates do not account for degrees of freedom used by slopes or uneven weights.
            grow = student_quantile(df[which], confidence)
            grow = grow / student_quantile(np.full(which.size, n - 1.0), confidence)
            low[which] = -quantiles(t, np.full(which.size, 1 - miss)) * grow
            high[which] = -quantiles(t, np.full(which.size, miss)) * grow
        return low, high


@dataclass(frozen=True)
class BCa(Replicated, ShapeBound):
    """Bias-corrected and accelerated bootstrap interval with a finite population.

    Quantiles of the error in samples from pools made of copies of the sample, shifted by the bias
    z₀ and the acceleration a. For a share f of the pool, ``a = (1+f) γ̂ / (6 sqrt(n(1−f)))`` makes
    the interval agree with Hall's up to terms in 1/n; at f = 0 it is the usual acceleration, as in
    `scipy.stats.bootstrap`, which does not handle finite pools. Student's quantile replaces the
    normal one.

    Approximate. The replicates come from a fixed seed and depend on n and N alone. Covers every
    design and estimate through the deviations of its units.

    Parameters
    ----------
    replicates
        Number of bootstrap samples; more are drawn if a higher confidence requires them.
    """

    name: ClassVar[str] = "bca"
    reference: ClassVar[str] = (
        "Efron (1987), Better bootstrap confidence intervals, JASA 82; Booth, Butler and Hall "
        "(1994), Bootstrap methods for finite populations, JASA 89"
    )

    def _ends(self, shape: Shape, df: FloatArray, confidence: float) -> FloatPair:
        return self._joined(partial(self._quantiles, shape, df), confidence)

    def _quantiles(
        self, shape: Shape, df: FloatArray, confidence: float, replicates: int
    ) -> FloatPair:
        ends = np.empty((2, *df.shape))
        f = shape.fraction
        accelerate = (1 + f) * shape.skewness / (6 * np.sqrt(shape.members * (1 - f)))
        edge = 0.5 / replicates
        for which, units, size in by_size(shape):
            n = units.shape[-1]
            samples, pools = pseudo_samples(n, size, replicates)
            error = units @ (samples - pools).T
            error /= np.sqrt((1 - n / size) / n * size / (size - 1))
            # Errors of 0 count half, as if rounding made them positive or negative at random.
            below = ((error < -1e-9).mean(-1) + (error < 1e-9).mean(-1)) / 2
            bias = ndtri(np.clip(below, edge, 1 - edge))
            t, a = student_quantile(df[which], confidence), accelerate[which]
            for end, u in zip(ends, (-t, t), strict=True):
                w = bias + u
                # At a·w = 1 the shift is infinite, so the last quantile is used.
                move = w / np.maximum(1 - a * w, 0.1)
                end[which] = quantiles(error, ndtr(bias + move))
        return ends[0], ends[1]


@dataclass(frozen=True)
class RaoWu(Replicated):
    """Rescaled bootstrap of Rao and Wu: units resampled within each stratum.

    From a stratum with m units, m − 1 are drawn with replacement, and their deviations are scaled
    so that the replicates have the variance of the design, including the finite population
    correction. The ends are percentiles of the replicates, at the normal probabilities of Student's
    quantiles.

    Approximate: it accounts for strata but not for the skewness of the studentised mean, and covers
    about as often as Student's. Covers every design and estimate.

    Parameters
    ----------
    replicates
        Number of bootstrap samples; more are drawn if a higher confidence requires them.
    """

    name: ClassVar[str] = "rao-wu"
    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = (
        "any design and estimate, with a working model of documents if these were spread; "
        "scores that are not very skewed"
    )
    reference: ClassVar[str] = (
        "Rao and Wu (1988), Resampling inference with complex survey data, JASA 83"
    )

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        plain = Student().interval(estimate, confidence)
        own = _unit_groups(estimate.design)
        groups = own.reshape(-1, own.shape[-1])
        dev = estimate.deviations()[..., : own.shape[-1]].reshape(groups.shape)
        se, df, value = (np.ravel(v) for v in (estimate.se, estimate.df, estimate.value))
        usable = np.isfinite(se) & (se > 0) & (dev != 0).any(-1) & ~np.ravel(estimate.spreadless)
        low, high = np.ravel(plain.low).copy(), np.ravel(plain.high).copy()
        draws = np.flatnonzero(usable)
        alike = bool((groups == groups[:1]).all())
        for part in [draws] if alike and draws.size else draws[:, None]:
            own_units = groups[part[0]][groups[part[0]] >= 0]  # without the padding of a batch
            dof, scale = np.maximum(df[part], 1.0), se[part]
            make = partial(_percentiles, dev[part][:, : own_units.size], own_units, scale, dof)
            low_end, high_end = self._joined(make, confidence)
            low[part] = value[part] + np.minimum(low_end, 0)
            high[part] = value[part] + np.maximum(high_end, 0)
        return Interval(low.reshape(plain.low.shape), high.reshape(plain.high.shape))


def _percentiles(
    dev: FloatArray,
    groups: IntArray,
    se: FloatArray,
    df: FloatArray,
    confidence: float,
    replicates: int,
) -> FloatPair:
    """Percentiles of the replicates' errors at Student's probabilities: (draws,) each."""
    error = dev @ _factors(groups.tobytes(), replicates).T
    error *= (se / error.std(-1))[:, None]
    t = student_quantile(df, confidence)
    return quantiles(error, ndtr(-t)), quantiles(error, ndtr(t))


def _unit_groups(design: Design) -> IntArray:
    """Group of each unit that was drawn as a whole: (..., u)."""
    if design.units is None:
        return design.groups
    most = int(design.units.max()) + 1
    table = np.full((*design.units.shape[:-1], most), -1, dtype=np.int64)
    np.put_along_axis(table, design.units, design.groups, axis=-1)
    return table


@lru_cache(maxsize=8)
def _factors(groups: bytes, replicates: int) -> FloatArray:
    """Change of each unit's weight in each replicate: (replicates, u)."""
    own = np.frombuffer(groups, dtype=np.int64)
    _, code, size = np.unique(own, return_inverse=True, return_counts=True)
    order = np.argsort(code, kind="stable")
    m = size[code[order]]
    start = np.concatenate([[0], np.cumsum(size)])[:-1][code[order]]
    rng = np.random.default_rng([own.size, replicates])
    pick = start + (rng.random((replicates, own.size)) * m).astype(np.int64)
    drawing = np.arange(own.size) != start  # one fewer than the units in the group
    flat = (np.arange(replicates)[:, None] * own.size + pick)[:, drawing]
    counts = np.bincount(flat.ravel(), minlength=replicates * own.size).reshape(
        replicates, own.size
    )
    out = np.empty((replicates, own.size))
    out[:, order] = np.sqrt(m / np.maximum(m - 1, 1)) * (counts - (m - 1) / m)
    return out
