"""What stands above everything in a report: the number, its interval, and the warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold import report
from fewgold.reporting import _words
from fewgold.reporting._notes import notes
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    from fewgold.report import Section

_UNKNOWN = "unknown: the ratings do not tell"


def top(study: Study) -> list[Section]:
    """What stands above everything: the number, and the warnings."""
    record = study.record
    lines = [interval_line(study)]
    if study.exact:
        lines = ["Exact for these ratings: every segment was rated, nothing was left to chance."]
    elif record["low"] is not None and record["high"] is not None:
        lines.append(_words.promise(record["bound_kind"], study.level))
    share = f"{study.n / study.size:.1%}"
    lines.append(f"From {study.n} rated of {study.size} segments ({share}).")
    what = study.what[:1].upper() + study.what[1:]
    whole = "" if what.startswith("Success") else f" of all {study.size} segments"
    if "segments" in what:
        whole = f", among all {study.size}"
    found: list[Section] = [
        report.Headline(f"{what}{whole}, estimated", study.shown(record["value"]), lines)
    ]
    warnings = notes(study)
    if warnings:
        found.append(report.Notes("Before you use this number", warnings))
    return found


def interval_line(study: Study) -> str:
    """The interval with its label."""
    found = ends(study)
    label = "" if found == _UNKNOWN else f" ({study.record['bound_label']})"
    return f"{study.level} interval: {found}{label}"


def ends(study: Study) -> str:
    low, high = study.record["low"], study.record["high"]
    if low is None or high is None:
        return _UNKNOWN
    return f"{study.shown(low)} to {study.shown(high)}"
