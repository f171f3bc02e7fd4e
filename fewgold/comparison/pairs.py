"""Differences of all pairs of systems, on shared segments or not, adjusted by metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.comparison.designs import subset
from fewgold.design import Design
from fewgold.estimate import LinearEstimate
from fewgold.estimators.linear import plain_mean

# Ridge penalties, relative to the mean square of a metric's deviations.
STRENGTHS = (0.01, 0.1, 1.0, 10.0)
#: Share of the variance that metrics must remove, out of sample, to be used.
MARGIN = 0.03
_LEAST_UNITS = 20


class CommonSlopes(NamedTuple):
    """Slopes (..., p), residual unit deviations (..., S, u), and the share of variance removed.

    If the control does not help enough, slopes are 0 and the deviations are those of the scores.
    """

    slopes: FloatArray
    deviations: FloatArray
    gain: FloatArray


def common_slopes(design: Design, scores: FloatArray, metrics: FloatArray) -> CommonSlopes:
    """Slopes that minimise the mean variance of all differences, and the residuals.

    One slope per metric for all systems, not one per pair: it is fitted to S − 1 times as many
    deviations, and differences stay consistent, (A − B) + (B − C) = A − C.

    The penalty is chosen, and the gain is measured, with each unit (segment, or document that was
    drawn whole) predicted by slopes from all the others. The returned deviations are the errors of
    those predictions, so the variance includes the cost of fitting slopes.

    Parameters
    ----------
    design
        How the n segments were drawn.
    scores
        (..., S, n) of S systems on the same segments.
    metrics
        (..., p, S, n) with mean 0 over the pool for each metric and system.
    """
    y = design.deviations(scores - scores.mean(-2, keepdims=True))
    batch, (p, s, n) = metrics.shape[:-3], metrics.shape[-3:]
    inner = metrics - metrics.mean(-2, keepdims=True)
    x = design.deviations(inner.reshape(*batch, p * s, n))
    units = x.shape[-1]
    x = np.moveaxis(x.reshape(*batch, p, s, units), -1, -3)  # (..., u, p, S)
    yu = np.moveaxis(y, -1, -2)  # (..., u, S)
    gram_u = x @ np.swapaxes(x, -1, -2)
    cross_u = (x @ yu[..., None])[..., 0]
    gram, cross = gram_u.sum(-3), cross_u.sum(-2)
    scale = np.diagonal(gram, axis1=-2, axis2=-1)
    scale = np.where(scale > 0, scale, 1.0)
    total = np.square(y).sum((-1, -2))
    best = np.full(batch, np.inf)
    slopes, left = np.zeros((*batch, p)), np.array(y, copy=True)
    for strength in STRENGTHS:
        hold = strength * scale[..., None] * np.eye(p)
        without = gram[..., None, :, :] - gram_u + hold[..., None, :, :]
        beta_u = np.linalg.solve(without, (cross[..., None, :] - cross_u)[..., None])[..., 0]
        missed = yu - (beta_u[..., None, :] @ x)[..., 0, :]
        error = np.square(missed).sum((-1, -2))
        better = error < best
        best = np.where(better, error, best)
        beta = np.linalg.solve(gram + hold, cross[..., None])[..., 0]
        slopes = np.where(better[..., None], beta, slopes)
        left = np.where(better[..., None, None], np.moveaxis(missed, -1, -2), left)
    gain = 1 - best / np.where(total > 0, total, 1.0)
    use = (gain > MARGIN) & (total > 0) & (units >= max(_LEAST_UNITS, 2 * p + 2))
    return CommonSlopes(
        np.where(use[..., None], slopes, 0.0),
        np.where(use[..., None, None], left, y),
        np.where(use, gain, 0.0),
    )


@dataclass(frozen=True, eq=False)
class Pairs:
    """Row system minus column system: estimate, its variance and degrees of freedom, (..., S, S).

    ``spreadless`` marks pairs whose differences (or ratings, for separate segments) are all equal,
    so their spread is unknown; their variance is infinite. ``gain`` (...) is the share of the
    variance that metrics removed, 0 where they were not used, and ``slopes`` (..., p) are their
    coefficients.
    """

    value: FloatArray
    variance: FloatArray
    df: FloatArray
    spreadless: BoolArray
    gain: FloatArray
    slopes: FloatArray

    @property
    def se(self) -> FloatArray:
        return np.asarray(np.sqrt(self.variance))

    def less(self) -> FloatArray:
        """P(row < column) by Student's distribution about the estimate: (..., S, S)."""
        return np.asarray(stdtr(np.maximum(self.df, 1.0), -self._ratio()))

    def p_values(self) -> FloatArray:
        """Two-sided p-values of no difference: (..., S, S)."""
        return np.asarray(2 * stdtr(np.maximum(self.df, 1.0), -np.abs(self._ratio())))

    def _ratio(self) -> FloatArray:
        """Estimate over standard error; 0 if the error is infinite, infinite if the error is 0."""
        se = self.se
        known = np.isfinite(se) & (se > 0)
        ratio = np.where(known, self.value, 0.0) / np.where(known, se, 1.0)
        sure = np.copysign(np.where(self.value == 0, 0.0, np.inf), self.value)
        return np.asarray(np.where(se == 0, sure, ratio))


