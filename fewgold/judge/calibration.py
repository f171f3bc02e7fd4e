"""Calibration of a judge's probabilities: reliability curve and calibration error.

Arrays are (..., n): the rated segments last, batch axes in front.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from fewgold.common.arrays import BoolArray, FloatArray, FloatPair
from fewgold.judge.measures import MeasuredValue, Paired


@dataclass(frozen=True, eq=False)
class Calibration:
    """Gaps between a judge's probabilities and people's verdicts, in bins of the pool.

    Bins, their shares of the pool and the judge's mean in them are known for the whole pool; only
    the share that people find good is estimated. Arrays are (..., K), and those of `ece` are as in
    `MeasuredValue`.

    Parameters
    ----------
    edges
        (K + 1,) ends of the bins.
    share, stated
        (K,) share of the pool and mean probability in each bin.
    observed, se
        (..., K) share of segments that people find good, and its standard error.
    rated
        (..., K) number of rated segments in each bin.
    ece
        Expected calibration error, Σ share · |observed − stated|, corrected for its bias.
    plain
        (...) the same without correction, too large with few ratings.
    """

    edges: FloatArray
    share: FloatArray
    stated: FloatArray
    observed: FloatArray
    se: FloatArray
    rated: FloatArray
    ece: MeasuredValue
    plain: FloatArray


def bin_edges(pool: FloatArray, bins: int) -> FloatArray:
    """Ends (K + 1,) of up to ``bins`` bins with about equal numbers of segments of the pool."""
    inner = np.quantile(pool, np.arange(1, bins) / bins, method="inverted_cdf")
    inner = np.unique(inner)
    return np.concatenate([[0.0], inner[(inner > pool.min()) & (inner > 0)], [1.0]])


def calibration(of: Paired, pool: FloatArray, edges: FloatArray, confidence: float) -> Calibration:
    """Reliability curve and expected calibration error of a judge's probabilities.

    ``pool`` (M,) are the probabilities of all segments, or of those in the slice.

    The plain error T = Σ q |d| is too large, since chance makes every estimated gap d differ from
    0. With each gap normal about its true value, |d| is folded normal and so the mean and variance
    of T are known. Estimate and interval keep the pattern of the gaps fixed (each shrunk according
    to its noise) and find the scale at which the mean of T equals the observed T, or T is at an end
    of its Student interval: 0 if even true gaps of 0 could have given such a T.
    """
    inner, k = edges[1:-1], edges.size - 1
    known = np.searchsorted(inner, pool, side="right")
    share = np.bincount(known, minlength=k) / pool.size
    stated = np.bincount(known, pool, minlength=k) / np.maximum(np.bincount(known, minlength=k), 1)
    place = np.searchsorted(inner, of.judge, side="right").astype(np.int64)
    member = place[..., None, :] == np.arange(k)[:, None]
    if of.inside is not None:
        member = member & of.inside[..., None, :]
    b = of._base
    mass = np.where(member, b[..., None, :], 0.0)
    total = mass.sum(-1)
    seen = total > 0
    off = (of.human - of.judge)[..., None, :]
    gap = np.where(seen, (mass * off).sum(-1) / np.where(seen, total, 1.0), 0.0)
    z = np.where(member, (off - gap[..., None]) / np.where(seen, total, 1.0)[..., None], 0.0)
    scale = of._mass.sum(-1)[..., None, None]  # for a slice: its share of the ratings
    dev = of.design.deviations(z / np.where(scale > 0, scale, 1.0))
    dev = dev * _bessel(of, member)[..., None]
    covariance = np.asarray(dev @ np.swapaxes(dev, -1, -2))
    estimated = np.where(of.design._census[..., None, None], 0.0, covariance)
    covariance = estimated + _floor(of, mass, total, covariance)[..., None] * np.eye(k)
    covariance = np.where(of.design._census[..., None, None], 0.0, covariance)
    se = np.sqrt(np.diagonal(covariance, axis1=-2, axis2=-1))
    plain, found = _error(gap, covariance, estimated, share, of.df, confidence)
    return Calibration(
        edges, share, stated, np.clip(stated + gap, 0.0, 1.0), se, member.sum(-1) * 1.0,
        MeasuredValue(*(np.where(of.design._census, x, y) for x, y in zip(
            (plain, np.zeros_like(plain), plain, plain), found, strict=True))), plain,
    )  # fmt: skip


def _bessel(of: Paired, member: BoolArray) -> FloatArray:
    """Bessel's correction (..., K) for the means of bins: the design's is for the overall mean."""
    found = []
    for k in range(member.shape[-2]):
        units = of.units(member[..., k, :])
        found.append(np.where(np.isfinite(units), units, of.design.n))
    m = np.maximum(np.stack(found, axis=-1), 2.0)
    n = np.maximum(np.where(np.isfinite(of.units()), of.units(), of.design.n), 2.0)[..., None]
    return np.asarray(np.sqrt(np.maximum(m / (m - 1) * (n - 1) / n, 1.0)))


def _floor(of: Paired, mass: FloatArray, total: FloatArray, covariance: FloatArray) -> FloatArray:
    """A lower limit for the variance (..., K) of a gap, for bins whose few ratings agree.

    It is the variance in a bin with one more rating, which is a quarter even odds and otherwise
    like the ratings of all bins.
    """
    squares = np.square(mass).sum(-1)
    fpc = np.square(mass * of.design._root_fpc[..., None, :]).sum(-1)
    seen = squares > 0
    fpc = np.where(seen, fpc / np.where(seen, squares, 1.0), 1.0)
    n = np.where(seen, total**2 / np.where(seen, squares, 1.0), 0.0)
    good = np.where(seen, (mass * of.human[..., None, :]).sum(-1) / np.where(seen, total, 1.0), 0.0)
    overall = (of._base * of.human).sum(-1)[..., None]
    p = (n * good + 0.75 * overall + 0.125) / (n + 1)
    least = p * (1 - p) / (n + 1) * fpc
    found = np.diagonal(covariance, axis1=-2, axis2=-1)
    return np.asarray(np.maximum(least - found, 0.0))


def _error(
    gap: FloatArray,
    covariance: FloatArray,
    estimated: FloatArray,
    share: FloatArray,
    df: FloatArray,
    confidence: float,
) -> tuple[FloatArray, MeasuredValue]:
    """Σ share · |gap|, uncorrected, and corrected with its standard error and interval.

    ``estimated`` is the part of the covariance (..., K, K) of the gaps that the design estimates,
    with ``df`` degrees of freedom.
    """
    plain = np.asarray((share * np.abs(gap)).sum(-1))
    variance = np.diagonal(covariance, axis1=-2, axis2=-1)
    sd, eye = np.sqrt(variance), np.eye(gap.shape[-1], dtype=bool)
    spread_of_gaps, trust = _shrinkage(gap, variance, share)
    shape = _folded(trust * np.abs(gap), np.sqrt(trust * variance))[0]
    shape = np.where(spread_of_gaps > 0, shape, 1.0)
    shape = shape / (share * shape).sum(-1)[..., None]
    # The fewer bins contain the error, the more chance adds to it: for the lower end, use a pattern
    # halfway towards only those gaps that exceed their own noise (benchmarks/judge.py).
    clear = np.sqrt(np.maximum(gap**2 - variance, 0.0))
    size = (share * clear).sum(-1)[..., None]
    uneven = np.where(size > 0, (shape + clear / np.where(size > 0, size, 1.0)) / 2, shape)
    # Use the signs of the gaps shrunk to their mean: a wrong sign by chance would hide that errors
    # of bins with common documents add up.
    common = (share * gap).sum(-1, keepdims=True)
    likely = common + _shrinkage(gap - common, variance, share)[1] * (gap - common)
    signs = np.where(likely < 0, -1.0, 1.0)

    def moments(error: FloatArray, pattern: FloatArray) -> tuple[FloatArray, ...]:
        """Mean, sd, skewness and sd's df of the plain error if the true one is ``error``.

        The variance is tr(A C), C being the covariance of the gaps. If C is estimated with df
        degrees of freedom, the trace has df tr(AC)²/tr(ACAC) of them (Satterthwaite 1946): df if
        all signs are certain, up to K df if the gaps are noise and their variances average out.
        """
        true = error[..., None] * pattern
        t = np.where(sd > 0, true / np.where(sd > 0, sd, 1.0), np.inf)
        mean, own, third = _folded(true, sd)
        # |x| follows x to the extent that its sign is certain; so do products of two of them.
        sure = share * signs * (2 * ndtr(t) - 1)
        alone = np.where(variance > 0, share**2 * own / np.where(variance > 0, variance, 1.0), 0.0)
        a = np.where(eye, alone[..., None], sure[..., :, None] * sure[..., None, :])
        whole = np.maximum((a * covariance).sum((-1, -2)), 1e-18)
        part = a @ estimated
        square = (part * np.swapaxes(part, -1, -2)).sum((-1, -2))
        freedom = df * whole**2 / np.maximum(square, 1e-6 * whole**2)
        skewness = (share**3 * third).sum(-1) / whole**1.5
        return (share * mean).sum(-1), np.sqrt(whole), skewness, np.maximum(freedom, 1.0)

    def solve(sign: int, pattern: FloatArray) -> FloatArray:
        """The true error that has the observed one as its mean (0) or interval end (1 or −1)."""
        low, high = np.zeros_like(plain), np.ones_like(plain)
        for _ in range(40):
            middle = (low + high) / 2
            mean, spread, skewness, freedom = moments(middle, pattern)
            q = stdtrit(freedom, (1 + confidence) / 2)
            end = sign * q + sign**2 * skewness * (q**2 - 1) / 6
            above = (plain - mean) / spread > end
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return np.where(high < 1e-9, 0.0, (low + high) / 2)

    value = solve(0, shape)
    low, high = np.minimum(solve(1, uneven), value), np.maximum(solve(-1, shape), value)
    # The correction magnifies the noise of the plain error; the interval shows by how much.
    q = stdtrit(moments(value, shape)[3], (1 + confidence) / 2)
    return plain, MeasuredValue(value, (high - low) / (2 * q), low, high)


def _shrinkage(gap: FloatArray, variance: FloatArray, share: FloatArray) -> FloatPair:
    """Mean square (..., 1) of the true gaps, and the shrinkage factor (..., K) of each gap."""
    true = np.maximum((share * (gap**2 - variance)).sum(-1, keepdims=True), 0.0)
    both = true + variance
    return true, np.where(both > 0, true / np.where(both > 0, both, 1.0), 1.0)


def _folded(mean: FloatArray, sd: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, variance and third central moment of |x| of a normal x with mean ≥ 0.

    The folded normal distribution (Leone, Nelson and Nottingham 1961).
    """
    noisy = sd > 0
    t = np.where(noisy, mean / np.where(noisy, sd, 1.0), np.inf)
    density = 2 * sd * np.exp(-np.square(t) / 2) / np.sqrt(2 * np.pi)
    sure = 2 * ndtr(t) - 1
    first = density + mean * sure
    own = np.maximum(mean**2 + sd**2 - first**2, 0.0)
    cube = density * (mean**2 + 2 * sd**2) + mean * (mean**2 + 3 * sd**2) * sure
    return first, np.where(noisy, own, 0.0), np.where(noisy, cube - 3 * first * own - first**3, 0.0)
