"""Bounds that go by the shape of the error: the units drawn, as those of one simple sample."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, group_sum
from fewgold.bounds._student import Student
from fewgold.design import Design
from fewgold.estimate import Bound, Interval, LinearEstimate

# Groups with fewer units than this on average say little about skewness: pairs say nothing.
_LARGE = 10
# Below this evenness of the weights, groups that are rated less would seem to be a long tail.
_EVEN = 0.95


@dataclass(frozen=True)
class Shape:
    """The simple samples that stand for a batch of estimates where the shape of the error matters.

    Parameters
    ----------
    units
        (draws, u) deviation of each unit that was drawn, 0 for those beyond the draw's own
        number; they sum to 0 and their squares to ``members``.
    members
        (draws,) number of units of the draw.
    fraction
        (draws,) share of the pool that was drawn, as far as it counts for the variance.
    """

    units: FloatArray
    members: FloatArray
    fraction: FloatArray

    @property
    def skewness(self) -> FloatArray:
        """Skewness of the units, corrected for their number as ``scipy.stats.skew`` does."""
        n = np.maximum(self.members, 3.0)
        return np.asarray((self.units**3).sum(-1) / n * np.sqrt(n * (n - 1)) / (n - 2))

    def __getitem__(self, which: BoolArray) -> Shape:
        return Shape(self.units[which], self.members[which], self.fraction[which])


def shape_of(estimate: LinearEstimate) -> Shape:
    """The shape of estimates of any design, batch axes made one.

    Deviations are taken from the mean of all units where groups have few: within a pair they are
    mirror images and all skewness is lost, though the score is as skewed as before. Not so where
    weights are uneven: what sets groups apart would then pass for the shape of the error.
    """
    design = estimate.design
    members, count = count_units(design)
    most = int(members.max())
    dev = _deviations(estimate, members, count)[..., :most]
    # Weights that vary within a group leave a mean, which is no part of the shape.
    dev = dev - dev.sum(-1, keepdims=True) / members[..., None]
    dev = np.where(np.arange(most) < members[..., None], dev, 0.0)
    square = np.square(dev).sum(-1)
    scale = np.sqrt(members / np.where(square > 0, square, 1.0))
    mass = design.influence**2
    total = mass.sum(-1)
    part = (mass * design.inclusion).sum(-1) / np.where(total > 0, total, 1.0)
    return Shape(
        (dev * scale[..., None]).reshape(-1, dev.shape[-1]),
        np.ravel(members),
        np.ravel(np.where(total > 0, part, 1.0)),
    )


def count_units(design: Design) -> tuple[FloatArray, FloatArray]:
    """Units of each draw, and to how many of equal weight they come: (...) both."""
    weights, members = design.weights, np.full(design.weights.shape[:-1], float(design.n))
    if design.units is not None:
        weights = group_sum(weights, design.units, int(design.units.max()) + 1)
        members = np.asarray(design.units.max(-1) + 1.0)
    return members, np.asarray(weights.sum(-1) ** 2 / np.square(weights).sum(-1))


def _deviations(estimate: LinearEstimate, members: FloatArray, count: FloatArray) -> FloatArray:
    design = estimate.design
    used = _distinct(design)
    small = (used > 1) & (count < _LARGE * used) & (count > _EVEN * members)
    own = estimate.deviations()
    if not small.any():
        return own
    together = replace(design, groups=np.broadcast_to(np.int64(0), design.groups.shape))
    return np.where(small[..., None], estimate.deviations(together), own)


def _distinct(design: Design) -> FloatArray:
    """Number of groups with something left to chance in them: (...)."""
    most = int(design.groups.max()) + 1
    held = group_sum((design.influence > 0).astype(np.float64), design.groups, most) > 0
    return np.asarray(held.sum(-1, dtype=np.float64))


@dataclass(frozen=True)
class ShapeBound(Bound):
    """A bound that finds its ends, in standard errors from the value, from the shape alone.

    Student's interval takes its place where there is no shape to speak of: under three units, no
    spread, nothing left to chance.
    """

    kind: ClassVar[str] = "approximate"
    assumes: ClassVar[str] = "any design and estimate; ratings that show the shape of the scores"

    @abstractmethod
    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        """Ends in standard errors from the value: (draws,) each."""

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        plain = Student().interval(estimate, confidence)
        shape, batch = shape_of(estimate), estimate.value.shape
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