def shared_pairs(design: Design, scores: FloatArray, metrics: FloatArray | None = None) -> Pairs:
    """All differences, if every system was rated on the same segments.

    Parameters
    ----------
    design
        How the n segments were drawn, one draw or a batch.
    scores
        (..., S, n) human scores.
    metrics
        (..., p, S, n) with mean 0 over the pool for each metric and system; used if they help
        (`common_slopes`).

    Examples
    --------
    Three systems, rated on four of ten segments; the third is always one point below the first.

    >>> from fewgold.comparison.designs import plain_design
    >>> design = plain_design(4, 10, None, False, "pool")
    >>> pairs = shared_pairs(design, np.array([[3., 4, 5, 2], [1, 4, 4, 1], [2, 3, 4, 1]]))
    >>> pairs.value[0], bool(pairs.spreadless[0, 2])
    (array([0., 1., 1.]), True)
    """
    batch, (systems, _) = scores.shape[:-2], scores.shape[-2:]
    slopes, gain = np.zeros((*batch, 0)), np.zeros(batch)
    if metrics is None or not metrics.shape[-3]:
        left = design.deviations(scores - scores.mean(-2, keepdims=True))
        means = design.means(scores)
        columns = scores
    else:
        slopes, left, gain = common_slopes(design, scores, metrics)
        off = np.vecdot(metrics, design.weights[..., None, None, :])  # 0 over the whole pool
        means = design.means(scores) - (slopes[..., None, :] @ off)[..., 0, :]
        columns = scores - (slopes[..., None, None] * metrics).sum(-3)
    value = np.asarray(means[..., :, None] - means[..., None, :])
    # Differences due to rounding count as 0.
    size = np.abs(scores).max((-1, -2))[..., None, None]
    value = np.where(np.abs(value) <= 1e-12 * size, 0.0, value)
    variance = np.zeros(value.shape)
    flat = np.zeros(value.shape, dtype=bool)
    for i in range(systems):
        for j in range(i):
            apart = left[..., i, :] - left[..., j, :]
            square = np.vecdot(apart, apart)
            if design.documents is not None:  # as in any single score: `LinearEstimate.se`
                apart = columns[..., i, None, :] - columns[..., j, None, :]
                square = square * design._document_factor(apart)[..., 0]
            variance[..., i, j] = variance[..., j, i] = square
            each = scores[..., i, :] - scores[..., j, :]
            size = np.abs(scores[..., [i, j], :]).max((-1, -2))
            flat[..., i, j] = flat[..., j, i] = np.ptp(each, axis=-1) <= 1e-12 * size
    certain = design._census[..., None, None]
    lost = ~certain & ((design.df <= 0) | design._lonely)[..., None, None]
    flat &= ~certain
    variance = np.where(certain, 0.0, np.where(flat | lost, np.inf, variance))
    own = np.eye(systems, dtype=bool)
    variance[..., own] = 0.0
    flat[..., own] = False
    df = np.broadcast_to(design.df[..., None, None], value.shape)
    return Pairs(value, variance, df, flat, gain, slopes)


