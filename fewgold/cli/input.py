"""Reads tables for all commands, and reports which role each column was given."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import parse
from fewgold.cli.console import note, notes
from fewgold.cli.options import EngineName
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from fewgold.chosen import Labelled
    from fewgold.criteria import CriteriaRatings
    from fewgold.estimator import Estimator
    from fewgold.formats import Criterion
    from fewgold.io.columns import Roles
    from fewgold.pool import Pool
    from fewgold.sample import Ratings, Sample
    from fewgold.sheets import Record
    from fewgold.stored import Engine


def noting(quiet: bool) -> Callable[[str], None]:
    """Prints messages on stderr."""
    return lambda sentence: note(sentence, quiet)


def read_table(
    path: str, quiet: bool, *, pair: str | None = None, raters: bool = False
) -> pd.DataFrame:
    """Read a table, or published ratings as a table; print notes about anything odd in the file.

    ``raters`` keeps one row per rater of published ratings; otherwise there is one per output.
    """
    from fewgold import sheets

    return sheets.open_table(path, noting(quiet), pair=pair, raters=raters)


def read_sheet(path: str, score: str | list[str], quiet: bool) -> pd.DataFrame:
    """Read a sheet that people filled in; print notes about the file and about how scores are
    written."""
    from fewgold import io

    file = io.read_file(path)
    frame = file.frame()
    notes((sentence.rstrip(".") for sentence in file.notes), quiet)
    for name in [score] if isinstance(score, str) else score:
        how = io.column_of(frame[name], name).read_as if name in frame.columns else ""
        if how:
            note(io.read_as_sentence(name, how), quiet)
    return frame


def understand(table: pd.DataFrame, quiet: bool, *, fills: bool = True, **named: Any) -> Roles:
    """The roles of the columns of rated data; prints a note on what was guessed.

    ``fills``: gaps in metrics will be filled, so print a note about them.
    """
    from fewgold.io.columns import roles

    found = roles(table, **named)
    notes((found if fills else replace(found, gaps={})).notes(), quiet)
    return found


def unrated(found: Roles) -> Roles:
    """Roles in a table to sample from, in which human scores are only columns to ignore."""
    from fewgold.io.columns import MAYBE_HUMAN

    guessed = {k: v for k, v in found.guessed.items() if k not in ("human", "rater")}
    people = dict.fromkeys(found.human, MAYBE_HUMAN)
    return replace(found, human=(), guessed=guessed, left_out={**people, **found.left_out})


def systems_in(found: Roles) -> list[str]:
    """The systems of a table, in order of first appearance; empty if it has no such column."""
    from fewgold import io
    from fewgold.comparison.table import label

    system = found.columns["system"]
    if system is None:
        return []
    values = found.table[system].tolist()
    return list(dict.fromkeys(label(system, v) for v in values if not io.is_empty(v)))


def ids_differ(found: Roles) -> bool:
    """Whether ids are unique across all systems."""
    return bool(found.table[found.columns["id"]].is_unique)


def of_system(found: Roles, name: str) -> pd.DataFrame:
    """The rows of one system; all rows if the table has no such column."""
    known = systems_in(found)
    if len(known) < 2 and name not in known:
        return found.table  # a pool of one system; the name is only used in files of answers
    if name not in known:
        raise UnknownNameError("system", name, known)
    from fewgold.comparison.table import label

    system = found.columns["system"]
    own = [label(str(system), v) == name for v in found.table[system].tolist()]
    return found.table[own].reset_index(drop=True)


def single_system(table: pd.DataFrame, found: Roles) -> None:
    """Refuse a table of several systems, which would contain each id several times."""
    system = found.columns["system"]
    if system is None or table[system].nunique() < 2 or table[found.columns["id"]].is_unique:
        return
    raise DataError(
        f"the column {system!r} holds {table[system].nunique()} systems. To compare them, choose "
        "segments to rate for all of them with fewgold select --shared, or keep the rows of one "
        "system only."
    )


def is_campaign(path: str) -> bool:
    """Whether the path is a campaign. Loads the campaign modules only if it might be one."""
    if Path(path).suffix != ".fewgold" and not Path(path).is_dir():
        return False
    from fewgold import campaign

    return campaign.is_campaign(path)


# Pools on disk, and samples

# Rows of a single Parquet file, above which it is not loaded unless asked for.
_MANY = 1_000_000


def stays_on_disk(paths: Sequence[str], engine: EngineName) -> bool:
    """Whether a pool stays on disk instead of being loaded."""
    first = paths[0]
    one_file = len(paths) == 1 and Path(first).is_file()
    if engine == "memory":
        if not one_file and first != "-":
            raise typer.BadParameter("--engine memory loads one file; several stay on disk.")
        return False
    if engine != "auto":
        return True
    if len(paths) == 1 and Path(first).is_dir():
        from fewgold import formats

        return formats.recognise(first) is None and not is_table(first)  # not mt-metrics-eval
    if len(paths) > 1 or (set(first) & set("*?[") and not one_file):
        return True
    return one_file and first.lower().endswith((".parquet", ".pq")) and _rows(first) > _MANY


def is_table(folder: str) -> bool:
    """Whether a folder holds one table: evaluation logs, or a dataset of Hugging Face."""
    from fewgold import io
    from fewgold.formats import logs

    return io.is_dataset(folder) or logs.recognise(folder) is not None


def _rows(path: str) -> int:
    """Number of rows according to a Parquet file's metadata; 0 if unknown."""
    from importlib.util import find_spec

    if find_spec("duckdb") is None or find_spec("pyarrow") is None:
        return 0
    from pyarrow import ArrowException
    from pyarrow.parquet import read_metadata

    try:
        return int(read_metadata(path).num_rows)
    except (ArrowException, OSError):  # loading it will report the error
        return 0


