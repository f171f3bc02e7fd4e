"""A scalar metric as a classifier of adequate and inadequate items: threshold and ROC curve.

Both consider every threshold at once: its 2 × 2 table, ρ (the true positive rate) and η (the true
negative rate), and the threshold chosen by a rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv, chdtrc, expit, logit, ndtri

from fewgold.bayes.counts import ALL, BinaryTable, check_two_classes, hit_rates, paired, read_binary
from fewgold.bayes.priors import Priors
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import check_choice, check_confidence
from fewgold.common.text import cell, counted
from fewgold.cut import Cut
from fewgold.errors import DataError, FewgoldError
from fewgold.estimate import Interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


RULES = ("equal", "information")
SIGNS = (">=", ">", "<=", "<")
_SAME = 1e-12  # values of K that differ only by rounding count as equal


def choose_cut(human: ArrayLike, metric: ArrayLike, rule: str = "equal", sign: str = ">=") -> Cut:
    """The threshold at which a scalar metric is cut into adequate (1) and inadequate (0).

    Candidates are the scores that occur.

    Parameters
    ----------
    human
        Human labels 0 and 1, (n,), with both classes present.
    metric
        Scores of the same items, (n,).
    rule
        ``"equal"``: the least |ρ − η|, as in the papers; ties go to the largest ρ + η.
        ``"information"``: the largest K = α(1 − α)(ρ + η − 1)² / (p(1 − p)), the squared
        correlation of human and metric labels, on which the gain in variance depends; ties go to
        the least |ρ − η|. Cuts with ρ + η > 1 are preferred to all others, so a metric gets one
        with ρ + η < 1 only if it has no better one: then reverse the sign. In both rules, remaining
        ties go to the cut that gives the most 1s.
    sign
        When a score counts as adequate: ``">="`` the threshold (the thesis), ``">"`` (the paper of
        2022), ``"<="`` or ``"<"`` for metrics where larger is worse. Since thresholds are observed
        scores, it matters whether the threshold itself is adequate.

    Notes
    -----
    The largest K in a sample is over-optimistic. If the same ratings are used for the estimate,
    prefer ``"equal"``: with ``"information"`` on 50 to 200 ratings the posterior sd was 4 to 10 %
    too small on real data, and the estimate no better (``benchmarks/thresholds.py``). Use it for
    thresholds from other data, or with many ratings.

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
    """Thresholds for a batch of labels and scores (..., n): (...), each as in `choose_cut`.

    A draw with labels of one class, or with one score for all items, gets NaN.

    Examples
    --------
    >>> choose_cuts([[0, 1, 1], [1, 1, 1]], [0.1, 0.2, 0.3])
    array([0.2, nan])
    """
    check_choice("rule", rule, RULES)
    check_choice("sign", sign, SIGNS)
    labels, scores = paired(human, metric)
    table = sweep(labels, ~labels, scores, sign)
    chosen = best(table, rule)
    at = np.take_along_axis(table.at, chosen[..., None], -1)[..., 0]
    possible = (table.adequate > 0) & (table.inadequate > 0)
    possible = possible & (table.at.min(-1, keepdims=True) < table.at.max(-1, keepdims=True))
    return np.asarray(np.where(possible[..., 0], at, np.nan))


