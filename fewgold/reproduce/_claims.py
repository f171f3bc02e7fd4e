"""What Saldías et al. (2022) say, and whether the simulation agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.reproduce import _printed
from fewgold.reproduce._compare import Figure, abs_error, sdev, share_within
from fewgold.reproduce._data import Rated
from fewgold.reproduce._findings import Check, Finding
from fewgold.reproduce._methods import BASE, BEST
from fewgold.reproduce._tables import sizes
from fewgold.simulation import Simulation

if TYPE_CHECKING:
    import pandas as pd

_DOC, _BIN = "docs-prop-printed+mean", "metrics-prop-printed+mean"
_KNN, _BINS = "random+cv-knn-printed", "metrics-prop-printed+cv-knn-printed"


class _Errors:
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
        found, printed = self.ratio(strategy), _ratio_printed(table, self.pair, method)
        what = f"{method}/baseline"
        return Check(self.rated.name, what, found.value, found.mc, side, 1.0, printed)


def _ratio_printed(table: str, pair: str, above: str, below: str = "baseline") -> float:
    rows = _printed.TABLES[table][pair]
    return rows[above].abs_error / rows[below].abs_error


def findings(
    data: Iterable[Rated],
    runs: Mapping[str, Simulation],
    small: Iterable[Rated],
    small_runs: Mapping[str, Simulation],
    incremental: bool,
) -> list[Finding]:
    """All findings of the paper that the tables bear on."""
    sets = [_Errors(rated, runs[rated.name]) for rated in data]
    tested = [_Errors(r, small_runs[r.name]) for r in small]

    def each(make: Callable[[_Errors], Iterable[Check]], among: Iterable[_Errors] = sets) -> Any:
        return tuple(check for one in among for check in make(one))

    found = [
        Finding(
            "docs-prop",
            "Stratifying by document with proportional allocation beats random sampling.",
            each(lambda e: [e.check("table1", "docs-prop", "docs-prop-printed+mean", "below")]),
        ),
        Finding(
            "docs-opt",
            "Optimal allocation over documents loses to random sampling.",
            each(lambda e: [e.check("table1", "docs-opt", "docs-opt-variance+mean", "above")]),
            "allocated by variance, in the words of the paper. With standard deviations, as "
            f"Neyman's formula has it: {_ratios(sets, 'docs-opt-printed+mean')}",
        ),
        Finding(
            "metrics-prop",
            "Stratifying by metric bins with proportional allocation beats random sampling.",
            each(
                lambda e: [e.check("table1", "metrics-prop", "metrics-prop-printed+mean", "below")]
            ),
        ),
    ]
    if incremental:
        methods = ("docs-incr-metrics", "docs-incr-human")
        found.append(
            Finding(
                "incremental",
                "Both kinds of incremental allocation lose to random sampling.",
                each(
                    lambda e: [e.check("table2", m, f"{m}-printed+mean", "above") for m in methods]
                ),
                "allocated by variance, as above. With standard deviations: "
                + "; ".join(f"{m} {_ratios(sets, f'{m}+mean')}" for m in methods),
            )
        )
    found += [
        Finding(
            "control variates",
            "Control variates help: a single metric, the mean of the metrics, a learned model.",
            each(lambda e: _controls(e, ("cv-bleurt", "cv-mean", "cv-knn"))),
            "the single metric is " + ", ".join(f"{e.rated.metrics[0]} for {e.pair}" for e in sets),
        ),
        Finding(
            "cv-multi",
            "So do all metrics at once, with a slope each.",
            each(lambda e: _controls(e, ("cv-multi",))),
            "equation 4 with E[XZ] as printed. With the covariance of footnote 1: "
            f"{_ratios(sets, 'random+cv-multi-footnote')}; with regression slopes: "
            f"{_ratios(sets, 'random+cv-multi')}",
        ),
        Finding(
            "adding up",
            "Documents and control variates add up: docs-prop+cv-knn beats both its parts.",
            each(_adds_up),
        ),
        Finding(
            "not adding up",
            "Metric bins and control variates do not: metrics-prop+cv-knn gains less over the "
            "better of its parts than docs-prop+cv-knn does.",
            each(_adds_less),
            "metrics-prop+cv-knn over the better of its parts: "
            + ", ".join(f"{e.pair} {e.ratio(_BINS, _better(e, _BIN)).value:.3f}" for e in sets),
        ),
        Finding(
            "Hoeffding, R = 25",
            "Hoeffding's bound with the true range covers always, and is an order of magnitude "
            "too wide.",
            each(_too_wide),
        ),
        Finding(
            "Hoeffding, oracle R",
            "With the range that the answers suggest (4 and 7) it is calibrated: it covers more "
            "than 95 % for docs-prop+cv-knn.",
            each(_calibrated),
        ),
        Finding(
            "standard deviation",
            "The standard deviation of the error is uncomfortably near the error itself.",
            each(_near),
            "a normal error without bias has the ratio √(π/2 − 1) = 0.756, whatever the method",
        ),
        Finding(
            "two metrics",
            "The gain of docs-prop+cv-knn remains with two metrics chosen beforehand.",
            each(lambda e: [e.check("table6", "docs-prop+cv-knn", BEST, "below")], tested),
            "on these data instead of WMT21 news",
        ),
    ]
    return found


def _ratios(sets: Iterable[_Errors], strategy: str) -> str:
    shown = ((e.pair, e.ratio(strategy)) for e in sets)
    return ", ".join(f"{pair} {r.value:.3f} ± {r.mc:.3f}" for pair, r in shown)


def _controls(e: _Errors, methods: Iterable[str]) -> list[Check]:
    names = {"cv-bleurt": f"cv-{e.rated.metrics[0]}"}
    return [e.check("table3", m, f"random+{names.get(m, m)}-printed", "below") for m in methods]


def _adds_up(e: _Errors) -> list[Check]:
    checks = []
    for part, method in ((_DOC, "docs-prop"), (_KNN, "cv-knn")):
        found, printed = e.ratio(BEST, part), None
        printed = _ratio_printed("table4", e.pair, "docs-prop+cv-knn", method)
        what = f"docs-prop+cv-knn/{method}"
        checks.append(Check(e.rated.name, what, found.value, found.mc, "below", 1.0, printed))
    return checks


def _better(e: _Errors, part: str) -> str:
    return min((part, _KNN), key=lambda name: e[name].value)


def _adds_less(e: _Errors) -> list[Check]:
    found = e.ratio(_BINS, _better(e, _BIN)) - e.ratio(BEST, _better(e, _DOC))
    rows = _printed.TABLES["table1"][e.pair] | _printed.TABLES["table4"][e.pair]
    knn = rows["cv-knn"].abs_error
    printed = rows["metrics-prop+cv-knn"].abs_error / min(knn, rows["metrics-prop"].abs_error)
    printed -= rows["docs-prop+cv-knn"].abs_error / min(knn, rows["docs-prop"].abs_error)
    what = "metrics-prop+cv-knn/better part − docs-prop+cv-knn/better part"
    return [Check(e.rated.name, what, found.value, found.mc, "above", 0.0, printed)]


def _too_wide(e: _Errors) -> list[Check]:
    checks = []
    for size in sizes(e.run):
        t = _half_width(e, "hoeffding", size)
        held, mc = share_within(e.run, BEST, size, t)
        what = f"share covered at {size:.0%}"
        checks.append(Check(e.rated.name, what, held, mc, "above", 0.99, 1.0))
        error = abs_error(e.run, BEST, [size])
        times, what = t / error.value, f"bound/error at {size:.0%}"
        mc = times * error.mc / error.value
        checks.append(Check(e.rated.name, what, times, mc, "above", 10.0))
    return checks


def _calibrated(e: _Errors) -> list[Check]:
    checks = []
    for size in sizes(e.run):
        t = _half_width(e, "hoeffding-oracle", size)
        held, mc = share_within(e.run, BEST, size, t)
        printed = _printed.TABLE5[e.pair][round(size, 2)]["best"].cal / 100
        what = f"share covered at {size:.0%}"
        checks.append(Check(e.rated.name, what, held, mc, "above", 0.95, printed))
    return checks


def _half_width(e: _Errors, bound: str, size: float) -> float:
    at = np.isclose(e.by_budget["budget"], size)
    return float(e.by_budget.loc[at, f"half_width_{bound}"].iloc[0])


def _near(e: _Errors) -> list[Check]:
    found = sdev(e.run, BEST) / e[BEST]
    row = _printed.TABLES["table4"][e.pair]["docs-prop+cv-knn"]
    what = "sdev/error of docs-prop+cv-knn"
    return [
        Check(e.rated.name, what, found.value, found.mc, "above", 0.5, row.sdev / row.abs_error)
    ]
