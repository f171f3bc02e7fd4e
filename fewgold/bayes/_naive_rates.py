"""Success rates by humans, by metrics taken at their word, and corrected: frames of the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fewgold._validate import check_choice
from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    import pandas as pd


HUMAN = "Human"
HOWS = ("human", "naive", "own", "pooled", "transfer", "known")


@dataclass(frozen=True, eq=False)
class NaiveTable:
    """Estimates of the success rates of systems, naive and corrected. Made by `naive_table`."""

    frame: pd.DataFrame
    confidence: float

    def __repr__(self) -> str:
        metrics = set(self.frame["metric"]) - {HUMAN}
        return f"NaiveTable({self.frame['system'].nunique()} systems, {len(metrics)} metrics)"

    def to_frame(self) -> pd.DataFrame:
        """One row a metric, system and way (``how``).

        ``rated`` human ratings and ``scored`` ratings by the metric went into the mean, sd and
        interval. Where all items of the system have a human score, ``truth`` is their share of
        adequate ones, ``error`` the mean less that, and ``covered`` whether the interval holds
        it.
        """
        return self.frame

    def wide(self, how: str = "own") -> pd.DataFrame:
        """Mean and sd by humans and by each metric, a row a system: the thesis's layout.

        Tables 5.1 and 5.2 of the thesis are ``wide("naive")``, Tables 5.3 and 5.4 ``wide("own")``.
        """
        check_choice("how", how, HOWS[1:])
        part = self.frame[self.frame["how"].isin(("human", how))]
        if how not in set(part["how"]):
            raise FewgoldError(
                f"the table has no estimates {how!r}; it has "
                f"{', '.join(dict.fromkeys(self.frame['how']))}."
            )
        table = part.pivot(index="system", columns="metric", values=["mean", "sd"])
        order = list(dict.fromkeys(part["metric"]))
        wanted = [(value, name) for name in order for value in ("mean", "sd")]
        shown = table[wanted].swaplevel(axis=1)
        shown.columns.names = [None, None]
        return shown.loc[list(dict.fromkeys(part["system"]))]

    def errors(self) -> pd.DataFrame:
        """How far each way is from all human ratings: one row a metric and way.

        Mean and largest absolute error over the systems, ``kendall`` the rank correlation of the
        means with the truth (NaN where either is constant), ``coverage`` the share of intervals
        that hold the truth.
        """
        import pandas as pd
        from scipy.stats import kendalltau

        known = self.frame[self.frame["truth"].notna()]
        if known.empty:
            raise FewgoldError(
                "errors need systems of which people rated all items: hold ratings back with "
                "rated=."
            )
        rows = []
        for (metric, how), part in known.groupby(["metric", "how"], sort=False):
            several = part["mean"].nunique() > 1 and part["truth"].nunique() > 1
            rows.append(
                {
                    "metric": metric,
                    "how": how,
                    "systems": len(part),
                    "mean_error": part["error"].abs().mean(),
                    "largest_error": part["error"].abs().max(),
                    "kendall": float(kendalltau(part["mean"], part["truth"])[0])
                    if several
                    else np.nan,
                    "mean_sd": part["sd"].mean(),
                    "coverage": part["covered"].astype(float).mean(),
                }
            )
        return pd.DataFrame(rows)
