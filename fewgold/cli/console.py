"""What the commands print: results in four formats, notes on stderr, progress, exit codes."""

from __future__ import annotations

import csv
import json
import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from fewgold.cli.options import OutputFormat
from fewgold.common.text import latex, latex_table, plain_value

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

BAD_DATA = 3
WIDTH = 80


def fail(sentence: str) -> NoReturn:
    """Print what is wrong with the data, and exit."""
    print(f"error: {sentence}", file=sys.stderr)
    raise typer.Exit(BAD_DATA)


def say(sentence: str, quiet: bool) -> None:
    """Print a message on stderr that is not part of the result."""
    if not quiet:
        print(sentence, file=sys.stderr)


def note(sentence: str, quiet: bool) -> None:
    """Print a note on stderr."""
    say(f"note: {sentence}", quiet)


def notes(sentences: Iterable[str], quiet: bool) -> None:
    for sentence in sentences:
        note(sentence, quiet)


def no_plots(quiet: bool, what: str = "plots") -> None:
    """Print why nothing is drawn."""
    note(f'no {what} without matplotlib. pip install "fewgold[plots]"', quiet)


def draw(plot: Callable[[], Any], path: Path | None, quiet: bool) -> list[Path]:
    """Write a figure to a file, and return its path. Without matplotlib, print a note and go
    on."""
    if path is None:
        return []
    from fewgold.plots import save
    from fewgold.plots.style import available

    if not available():
        no_plots(quiet, "plot")
        return []
    save(plot(), path)
    return [path]


def save_all(result: Any, folder: Path | None, quiet: bool) -> list[Path]:
    """Let a result write its files into a folder. Print a note if figures cannot be drawn."""
    written: list[Path] = [] if folder is None else result.save(folder)
    if folder is not None and not any(path.suffix == ".png" for path in written):
        no_plots(quiet)
    return written


def print_summary(summary: str, written: Sequence[Path]) -> None:
    """Print text for people, and the files that were written."""
    print(summary)
    if written:
        print(f"\nwritten: {', '.join(map(str, written))}")


@contextmanager
def resumable(store: Path | None) -> Iterator[None]:
    """If a long run is interrupted, print where the finished cells are."""
    try:
        yield
    except KeyboardInterrupt:
        if store is not None:
            kept = f"the cells finished so far are in {store}"
            print(f"\ninterrupted; {kept}. Continue with --resume.", file=sys.stderr)
        raise


def sheet_suffix() -> str:
    """Extension of a suggested sheet: a workbook if one can be written."""
    from importlib.util import find_spec

    return ".csv" if find_spec("openpyxl") is None else ".xlsx"


def progress(sentence: str, quiet: bool) -> None:
    """Show on a terminal what is running, on a line that is overwritten."""
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
    how: OutputFormat,
    record: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    text: Callable[[Console], None],
    paper: Callable[[], PaperTable] | None = None,
) -> None:
    """Print a result: the whole record as JSON, its rows as a table, or plain text.

    ``paper`` builds the table that a paper would print, for LaTeX; the default has all rows.
    """
    if how == "json":
        print(to_json(record))
    elif how == "text":
        text(console())
    elif how == "latex" and paper is not None:
        print(latex(*paper()))
    else:
        names = list(rows[0])
        cells = [["" if v is None else str(v) for v in plain_value(list(r.values()))] for r in rows]
        if how == "csv":
            csv.writer(sys.stdout, lineterminator="\n").writerows([names, *cells])
        else:
            print(latex_table(rows))


def show(json: bool, record: Mapping[str, Any], text: Callable[[Console], None]) -> None:
    """Print a result as JSON or plain text."""
    emit("json" if json else "text", record, [], text)


def to_json(record: Mapping[str, Any]) -> str:
    """JSON of a record that may hold numpy's types, paths and infinities."""
    return json.dumps(plain_value(record), indent=2, ensure_ascii=False, allow_nan=False)


#: Column heads, rows (None draws a line between groups), and remarks for the typesetter.
PaperTable = tuple[Sequence[str], Sequence[Sequence[str] | None], Sequence[str]]


def escape(text: str) -> str:
    """Escapes text so that rich prints it unchanged."""
    from rich.markup import escape as escaped

    return escaped(text)


def quoted(text: str) -> str:
    """Quotes a word for the shell, and escapes it for rich."""
    return escape(shlex.quote(text))


def table(*heads: str, left: int = 1, wrap: int = 0) -> Table:
    """An empty table without lines. The first ``left`` columns hold text, the others numbers.

    Text may wrap in the first ``wrap`` columns.
    """
    from rich.table import Table

    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="cyan")
    for k, head in enumerate(heads):
        made.add_column(head, justify="left" if k < left else "right", no_wrap=k >= wrap)
    return made


def pairs(out: Console, lines: Sequence[tuple[str, str]]) -> None:
    """Names and their values, in two columns."""
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
    """Bullet points, with wrapped lines indented."""
    if sentences:
        pairs(out, [("[yellow]note:[/yellow]", escape(sentence)) for sentence in sentences])


@contextmanager
def progress_bars(quiet: bool) -> Iterator[Any]:
    """Progress bars on stderr, if it is a terminal: ``show(name, done, total)``, one bar per
    name."""
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


class _Noticing:
    """A stream that notes when something is written to it."""

    def __init__(self, stream: Any, before: Callable[[str], None]) -> None:
        self._stream, self._before = stream, before

    def write(self, text: str) -> int:
        self._before(text)
        return int(self._stream.write(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def working(name: str, quiet: bool, after: float = 2.0) -> Iterator[None]:
    """Show on a terminal that a command is still working once it has been silent for a while.

    The line disappears as soon as anything else is printed, and is not shown while a progress bar
    is on the screen.
    """
    if quiet or not sys.stderr.isatty():
        yield
        return
    out, err = sys.stdout, sys.stderr
    lock, done = threading.RLock(), threading.Event()
    started = last = time.monotonic()
    shown = occupied = False

    def printed(text: str) -> None:
        nonlocal last, shown, occupied
        with lock:
            if shown:
                err.write("\r\x1b[K")
                err.flush()
            shown, last = False, time.monotonic()
            occupied = not text.endswith(("\n", "\r\x1b[K")) if text else occupied

    def beat() -> None:
        nonlocal shown
        while not done.wait(after / 4):
            with lock:
                now = time.monotonic()
                if not occupied and now - last >= after and not done.is_set():
                    err.write(f"\r\x1b[Kfewgold {name} is working: {now - started:.0f} s")
                    err.flush()
                    shown = True

    thread = threading.Thread(target=beat, daemon=True)
    sys.stderr = _Noticing(err, printed)
    if out.isatty():
        sys.stdout = _Noticing(out, printed)
    thread.start()
    try:
        yield
    finally:
        done.set()
        printed("")
        thread.join()
        sys.stdout, sys.stderr = out, err
