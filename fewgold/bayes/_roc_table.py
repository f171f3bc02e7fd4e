"""How well metrics judge each system, and whether one calibration serves them all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import chdtrc

from fewgold._validate import check_choice, check_confidence
from fewgold.bayes._binary_table import ALL, BinaryTable, read_binary
from fewgold.bayes._roc import Roc, RocPoint
from fewgold.bayes._thresholds import RULES
from fewgold.cut import Cut
from fewgold.errors import DataError, FewgoldError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

_EXPECTED = 5  # fewer expected items in a cell, and the chi-square distribution is rough


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
        """One row a metric and system.

        n items that people rated and the metric scored, ``gaps`` rated ones that it did not;
        ``alpha`` the share of adequate ones; the AUC with its standard error and interval; the
        cut, and ρ, η and K there.
        """
        import pandas as pd

        rows = []
        for metric, found in self.rocs.items():
            for system, roc in found.items():
                low, high = roc.auc_interval(self.confidence)
                point = self.point(metric, system)
                n = roc.adequate + roc.inadequate
                row: dict[str, Any] = {"metric": metric, "system": system, "n": n}
                row |= {"gaps": self.gaps[metric][system], "alpha": roc.adequate / n}
                row |= {"auc": roc.auc, "auc_se": roc.auc_se}
                row |= {"auc_low": float(low), "auc_high": float(high), "cut": str(point.cut)}
                row |= {"rho": point.rho, "eta": point.eta, "K": point.information}
                rows.append(row)
        return pd.DataFrame(rows)

    def heterogeneity(self) -> pd.DataFrame:
        """Whether systems share ρ and η of a metric: one row a metric with two systems or more.

        At the threshold chosen over all systems: the least and largest ρ and η of a system, and
        p-values of chi-square tests that all have the same ρ (``rho_p``), the same η
        (``eta_p``) and both (``p``). ``sparse`` says that a system has fewer than 5 expected
        items in a cell, so that they are rough. With many ratings small differences are found
        too, so look at what they do: ``worst`` is the largest error of a system's success rate
        when the metric's rate is corrected with ρ and η of the other systems, ``worst_se`` its
        standard error, and ``on`` that system.

        Notes
        -----
        The test takes the items of different systems for independent. Where systems were given
        the same inputs, and a metric errs on the same of them, it finds too little.
        """
        import pandas as pd

        rows = []
        for metric, found in self.rocs.items():
            cut = self.rocs[metric][ALL].at(self.cuts[metric][ALL]).cut
            points = {name: roc.at(cut) for name, roc in found.items() if name != ALL}
            if len(points) < 2:
                continue
            rho = _same([(p.tp, p.fn) for p in points.values()])
            eta = _same([(p.tn, p.fp) for p in points.values()])
            both = _tail(rho.statistic + eta.statistic, rho.df + eta.df)
            worst = _worst(points)
            row: dict[str, Any] = {"metric": metric, "systems": len(points), "cut": str(cut)}
            row |= {"rho_min": rho.least, "rho_max": rho.most, "rho_p": _tail(*rho[:2])}
            row |= {"eta_min": eta.least, "eta_max": eta.most, "eta_p": _tail(*eta[:2])}
            row |= {"p": both, "sparse": rho.sparse or eta.sparse}
            rows.append(row | {"worst": worst[1], "worst_se": worst[2], "on": worst[0]})
        if not rows:
            raise FewgoldError(
                "heterogeneity compares systems: name the column that holds them (system=)."
            )
        return pd.DataFrame(rows)

    def plot(self) -> Figure:
        """A panel a metric with a curve a system, the chosen points marked."""
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
) -> RocTable:
    """ROC curves and chosen thresholds of metrics, over all systems and for each.

    Parameters
    ----------
    frame
        A row an item, or an item and system. Rows without a human score are left out, and for
        each metric those without its score.
    human
        The column of human scores.
    metrics
        Columns of metrics.
    system
        The column that tells the system.
    adequate
        Which human scores are adequate, such as ``"<= 0"`` for an MQM of 0. Not needed for 0 and
        1.
    rule
        How a threshold is chosen: see `choose_cut`.
    cuts
        Thresholds that are given, by metric, instead of chosen.
    per_system
        Choose a threshold for each system that has items of both classes. By default all share
        the one of all items together.
    strict
        Scores above the threshold are adequate (2022), not also those at it (the thesis).
    orientation
        −1 for metrics of which large is bad. By default as known from common names, else +1.
    confidence
        Of the intervals of the AUC.

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
    rocs, gaps = {}, {}
    for metric in table.scores:
        rocs[metric], gaps[metric] = _curves(table, metric)
    chosen = {
        metric: _cuts(found, rule, (cuts or {}).get(metric), per_system)
        for metric, found in rocs.items()
    }
    return RocTable(rocs, chosen, gaps, rule, confidence)