def start_engine(name: EngineName | str, memory: str | None, quiet: bool) -> Engine:
    """An engine that shows a progress bar."""
    from fewgold.stored import make_engine

    chosen = "duckdb" if name == "auto" else str(name)
    shown = None if quiet or not sys.stderr.isatty() else _Bar()
    return make_engine(chosen, memory=memory, progress=shown)


def open_sheet(
    file: str, pool: str | None, design: str | None, quiet: bool
) -> tuple[Record, Sample]:
    """The design file and the sample of a sheet, from a pool in memory or on disk."""
    from fewgold import sheets

    if file == "-" and (design is None or pool == "-"):
        raise typer.BadParameter(
            "for a sheet on stdin name its design with --design FILE, and give the pool as a file."
        )
    record = sheets.read_record(sheets.design_path(file) if design is None else design)
    with sheets.intact(record.path):
        kind = record["pool"].get("engine")
    engine = None if kind is None else start_engine(kind, None, quiet)
    if engine is not None and pool == "-":
        raise DataError("a pool on disk cannot come from stdin. Name its files.")
    opened = sheets.load_pool(record, pool, engine, noting(quiet))
    return record, sheets.load_sample(record, opened)


def with_labels(
    file: str, human: Sequence[str] | None, labels: str | None, on: str | None, quiet: bool,
    *, raters: bool = False,
) -> pd.DataFrame:  # fmt: skip
    """A table, with the labels of a second file if there is one."""
    if (labels is None) != (on is None):
        raise typer.BadParameter("--labels FILE and --on COLUMN belong together.")
    table = read_table(file, quiet, raters=raters)
    if labels is None or on is None:
        return table
    from fewgold.chosen import join_labels

    only = human[0] if human and human[0] not in table.columns else None
    return join_labels(table, read_table(labels, quiet), on, only)


def columns_beside(
    file: str, ratings: Ratings, table: pd.DataFrame | None, sheet: str | None, id: str
) -> Callable[[str], NDArray[Any]]:
    """Finds a column for every segment of the pool, or for the rated ones only.

    ``table`` has one row per segment, in the order of the pool; it is None for campaigns and
    pools on disk, which keep documents, systems and texts. ``sheet`` is a file of rated segments.
    """
    import numpy as np

    from fewgold import io
    from fewgold.errors import UnknownNameError

    pool = ratings.sample.pool
    known: dict[str, Any] = {"document": pool.documents, "system": pool.system}
    known |= {**pool.texts, **pool.metrics}
    known = {name: values for name, values in known.items() if values is not None}
    if table is not None:
        known |= {str(name): table[name].to_numpy() for name in table.columns}

    def find(name: str) -> NDArray[Any]:
        if name in known:
            return np.asarray(known[name])
        frame = None if sheet is None else io.read_table(sheet)
        if frame is None or name not in frame.columns or name == id:
            hint = "Other columns can be kept when a campaign begins, with fewgold init --by."
            raise UnknownNameError(
                "column", name, known if table is None else table.columns,
                {"cli": hint if is_campaign(file) else ""},
            )  # fmt: skip
        rows = {str(i): k for k, i in enumerate(frame[id])}
        values = frame[name].to_numpy()
        return np.asarray([values[rows[str(i)]] for i in ratings.sample.ids])

    return find


def sliced(
    table: pd.DataFrame, system: str | None, by: str | None
) -> tuple[pd.DataFrame, str | None]:
    """The table with a column of systems crossed with slices, and its name."""
    from fewgold import io
    from fewgold.errors import UnknownNameError

    if by is None:
        return table, system
    several = system is not None and table[system].nunique() > 1
    names = [*([system] if several and system is not None else []), *parse.names(by)]
    table = io.with_paths(table, names)
    for name in names:
        if name not in table.columns:
            raise UnknownNameError("column", name, map(str, table.columns))
    cells = [["(empty)" if io.is_empty(v) else str(v) for v in table[n].tolist()] for n in names]
    label = ", ".join(names)
    return table.assign(**{label: [" / ".join(row) for row in zip(*cells, strict=True)]}), label


