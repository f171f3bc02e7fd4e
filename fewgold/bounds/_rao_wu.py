"""Rao and Wu's rescaled bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from fewgold._arrays import FloatArray, IntArray
from fewgold.bounds._bca import quantiles
from fewgold.bounds._shape import student_quantile
from fewgold.bounds._student import Student
from fewgold.design import Design
from fewgold.estimate import Bound, Interval, LinearEstimate


@dataclass(frozen=True)
class RaoWu(Bound):
    """rw"""

    name: ClassVar[str] = "rao-wu"
    kind: ClassVar[str] = "approximate"
    replicates: int = 2000

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        plain = Student().interval(estimate, confidence)
        batch = estimate.value.shape
        groups = _unit_groups(estimate.design).reshape(-1, _units(estimate.design))
        dev = estimate.deviations()[..., : groups.shape[-1]].reshape(groups.shape)
        se, df = np.ravel(estimate.se), np.ravel(estimate.df)
        usable = np.isfinite(se) & (se > 0) & (dev != 0).any(-1) & ~np.ravel(estimate.all_alike)
        low, high = np.ravel(plain.low).copy(), np.ravel(plain.high).copy()
        draws = np.flatnonzero(usable)
        if not draws.size:
            return plain
        t = student_quantile(np.maximum(df, 1.0), confidence)
        shared = (groups == groups[0]).all()
        for part in [draws] if shared else draws[:, None]:
            factors = _factors(groups[part[0]].tobytes(), self.replicates)
            error = dev[part] @ factors.T
            error *= (se[part] / error.std(-1))[:, None]
            value = np.ravel(estimate.value)[part]
            low[part] = value + np.minimum(quantiles(error, ndtr(-t[part])), 0)
            high[part] = value + np.maximum(quantiles(error, ndtr(t[part])), 0)
        return Interval(low.reshape(batch), high.reshape(batch))


def _units(design: Design) -> int:
    return design.n if design.units is None else int(design.units.max()) + 1


def _unit_groups(design: Design) -> IntArray:
    if design.units is None:
        return design.groups
    table = np.full((*design.units.shape[:-1], _units(design)), -1, dtype=np.int64)
    np.put_along_axis(table, design.units, design.groups, axis=-1)
    return table


@lru_cache(maxsize=8)
def _factors(groups: bytes, replicates: int) -> FloatArray:
    own = np.frombuffer(groups, dtype=np.int64)
    u = own.size
    _, code, m_of = np.unique(own, return_inverse=True, return_counts=True)
    order = np.argsort(code, kind="stable")
    m = m_of[code[order]]
    start = np.concatenate([[0], np.cumsum(m_of)])[:-1][code[order]]
    picks = np.random.default_rng([u, replicates]).random((replicates, u))
    pick = start + (picks * m).astype(np.int64)
    drawing = np.arange(u) != start
    flat = (np.arange(replicates)[:, None] * u + pick)[:, drawing]
    counts = np.bincount(flat.ravel(), minlength=replicates * u).reshape(replicates, u)
    scaled = np.sqrt(m / np.maximum(m - 1, 1)) * (counts - (m - 1) / m)
    out = np.empty((replicates, u))
    out[:, order] = scaled
    return out
