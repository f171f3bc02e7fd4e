"""Figures that tell whether a claim of Saldías et al. (2022) holds, beside the printed ones."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from fewgold.reproduce import _printed
from fewgold.reproduce._claim_errors import Errors, ratio_printed
from fewgold.reproduce._compare import abs_error, sdev, share_within
from fewgold.reproduce._findings import Check
from fewgold.reproduce._methods import BEST
from fewgold.reproduce._tables import sizes

DOC, BIN = "docs-prop-printed+mean", "metrics-prop-printed+mean"
KNN, BINS = "random+cv-knn-printed", "metrics-prop-printed+cv-knn-printed"


def ratios(sets: Iterable[Errors], strategy: str) -> str:
    """Errors of a strategy over the baseline's, a data set at a time, as text."""
    shown = ((e.pair, e.ratio(strategy)) for e in sets)
    return ", ".join(f"{pair} {r.value:.3f} ± {r.mc:.3f}" for pair, r in shown)


def controls(e: Errors, methods: Iterable[str]) -> list[Check]:
    """Control variates against the baseline."""
    names = {"cv-bleurt": f"cv-{e.rated.metrics[0]}"}
    return [e.check("table3", m, f"random+{names.get(m, m)}-printed", "below") for m in methods]


def adds_up(e: Errors) -> list[Check]:
    """The best method against each of its parts."""
    checks = []
    for part, method in ((DOC, "docs-prop"), (KNN, "cv-knn")):
        found = e.ratio(BEST, part)
        printed = ratio_printed("table4", e.pair, "docs-prop+cv-knn", method)
        what = f"docs-prop+cv-knn/{method}"
        checks.append(Check(e.rated.name, what, found.value, found.mc, "below", 1.0, printed))
    return checks


def better(e: Errors, part: str) -> str:
    """The better of a sampler's mean and control variates by themselves."""
    return min((part, KNN), key=lambda name: e[name].value)


def adds_less(e: Errors) -> list[Check]:
    """What bins and control variates gain together, less what documents and they do."""
    found = e.ratio(BINS, better(e, BIN)) - e.ratio(BEST, better(e, DOC))
    rows = _printed.TABLES["table1"][e.pair] | _printed.TABLES["table4"][e.pair]
    knn = rows["cv-knn"].abs_error
    printed = rows["metrics-prop+cv-knn"].abs_error / min(knn, rows["metrics-prop"].abs_error)
    printed -= rows["docs-prop+cv-knn"].abs_error / min(knn, rows["docs-prop"].abs_error)
    what = "metrics-prop+cv-knn/better part − docs-prop+cv-knn/better part"
    return [Check(e.rated.name, what, found.value, found.mc, "above", 0.0, printed)]


def too_wide(e: Errors) -> list[Check]:
    """Whether Hoeffding's bound covers always, and how much wider it is than the error."""
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


def calibrated(e: Errors) -> list[Check]:
    """Whether Hoeffding's bound with a smaller range covers as often as it says."""
    checks = []
    for size in sizes(e.run):
        t = _half_width(e, "hoeffding-oracle", size)
        held, mc = share_within(e.run, BEST, size, t)
        printed = _printed.TABLE5[e.pair][round(size, 2)]["best"].cal / 100
        what = f"share covered at {size:.0%}"
        checks.append(Check(e.rated.name, what, held, mc, "above", 0.95, printed))
    return checks


def _half_width(e: Errors, bound: str, size: float) -> float:
    at = np.isclose(e.by_budget["budget"], size)
    return float(e.by_budget.loc[at, f"half_width_{bound}"].iloc[0])


def near(e: Errors) -> list[Check]:
    """The standard deviation of the error over its mean."""
    found = sdev(e.run, BEST) / e[BEST]
    row = _printed.TABLES["table4"][e.pair]["docs-prop+cv-knn"]
    what = "sdev/error of docs-prop+cv-knn"
    return [
        Check(e.rated.name, what, found.value, found.mc, "above", 0.5, row.sdev / row.abs_error)
    ]
