"""The sections of the report, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold import report
from fewgold.reporting import _figures, _paper
from fewgold.reporting._against import others, saving
from fewgold.reporting._checks import SAME, diagnosed
from fewgold.reporting._commands import commands
from fewgold.reporting._people import answered
from fewgold.reporting._phrases import rounded, shorter
from fewgold.reporting._sampled import sampled
from fewgold.reporting._study import Study
from fewgold.reporting._top import ends

if TYPE_CHECKING:
    from fewgold.report import Section


def sections(study: Study, *, drawn: bool) -> list[Section]:
    """All sections; with figures if they are to be ``drawn``."""
    found: list[Section] = [_glance(study), sampled(study), saving(study)]
    if drawn and _figures.available():
        figures = _figures.figures(study)
        if figures:
            found.append(report.Group("Figures", figures, beside=True))
    elif drawn:
        found.append(report.Text("Figures", _figures.WITHOUT))
    found += [others(study), diagnosed(study), answered(study), _to_cite(study)]
    found.append(
        report.Group(
            "How to do it again",
            [report.Code("", commands(study), "sh")],
            "The same pool, options and seed draw the same segments; the signature tells whether "
            "pool, ratings and version are those of this report.",
        )
    )
    return found


def _glance(study: Study) -> Section:
    record = study.record
    error = "posterior standard deviation" if study.linear is None else "standard error"
    items = [
        (f"{study.level} interval", ends(study)),
        (error, study.shown(record["se"])),
        ("rated", f"{study.n} of {study.size} segments"),
    ]
    if study.documents is not None:
        items.append(
            ("documents reached", f"{study.documents['sample']} of {study.documents['pool']}")
        )
    if study.saved.plain is not None and not study.plain:
        items.append(("as good as", f"about {rounded(study.saved.plain)} plain random ratings"))
    items += _wished(study)
    known = ("tolerance", "commands", "pool_file", "gaps", "score", "worst_case")
    items += [
        (shorter(key), shorter(value, 200))
        for key, value in study.context.items()
        if key not in known and value is not None
    ]
    return report.Facts("At a glance", items)


def _wished(study: Study) -> list[tuple[str, str]]:
    tolerance = study.context.get("tolerance")
    if tolerance is None:
        return []
    half = study.half_width
    items = [("half-width asked for", f"± {tolerance:g}")]
    if half is None:
        return items
    if half <= tolerance * (1 + SAME):
        return [*items, ("half-width reached", f"± {study.shown(half)}")]
    items.append(("half-width so far", f"± {study.shown(half)}"))
    if study.needed is not None and study.needed > study.n:
        items.append(("still to rate for it", f"about {rounded(study.needed - study.n)}"))
    return items


def _to_cite(study: Study) -> Section:
    papers = _paper.references(study)
    parts: list[Section] = [
        report.Code("Signature", study.record["signature"]),
        report.Code("Methods, to paste", _paper.methods(study)),
        report.Code("To cite fewgold", _paper.BIBTEX, "bibtex"),
    ]
    if papers:
        parts.append(report.Items("Methods used", papers))
    return report.Group("For your paper", parts)