@dataclass(frozen=True, eq=False)
class Placed:
    """The estimate of a system, and the units (segments, or whole documents) behind it.

    ``units`` (u,) are the names of the rated units in the order of the estimate's deviations,
    ``pool`` (N,) those of all units that the system's score is about.
    """

    estimate: LinearEstimate
    units: NDArray[Any]
    pool: NDArray[Any]

    @classmethod
    def of(cls, made: LinearEstimate, rated: NDArray[Any], pool: NDArray[Any]) -> Placed:
        """Build from the unit names of the ratings (n,) and of the segments of the pool."""
        codes = made.design.units
        if codes is not None:
            rated = rated[np.unique(codes, return_index=True)[1]]
        return cls(made, rated, np.unique(pool))

    @property
    def share(self) -> float:
        """Share of the pool that was drawn; 0 without a finite population correction."""
        design = self.estimate.design
        if np.array_equal(design.influence, design.weights):
            return 0.0
        return self.units.size / self.pool.size

    @property
    def deviations(self) -> FloatArray:
        """Deviations of the units, without those added for balance: (u,)."""
        return self.estimate.deviations()[: self.units.size]


def apart(a: Placed, b: Placed) -> tuple[float, float, float, bool]:
    """Difference of two estimates on separate samples, its variance and df.

    Units that both were rated on count as pairs, the others as independent draws. For simple random
    samples of n and m units from pools that have M units in common, with k rated for both, the
    covariance of the two means is C (k − n m M/(N_a N_b)) / (n m): C is that of the scores, or of
    their residuals after metrics, on the units that both were rated on. It is 0 for separate pools.

    With fewer than ten such units C is unknown, and its largest possible value is used if a common
    pool increases the error (units drawn for one system are not drawn for the other). The last
    returned value says whether C was known. The degrees of freedom are Welch's.
    """
    one, two = a.estimate, b.estimate
    value = float(one.value - two.value)
    va, vb = float(one.se) ** 2, float(two.se) ** 2
    total = va + vb
    _, i, j = np.intersect1d(a.units, b.units, return_indices=True)
    known = i.size >= LEAST_SHARED
    if not (0 < total < np.inf):
        return value, 0.0 if one.design._census & two.design._census else np.inf, 1.0, known
    df = total**2 / (va**2 / max(float(one.df), 1.0) + vb**2 / max(float(two.df), 1.0))
    left = (1 - a.share) * (1 - b.share)
    if left <= 0:  # a fully rated pool has no error to share
        return value, total, df, known
    expected = a.share * b.share * np.intersect1d(a.pool, b.pool).size
    covariance = 0.0
    if known:
        shared = float(a.deviations[i] @ b.deviations[j]) / np.sqrt(left)
        covariance = shared * (1 - expected / i.size)
    elif expected > i.size:
        most = np.sqrt(va * vb / left / (a.units.size * b.units.size))
        covariance = -most * (expected - i.size)
    return value, max(total - 2 * covariance, 1e-3 * total), df, known


#: Fewest shared segments for estimating a pair's covariance.
LEAST_SHARED = 10


def shared_counts(scores: FloatArray) -> IntArray:
    """Number of segments on which both systems of each pair were rated: (S, n) -> (S, S)."""
    rated = np.isfinite(scores).astype(np.int64)
    return rated @ rated.T


