"""Where to cut a scalar metric into 0 and 1, from items that people rated too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold._validate import check_choice
from fewgold.bayes.counts import check_two_classes, paired
from fewgold.cut import Cut
from fewgold.errors import DataError

# Every threshold of a scalar metric at once: its 2 × 2 table, and which of them a rule chooses.
#
# Counts stay whole numbers, so that thresholds that are equally good are seen to be.


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


RULES = ("equal", "information")
SIGNS = (">=", ">", "<=", "<")


def choose_cut(human: ArrayLike, metric: ArrayLike, rule: str = "equal", sign: str = ">=") -> Cut:
    """The threshold at which a scalar metric is cut into adequate (1) and inadequate (0).

    Candidates are the scores that occur.

    Parameters
    ----------
    human
        Labels 0 and 1 by people, (n,), both classes among them.
    metric
        Scores of the same items, (n,).
    rule
        ``"equal"``: the least |ρ − η|, as in the papers; of several the one with the largest
        ρ + η. ``"information"``: the largest K = α(1 − α)(ρ + η − 1)² / (p(1 − p)), the squared
        correlation of human and metric labels, on which the gain in variance depends; of several
        the one with the least |ρ − η|. Cuts with ρ + η > 1 go before all others, so a metric
        gets one with ρ + η < 1 only if it has no better one: then turn the sign. In both rules,
        of those still equal, the cut that gives the most 1s.
    sign
        When a score counts as adequate: ``">="`` the threshold (the thesis), ``">"`` (the paper
        of 2022), ``"<="`` or ``"<"`` for metrics of which large is bad. Since thresholds are
        observed scores, it matters whether the threshold itself is adequate.

    Notes
    -----
    The largest K in a sample flatters the metric. Where the same ratings go into the estimate,
    prefer ``"equal"``: with ``"information"`` on 50 to 200 ratings the posterior sd came out 4 to
    10 % too small on real data, and the estimate no better (``benchmarks/thresholds.py``). It is
    for thresholds from other data, or many ratings.

    References
    ----------
    von Däniken et al. (2022), appendix, equation 8 (>); von Däniken (2023), section 5.2 (≥).

    Examples
    --------
    >>> human = [0, 0, 0, 1, 0, 1, 1, 1]
    >>> scores = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]
    >>> str(choose_cut(human, scores))
    '>= 0.5'
    >>> str(choose_cut(human, scores, "information"))
    '>= 0.4'
    """
    labels, scores = paired(human, metric)
    if labels.ndim != 1:
        raise DataError(
            f"choose_cut is for one list of labels; got an array of shape {labels.shape}. "
            "choose_cuts takes batches."
        )
    check_two_classes(labels)
    if np.all(scores == scores[0]):
        raise DataError(
            f"the metric gives {scores[0]:g} to all {scores.size} items, so no threshold tells "
            "them apart."
        )
    return Cut(sign, float(choose_cuts(labels, scores, rule, sign)))


def choose_cuts(
    human: ArrayLike, metric: ArrayLike, rule: str = "equal", sign: str = ">="
) -> FloatArray:
    """Thresholds of a batch: labels and scores (..., n) → (...), as `choose_cut` one by one.

    A draw with labels of one class, or with one score for all items, gets NaN.

    Examples
    --------
    >>> choose_cuts([[0, 1, 1], [1, 1, 1]], [0.1, 0.2, 0.3])
    array([0.2, nan])
    """
    check_choice("rule", rule, RULES)
    check_choice("sign", sign, SIGNS)
    table = sweep(*paired(human, metric), sign)
    chosen = best(table, rule)
    at = np.take_along_axis(table.at, chosen[..., None], -1)[..., 0]
    possible = (table.adequate > 0) & (table.inadequate > 0)
    possible = possible & (table.at.min(-1, keepdims=True) < table.at.max(-1, keepdims=True))
    return np.asarray(np.where(possible[..., 0], at, np.nan))
