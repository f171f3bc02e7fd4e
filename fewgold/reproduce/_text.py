"""A reproduction as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from fewgold.reproduce._findings import HOLDS, Finding

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reproduce._saldias import Reproduction

WIDTH = 100
TITLES = {
    "table1": "Table 1: stratified sampling",
    "table2": "Table 2: incremental stratified sampling",
    "table3": "Table 3: control variates",
    "table4": "Table 4: stratified sampling with control variates",
    "table5": "Table 5: error bounds",
    "table6": "Table 6: two metrics, chosen beforehand",
    "metrics": "Table 9: metrics and their mean absolute correlation with the ratings",
}
KINDS = {
    "printed": "as printed",
    "reading": "another reading",
    "corrected": "corrected",
    "ours": "ours",
}
#: What a reader must know to compare.
DIFFERENCES = (
    "The paper predicts single raters on half of the documents (54 pairs of rater and system) with "
    "ten metrics that are not all public. Here it is the mean of three raters on all documents, "
    "nine systems, and the public metrics listed below. Errors are therefore smaller throughout; "
    "the ratio to the baseline is what can be compared."
)
TEST = (
    "The paper's test data are WMT21 news, which is not among the files: here are the WMT20 files "
    "with COMET and a form of BLEURT only, and WMT21 TED talks (one rater a segment, five talks, "
    "string metrics), the nearest to them. There are no data for English–Russian."
)
DEMO = (
    "These are the embedded synthetic data, not the WMT20 files: what holds here shows that the "
    "command works, and says nothing about the paper."
)
ERRORS = (
    "± are Monte-Carlo standard errors: they speak of the draws only. A finding holds, or "
    "does not, if its figures lie two of them beyond the limit; else it is not resolved."
)


def summary(made: Reproduction) -> str:
    """Findings, then tables."""
    parts = ["Saldías et al. (2022), made again", *(_wrap(text) for text in notes(made)), ""]
    parts += ["Findings", *(_finding(f) for f in made.findings), ""]
    for name, frame in made.tables.items():
        parts += [TITLES[name]]
        if name == "table3":
            used = ", ".join(f"{metric} ({data})" for data, metric in made.labels.items())
            parts += [_wrap(f"In the place of BLEURT the strongest metric: {used}.")]
        if name == "table6" and not is_demo(made):
            parts += [_wrap(TEST)]
        parts += [table_text(name, frame), ""]
    return "\n".join([*parts, made.signature])


def notes(made: Reproduction) -> list[str]:
    """What to know before reading the figures."""
    return [DEMO if is_demo(made) else DIFFERENCES, ERRORS]


def is_demo(made: Reproduction) -> bool:
    return any(name.startswith("demo-") for name in made.simulations)


def _wrap(text: str, indent: str = "") -> str:
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _finding(finding: Finding) -> str:
    indent = " " * 16
    first, *rest = _wrap(finding.sentence, indent).splitlines()
    lines = [f"  {finding.verdict.upper():14}{first.strip()}", *rest]
    for check in finding.checks:
        odd = "" if check.verdict == finding.verdict == HOLDS else f": {check.verdict}"
        lines.append(f"{indent}{check}{odd}")
    if finding.remark:
        lines.append(_wrap(f"({finding.remark})", indent))
    return "\n".join(lines)


def table_text(name: str, frame: pd.DataFrame) -> str:
    """A table for people, the printed value before ours."""
    show = {"table5": _bounds, "metrics": _metrics}.get(name, _errors)
    return show(frame)


def _errors(frame: pd.DataFrame) -> str:
    wide = max(8, *(len(s) for s in frame["strategy"]))
    head = (
        f"{'':{wide}}  {'error':^16}  {'sdev':^13}  {'win %':^13}  {'error/baseline':^22}\n"
        f"{'':{wide}}  {'paper':>6} {'here':>9}  {'paper':>6} {'here':>6}  {'paper':>6} "
        f"{'here':>6}  {'paper':>6} {'here':>15}"
    )
    lines = []
    for data, rows in frame.groupby(["data", "pair"], sort=False):
        lines += [f"{data[1]}" + (f" ({data[0]})" if data[0] else ": no data")]
        for kind, some in rows.groupby("kind", sort=False):
            if kind != "printed":
                lines.append(f"  {KINDS[str(kind)]}")
            for r in some.to_dict("records"):
                lines.append(
                    f"{r['strategy'] or r['method']:{wide}}  {_n(r['printed_error'], 3):>6} "
                    f"{_n(r['error'], 4):>9}  {_n(r['printed_sdev'], 3):>6} {_n(r['sdev'], 3):>6}  "
                    f"{_n(r['printed_win'], 1):>6} {_n(r['win'], 1):>6}  "
                    f"{_n(r['printed_ratio'], 3):>6} {_pm(r['ratio'], r['ratio_mc']):>15}"
                )
    return "\n".join([head, *lines])


def _bounds(frame: pd.DataFrame) -> str:
    head = (
        f"{'':30}  {'cal %':^18}  {'slack':^13}  {'t':^13}  {'error':>6}\n"
        f"{'':30}  {'paper':>6} {'here':>11}  {'paper':>6} {'here':>6}  {'paper':>6} {'here':>6}"
        f"  {'here':>6}"
    )
    lines = []
    for (data, bound, limit), rows in frame.groupby(["data", "bound", "R"], sort=False):
        lines.append(f"{data}, {bound}, R = {limit:g}")
        for r in rows.to_dict("records"):
            lines.append(
                f"  {r['size']:>3.0f} %  {r['estimator']:21}  {_n(r['printed_cal'], 0):>6} "
                f"{_pm(r['cal'], r['cal_mc'], 1):>11}  {_n(r['printed_slack'], 2):>6} "
                f"{_n(r['slack'], 2):>6}  {_n(r['printed_t'], 2):>6} {_n(r['t'], 2):>6}  "
                f"{_n(r['error'], 3):>6}"
            )
    return "\n".join([head, *lines])


def _metrics(frame: pd.DataFrame) -> str:
    lines = []
    for (data, used), rows in frame.groupby(["data", "used"], sort=False):
        lines.append(f"{data}, {used}, {rows['systems'].iloc[0]} systems")
        for r in rows.to_dict("records"):
            paper = f"paper {r['printed_metric'] or '–':18}{_n(r['printed_r'], 3):>6}   "
            here = f"here {r['metric'] or '–':18}{_n(r['r'], 3):>6}"
            lines.append("  " + (paper if used != "table 6" else "") + here)
    return "\n".join(lines)


def _n(value: float, digits: int) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f}"


def _pm(value: float, mc: float, digits: int = 3) -> str:
    return "–" if np.isnan(value) else f"{value:.{digits}f} ± {mc:.{digits}f}"