def labelled(
    file: str,
    chosen: str | None,
    quiet: bool,
    *,
    labels: str | None = None,
    on: str | None = None,
    **columns: Any,
) -> Labelled:
    """A table with labels on some rows, possibly from a second file, and how those rows were
    chosen."""
    from fewgold.chosen import CHOICES, Chosen, read_labelled

    how = Chosen.parse("random" if chosen is None else chosen)
    table = with_labels(file, columns.get("human"), labels, on, quiet)
    columns["id"] = columns.get("id") or on  # the columns that match labels identify the rows
    found = read_labelled(table, chosen=how, **columns)
    if chosen is None:
        n, size = number_of(found.scores), len(found.pool)
        raise DataError(
            f"{file!r} has labels on {n:,} of {size:,} rows (column {found.roles.human[0]}), but "
            "nothing says how those rows were chosen. If they are a random subset, add --chosen "
            f"random; else one of {CHOICES}. If it is a sheet of fewgold select, name its side "
            f"file with --design."
        )
    notes(found.notes, quiet)
    return found


def labelled_criteria(
    file: str,
    criteria: Sequence[Criterion],
    chosen: str | None,
    quiet: bool,
    *,
    labels: str | None = None,
    on: str | None = None,
    limits: tuple[float, float] | None = None,
    **columns: Any,
) -> tuple[CriteriaRatings, Callable[[], pd.DataFrame]]:
    """Like `labelled`, for a table with labels on several criteria; also its columns for slices."""
    from fewgold.chosen import CHOICES, join_labels, read_labelled
    from fewgold.criteria import from_table

    if chosen is None:
        raise DataError(
            "nothing says how the labelled rows were chosen. If they are a random subset, add "
            f"--chosen random; else one of {CHOICES}."
        )
    if (labels is None) != (on is None):
        raise typer.BadParameter("--labels FILE and --on COLUMN belong together.")
    table = read_table(file, quiet)
    if labels is not None and on is not None:
        table = join_labels(table, read_table(labels, quiet), on)
        columns["id"] = columns.get("id") or on
    columns.pop("human", None)
    found = from_table(table, criteria, chosen=chosen, limits=limits, **columns)
    notes(found.notes, quiet)
    first = criteria[0].name

    def beside() -> pd.DataFrame:
        return read_labelled(table, human=first, chosen=chosen, **columns).roles.table

    return found, beside


def chosen_criteria(
    asked: tuple[Criterion, ...], known: tuple[Criterion, ...]
) -> tuple[Criterion, ...]:
    """The criteria to estimate, with their scales where known."""
    if not asked or not known:
        return asked or known
    stored = {criterion.name: criterion for criterion in known}
    return tuple(stored.get(c.name, c) if c.spelled == c.name else c for c in asked)


def without_design(file: str, design: str | None) -> bool:
    """Whether a file is a table with labels on some rows, without the design file of a sample."""
    from fewgold import io, sheets
    from fewgold.io.columns import roles

    if design is not None or not Path(file).is_file() or sheets.design_path(file).is_file():
        return False
    try:
        table = io.read_table(file)
        found = roles(table, need_id=False)
    except DataError:
        return False
    names = [n for n in map(str, table.columns) if n not in (found.id, found.document)]
    return bool(found.metrics) or len(names) > len(found.human) + len(found.texts)


def estimator_for(name: str | None, pool: Pool) -> Estimator:
    """The estimator for existing labels: the one named, or the default."""
    from fewgold import registry
    from fewgold.labels import usual_estimator

    return usual_estimator(pool) if name is None else registry.estimator(name, pool)


def number_of(scores: Any) -> int:
    """Number of scores."""
    import numpy as np

    return int(np.isfinite(scores).sum())


def estimator_of(record: Mapping[str, Any], name: str | None, pool: Pool) -> Estimator:
    """The estimator named, or that of the strategy in the design file."""
    from fewgold import registry

    if name is None:
        with contextlib.suppress(UnknownNameError):  # a sampler written by the user in Python
            return registry.strategy(record["strategy"], pool)
    return registry.estimator((name or record["strategy"]).rpartition("+")[2], pool)


class _Bar:
    """Progress bar on stderr for the running query; disappears when it is done."""

    def __init__(self) -> None:
        self._live: Any = None

    def __call__(self, doing: str, share: float | None) -> None:
        if share is not None and share >= 1.0:
            if self._live is not None:
                self._live.stop()
            self._live = None
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