def _curves(table: BinaryTable, metric: str) -> tuple[dict[str, Roc], dict[str, int]]:
    """The curves of all systems together and of each, and how many items have no score."""
    rocs, gaps = {}, {}
    for system in (ALL, *table.systems):
        rows = table.rated & table.of(system)
        scores, labels = table.scores[metric][rows], table.labels[rows] == 1
        seen = ~np.isnan(scores)
        if seen.any():
            make = Roc.of if system == ALL else Roc.counted
            rocs[system] = make(labels[seen], scores[seen], table.signs[metric])
            gaps[system] = int((~seen).sum())
    if not rocs:
        raise DataError(f"no rated item has a score of {metric!r}.")
    return rocs, gaps


def _cuts(
    rocs: dict[str, Roc], rule: str, given: Cut | str | None, per_system: bool
) -> dict[str, Cut]:
    """The cut of each system: the shared one where its own items do not tell."""
    shared = rocs[ALL].chosen(rule).cut if given is None else Cut.parse(given)
    own = per_system and given is None
    return {
        name: roc.chosen(rule).cut
        if own and roc.adequate and roc.inadequate and roc.scores.size > 1
        else shared
        for name, roc in rocs.items()
    }


class _Homogeneity(NamedTuple):
    statistic: float
    df: int
    least: float
    most: float
    sparse: bool


def _same(hits: list[tuple[int, int]]) -> _Homogeneity:
    """Pearson's chi-square of hits and misses (k, 2), systems without either left out."""
    table = np.array([row for row in hits if sum(row)], dtype=np.float64)
    if not len(table):
        return _Homogeneity(0.0, 0, np.nan, np.nan, True)
    expected = table.sum(1, keepdims=True) * table.sum(0) / table.sum()
    terms = (table - expected) ** 2 / np.where(expected > 0, expected, 1.0)
    rates = table[:, 0] / table.sum(1)
    few = bool((expected < _EXPECTED).any())
    return _Homogeneity(
        float(terms.sum()), len(table) - 1, float(rates.min()), float(rates.max()), few
    )


def _tail(statistic: float, df: int) -> float:
    """P-value of a chi-square statistic; NaN where there is nothing to compare."""
    return float(chdtrc(df, statistic)) if df else float("nan")


def _worst(points: dict[str, RocPoint]) -> tuple[str, float, float]:
    """The system that ρ and η of the others serve worst, and the error of its success rate.

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
    # An item adds metric / ahead − human to the error, (…, 4) for the four cells.
    adds = np.array([1, 0, 1, 0]) / ahead[:, None] - np.array([1, 1, 0, 0])
    spread = (own * adds**2).sum(1) - (own * adds).sum(1) ** 2
    se = np.sqrt(from_others / ahead**2 + spread / cells.sum(1))
    error = np.clip(corrected, 0, 1) - (own[:, 0] + own[:, 1])
    if np.isnan(error).all():
        return "", float("nan"), float("nan")
    at = int(np.nanargmax(np.abs(error)))
    return names[at], float(error[at]), float(se[at])
