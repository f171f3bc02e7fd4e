"""``fewgold roc``: how well metrics tell adequate from inadequate, system by system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fewgold.cli import input, options, parse
from fewgold.cli.console import draw, emit, table
from fewgold.cli.options import Json, Output, Quiet, argument, described, flag, option

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
_COLUMNS = "Columns"

ThresholdRule = Annotated[
    Literal["equal", "information"],
    described("NAME", "Threshold: equal (least |ρ-η|) or information (K)."),
]


def roc(
    file: str = argument(..., "FILE", "Table of human and metric scores; - is CSV on stdin."),
    human: str = option(..., "COLUMN", "Human scores.", panel=_COLUMNS),
    adequate: str | None = option(
        None, "CUT", "Which human scores are adequate, such as '<=0'; not for 0 and 1."
    ),
    metrics: str | None = option(None, "A,B,…", "Automatic metrics.", panel=_COLUMNS),
    system: str | None = option(None, "COLUMN", "Systems; none for none.", panel=_COLUMNS),
    orientation: str | None = option(None, "A=+1,B=-1", "As for select.", panel=_COLUMNS),
    rule: ThresholdRule = "equal",
    per_system: bool = flag(False, "--per-system", "A threshold for each system, not one for all."),
    strict: bool = flag(False, "--strict", "Adequate is > the threshold, not >=."),
    confidence: str = option("0.95", "LEVEL", "Of the intervals of the AUC."),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how well metrics tell adequate from inadequate, and for which systems.

    A threshold turns a metric into yes and no. ρ is the share of adequate
    outputs that it then recognises, η that of inadequate ones, K how much
    it tells (0 to 1), and the AUC sums up all thresholds.

    Example: [bold]fewgold roc rated.csv --human mqm --adequate '<=0'[/bold]
    """
    from fewgold.bayes import roc_table
    from fewgold.errors import DataError

    passing = parse.cut("--adequate", adequate)
    level = parse.confidence(confidence)
    ways = parse.orientation(orientation)
    told = parse.names(metrics)
    seen = input.understand(
        input.read_table(file, quiet), quiet, human=[human], system=system, texts=[],
        metrics=told or None, need_id=False,
    )  # fmt: skip
    table, system, chosen = seen.table, seen.system, list(seen.metrics)
    if not chosen:
        raise DataError("no column looks like a metric. Name them with --metrics.")
    found = roc_table(
        table, human=human, metrics=chosen, system=system, adequate=passing, rule=rule,
        per_system=per_system, strict=strict, confidence=level,
        orientation={name: way for name, way in ways.items() if name in chosen},
    )  # fmt: skip
    frame = found.to_frame()
    several = (frame.groupby("metric")["system"].nunique() > 2).any()
    apart = found.heterogeneity() if several else None
    written = draw(found.plot, out, quiet)
    record = {
        "human": human, "adequate": None if passing is None else str(passing),
        "rule": rule, "confidence": level, "rows": frame.to_dict("records"),
        "heterogeneity": [] if apart is None else apart.to_dict("records"),
        "files": list(map(str, written)),
    }  # fmt: skip

    def text(console: Console) -> None:
        _show(console, frame, apart, level)
        for path in written:
            print(f"written: {path}")

    rows: Any = frame.to_dict("records")
    emit("json" if json else output, record, rows, text)


def _show(out: Console, frame: pd.DataFrame, apart: pd.DataFrame | None, level: float) -> None:
    """A table for each metric, and what the systems have in common."""
    from rich.text import Text

    from fewgold.bayes.roc import texts

    for metric, found in texts(frame, apart, level).items():
        out.print(Text.assemble((metric, "bold"), f" {found.where}"))
        shown = table("", *found.heads[1:])
        for system, *cells in found.rows:
            shown.add_row(Text(system), *cells)
        out.print(shown)
        for sentence in found.notes:
            out.print(Text(sentence))
        print()
