"""The reproduction of Saldías et al. (2022) as text, figures and one HTML page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.common.text import cell
from fewgold.report.layout import figures_of
from fewgold.reproduce.findings import HOLDS, Claim, wrapped
from fewgold.reproduce.saldias_methods import lines

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reproduce.saldias_study import SaldiasReproduction

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


def summary(made: SaldiasReproduction) -> str:
    """Findings, then tables."""
    parts = ["Saldías et al. (2022), made again", *map(wrapped, notes(made)), ""]
    parts += ["Findings", *(_finding(f) for f in made.findings), ""]
    for name, frame in made.tables.items():
        parts += [TITLES[name]]
        if name == "table3":
            used = ", ".join(f"{metric} ({data})" for data, metric in made.labels.items())
            parts += [wrapped(f"In the place of BLEURT the strongest metric: {used}.")]
        if name == "table6" and not is_demo(made):
            parts += [wrapped(TEST)]
        show = {"table5": _bounds, "metrics": _metrics}.get(name, _errors)
        parts += [show(frame), ""]
    return "\n".join([*parts, made.signature])


def notes(made: SaldiasReproduction) -> list[str]:
    """What to know before reading the figures."""
    return [DEMO if is_demo(made) else DIFFERENCES, ERRORS]


def is_demo(made: SaldiasReproduction) -> bool:
    return any(name.startswith("demo-") for name in made.simulations)


def _finding(finding: Claim) -> str:
    indent = " " * 16
    first, *rest = wrapped(finding.sentence, indent).splitlines()
    lines = [f"  {finding.verdict.upper():14}{first.strip()}", *rest]
    for check in finding.checks:
        odd = "" if check.verdict == finding.verdict == HOLDS else f": {check.verdict}"
        lines.append(f"{indent}{check}{odd}")
    if finding.remark:
        lines.append(wrapped(f"({finding.remark})", indent))
    return "\n".join(lines)


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
                    f"{r['strategy'] or r['method']:{wide}}  {cell(r['printed_error'], 3):>6} "
                    f"{cell(r['error'], 4):>9}  {cell(r['printed_sdev'], 3):>6} "
                    f"{cell(r['sdev'], 3):>6}  "
                    f"{cell(r['printed_win'], 1):>6} {cell(r['win'], 1):>6}  "
                    f"{cell(r['printed_ratio'], 3):>6} {cell(r['ratio'], 3, r['ratio_mc']):>15}"
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
                f"  {r['size']:>3.0f} %  {r['estimator']:21}  {cell(r['printed_cal'], 0):>6} "
                f"{cell(r['cal'], 1, r['cal_mc']):>11}  {cell(r['printed_slack'], 2):>6} "
                f"{cell(r['slack'], 2):>6}  {cell(r['printed_t'], 2):>6} {cell(r['t'], 2):>6}  "
                f"{cell(r['error'], 3):>6}"
            )
    return "\n".join([head, *lines])


def _metrics(frame: pd.DataFrame) -> str:
    lines = []
    for (data, used), rows in frame.groupby(["data", "used"], sort=False):
        lines.append(f"{data}, {used}, {rows['systems'].iloc[0]} systems")
        for r in rows.to_dict("records"):
            paper = f"paper {r['printed_metric'] or '–':18}{cell(r['printed_r'], 3):>6}   "
            here = f"here {r['metric'] or '–':18}{cell(r['r'], 3):>6}"
            lines.append("  " + (paper if used != "table 6" else "") + here)
    return "\n".join(lines)


#: What is said below each figure.
CAPTION = (
    "Mean absolute error against the share rated, as printed; bands: ± one standard deviation."
)
_BESIDE = "“paper” is as printed there; ± are Monte-Carlo errors of ours."
_ERRORS = (
    f"{_BESIDE} Ratio: error over that of the baseline, which is what can be compared; win: cells "
    "with a lower error than the baseline's, in per cent."
)
_BOUNDS = (
    f"{_BESIDE} cal: intervals that hold the truth, in per cent; t: half-width; slack: t less the "
    "error; base: the mean of a random sample; best: docs-prop+cv-knn."
)
# Columns of a table on the page, in their order, and what they are called there.
_COLUMNS: dict[str, dict[str, str]] = {
    "errors": {
        **{"strategy": "strategy", "data": "data", "kind": "form"},
        **{"printed_ratio": "ratio, paper", "ratio": "ratio"},
        **{"printed_error": "error, paper", "error": "error"},
        **{"printed_win": "win, paper", "win": "win"},
        **{"printed_sdev": "sdev, paper", "sdev": "sdev"},
    },
    "table5": {
        **{"estimator": "estimate", "data": "data", "bound": "bound", "R": "R", "size": "rated %"},
        **{"printed_cal": "cal, paper", "cal": "cal"},
        **{"printed_slack": "slack, paper", "slack": "slack"},
        **{"printed_t": "t, paper", "t": "t", "error": "error"},
    },
    "metrics": {
        **{"metric": "metric", "r": "r", "data": "data", "used": "for"},
        **{"printed_metric": "metric, paper", "printed_r": "r, paper"},
    },
}
_FORMATS = {
    **dict.fromkeys(("printed_error", "printed_sdev", "printed_ratio", "printed_r", "r"), ".3f"),
    **dict.fromkeys(("printed_slack", "printed_t", "t"), ".2f"),
    **{"printed_win": ".1f", "win": ".1f", "printed_cal": ".0f", "error": ".4f", "sdev": ".3f"},
    **{"R": ".0f", "size": ".0f"},
}
# Errors that tell something; those of win and sdev would only make the table wider.
_PLUS_MINUS = ("ratio", "cal", "slack")


#: The figures of the paper, by the table that has the same methods.
FIGURES = {
    "figure2": ("table1", "Figure 2: stratified sampling"),
    "figure3": ("table3", "Figure 3: control variates"),
    "figure4": ("table4", "Figure 4: stratified sampling with control variates"),
    "figure5": ("table6", "Figure 5: two metrics, chosen beforehand"),
}


def page(made: SaldiasReproduction, drawn: Mapping[str, Any]) -> str:
    """The whole result on one page."""
    import pandas as pd

    verdicts = pd.DataFrame(
        [(f.verdict, f.sentence) for f in made.findings], columns=["verdict", "what the paper says"]
    )
    said = "What the paper says, and whether these data agree."
    sections: list[Any] = [report.Table("Findings", verdicts, said), _checks(made)]
    remarks = [f"{f.name}: {f.remark}." for f in made.findings if f.remark]
    if remarks:
        sections.append(report.Text("Remarks", remarks))
    for name, frame in made.tables.items():
        sections.append(_table(made, name, frame))
        for figure, (table, title) in FIGURES.items():
            if table == name and figure in drawn:
                svg = plots.to_svg(drawn[figure], alt=f"{title}. {CAPTION}")
                sections.append(report.Figure(title, svg, CAPTION))
    return report.page("Saldías et al. (2022), made again", notes(made), sections, made.signature)


def _table(made: SaldiasReproduction, name: str, frame: pd.DataFrame) -> report.Table:
    kind = name if name in _COLUMNS else "errors"
    names = _COLUMNS[kind]
    caption = {"errors": _ERRORS, "table5": _BOUNDS, "metrics": _BESIDE.partition(";")[0] + "."}
    note = f"{TEST} " if name == "table6" and not is_demo(made) else ""
    if "strategy" in frame:  # what has no data here has no strategy either
        shown = frame["strategy"].where(frame["strategy"] != "", frame["method"])
        kinds = frame["kind"].map(KINDS).fillna(frame["kind"])
        frame = frame.assign(strategy=shown, kind=kinds)
    errors = {c: f"{c}_mc" for c in _PLUS_MINUS if f"{c}_mc" in frame}
    return report.Table(
        TITLES[name],
        frame[[*names, *errors.values()]],
        note + caption[kind],
        formats={c: f for c, f in _FORMATS.items() if c in names and c not in errors},
        errors=errors,
        names=names,
    )


def _checks(made: SaldiasReproduction) -> report.Table:
    import pandas as pd

    rows = [
        (f.name, c.data, c.verdict, c.what, c.value, c.mc, f"{c.side} {c.limit:g}", c.printed)
        for f in made.findings
        for c in f.checks
    ]
    columns = ["finding", "data", "verdict", "figure", "here", "mc", "should be", "paper"]
    frame = pd.DataFrame(rows, columns=columns).astype({"paper": "float64"})
    caption = f"{_BESIDE} A figure holds if it lies two of them beyond its limit."
    return report.Table(
        *("The figures behind them", frame, caption),
        formats={"paper": ".3f"},
        errors={"here": "mc"},
    )


_PANEL = 5.2  # inches


def figures(made: SaldiasReproduction) -> dict[str, Any]:
    """Figures 2 to 5, the data sets side by side; none where matplotlib is not installed."""

    def draw(name: str) -> Any:
        from matplotlib.figure import Figure

        table, _ = FIGURES[name]
        runs = {
            key.removesuffix("/two"): run
            for key, run in made.simulations.items()
            if key.endswith("/two") == (table == "table6")
        }
        figure = Figure(figsize=(_PANEL * len(runs), 4.0), dpi=100, layout="constrained")
        axes = figure.subplots(1, len(runs), squeeze=False)[0]
        for ax, (data, run) in zip(axes, runs.items(), strict=True):
            first = made.labels.get(data, "")
            shown = {n.strategy: n.method for n in lines(table, first) if n.kind == "printed"}
            names = shown | {s: f"cv-{first}" for s, m in shown.items() if m == "cv-bleurt"}
            frame = run.by_budget()
            frame = frame[frame["strategy"].isin(shown)]
            frame = frame.assign(strategy=frame["strategy"].map(names))
            # The methods in the order of the table, so that panels share their colours.
            plots.error_curves(
                *(frame, ax), baseline="baseline", highlight=list(names.values()), band="sd",
                title=data,
            )  # fmt: skip
        return figure

    return figures_of(draw, list(FIGURES))
