"""The section of diagnostics: metrics, weights, strata and single segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.report._number import fixed
from fewgold.reporting._phrases import shorter
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    from fewgold.report import Section

#: Rows of a table; the rest is counted.
ROWS = 40
#: Relative difference of numbers that are equal but for rounding.
SAME = 1e-9


def diagnosed(study: Study) -> Section:
    """All checks that the study has the numbers for."""
    parts: list[Section] = []
    if len(study.correlations):
        parts += [_correlated(study), _alike(study)]
    parts.append(_weighted(study))
    strata = study.strata
    if strata is not None and len(strata) <= ROWS:
        caption = "Share: of the pool, by the weights."
        formats: dict[str, Any] = {"share": lambda v: f"{v:.1%}"}
        parts.append(report.Table("Strata", strata, caption, formats))
    elif strata is not None:
        fewest, most = int(strata["ratings"].min()), int(strata["ratings"].max())
        told = f"{len(strata)} strata, with {fewest} to {most} ratings each."
        parts.append(report.Text("Strata", told))
    if study.pulls is not None:
        parts.append(_pulling(study))
    lead = "" if len(study.correlations) else "The pool has no automatic metrics to compare with."
    return report.Group("Diagnostics", parts, lead)


def _correlated(study: Study) -> Section:
    frame = study.correlations
    shown = frame.head(ROWS).assign(metric=[shorter(m) for m in frame["metric"].head(ROWS)])
    caption = (
        f"Pearson's correlation over the pool, weighted as drawn, with its {study.level} interval. "
        "A metric that is lower for better output has the other sign."
    )
    formats: dict[str, Any] = dict.fromkeys(("r", "low", "high"), lambda v: fixed(v, 2))
    return report.Table("Metrics and human scores", shown, caption, formats)


def _alike(study: Study) -> Section:
    frame = study.likeness.head(ROWS)
    frame = frame.assign(metric=[shorter(m) for m in frame["metric"]])
    caption = (
        "Metric means of the rated segments, weighted as drawn, and of the pool. Difference: in "
        "standard deviations of the pool. Against chance: in standard errors of a plain random "
        "sample; beyond 2 is rare, beyond 3 suspicious."
    )
    formats: dict[str, Any] = {"difference": lambda v: fixed(v, 3), "chance": lambda v: fixed(v, 1)}
    names = {"pool": "pool mean", "sample": "sample mean", "chance": "against chance"}
    return report.Table("Sample and pool", frame, caption, formats, names=names)


def _weighted(study: Study) -> Section:
    w = study.weights
    effect = w["design_effect"]
    low, high, factor = w["weight_min"], w["weight_max"], w["weighting_effect"]
    assert low is not None and high is not None and factor is not None
    spread = "all equal" if high - low <= SAME * high else f"{low:.3g} to {high:.3g} (mean 1)"
    items = [
        ("weights", spread),
        ("effective sample size", f"{w['effective']:.4g} of {study.n}"),
        ("variance by unequal weights", f"× {factor:.3g}"),
        ("design effect, plain mean", "unknown" if effect is None else f"{effect:.2f}"),
    ]
    if study.documents is not None:
        d = study.documents
        each = f"{d['fewest']}" if d["fewest"] == d["most"] else f"{d['fewest']} to {d['most']}"
        items.append(("ratings in each document reached", each))
    return report.Facts("Weights and documents", items)


def _pulling(study: Study) -> Section:
    frame = study.pulls
    assert frame is not None
    for column in ("segment", "document"):
        if column in frame:
            frame = frame.assign(**{column: [shorter(v) for v in frame[column]]})
    caption = (
        "By how much a segment moves the estimate, and its share of the sum of all squares. If one "
        "dominates, look at its rating again."
    )
    formats: dict[str, Any] = {
        "pull": lambda v: f"{'+' if v > 0 else ''}{fixed(v, study.places + 1)}",
        "share": lambda v: f"{v:.0%}",
    }
    return report.Table("Segments that pull most", frame, caption, formats)
