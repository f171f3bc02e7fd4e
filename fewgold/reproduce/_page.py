"""A reproduction as one HTML page: verdicts, then tables with the printed values beside ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.reproduce import _text

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reproduce._saldias import Reproduction

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


def page(made: Reproduction, drawn: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """The whole result; ``figures`` are names and titles by the table with the same methods."""
    sections: list[Any] = [_verdicts(made), _checks(made), *_remarks(made)]
    for name, frame in made.tables.items():
        sections.append(_table(made, name, frame))
        figure, title = figures.get(name, ("", ""))
        if figure in drawn:
            svg = plots.to_svg(drawn[figure], alt=f"{title}. {CAPTION}")
            sections.append(report.Figure(title, svg, CAPTION))
    return report.page(
        "Saldías et al. (2022), made again", _text.notes(made), sections, made.signature
    )


def _table(made: Reproduction, name: str, frame: pd.DataFrame) -> report.Table:
    kind = name if name in _COLUMNS else "errors"
    names = _COLUMNS[kind]
    caption = {"errors": _ERRORS, "table5": _BOUNDS, "metrics": _BESIDE.partition(";")[0] + "."}
    note = f"{_text.TEST} " if name == "table6" and not _text.is_demo(made) else ""
    if "strategy" in frame:  # what has no data here has no strategy either
        shown = frame["strategy"].where(frame["strategy"] != "", frame["method"])
        kinds = frame["kind"].map(_text.KINDS).fillna(frame["kind"])
        frame = frame.assign(strategy=shown, kind=kinds)
    errors = {c: f"{c}_mc" for c in _PLUS_MINUS if f"{c}_mc" in frame}
    return report.Table(
        _text.TITLES[name],
        frame[[*names, *errors.values()]],
        note + caption[kind],
        formats={c: f for c, f in _FORMATS.items() if c in names and c not in errors},
        errors=errors,
        names=names,
    )


def _verdicts(made: Reproduction) -> report.Table:
    import pandas as pd

    rows = [(f.verdict, f.sentence) for f in made.findings]
    frame = pd.DataFrame(rows, columns=["verdict", "what the paper says"])
    return report.Table("Findings", frame, "What the paper says, and whether these data agree.")


def _checks(made: Reproduction) -> report.Table:
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


def _remarks(made: Reproduction) -> list[report.Text]:
    said = [f"{f.name}: {f.remark}." for f in made.findings if f.remark]
    return [report.Text("Remarks", said)] if said else []