def factors(design: Design, scores: FloatArray) -> FloatArray:
    """Factor by which the variance of a difference would grow on separate segments: (S, S).

    (Var A + Var B) / Var(A − B) on the segments that a pair shares; NaN for fewer than ten, or if
    the difference is constant.
    """
    size = len(scores)
    found = np.full((size, size), np.nan)
    for i in range(size):
        for j in range(i):
            both = np.isfinite(scores[i] + scores[j])
            if both.sum() < LEAST_SHARED:
                continue
            dev = subset(design, both, correct=False).deviations(scores[[i, j]][:, both])
            apart = np.square(dev[0] - dev[1]).sum()
            if apart > 0:
                found[i, j] = found[j, i] = np.square(dev).sum() / apart
    return found


def gapped_pairs(
    design: Design,
    scores: FloatArray,
    alone: Sequence[Placed],
    factor: FloatArray,
    metrics: FloatArray | None = None,
) -> tuple[Pairs, NDArray[np.str_]]:
    """Compare each pair on shared segments, or on all rated ones if that is more precise.

    Returns the differences, and the basis of each: "shared", "partly" or "separate", (S, S).

    The choice depends on the pair's counts and the mean ``factor`` of all pairs, not on its own
    spread, which would favour intervals that are narrow by chance. With all ratings, the difference
    is that of the two estimates (`apart`), each adjusted by its own metrics, if any.

    Parameters
    ----------
    design
        The design of the n segments on which any system was rated.
    scores
        (S, n), NaN where a system was not rated.
    alone
        Estimates of the systems.
    factor
        (S, S) as returned by `factors`.
    metrics
        (p, S, n) with mean 0 over the pool, for differences on shared segments.
    """
    size = len(scores)
    count = shared_counts(scores)
    seen = factor[np.isfinite(factor)]
    alike = 1 - 1 / float(np.exp(np.log(seen).mean())) if seen.size else 0.0
    value, variance, df = np.zeros((size, size)), np.zeros((size, size)), np.ones((size, size))
    flat = np.zeros((size, size), dtype=bool)
    basis = np.full((size, size), "", dtype="<U8")
    gains = []
    for i in range(size):
        for j in range(i):
            a, b, m = count[i, i], count[j, j], count[i, j]
            own = 1 / a + 1 / b - 2 * alike * m / (a * b)
            if m == a == b or (m >= LEAST_SHARED and 2 * (1 - alike) / m <= own):
                both = np.isfinite(scores[i] + scores[j])
                z = None if metrics is None else metrics[:, [i, j]][..., both]
                found = shared_pairs(subset(design, both), scores[[i, j]][:, both], z)
                one = float(found.value[0, 1]), float(found.variance[0, 1]), float(found.df[0, 1])
                flat[i, j] = flat[j, i] = found.spreadless[0, 1]
                gains.append(float(found.gain))
                how = "shared"
            else:
                *rest, known = apart(alone[i], alone[j])
                one = rest[0], rest[1], rest[2]
                spreadless = [bool(alone[k].estimate.spreadless) for k in (i, j)]
                if any(spreadless):
                    flat[i, j] = flat[j, i] = True
                    if all(spreadless):
                        one = one[0], np.inf, one[2]
                gains.append(metric_gain(alone[i].estimate, alone[j].estimate))
                how = "partly" if known else "separate"
            value[i, j], value[j, i] = one[0], -one[0]
            variance[i, j] = variance[j, i] = one[1]
            df[i, j] = df[j, i] = one[2]
            basis[i, j] = basis[j, i] = how
    gain = np.asarray(np.mean(gains))
    return Pairs(value, variance, df, flat, gain, np.zeros(0)), basis


def metric_gain(*estimates: LinearEstimate) -> float:
    """Share of the variance that the metrics of each estimate removed, at least 0."""
    plain = sum(float(plain_mean(e.ratings, e.bound, "mean").se) ** 2 for e in estimates)
    left = sum(float(e.se) ** 2 for e in estimates)
    return max(0.0, 1 - left / plain) if 0 < plain < np.inf else 0.0