class Sweep(NamedTuple):
    """The 2 × 2 table of every candidate threshold, most lenient first: (..., n) each.

    Counts stay whole numbers, so that ties are recognised. Among equal scores only one is a
    candidate: the others are not ``valid``.
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
        """K = α(1 − α)(ρ + η − 1)² / (p(1 − p)), the squared correlation φ²; 0 if constant."""
        ones = self.tp + self.fp
        zeros = self.adequate + self.inadequate - ones
        below = 1.0 * self.adequate * self.inadequate * np.maximum(ones * zeros, 1)
        return np.asarray(self.ahead**2.0 / np.where(below > 0, below, 1.0))


def sweep(ones: ArrayLike, zeros: ArrayLike, metric: FloatArray, sign: str) -> Sweep:
    """Count every table at once, from the adequate and inadequate items at each score."""
    scores = metric if sign[0] == ">" else -metric
    shape = np.broadcast_shapes(np.shape(ones), scores.shape)
    order = np.argsort(scores, axis=-1, kind="stable")
    scores, ones, zeros = (
        np.take_along_axis(np.broadcast_to(x, shape), np.broadcast_to(order, shape), -1)
        for x in (scores, ones, zeros)
    )
    below = [np.cumsum(x, axis=-1, dtype=np.int64) for x in (ones, zeros)]
    adequate, inadequate = (x[..., -1:] for x in below)
    new = np.ones((*shape[:-1], shape[-1] + 1), dtype=bool)
    new[..., 1:-1] = scores[..., 1:] != scores[..., :-1]
    valid = new[..., 1:]  # the candidate and scores equal to it are 0
    if sign in (">=", "<="):  # scores below are a 0
        valid, below = new[..., :-1], [below[0] - ones, below[1] - zeros]
    at = (scores if sign[0] == ">" else -scores) + 0.0  # no minus zero
    return Sweep(at, adequate - below[0], inadequate - below[1], adequate, inadequate, valid)


def best(table: Sweep, rule: str) -> IntArray:
    """The index of the candidate that a rule chooses: (...)."""
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
    return np.asarray(second.argmax(-1))  # the first, which is the most lenient


@dataclass(frozen=True)
class RocPoint:
    """The 2 × 2 table of a metric at one threshold, with ρ, η and K."""

    cut: Cut
    tp: int
    fn: int
    fp: int
    tn: int

    @property
    def rho(self) -> float:
        """Share of the adequate items that the metric gives a 1."""
        return hit_rates(self.tp, self.fn, self.fp, self.tn)[0]

    @property
    def eta(self) -> float:
        """Share of the inadequate items that the metric gives a 0."""
        return hit_rates(self.tp, self.fn, self.fp, self.tn)[1]

    @property
    def information(self) -> float:
        """K, the squared correlation of human and metric labels; 0 where either is constant."""
        margins = np.prod(
            [self.tp + self.fn, self.fp + self.tn, self.tp + self.fp, self.fn + self.tn],
            dtype=np.float64,
        )
        return float((self.tp * self.tn - self.fp * self.fn) ** 2 / margins) if margins else 0.0


@dataclass(frozen=True, eq=False)
class Roc:
    """The ROC curve of a metric against human labels. Make it with `Roc.of`.

    Parameters
    ----------
    scores
        Distinct scores of the metric, in ascending order, (k,).
    ones, zeros
        How many adequate and inadequate items have each score, (k,).
    sign
        When a score counts as adequate, as in `choose_cut`.

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
        """Make the curve from human labels 0 and 1 (n,) and the scores (n,) of the same items."""
        check_choice("sign", sign, SIGNS)
        labels, scores = paired(human, metric)
        if labels.ndim != 1 or scores.ndim != 1:
            raise DataError(f"a ROC curve needs a single list of items; got shape {scores.shape}.")
        check_two_classes(labels)
        return cls._counted(labels, scores, sign)

    @classmethod
    def _counted(cls, labels: BoolArray, scores: FloatArray, sign: str) -> Roc:
        """Like `of`, but unchecked: one class is enough for ρ or η, though not for an AUC."""
        values, group = np.unique(scores, return_inverse=True)
        total = np.bincount(group, minlength=values.size)
        ones = np.bincount(group[labels], minlength=values.size)
        return cls(values, ones, total - ones, sign)

    def __repr__(self) -> str:
        return f"Roc(AUC {self.auc:.3f}, {self._adequate} adequate, {self._inadequate} inadequate)"

    @property
    def _adequate(self) -> int:
        return int(self.ones.sum())

    @property
    def _inadequate(self) -> int:
        return int(self.zeros.sum())

    @cached_property
    def _sweep(self) -> Sweep:
        """Every candidate threshold, most lenient first."""
        return sweep(self.ones, self.zeros, self.scores, self.sign)

    def chosen(self, rule: str = "equal") -> RocPoint:
        """The point that a rule of `choose_cut` chooses."""
        check_choice("rule", rule, RULES)
        if self.scores.size == 1:
            raise DataError(
                f"the metric gives {self.scores[0]:g} to all items, so no threshold tells them "
                "apart."
            )
        return self.at(Cut(self.sign, float(self._sweep.at[best(self._sweep, rule)])))

    def at(self, cut: Cut | str) -> RocPoint:
        """The point at any cut, whatever its sign."""
        cut = Cut.parse(cut)
        one = cut(self.scores)
        tp, fp = int(self.ones[one].sum()), int(self.zeros[one].sum())
        return RocPoint(cut, tp, self._adequate - tp, fp, self._inadequate - fp)

    def curve(self) -> pd.DataFrame:
        """The corners of the curve from (0, 0) to (1, 1): fpr = 1 − η, and tpr = ρ."""
        import pandas as pd

        table = self._sweep
        x = np.concatenate([[self._inadequate], table.fp, [0]])
        y = np.concatenate([[self._adequate], table.tp, [0]])
        moves = (np.diff(x) != 0) | (np.diff(y) != 0)  # one end is a candidate already
        x, y = np.append(x[:-1][moves], 0), np.append(y[:-1][moves], 0)
        dx, dy = np.diff(x), np.diff(y)
        corner = np.ones(x.size, dtype=bool)
        corner[1:-1] = dx[1:] * dy[:-1] != dx[:-1] * dy[1:]
        x, y = x[corner][::-1], y[corner][::-1]
        return pd.DataFrame({"fpr": x / self._inadequate, "tpr": y / self._adequate})

    def plot(self, ax: Axes | None = None, *, rule: str = "equal") -> Axes:
        """Plot the curve, marking the threshold that a rule chooses."""
        import pandas as pd

        from fewgold.plots import roc_curves

        point = self.chosen(rule)
        name = f"cut {point.cut}"
        points = pd.DataFrame([{"system": name, "fpr": 1 - point.eta, "tpr": point.rho}])
        return roc_curves(self.curve().assign(system=name, auc=self.auc), points, ax)

    @cached_property
    def _placements(self) -> tuple[FloatArray, FloatArray]:
        """Share of the other class that each score beats; ties count half (DeLong 1988)."""
        ones, zeros = 1.0 * self.ones, 1.0 * self.zeros
        beaten = (np.cumsum(zeros) - 0.5 * zeros) / self._inadequate
        beating = 1 - (np.cumsum(ones) - 0.5 * ones) / self._adequate
        if self.sign[0] == "<":
            beaten, beating = 1 - beaten, 1 - beating
        return beaten, beating

    @cached_property
    def auc(self) -> float:
        """P(an adequate item scores better than an inadequate one); ties count half."""
        if not (self._adequate and self._inadequate):
            return float("nan")
        return float(self.ones @ self._placements[0] / self._adequate)

    @cached_property
    def auc_se(self) -> float:
        """Standard error of the AUC by DeLong et al. (1988); NaN with one item of a class."""
        if min(self._adequate, self._inadequate) < 2:
            return float("nan")
        beaten, beating = (place - self.auc for place in self._placements)
        spread_ones = self.ones @ beaten**2 / (self._adequate - 1)
        spread_zeros = self.zeros @ beating**2 / (self._inadequate - 1)
        return float(np.sqrt(spread_ones / self._adequate + spread_zeros / self._inadequate))

    def auc_interval(self, confidence: float = 0.95) -> Interval:
        """Confidence interval of the AUC: DeLong's error on the logit scale.

        If that error is 0 (the classes do not overlap) or unknown (one item of a class), the score
        interval of Newcombe (2006, method 5), which never has width 0.

        Measured on normal scores with equal and unequal spreads (20 and 200 items, 50 and 50): 95%
        intervals cover AUCs of 0.6 and 0.8 in 93 to 96% of samples. For an AUC of 0.95 coverage can
        be as low as 80%, with 20 items in the class of larger spread.
        """
        if np.isnan(self.auc):
            return Interval(np.asarray(np.nan), np.asarray(np.nan))
        z = float(ndtri(0.5 + 0.5 * check_confidence(confidence)))
        if self.auc_se > 1e-12 and 0 < self.auc < 1:
            half = z * self.auc_se / (self.auc * (1 - self.auc))
            ends = expit(logit(self.auc) + np.array([-half, half]))
        else:
            ends = np.array(newcombe(self.auc, self._adequate, self._inadequate, z))
        return Interval(np.asarray(ends[0]), np.asarray(ends[1]))


