"""Every threshold of a scalar metric at once: its 2 × 2 table, and which of them a rule chooses.

Counts stay whole numbers, so that thresholds that are equally good are seen to be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray

_SAME = 1e-12  # values of K that differ by no more than rounding are equal


class Sweep(NamedTuple):
    """The 2 × 2 table of every candidate threshold, laxest first: (..., n) each.

    Of scores that are equal only one is a candidate: the others are not ``valid``.
    """

    at: FloatArray
    tp: IntArray
    fp: IntArray
    adequate: IntArray  # (..., 1)
    inadequate: IntArray  # (..., 1)
    valid: BoolArray

    @property
    def ahead(self) -> IntArray:
        """(ρ + η − 1) × adequate × inadequate: a whole number, so that ties are exact."""
        return np.asarray(self.tp * self.inadequate - self.fp * self.adequate)

    @property
    def gap(self) -> IntArray:
        """|ρ − η| × adequate × inadequate."""
        tn = self.inadequate - self.fp
        return np.asarray(np.abs(self.tp * self.inadequate - tn * self.adequate))

    @property
    def information(self) -> FloatArray:
        """K = α(1 − α)(ρ + η − 1)² / (p(1 − p)), the squared correlation φ²; 0 at a constant."""
        ones = self.tp + self.fp
        zeros = self.adequate + self.inadequate - ones
        below = 1.0 * self.adequate * self.inadequate * np.maximum(ones * zeros, 1)
        return np.asarray(self.ahead**2.0 / np.where(below > 0, below, 1.0))


def sweep(human: BoolArray, metric: FloatArray, sign: str) -> Sweep:
    """Count every table at once: one sort, and sums along it."""
    human, metric = np.broadcast_arrays(human, metric)
    size = metric.shape[-1]
    scores = metric if sign[0] == ">" else -metric
    order = np.argsort(scores, axis=-1, kind="stable")
    scores = np.take_along_axis(scores, order, -1)
    labels = np.take_along_axis(human, order, -1)
    upto = np.cumsum(labels, axis=-1, dtype=np.int64)
    adequate = upto[..., -1:]
    new = np.ones((*scores.shape[:-1], size + 1), dtype=bool)
    new[..., 1:-1] = scores[..., 1:] != scores[..., :-1]
    if sign in (">=", "<="):  # what lies below is a 0
        valid, ones_below, below = new[..., :-1], upto - labels, np.arange(size)
    else:  # the candidate and its equals are 0 too
        valid, ones_below, below = new[..., 1:], upto, np.arange(1, size + 1)
    inadequate = size - adequate
    fp = inadequate - (below - ones_below)
    at = (scores if sign[0] == ">" else -scores) + 0.0  # no minus zero
    return Sweep(at, adequate - ones_below, fp, adequate, inadequate, valid)


def best(table: Sweep, rule: str) -> IntArray:
    """The place of the candidate that a rule chooses: (...)."""
    if rule == "equal":
        gap = np.where(table.valid, table.gap, np.iinfo(np.int64).max)
        first = gap == gap.min(-1, keepdims=True)
        second = np.where(first, table.ahead, np.iinfo(np.int64).min)
    else:
        # 0 to 1 for a metric that points the wrong way, 2 to 3 for one that does not.
        gain = table.information + 2.0 * (table.ahead > 0)
        gain = np.where(table.valid, gain, -1.0)
        first = gain >= gain.max(-1, keepdims=True) - _SAME
        second = np.where(first, -table.gap, np.iinfo(np.int64).min)
    return np.asarray(second.argmax(-1))  # the first, which is the laxest
