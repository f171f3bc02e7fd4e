"""Ratios of mean errors on one data set, as simulated and as printed."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from fewgold.reproduce import _printed
from fewgold.reproduce._compare import Figure, abs_error
from fewgold.reproduce._data import Rated
from fewgold.reproduce._findings import Check
from fewgold.reproduce._methods import BASE, BEST
from fewgold.simulation import Simulation

if TYPE_CHECKING:
    import pandas as pd


class Errors:
    """Ratios of mean errors on one data set."""

    def __init__(self, rated: Rated, run: Simulation) -> None:
        self.rated, self.run, self.pair = rated, run, rated.pair
        self._known: dict[str, Figure] = {}

    def __getitem__(self, strategy: str) -> Figure:
        if strategy not in self._known:
            self._known[strategy] = abs_error(self.run, strategy)
        return self._known[strategy]

    @cached_property
    def by_budget(self) -> pd.DataFrame:
        frame = self.run.by_budget()
        return frame[frame["strategy"] == BEST]

    def ratio(self, above: str, below: str = BASE) -> Figure:
        return self[above] / self[below]

    def check(self, table: str, method: str, strategy: str, side: str) -> Check:
        """The error of a method over that of the baseline, below or above 1."""
        found, printed = self.ratio(strategy), ratio_printed(table, self.pair, method)
        what = f"{method}/baseline"
        return Check(self.rated.name, what, found.value, found.mc, side, 1.0, printed)


def ratio_printed(table: str, pair: str, above: str, below: str = "baseline") -> float:
    rows = _printed.TABLES[table][pair]
    return rows[above].abs_error / rows[below].abs_error
