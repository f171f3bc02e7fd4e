"""What Saldías et al. (2022) say, and whether the simulation agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fewgold.reproduce import _claim_checks as checks
from fewgold.reproduce._claim_errors import Errors
from fewgold.reproduce._data import Rated
from fewgold.reproduce._findings import Check, Finding
from fewgold.reproduce._methods import BEST
from fewgold.simulation import Simulation


def findings(
    data: Iterable[Rated],
    runs: Mapping[str, Simulation],
    small: Iterable[Rated],
    small_runs: Mapping[str, Simulation],
    incremental: bool,
) -> list[Finding]:
    """All findings of the paper that the tables bear on."""
    sets = [Errors(rated, runs[rated.name]) for rated in data]
    tested = [Errors(r, small_runs[r.name]) for r in small]

    def each(make: Callable[[Errors], Iterable[Check]], among: Iterable[Errors] = sets) -> Any:
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
            f"Neyman's formula has it: {checks.ratios(sets, 'docs-opt-printed+mean')}",
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
                + "; ".join(f"{m} {checks.ratios(sets, f'{m}+mean')}" for m in methods),
            )
        )
    found += [
        Finding(
            "control variates",
            "Control variates help: a single metric, the mean of the metrics, a learned model.",
            each(lambda e: checks.controls(e, ("cv-bleurt", "cv-mean", "cv-knn"))),
            "the single metric is " + ", ".join(f"{e.rated.metrics[0]} for {e.pair}" for e in sets),
        ),
        Finding(
            "cv-multi",
            "So do all metrics at once, with a slope each.",
            each(lambda e: checks.controls(e, ("cv-multi",))),
            "equation 4 with E[XZ] as printed. With the covariance of footnote 1: "
            f"{checks.ratios(sets, 'random+cv-multi-footnote')}; with regression slopes: "
            f"{checks.ratios(sets, 'random+cv-multi')}",
        ),
        Finding(
            "adding up",
            "Documents and control variates add up: docs-prop+cv-knn beats both its parts.",
            each(checks.adds_up),
        ),
        Finding(
            "not adding up",
            "Metric bins and control variates do not: metrics-prop+cv-knn gains less over the "
            "better of its parts than docs-prop+cv-knn does.",
            each(checks.adds_less),
            "metrics-prop+cv-knn over the better of its parts: "
            + ", ".join(
                f"{e.pair} {e.ratio(checks.BINS, checks.better(e, checks.BIN)).value:.3f}"
                for e in sets
            ),
        ),
        Finding(
            "Hoeffding, R = 25",
            "Hoeffding's bound with the true range covers always, and is an order of magnitude "
            "too wide.",
            each(checks.too_wide),
        ),
        Finding(
            "Hoeffding, oracle R",
            "With the range that the answers suggest (4 and 7) it is calibrated: it covers more "
            "than 95 % for docs-prop+cv-knn.",
            each(checks.calibrated),
        ),
        Finding(
            "standard deviation",
            "The standard deviation of the error is uncomfortably near the error itself.",
            each(checks.near),
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
