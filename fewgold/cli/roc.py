"""``fewgold roc``: how well metrics tell adequate from inadequate, system by system."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, parse
from fewgold.cli.console import Format, Json, Output, Quiet, drawn, emit

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

_COLUMNS = "Columns"


class Rule(StrEnum):
    """Rules for thresholds by name."""

    equal = "equal"
    information = "information"


def roc(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="Table of human and metric scores; - is CSV on stdin."),
    ],
    human: Annotated[
        str,
        typer.Option(metavar="COLUMN", help="Human scores.", rich_help_panel=_COLUMNS),
    ],
    adequate: Annotated[
        str | None,
        typer.Option(
            metavar="CUT", help="Which human scores are adequate, such as '<=0'; not for 0 and 1."
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Automatic metrics.", rich_help_panel=_COLUMNS),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Systems; none for none.", rich_help_panel=_COLUMNS),
    ] = None,
    orientation: Annotated[
        str | None,
        typer.Option(metavar="A=+1,B=-1", help="As for select.", rich_help_panel=_COLUMNS),
    ] = None,
    rule: Annotated[
        Rule,
        typer.Option(metavar="NAME", help="Threshold: equal (least |ρ-η|) or information (K)."),
    ] = Rule.equal,
    per_system: Annotated[
        bool, typer.Option("--per-system", help="A threshold for each system, not one for all.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Adequate is > the threshold, not >=.")
    ] = False,
    confidence: Annotated[
        str, typer.Option(metavar="LEVEL", help="Of the intervals of the AUC.")
    ] = "0.95",
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw the curves: .png, .svg or .pdf."),
    ] = None,
    output: Output = Format.text,
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
    from fewgold.plots import save

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
        table, human=human, metrics=chosen, system=system, adequate=passing, rule=rule.value,
        per_system=per_system, strict=strict, confidence=level,
        orientation={name: way for name, way in ways.items() if name in chosen},
    )  # fmt: skip
    frame = found.to_frame()
    several = (frame.groupby("metric")["system"].nunique() > 2).any()
    apart = found.heterogeneity() if several else None
    if out is not None and not drawn(partial(save, path=out), found.plot, quiet):
        out = None
    record = {
        "human": human, "adequate": None if passing is None else str(passing),
        "rule": rule.value, "confidence": level, "rows": frame.to_dict("records"),
        "heterogeneity": [] if apart is None else apart.to_dict("records"),
        "files": [] if out is None else [str(out)],
    }  # fmt: skip

    def text(console: Console) -> None:
        _show(console, frame, apart, level)
        if out is not None:
            print(f"written: {out}")

    rows: Any = frame.to_dict("records")
    emit(Format.json if json else output, record, rows, text)


def _show(out: Console, frame: pd.DataFrame, apart: pd.DataFrame | None, level: float) -> None:
    """A table for each metric, and what the systems have in common."""
    from rich.table import Table
    from rich.text import Text

    from fewgold.bayes.roc import texts

    for metric, found in texts(frame, apart, level).items():
        out.print(Text.assemble((metric, "bold"), f" {found.where}"))
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="cyan")
        table.add_column("", overflow="ellipsis", no_wrap=True)
        for head in found.heads[1:]:
            table.add_column(head, justify="right", no_wrap=True)
        for system, *cells in found.rows:
            table.add_row(Text(system), *cells)
        out.print(table)
        for sentence in found.notes:
            out.print(Text(sentence))
        print()
