"""What the commands share: formats, notes on stderr, exit codes."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from fewgold._text import plain_value

if TYPE_CHECKING:
    from rich.console import Console

BAD_DATA = 3
WIDTH = 80


class Format(StrEnum):
    """How a result is printed."""

    text = "text"
    json = "json"
    csv = "csv"
    latex = "latex"


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes on stderr.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]
Output = Annotated[
    Format, typer.Option("--format", help="text, json, csv or latex.", metavar="FORMAT")
]


def fail(sentence: str) -> NoReturn:
    """Say what is wrong with the data and leave."""
    print(f"error: {sentence}", file=sys.stderr)
    raise typer.Exit(BAD_DATA)


def note(sentence: str, quiet: bool) -> None:
    """Say something on stderr that is not a result."""
    if not quiet:
        print(sentence, file=sys.stderr)


def sheet_suffix() -> str:
    """How a proposed sheet ends: a workbook where one can be written."""
    from importlib.util import find_spec

    return ".csv" if find_spec("openpyxl") is None else ".xlsx"


def drawn(save: Callable[[Any], object], plot: Callable[[], Any], quiet: bool) -> bool:
    """Draw and save a figure; without matplotlib say so and go on: the numbers are worth having."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        note('note: no plot without matplotlib. pip install "fewgold[plots]"', quiet)
        return False
    save(plot())
    return True


def progress(sentence: str, quiet: bool) -> None:
    """Say what takes time, where somebody is looking; the line is overwritten."""
    if not quiet and sys.stderr.isatty():
        print(f"\r\x1b[K{sentence}", end="", file=sys.stderr, flush=True)


def console() -> Console:
    """Standard output, at most 80 columns wide: long lines are hard to read."""
    from rich.console import Console

    class Quietly(Console):
        def on_broken_pipe(self) -> None:  # rich would exit with an error code
            raise BrokenPipeError

    made = Quietly(highlight=False, soft_wrap=False)
    made.width = min(made.width, WIDTH)
    return made


def emit(
    how: Format,
    record: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    text: Callable[[Console], None],
) -> None:
    """Print a result: the whole record as JSON, its rows as a table, or text for people."""
    if how is Format.json:
        print(to_json(record))
    elif how is Format.text:
        text(console())
    else:
        names = list(rows[0])
        cells = [["" if v is None else str(v) for v in plain_value(list(r.values()))] for r in rows]
        if how is Format.csv:
            csv.writer(sys.stdout, lineterminator="\n").writerows([names, *cells])
        else:
            print(_latex(names, [[_short(v) for v in plain_value(list(r.values()))] for r in rows]))


def to_json(record: Mapping[str, Any]) -> str:
    """JSON of a record that may hold numpy's types, paths and infinities."""
    return json.dumps(plain_value(record), indent=2, ensure_ascii=False, allow_nan=False)


def _short(value: Any) -> str:
    """A cell of a printed table: four digits that count."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return "" if value is None else str(value)


def _latex(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def line(cells: Sequence[str]) -> str:
        return " & ".join("".join(_ESCAPES.get(c, c) for c in cell) for cell in cells) + r" \\"

    body = [r"\toprule", line(names), r"\midrule", *map(line, rows), r"\bottomrule"]
    return "\n".join([rf"\begin{{tabular}}{{{'l' * len(names)}}}", *body, r"\end{tabular}"])


_ESCAPES = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": "$|$"
}  # fmt: skip


def pairs(out: Console, lines: Sequence[tuple[str, str]]) -> None:
    """A list of names and what belongs to them, in two columns."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, what in lines:
        table.add_row(name, Text.from_markup(what))
    out.print(Padding(table, (0, 0, 0, 2)))


def remarks(out: Console, sentences: Sequence[str]) -> None:
    """Sentences that a reader must see, each with its lines under one another."""
    from rich.markup import escape

    if sentences:
        pairs(out, [("[yellow]note:[/yellow]", escape(sentence)) for sentence in sentences])


@contextmanager
def progress_bars(quiet: bool) -> Iterator[Any]:
    """Progress on stderr, where somebody is looking: ``show(name, done, total)``, a bar a name."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True
    ) as p:
        bars: dict[str, Any] = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in bars:
                bars[name] = p.add_task(name, total=total)
            p.update(bars[name], completed=done)

        yield show
