"""Rao and Wu's rescaled bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray, IntArray
from fewgold._validate import check_count
from fewgold.bounds._replicates import enough, quantiles
from fewgold.bounds._student import Student, student_quantile
from fewgold.design import Design
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class RaoWu(Bound):
    """Rescaled bootstrap of Rao and Wu: units drawn anew within each stratum.

    Of a stratum with m units, m − 1 are drawn with replacement, and their deviations are scaled so
    that the replicates have the variance that the design gives, finite population correction
    included. Percentiles of the replicates, at the chances that Student's quantile has in the
    normal distribution.

    Approximate: it knows the strata, but not the skewness of the studentised mean, and covers
    about as often as Student's. Covers every design and estimate.

    Parameters
    ----------
    replicates
        Number of bootstrap samples; more are drawn where a higher confidence asks for them.
    """

    replicates: int = 2000

    name: ClassVar[str] = "rao-wu"
    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = "any design and estimate; scores that are not very skewed"
    reference: ClassVar[str] = (
        "Rao and Wu (1988), Resampling inference with complex survey data, JASA 83"
    )

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, least=100)

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        plain = Student().interval(estimate, confidence)
        own = _unit_groups(estimate.design)
        groups = own.reshape(-1, own.shape[-1])
        dev = estimate.deviations()[..., : own.shape[-1]].reshape(groups.shape)
        se, df, value = (np.ravel(v) for v in (estimate.se, estimate.df, estimate.value))
        usable = np.isfinite(se) & (se > 0) & (dev != 0).any(-1) & ~np.ravel(estimate.spreadless)
        low, high = np.ravel(plain.low).copy(), np.ravel(plain.high).copy()
        t = student_quantile(np.maximum(df, 1.0), confidence)
        draws = np.flatnonzero(usable)
        alike = bool((groups == groups[:1]).all())
        for part in [draws] if alike and draws.size else draws[:, None]:
            own_units = groups[part[0]][groups[part[0]] >= 0]  # without those that pad a batch
            factors = _factors(own_units.tobytes(), enough(self, self.replicates, confidence))
            error = dev[part][:, : own_units.size] @ factors.T
            error *= (se[part] / error.std(-1))[:, None]
            low[part] = value[part] + np.minimum(quantiles(error, ndtr(-t[part])), 0)
            high[part] = value[part] + np.maximum(quantiles(error, ndtr(t[part])), 0)
        return Interval(low.reshape(plain.low.shape), high.reshape(plain.high.shape))


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
    """By how much each unit counts more or less in each replicate: (replicates, u)."""
    own = np.frombuffer(groups, dtype=np.int64)
    _, code, size = np.unique(own, return_inverse=True, return_counts=True)
    order = np.argsort(code, kind="stable")
    m = size[code[order]]
    start = np.concatenate([[0], np.cumsum(size)])[:-1][code[order]]
    rng = np.random.default_rng([own.size, replicates])
    pick = start + (rng.random((replicates, own.size)) * m).astype(np.int64)
    drawing = np.arange(own.size) != start  # one less than there are units in the group
    flat = (np.arange(replicates)[:, None] * own.size + pick)[:, drawing]
    counts = np.bincount(flat.ravel(), minlength=replicates * own.size)
    counts = counts.reshape(replicates, own.size)
    out = np.empty((replicates, own.size))
    out[:, order] = np.sqrt(m / np.maximum(m - 1, 1)) * (counts - (m - 1) / m)
    return out