def newcombe(auc: float, adequate: int, inadequate: int, z: float) -> tuple[float, float]:
    """Values A of the AUC with |auc − A| ≤ z · sd(A), with the sd of Hanley and McNeil (1982).

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


# Whether systems share the rates of a metric, and the error from assuming that they do ---

_EXPECTED = 5  # with fewer expected items in a cell the chi-square distribution is rough


def _compared(points: dict[str, RocPoint]) -> dict[str, Any]:
    """The tests and what they are about, named as in `RocTable.heterogeneity`.

    Pearson's chi-square of hits and misses, leaving out systems without either.
    """
    found: dict[str, Any] = {}
    sums, sparse = np.zeros(2), False  # statistic and degrees of freedom of both
    for name, one, two in (("rho", "tp", "fn"), ("eta", "tn", "fp")):
        cells = np.array([(getattr(p, one), getattr(p, two)) for p in points.values()])
        table = cells[cells.sum(1) > 0].astype(np.float64)
        expected = table.sum(1, keepdims=True) * table.sum(0) / max(table.sum(), 1.0)
        terms = (table - expected) ** 2 / np.where(expected > 0, expected, 1.0)
        rates = table[:, 0] / table.sum(1) if len(table) else np.array([np.nan])
        test = np.array([terms.sum(), max(len(table) - 1, 0)])
        found |= {f"{name}_min": float(rates.min()), f"{name}_max": float(rates.max())}
        found[f"{name}_p"] = _chi_square_tail(*test)
        sums, sparse = sums + test, sparse or not len(table) or bool((expected < _EXPECTED).any())
    on, worst, se = _worst(points)
    more = {"sparse": sparse, "worst": worst, "worst_se": se, "on": on}
    return found | {"p": _chi_square_tail(*sums)} | more


def _chi_square_tail(statistic: float, df: float) -> float:
    """P-value; NaN where there is nothing to compare."""
    return float(chdtrc(df, statistic)) if df else float("nan")


def _worst(points: dict[str, RocPoint]) -> tuple[str, float, float]:
    """The system whose success rate is furthest off with the others' ρ and η, and by how much.

    The error is corrected − α, with corrected = (p + η − 1)/(ρ + η − 1). Its standard error by the
    delta method has three parts: ρ and η of the others, and the system's own items, of which p and
    α are both means.
    """
    names = list(points)
    cells = np.array([(p.tp, p.fn, p.fp, p.tn) for p in points.values()], dtype=np.float64)
    tp, fn, fp, tn = (cells.sum(0) - cells).T
    own = cells / cells.sum(1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        rho, eta = tp / (tp + fn), tn / (tn + fp)
        ahead = np.where(rho + eta > 1, rho + eta - 1, np.nan)
        corrected = (own[:, 0] + own[:, 2] + eta - 1) / ahead
        from_others = corrected**2 * rho * (1 - rho) / (tp + fn)
        from_others += (1 - corrected) ** 2 * eta * (1 - eta) / (tn + fp)
    # An item contributes metric / ahead − human to the error, (…, 4) for the four cells.
    adds = np.array([1, 0, 1, 0]) / ahead[:, None] - np.array([1, 1, 0, 0])
    spread = (own * adds**2).sum(1) - (own * adds).sum(1) ** 2
    se = np.sqrt(from_others / ahead**2 + spread / cells.sum(1))
    error = np.clip(corrected, 0, 1) - (own[:, 0] + own[:, 1])
    if np.isnan(error).all():
        return "", float("nan"), float("nan")
    at = int(np.nanargmax(np.abs(error)))
    return names[at], float(error[at]), float(se[at])


def _updated(point: RocPoint, priors: Priors, confidence: float) -> dict[str, float]:
    """ρ and η with prior knowledge: Beta posteriors."""
    tails = np.array([0.5 - 0.5 * confidence, 0.5 + 0.5 * confidence])
    found: dict[str, float] = {}
    for name, hits, misses in (("rho", point.tp, point.fn), ("eta", point.tn, point.fp)):
        a, b = getattr(priors, name)
        a, b = a + hits, b + misses
        low, high = betaincinv(a, b, tails)
        found |= {
            name: a / (a + b), f"{name}_sd": float(np.sqrt(a * b / (a + b + 1)) / (a + b)),
            f"{name}_low": float(low), f"{name}_high": float(high),
        }  # fmt: skip
    return found


@dataclass(frozen=True, eq=False)
class RocTable:
    """ROC curves of metrics, by metric and system; ``(all)`` is over all systems.

    Made by `roc_table`.
    """

    rocs: dict[str, dict[str, Roc]]
    cuts: dict[str, dict[str, Cut]]
    gaps: dict[str, dict[str, int]]
    rule: str
    confidence: float
    priors: Priors | None = None

    def __repr__(self) -> str:
        systems = {s for row in self.rocs.values() for s in row} - {ALL}
        return f"RocTable({len(self.rocs)} metrics, {len(systems)} systems)"

    def roc(self, metric: str, system: str = ALL) -> Roc:
        """The curve of a metric on a system."""
        return self.rocs[metric][system]

    def point(self, metric: str, system: str = ALL) -> RocPoint:
        """The chosen point of a metric on a system."""
        return self.rocs[metric][system].at(self.cuts[metric][system])

    def to_frame(self) -> pd.DataFrame:
        """One row per metric and system.

        ``n`` counts the items with a human rating and a metric score, ``gaps`` the rated ones
        without a score; ``alpha`` is the share of adequate ones; then come the AUC with its
        standard error and interval, the cut, and ρ, η and K at the cut. With priors ρ and η are
        posterior means, with sds and credible intervals (``rho_sd``, ``rho_low``, ``rho_high`` and
        the same of η).
        """
        import pandas as pd

        rows = []
        for metric, found in self.rocs.items():
            for system, roc in found.items():
                low, high = roc.auc_interval(self.confidence)
                point = self.point(metric, system)
                n = roc._adequate + roc._inadequate
                rows.append({
                    "metric": metric, "system": system, "n": n, "gaps": self.gaps[metric][system],
                    "alpha": roc._adequate / n, "auc": roc.auc, "auc_se": roc.auc_se,
                    "auc_low": float(low), "auc_high": float(high), "cut": str(point.cut),
                    "rho": point.rho, "eta": point.eta, "K": point.information,
                })  # fmt: skip
                if self.priors is not None:
                    rows[-1] |= _updated(point, self.priors, self.confidence)
        return pd.DataFrame(rows)

    def heterogeneity(self) -> pd.DataFrame:
        """Whether systems share ρ and η of a metric: one row per metric with two systems or more.

        At the threshold chosen over all systems: the least and largest ρ and η of a system, and
        p-values of chi-square tests that all have the same ρ (``rho_p``), the same η (``eta_p``)
        and both (``p``). ``sparse`` says that a system has fewer than 5 expected items in a cell,
        so the tests are rough. With many ratings small differences are found too, so look at their
        effect: ``worst`` is the largest error of a system's success rate when the metric's rate is
        corrected with ρ and η of the other systems, ``worst_se`` its standard error, and ``on``
        that system.

        Notes
        -----
        The test treats the items of different systems as independent. If systems had the same
        inputs, and a metric errs on the same ones, the test finds too few differences.
        """
        import pandas as pd

        rows = []
        for metric, found in self.rocs.items():
            cut = self.cuts[metric][ALL]
            points = {name: roc.at(cut) for name, roc in found.items() if name != ALL}
            if len(points) < 2:
                continue
            facts = {"metric": metric, "systems": len(points), "cut": str(cut)}
            rows.append(facts | _compared(points))
        if not rows:
            raise FewgoldError(
                "heterogeneity compares systems: name the column that holds them (system=)."
            )
        return pd.DataFrame(rows)

    def plot(self) -> Figure:
        """One panel per metric with a curve per system, the chosen points marked."""
        import pandas as pd

        from fewgold.plots import roc_panels

        curves, points = [], []
        for metric, found in self.rocs.items():
            for system, roc in found.items():
                if np.isnan(roc.auc) or (system == ALL and len(found) > 1):
                    continue
                keys = {"metric": metric, "system": system}
                curves.append(roc.curve().assign(**keys, auc=roc.auc))
                point = self.point(metric, system)
                points.append({**keys, "fpr": 1 - point.eta, "tpr": point.rho})
        return roc_panels(pd.concat(curves, ignore_index=True), pd.DataFrame(points))


def roc_table(
    frame: pd.DataFrame,
    *,
    human: str,
    metrics: Sequence[str],
    system: str | None = None,
    adequate: Cut | str | None = None,
    rule: str = "equal",
    cuts: Mapping[str, Cut | str] | None = None,
    per_system: bool = False,
    strict: bool = False,
    orientation: Mapping[str, int] | None = None,
    confidence: float = 0.95,
    priors: Priors | None = None,
) -> RocTable:
    """ROC curves and chosen thresholds of metrics, for all systems together and each one.

    Parameters
    ----------
    frame
        One row per item, or per item and system. Rows without a human score are left out, and for
        each metric those without its score.
    human
        The column of human scores.
    metrics
        Columns of metrics.
    system
        The column with the system.
    adequate
        Which human scores are adequate, such as ``"<= 0"`` for an MQM of 0. Not needed for 0 and
        1.
    rule
        How a threshold is chosen: see `choose_cut`.
    cuts
        Fixed thresholds by metric, instead of chosen ones.
    per_system
        Choose a threshold for each system that has items of both classes. By default all share the
        threshold of all items together.
    strict
        Only scores above the threshold are adequate (2022), not those equal to it (the thesis).
    orientation
        −1 for metrics where larger is worse. By default known from common names, else +1.
    confidence
        Confidence of the intervals of the AUC.
    priors
        Prior knowledge of ρ and η at these thresholds, such as from last month, the same for every
        metric and system: see `Priors.parse`.

    References
    ----------
    von Däniken (2023), section 5.2.2, Figures 5.1 and 5.2: "metrics have variable performance".

    Examples
    --------
    >>> from fewgold.datasets import demo_frame
    >>> frame = demo_frame("zhen")
    >>> table = roc_table(
    ...     frame, human="rater1", adequate="<= 1", metrics=["comet"], system="system"
    ... )
    >>> table.to_frame()[["system", "n", "auc", "cut", "rho", "eta"]].round(2)
      system     n   auc       cut   rho   eta
    0  (all)  4930  0.72  >= 0.281  0.65  0.65
    1  human   986  0.71  >= 0.281  0.59  0.70
    2  alpha   986  0.71  >= 0.281  0.70  0.59
    3   beta   986  0.70  >= 0.281  0.65  0.64
    4  gamma   986  0.74  >= 0.281  0.70  0.65
    5  delta   986  0.73  >= 0.281  0.64  0.68
    """
    check_choice("rule", rule, RULES)
    check_confidence(confidence)
    table = read_binary(frame, human, metrics, system, adequate, orientation, strict)
    for name in cuts or {}:
        if name not in table.scores:
            raise DataError(f"cuts names {name!r}, which is not among the metrics.")
    rocs, gaps, chosen = {}, {}, {}
    for metric in table.scores:
        rocs[metric], gaps[metric] = _curves(table, metric)
        chosen[metric] = _cuts(rocs[metric], rule, (cuts or {}).get(metric), per_system)
    if priors is not None and priors._known_rates is not None:
        raise FewgoldError(
            "priors with known rho and eta leave nothing to estimate from the table."
        )
    return RocTable(rocs, chosen, gaps, rule, confidence, priors)


def _curves(table: BinaryTable, metric: str) -> tuple[dict[str, Roc], dict[str, int]]:
    """The curves of all systems together and of each, and how many items have no score."""
    rocs, gaps = {}, {}
    for system in (ALL, *table.systems):
        rows = table.rated & table.of(system)
        scores, labels = table.scores[metric][rows], table.labels[rows] == 1
        seen = ~np.isnan(scores)
        if seen.any():
            make = Roc.of if system == ALL else Roc._counted
            rocs[system] = make(labels[seen], scores[seen], table.signs[metric])
            gaps[system] = int((~seen).sum())
    if not rocs:
        raise DataError(f"no rated item has a score of {metric!r}.")
    return rocs, gaps


def _cuts(
    rocs: dict[str, Roc], rule: str, given: Cut | str | None, per_system: bool
) -> dict[str, Cut]:
    """The cut of each system: the shared one if its own items do not suffice."""
    shared = rocs[ALL].chosen(rule).cut if given is None else Cut.parse(given)
    own = per_system and given is None
    return {
        name: roc.chosen(rule).cut
        if own and roc._adequate and roc._inadequate and roc.scores.size > 1
        else shared
        for name, roc in rocs.items()
    }


class RocText(NamedTuple):
    """One metric as text: its cut, the headings, and one row per system, starting with its name."""

    where: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str]


def texts(frame: pd.DataFrame, apart: pd.DataFrame | None, confidence: float) -> dict[str, RocText]:
    """Texts by metric; ``apart`` is `RocTable.heterogeneity`, if there are systems to compare."""
    compared = [] if apart is None else apart.to_dict("records")
    found = {}
    for metric, part in frame.groupby("metric", sort=False):
        cuts = list(dict.fromkeys(part["cut"]))
        where = f"at {cuts[0]}" if len(cuts) == 1 else "at a separate threshold for each system"
        heads = ["system", "items", "adequate", "AUC", f"{100 * confidence:g}%", "ρ", "η", "K"]
        heads += ["threshold"] if len(cuts) > 1 else []
        rows = [_cells(row, len(cuts) > 1) for row in part.to_dict("records")]
        notes = [_sentence(row) for row in compared if row["metric"] == metric]
        if gaps := int(part.loc[part["system"] == "(all)", "gaps"].sum()):
            notes.append(f"{counted(gaps, 'rated row')} without {metric} left out.")
        found[str(metric)] = RocText(where, heads, rows, notes)
    return found


def _cells(row: dict[Any, Any], cut: bool) -> list[str]:
    cells = [str(row["system"]), str(row["n"]), f"{row['alpha']:.3f}", cell(row["auc"], 3)]
    cells.append(f"{cell(row['auc_low'], 2)}–{cell(row['auc_high'], 2)}")
    cells += [cell(row[name], 3) for name in ("rho", "eta", "K")]
    if cut:
        sign, at = row["cut"].split()
        cells.append(f"{sign} {float(at):.4g}".replace("-", "−"))
    return cells


def _sentence(row: dict[Any, Any]) -> str:
    """A sentence on whether the systems share ρ and η, and what follows."""
    p = row["p"]
    chance = "p unknown" if p != p else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    rough = ", rough: few items in a cell" if row["sparse"] else ""
    said = (
        f"Systems: ρ from {cell(row['rho_min'], 2)} to {cell(row['rho_max'], 2)}, η from "
        f"{cell(row['eta_min'], 2)} to {cell(row['eta_max'], 2)} (all the same: "
        f"{chance}{rough})."
    )
    if row["worst"] == row["worst"]:
        off = f"{row['worst']:+.2f}".replace("-", "−") + f" ± {row['worst_se']:.2f}"
        said += f" Using ρ and η of the others, the rate of {row['on']} would be off by {off}."
    return said
