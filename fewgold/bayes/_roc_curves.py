"""ROC curves of metrics, by metric and system: frames, tests and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.bayes._binary_table import ALL
from fewgold.bayes._roc import Roc, RocPoint
from fewgold.bayes._roc_same import compared
from fewgold.cut import Cut
from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


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
            row: dict[str, Any] = {"metric": metric, "systems": len(points), "cut": str(cut)}
            rows.append(row | compared(points))
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
