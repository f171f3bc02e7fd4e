"""Pools on disk on the command line: which tables stay there, a bar while they are read."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.errors import DataError

if TYPE_CHECKING:
    from fewgold.roles import Roles
    from fewgold.sample import Sample
    from fewgold.stored import Engine, StoredPool

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
    from fewgold.cli._input import unrated
    from fewgold.roles import roles
    from fewgold.stored import StoredPool

    found = unrated(roles(StoredPool.peek(paths, engine), **named, orientation=signs, fill=False))
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
    from fewgold import files
    from fewgold.cli._input import noting

    record = files.read_record(side)
    with files.intact(side):
        kind = record["pool"].get("engine")
    engine = None if kind is None else start_engine(kind, None, quiet)
    if engine is not None and pool == "-":
        raise DataError("this pool stays on disk and cannot come from stdin. Name its files.")
    return files.load_sample(side, files.load_pool(side, pool, engine, noting(quiet)))


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
