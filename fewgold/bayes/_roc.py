"""ROC curve of a scalar metric as a judge of adequate and inadequate."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit, ndtri

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold._validate import check_choice, check_confidence
from fewgold.bayes._counts import Counts
from fewgold.bayes._paired import check_two_classes, paired
from fewgold.bayes._sweep import Sweep, best
from fewgold.bayes._thresholds import RULES, SIGNS
from fewgold.cut import Cut
from fewgold.errors import DataError
from fewgold.estimate import Interval

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RocPoint:
    """The 2 × 2 table of a metric that is cut at one place, and what follows from it."""

    cut: Cut
    tp: int
    fn: int
    fp: int
    tn: int

    @property
    def rho(self) -> float:
        """Share of the adequate items that the metric gives a 1."""
        return self.tp / (self.tp + self.fn) if self.tp + self.fn else np.nan

    @property
    def eta(self) -> float:
        """Share of the inadequate items that the metric gives a 0."""
        return self.tn / (self.tn + self.fp) if self.tn + self.fp else np.nan

    @property
    def information(self) -> float:
        """K, the squared correlation of human and metric labels; 0 where either is constant."""
        margins = np.prod(
            [self.tp + self.fn, self.fp + self.tn, self.tp + self.fp, self.fn + self.tn],
            dtype=np.float64,
        )
        return float((self.tp * self.tn - self.fp * self.fn) ** 2 / margins) if margins else 0.0

    def counts(self, metric_ones: int = 0, metric_total: int = 0, pairs: str = "sample") -> Counts:
        """Counts for a posterior, with the items that only the metric rated."""
        return Counts(
            tp=self.tp, fn=self.fn, fp=self.fp, tn=self.tn,
            metric_ones=metric_ones, metric_total=metric_total, pairs=pairs,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Roc:
    """What a metric tells about human labels at every threshold. Make it with `Roc.of`.

    Parameters
    ----------
    scores
        Different scores of the metric, in ascending order, (k,).
    ones, zeros
        How many adequate and inadequate items have each score, (k,).
    sign
        When a score counts as adequate, as for `choose_cut`.

    Examples
    --------
    >>> roc = Roc.of([0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    >>> round(roc.auc, 3), round(roc.auc_se, 3)
    (0.889, 0.157)
    >>> point = roc.chosen("equal")
    >>> str(point.cut), point.rho.__round__(3), point.eta.__round__(3)
    ('>= 0.4', 0.667, 0.667)
    """

    scores: FloatArray
    ones: IntArray
    zeros: IntArray
    sign: str = ">="

    @classmethod
    def of(cls, human: ArrayLike, metric: ArrayLike, sign: str = ">=") -> Roc:
        """From labels 0 and 1 (n,) by people and the scores (n,) of the same items."""
        check_choice("sign", sign, SIGNS)
        labels, scores = paired(human, metric)
        if labels.ndim != 1 or scores.ndim != 1:
            raise DataError(f"a ROC curve is of one list of items; got shape {scores.shape}.")
        check_two_classes(labels)
        return cls.counted(labels, scores, sign)

    @classmethod
    def counted(cls, labels: BoolArray, scores: FloatArray, sign: str) -> Roc:
        """As `of`, of arrays that were checked; one class is enough for ρ or η, not for an AUC."""
        values, group = np.unique(scores, return_inverse=True)
        total = np.bincount(group, minlength=values.size)
        ones = np.bincount(group[labels], minlength=values.size)
        return cls(values, ones, total - ones, sign)

    def __repr__(self) -> str:
        return f"Roc(AUC {self.auc:.3f}, {self.adequate} adequate, {self.inadequate} inadequate)"

    @property
    def adequate(self) -> int:
        """Adequate items."""
        return int(self.ones.sum())

    @property
    def inadequate(self) -> int:
        """Inadequate items."""
        return int(self.zeros.sum())

    @cached_property
    def _sweep(self) -> Sweep:
        """Every candidate, laxest first."""
        way = slice(None, None, 1 if self.sign[0] == ">" else -1)
        ones, zeros = self.ones[way], self.zeros[way]
        # The score itself is a 1 with >= and <=.
        less = (0 * ones, 0 * zeros) if self.sign in (">=", "<=") else (ones, zeros)
        tp = np.cumsum(ones[::-1])[::-1] - less[0]
        fp = np.cumsum(zeros[::-1])[::-1] - less[1]
        totals = np.array([self.adequate]), np.array([self.inadequate])
        return Sweep(self.scores[way], tp, fp, *totals, np.ones(tp.size, dtype=bool))

    @property
    def thresholds(self) -> FloatArray:
        """Candidates: the scores that occur, from the one that gives the most 1s."""
        return self._sweep.at

    @property
    def rho(self) -> FloatArray:
        """ρ, the true positive rate, at each threshold."""
        return np.asarray(self._sweep.tp / self.adequate)

    @property
    def eta(self) -> FloatArray:
        """η, the true negative rate, at each threshold."""
        return np.asarray(1 - self._sweep.fp / self.inadequate)

    @property
    def information(self) -> FloatArray:
        """K, the squared correlation of human and metric labels, at each threshold."""
        return self._sweep.information

    def chosen(self, rule: str = "equal") -> RocPoint:
        """The point that a rule of `choose_cut` chooses."""
        check_choice("rule", rule, RULES)
        if self.scores.size == 1:
            raise DataError(
                f"the metric gives {self.scores[0]:g} to all items, so no threshold tells them "
                "apart."
            )
        return self.at(Cut(self.sign, float(self.thresholds[best(self._sweep, rule)])))

    def at(self, cut: Cut | str) -> RocPoint:
        """The point of any cut, whatever its sign."""
        cut = Cut.parse(cut)
        one = cut(self.scores)
        tp, fp = int(self.ones[one].sum()), int(self.zeros[one].sum())
        return RocPoint(cut, tp, self.adequate - tp, fp, self.inadequate - fp)

    def curve(self) -> pd.DataFrame:
        """The corners of the curve from (0, 0) to (1, 1): fpr = 1 − η, and tpr = ρ."""
        import pandas as pd

        table = self._sweep
        x = np.concatenate([[self.inadequate], table.fp, [0]])
        y = np.concatenate([[self.adequate], table.tp, [0]])
        moves = (np.diff(x) != 0) | (np.diff(y) != 0)  # one end is a candidate already
        x, y = np.append(x[:-1][moves], 0), np.append(y[:-1][moves], 0)
        dx, dy = np.diff(x), np.diff(y)
        corner = np.ones(x.size, dtype=bool)
        corner[1:-1] = dx[1:] * dy[:-1] != dx[:-1] * dy[1:]
        x, y = x[corner][::-1], y[corner][::-1]
        return pd.DataFrame({"fpr": x / self.inadequate, "tpr": y / self.adequate})

    @cached_property
    def _placements(self) -> tuple[FloatArray, FloatArray]:
        """Of the other class, the share that each score beats; ties count half (DeLong 1988)."""
        ones, zeros = 1.0 * self.ones, 1.0 * self.zeros
        beaten = (np.cumsum(zeros) - 0.5 * zeros) / self.inadequate
        beating = 1 - (np.cumsum(ones) - 0.5 * ones) / self.adequate
        if self.sign[0] == "<":
            beaten, beating = 1 - beaten, 1 - beating
        return beaten, beating

    @cached_property
    def auc(self) -> float:
        """P(an adequate item scores better than an inadequate one), ties half."""
        if not (self.adequate and self.inadequate):
            return float("nan")
        return float(self.ones @ self._placements[0] / self.adequate)

    @cached_property
    def auc_se(self) -> float:
        """Standard error of the AUC by DeLong et al. (1988); NaN with one item of a class."""
        if min(self.adequate, self.inadequate) < 2:
            return float("nan")
        beaten, beating = (place - self.auc for place in self._placements)
        spread_ones = self.ones @ beaten**2 / (self.adequate - 1)
        spread_zeros = self.zeros @ beating**2 / (self.inadequate - 1)
        return float(np.sqrt(spread_ones / self.adequate + spread_zeros / self.inadequate))

    def auc_interval(self, confidence: float = 0.95) -> Interval:
        """Confidence interval of the AUC: DeLong's error on the logit scale.

        Where that error is 0 (the classes do not overlap) or unknown (one item of a class), the
        score interval of Newcombe (2006, method 5), which is never of width 0.

        Measured on normal scores of equal and of unequal spread (20 and 200 items, 50 and 50):
        95% intervals hold the AUC in 93 to 96% of samples at 0.6 and 0.8. At 0.95 they can fall
        short, down to 80% with 20 items in the class of larger spread.
        """
        if np.isnan(self.auc):
            return Interval(np.asarray(np.nan), np.asarray(np.nan))
        z = float(ndtri(0.5 + 0.5 * check_confidence(confidence)))
        if self.auc_se > 1e-12 and 0 < self.auc < 1:
            half = z * self.auc_se / (self.auc * (1 - self.auc))
            ends = expit(logit(self.auc) + np.array([-half, half]))
        else:
            ends = np.array(newcombe(self.auc, self.adequate, self.inadequate, z))
        return Interval(np.asarray(ends[0]), np.asarray(ends[1]))


def newcombe(auc: float, adequate: int, inadequate: int, z: float) -> tuple[float, float]:
    """Values A of the AUC with |auc − A| ≤ z · sd(A), the sd as of Hanley and McNeil (1982).

    Newcombe (2006, Statistics in Medicine 25, 559–573): their variance with both class sizes
    replaced by the mean of the two in the second term, at A instead of at the estimate.
    """
    from scipy.optimize import brentq

    mean = 0.5 * (adequate + inadequate)

    def beyond(a: float) -> float:
        shape = 2 * mean - 1 - 3 * (mean - 1) / ((2 - a) * (1 + a))
        return (auc - a) ** 2 - z * z * a * (1 - a) * shape / (adequate * inadequate)

    inside = min(max(auc, 1e-12), 1 - 1e-12)
    low = float(brentq(beyond, 0.0, inside)) if auc > 0 else 0.0
    high = float(brentq(beyond, inside, 1.0)) if auc < 1 else 1.0
    return low, high
