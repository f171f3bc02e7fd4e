"""The section of raters and answers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.report._number import fixed
from fewgold.reporting._checks import ROWS
from fewgold.reporting._phrases import counted, shorter
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    from fewgold.report import Section


def answered(study: Study) -> Section:
    """Answers counted, raters compared, gaps listed."""
    c = study.counts
    items = []
    if "answers" in c:
        items += [
            ("answers used", f"{c['answers']} by {counted(c['raters'], 'rater')}"),
            ("segments with several raters", str(c["several_raters"])),
            ("answers given again by the same rater", str(c["repeats"])),
        ]
        if c["without_score"]:
            items.append(("answers without a score", str(c["without_score"])))
        if c["elsewhere"]:
            items.append(("answers for segments outside the sample", str(c["elsewhere"])))
    items += [("sampled but not rated", str(c["unrated"])), ("set aside", str(c["strays"]))]
    parts: list[Section] = [report.Facts("", items)]
    if study.raters is not None:
        parts += [_by_rater(study), *_agreeing(study)]
    if study.unrated:
        some = ", ".join(map(shorter, study.unrated[:100]))
        more = f" and {len(study.unrated) - 100} more" if len(study.unrated) > 100 else ""
        parts.append(report.Text("Not rated", f"{some}{more}"))
    return report.Group("Raters and answers", parts)


def _by_rater(study: Study) -> Section:
    raters = study.raters
    assert raters is not None
    kept = ["rater", "answers", "segments", "mean", "sd"]
    caption = "No segment has answers of two raters: agreement cannot be told."
    if raters["shared"].any():
        kept += ["shared", "deviation", "deviation_se", "correlation", "same"]
        caption = (
            "On the segments that others rated too. Against others: by how much above the mean of "
            "the others, ± standard error. Same: share of the others who gave the same score."
        )
    if len(raters) > ROWS:
        caption += f" The {ROWS} busiest of {len(raters)}."
    frame = raters[kept].head(ROWS)
    frame = frame.assign(rater=[shorter(r) for r in frame["rater"]])
    formats: dict[str, Any] = {c: lambda v: fixed(v, 2) for c in ("mean", "sd", "correlation")}
    formats["same"] = lambda v: f"{v:.0%}"
    names = {"deviation": "against others", "correlation": "r with others"}
    return report.Table(
        "Raters",
        frame,
        caption,
        {c: f for c, f in formats.items() if c in kept},
        {"deviation": "deviation_se"} if "deviation" in kept else {},
        {c: name for c, name in names.items() if c in kept},
    )


def _agreeing(study: Study) -> list[Section]:
    """How far raters agree, and what other raters like them might have said."""
    agreement = study.agreement
    if agreement is None:
        return []
    told = []
    if not math.isnan(agreement.alpha):
        told.append(
            f"Krippendorff's α is {fixed(agreement.alpha, 2)} for scores as numbers and "
            f"{fixed(agreement.alpha_nominal, 2)} for scores as categories, on {agreement.shared} "
            "segments that two or more rated: 1 is perfect agreement, 0 that of chance."
        )
    told.append("The interval of this report is for these answers of these raters.")
    wide = study.any_raters
    if wide is not None:
        told.append(
            f"For any raters like them the standard error is {study.shown(wide['se'])} and the "
            f"{study.level} interval {study.shown(wide['low'])} to {study.shown(wide['high'])} "
            f"(Student, approximate; roughly known from {len(agreement.table)} raters)."
        )
    told += [f"{note[:1].upper()}{note[1:]}." for note in agreement.notes]
    return [report.Text("Agreement", told)]
