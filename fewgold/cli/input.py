"""The one door by which commands read tables, and say what they took the columns for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import parse
from fewgold.cli.console import note
from fewgold.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.io.columns import Roles
    from fewgold.sample import Sample
    from fewgold.stored import Engine, StoredPool


def noting(quiet: bool) -> Callable[[str], None]:
    """Says sentences on stderr."""
    return lambda sentence: note(f"note: {sentence}", quiet)


def read_table(
    path: str, quiet: bool, *, pair: str | None = None, raters: bool = False
) -> pd.DataFrame:
    """A table, or published ratings as one; says what is odd about the file.

    ``raters`` keeps one row for each rater of published ratings; otherwise it is one per output.
    """
    from fewgold import sheets

    return sheets.open_table(path, noting(quiet), pair=pair, raters=raters)


def read_sheet(path: str, score: str | list[str], quiet: bool) -> pd.DataFrame:
    """A sheet that people filled in; says what is odd about the file and how scores are written."""
    from fewgold import io

    file = io.read_file(path)
    frame = file.frame()
    for sentence in file.notes:
        note(f"note: {sentence.rstrip('.')}", quiet)
    for name in [score] if isinstance(score, str) else score:
        how = io.column_of(frame[name], name).read_as if name in frame.columns else ""
        if how:
            note(f"note: {io.read_as_sentence(name, how)}", quiet)
    return frame


def understand(table: pd.DataFrame, quiet: bool, **named: Any) -> Roles:
    """The roles of the columns of rated data, with a note on what was guessed."""
    from fewgold.io.columns import roles

    found = roles(table, **named)
    for sentence in found.notes():
        note(f"note: {sentence}", quiet)
    return found


def unrated(found: Roles) -> Roles:
    """Roles in a table to choose from, where human scores are nothing but columns to leave out."""
    from fewgold.io.columns import MAYBE_HUMAN

    guessed = {k: v for k, v in found.guessed.items() if k not in ("human", "rater")}
    people = dict.fromkeys(found.human, MAYBE_HUMAN)
    return replace(found, human=(), guessed=guessed, left_out={**people, **found.left_out})


# Options that several commands have: what the columns of a table mean.


COLUMNS = "What the columns mean"

Id = Annotated[str | None, typer.Option(metavar="COLUMN", help="Ids.", rich_help_panel=COLUMNS)]
Document = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Documents.", rich_help_panel=COLUMNS)
]
Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…", help="Automatic metrics; none for none.", rich_help_panel=COLUMNS
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="COST",
        help="Cost of a rating: a column, or FIXED+PER*COLUMN such as 12+0.7*words, or "
        "12+0.7*words(output), which counts words.",
        rich_help_panel=COLUMNS,
    ),
]
System = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Systems; not shown.", rich_help_panel=COLUMNS),
]
Texts = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Texts to show to raters.", rich_help_panel=COLUMNS),
]
Orientation = Annotated[
    str | None,
    typer.Option(
        metavar="A=+1,B=-1",
        help="+1 where larger is better, -1 where larger is worse, 0 neither. Common metrics "
        "need none.",
        rich_help_panel=COLUMNS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="S", min=0, help="The same seed draws the same segments. Default: a new one."
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="See fewgold strategies. Default: the recommended one."),
]
Confidence = Annotated[
    str | None,
    typer.Option(metavar="LEVEL", help="Of the interval, such as 0.95 (default) or 95%."),
]


def named(
    id: str | None, document: str | None, metrics: str | None, cost: str | None,
    system: str | None, texts: str | None,
) -> dict[str, Any]:  # fmt: skip
    """What the user said of the columns, None where nothing."""
    return {
        "id": id,
        "document": document,
        "metrics": parse.names(metrics) if metrics is not None else None,
        "cost": cost,
        "system": system,
        "texts": parse.names(texts) if texts is not None else None,
    }


def single_system(table: pd.DataFrame, found: Roles) -> None:
    """Say what to do with a table of several systems, which would have each id several times."""
    from fewgold.errors import DataError

    system = found.columns["system"]
    if system is None or table[system].nunique() < 2 or table[found.columns["id"]].is_unique:
        return
    raise DataError(
        f"the column {system!r} holds {table[system].nunique()} systems. To compare them, choose "
        "segments to rate for all of them with fewgold select --shared; or keep the rows of one "
        "system."
    )


def typed(
    context: typer.Context,
    without: Collection[str],
    instead: Mapping[str, str | None] | None = None,
) -> list[str]:
    """The options of the running command as words for a shell, to give the same result again.

    Every option that was given is among them but those in ``without``, so that a new option is
    never forgotten. ``instead`` holds the words that settle what was guessed or drawn by lot, by
    parameter; None leaves what was typed.
    """
    found: list[str] = []
    for option in context.command.params:
        name = str(option.name)
        if option.param_type_name != "option" or name in without:
            continue
        source, value = context.get_parameter_source(name), context.params[name]
        settled = (instead or {}).get(name)
        if settled is None and (source is None or source.name.startswith("DEFAULT")):
            continue
        yes, *_ = sorted(option.opts, key=len, reverse=True)
        if settled is None and isinstance(value, bool):
            found.append(yes if value else option.secondary_opts[0])
        else:
            found += [yes, str(value) if settled is None else settled]
    return found


def listed(names: Sequence[str] | None) -> str | None:
    """Names as a list with commas; None where that would be read as something else."""
    text = ",".join(names or ())
    return text if parse.names(text) == list(names or ()) else None


# Pools on disk on the command line: which tables stay there, a bar while they are read.


_PANEL = "Pools on disk"
# Rows of a single Parquet file, above which it is not loaded unless asked for.
_MANY = 1_000_000


class EngineName(StrEnum):
    """What reads the pool."""

    auto = "auto"
    memory = "memory"
    duckdb = "duckdb"
    spark = "spark"


EngineOption = Annotated[
    EngineName,
    typer.Option(
        help="What reads Parquet: auto leaves several files, folders and files of over a million "
        "rows on disk; memory loads one file.",
        rich_help_panel=_PANEL,
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="What DuckDB may take, such as 2GB.", rich_help_panel=_PANEL),
]
Order = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Order of segments in their documents, for docs-whole and docs-chunks. Default: ids.",
        rich_help_panel=_PANEL,
    ),
]


def stays_on_disk(paths: Sequence[str], engine: EngineName) -> bool:
    """Whether a pool is read where it lies instead of being loaded."""
    first = paths[0]
    one_file = len(paths) == 1 and Path(first).is_file()
    if engine is EngineName.memory:
        if not one_file and first != "-":
            raise typer.BadParameter("--engine memory loads one file; several stay on disk.")
        return False
    if engine is not EngineName.auto:
        return True
    if len(paths) == 1 and Path(first).is_dir():
        from fewgold import formats

        return formats.recognise(first) is None  # not a tree of mt-metrics-eval
    if len(paths) > 1 or (set(first) & set("*?[") and not one_file):
        return True
    return one_file and first.lower().endswith((".parquet", ".pq")) and _rows(first) > _MANY


def _rows(path: str) -> int:
    """How many rows a Parquet file says that it has; 0 if it cannot be told here."""
    from importlib.util import find_spec

    if find_spec("duckdb") is None or find_spec("pyarrow") is None:
        return 0
    from pyarrow import ArrowException
    from pyarrow.parquet import read_metadata

    try:
        return int(read_metadata(path).num_rows)
    except (ArrowException, OSError):  # whoever loads it will say what is wrong
        return 0


def open_pool(
    paths: Sequence[str], named: Mapping[str, Any], signs: Mapping[str, int], order: str | None,
    engine: Engine,
) -> tuple[StoredPool, Roles, dict[str, Any]]:  # fmt: skip
    """The pool, the roles of its columns, and the columns to open it by once more."""
    from fewgold.io.columns import roles
    from fewgold.stored import StoredPool

    found = unrated(roles(StoredPool._peek(paths, engine), **named, orientation=signs, fill=False))
    columns: dict[str, Any] = {**found.columns, "order": order}
    return StoredPool(paths, engine=engine, **columns), found, columns


def start_engine(name: EngineName | str, memory: str | None, quiet: bool) -> Engine:
    """An engine that shows a bar."""
    from fewgold.stored import make_engine

    chosen = "duckdb" if name == EngineName.auto else str(name)
    shown = None if quiet or not sys.stderr.isatty() else _Bar()
    return make_engine(chosen, memory=memory, progress=shown)


def load_sample(side: str | Path, pool: str | None, quiet: bool) -> Sample:
    """The sample of a side file, from a pool in memory or on disk."""
    from fewgold import sheets

    record = sheets.read_record(side)
    with sheets.intact(side):
        kind = record["pool"].get("engine")
    engine = None if kind is None else start_engine(kind, None, quiet)
    if engine is not None and pool == "-":
        raise DataError("this pool stays on disk and cannot come from stdin. Name its files.")
    return sheets.load_sample(side, sheets.load_pool(side, pool, engine, noting(quiet)))


class _Bar:
    """A bar on stderr for the query that is running; it vanishes when that is done."""

    def __init__(self) -> None:
        self._live: Any = None

    def __call__(self, doing: str, share: float | None) -> None:
        if share is not None and share >= 1.0:
            self._stop()
            return
        if self._live is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
            self._live = Progress(*columns, console=Console(stderr=True), transient=True)
            self._live.start()
            self._task = self._live.add_task(doing, total=None if share is None else 1.0)
        known = {} if share is None else {"total": 1.0, "completed": share}
        self._live.update(self._task, description=doing, **known)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None
