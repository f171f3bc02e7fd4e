"""Differences of all pairs of systems."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from fewgold._arrays import BoolArray, FloatArray
from fewgold.comparison._control import common_slopes
from fewgold.design import Design


@dataclass(frozen=True, eq=False)
class Pairs:
    """Row system less column system: estimate, its variance and degrees of freedom, (..., S, S).

    ``spreadless`` marks pairs whose differences (or whose ratings, if of separate segments) are
    all the same, so that nothing is known of their spread; their variance is infinite. ``gain``
    (...) is the share of the variance that metrics took away, 0 where they were not used, and
    ``slopes`` (..., p) what they count.
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
        """Two-sided, of no difference: (..., S, S)."""
        return np.asarray(2 * stdtr(np.maximum(self.df, 1.0), -np.abs(self._ratio())))

    def _ratio(self) -> FloatArray:
        """Estimate over standard error; 0 if nothing is known, infinite if nothing is unknown."""
        se = self.se
        known = np.isfinite(se) & (se > 0)
        ratio = np.where(known, self.value, 0.0) / np.where(known, se, 1.0)
        sure = np.copysign(np.where(self.value == 0, 0.0, np.inf), self.value)
        return np.asarray(np.where(se == 0, sure, ratio))


def shared_pairs(design: Design, scores: FloatArray, metrics: FloatArray | None = None) -> Pairs:
    """All differences where every system was rated on the same segments.

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
    Three systems, four of ten segments; the third is the first, one point lower.

    >>> from fewgold.comparison._designs import plain_design
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
    else:
        slopes, left, gain = common_slopes(design, scores, metrics)
        means = (
            design.means(scores)
            - (slopes[..., None, :] @ _mean_metrics(design, metrics))[..., 0, :]
        )
    value = np.asarray(means[..., :, None] - means[..., None, :])
    # A difference that is rounding alone is none, however sure.
    size = np.abs(scores).max((-1, -2))[..., None, None]
    value = np.where(np.abs(value) <= 1e-12 * size, 0.0, value)
    variance = np.zeros(value.shape)
    flat = np.zeros(value.shape, dtype=bool)
    for i in range(systems):
        for j in range(i):
            apart = left[..., i, :] - left[..., j, :]
            variance[..., i, j] = variance[..., j, i] = np.vecdot(apart, apart)
            each = scores[..., i, :] - scores[..., j, :]
            size = np.abs(scores[..., [i, j], :]).max((-1, -2))
            flat[..., i, j] = flat[..., j, i] = np.ptp(each, axis=-1) <= 1e-12 * size
    certain = design.certain[..., None, None]
    lost = ~certain & ((design.df <= 0) | design.blind)[..., None, None]
    flat &= ~certain
    variance = np.where(certain, 0.0, np.where(flat | lost, np.inf, variance))
    own = np.eye(systems, dtype=bool)
    variance[..., own] = 0.0
    flat[..., own] = False
    df = np.broadcast_to(design.df[..., None, None], value.shape)
    return Pairs(value, variance, df, flat, gain, slopes)


def _mean_metrics(design: Design, metrics: FloatArray) -> FloatArray:
    """Estimated means (..., p, S) of metrics (..., p, S, n): 0 but for the chance of the draw."""
    return np.asarray(np.vecdot(metrics, design.weights[..., None, None, :]))
