"""ROC curves and thresholds of metrics, over all systems of a table and for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold._validate import check_choice, check_confidence
from fewgold.bayes._binary_table import ALL, BinaryTable, read_binary
from fewgold.bayes._roc import Roc
from fewgold.bayes._roc_curves import RocTable
from fewgold.bayes._thresholds import RULES
from fewgold.cut import Cut
from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd


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
