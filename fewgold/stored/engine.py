"""Query engines for pools on disk: DuckDB in this process, or another one."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from fewgold.common.temporary import TemporaryFolder, unbroken
from fewgold.errors import DataError, FewgoldError

if TYPE_CHECKING:
    import pandas as pd

#: Called with a description of the task and the share done, from 0 to 1, or None if unknown.
Progress: TypeAlias = Callable[[str, float | None], None]

#: Columns that an engine may add: the file of a row, and its number there.
FILE, ROW = "fewgold_file", "fewgold_row"

_POLL = 0.1  # seconds between two looks at a query that is running
_CHUNK = 1 << 17  # rows at a time when all rows are read


class Engine(Protocol):
    """Runs SQL in the dialect of DuckDB over a table of Parquet files.

    A query gives the same rows with every engine; their order matters only if the query has ORDER
    BY.
    """

    #: For messages, such as ``DuckDB``.
    name: str
    progress: Progress | None

    def _attach(self, name: str, files: Sequence[str]) -> dict[str, str]:
        """Make Parquet files available under a name; returns their columns and types.

        An engine that knows the positions of rows adds columns `FILE` and `ROW`.
        """

    def _view(self, name: str, sql: str) -> None:
        """Create a view: a named query that runs again whenever it is used."""

    def _keep(self, name: str, sql: str, doing: str) -> None:
        """Keep the result of a query under a name until the engine is closed."""

    def _add(self, name: str, frame: pd.DataFrame) -> None:
        """Add a small table from Python."""

    def _drop(self, name: str) -> None:
        """Drop the kept result or added table of that name."""

    def _frame(self, sql: str, doing: str) -> pd.DataFrame:
        """The whole result of a query."""

    def _chunks(self, sql: str, doing: str) -> Iterator[pd.DataFrame]:
        """The result of a query, some rows at a time."""

    def close(self) -> None:
        """Close the engine and remove its temporary files. Closing twice is harmless."""


class DuckDB:
    """DuckDB in this process: all cores, with bounded memory and temporary files for the rest.

    Parameters
    ----------
    memory
        Memory limit, such as ``"2GB"``. Beyond it, temporary files are used.
    threads
        Number of threads; all cores by default. Results do not depend on it.
    folder
        Folder for temporary files. They are removed when the engine is closed, interrupted or
        garbage-collected.
    progress
        Called with a description of the task and the share done.
    """

    def __init__(
        self,
        *,
        memory: str = "2GB",
        threads: int | None = None,
        folder: str | Path | None = None,
        progress: Progress | None = None,
    ) -> None:
        try:
            import duckdb
        except ImportError:
            raise FewgoldError(
                "pools on disk need DuckDB. Install it with: pip install 'fewgold[large]'."
            ) from None
        self.name, self.progress = "DuckDB", progress
        spill = TemporaryFolder(folder)
        config: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(spill.path),
            "autoinstall_known_extensions": False,  # never download extensions silently
        }
        if threads is not None:
            config["threads"] = threads
        try:
            self._connection = duckdb.connect(config=config)
        except duckdb.Error as error:
            raise FewgoldError(f"DuckDB could not start: {_first_line(error)}") from None
        self._end = weakref.finalize(self, _end, self._connection, spill)

    def _attach(self, name: str, files: Sequence[str]) -> dict[str, str]:
        # Match columns by name: otherwise all files are read with the types of the first, and a
        # score of 0.7 after a file of whole numbers is rounded to 1.
        options = f"[{listed(files)}], union_by_name = TRUE"
        placed = f"{options}, file_row_number = TRUE, filename = '{FILE}'"
        try:
            # The position of a row, used to fetch the chosen ones without reading the others.
            self._view(
                name,
                f"SELECT * EXCLUDE (file_row_number), file_row_number AS {ROW} "
                f"FROM read_parquet({placed})",
            )
        except DataError:  # the files already have such a column, or cannot be read at all
            self._view(name, f"SELECT * FROM read_parquet({options})")
        found = self._frame(f"DESCRIBE {name}", "Looking at the columns")
        return dict(zip(found["column_name"], found["column_type"], strict=True))

    def _view(self, name: str, sql: str) -> None:
        self._frame(f"CREATE OR REPLACE VIEW {name} AS {sql}", None)

    def _keep(self, name: str, sql: str, doing: str) -> None:
        self._frame(f"CREATE OR REPLACE TABLE {name} AS {sql}", doing)

    def _add(self, name: str, frame: pd.DataFrame) -> None:
        self._check_open()
        self._connection.register(f"{name}_here", frame)
        self._frame(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM {name}_here", None)
        self._connection.unregister(f"{name}_here")

    def _drop(self, name: str) -> None:
        self._frame(f"DROP TABLE IF EXISTS {name}", None)

    def _frame(self, sql: str, doing: str | None) -> pd.DataFrame:
        self._check_open()
        connection = self._connection
        found: pd.DataFrame = self._watch(connection, lambda: connection.execute(sql).df(), doing)
        return found

    def _chunks(self, sql: str, doing: str) -> Iterator[pd.DataFrame]:
        # A separate cursor, so that other queries may run in the meantime.
        self._check_open()
        cursor = self._connection.cursor()
        try:
            self._watch(cursor, lambda: cursor.execute(sql), doing)
            while True:
                part = self._watch(cursor, lambda: cursor.fetch_df_chunk(_CHUNK // 2048), None)
                if not len(part):
                    return
                yield part
        finally:
            cursor.close()

    def close(self) -> None:
        self._end()

    def _check_open(self) -> None:
        if not self._end.alive:
            raise FewgoldError("this pool was closed. Open it again.")

    def _watch(self, connection: Any, work: Callable[[], Any], doing: str | None) -> Any:
        """Run a task in its own thread, so that it can be watched and interrupted."""
        import duckdb

        outcome: dict[str, Any] = {}
        # Not Thread.join: if Ctrl-C interrupts it, Python believes that the thread has ended.
        done = threading.Event()

        def attempt() -> None:
            try:
                outcome["result"] = work()
            except BaseException as error:
                outcome["error"] = error
            finally:
                done.set()

        begun = False
        try:
            with unbroken():
                threading.Thread(target=attempt, daemon=True).start()
                begun = True
            while not done.wait(_POLL):
                if doing is not None and self.progress is not None:
                    self.progress(doing, _share(connection))
            if doing is not None and self.progress is not None:
                self.progress(doing, 1.0)
        except BaseException:  # mostly Ctrl-C
            while begun and not done.is_set():
                # Repeatedly, since an interrupt before the query starts is lost.
                connection.interrupt()
                done.wait(_POLL)
            raise
        error = outcome.get("error")
        if isinstance(error, duckdb.Error):
            raise explained(error) from error
        if error is not None:
            raise error
        return outcome["result"]


def _share(connection: Any) -> float | None:
    done = float(connection.query_progress())
    return done / 100 if done >= 0 else None


def _end(connection: Any, spill: TemporaryFolder) -> None:
    try:
        connection.interrupt()
        connection.close()
    finally:
        spill.remove()


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def listed(files: Sequence[str]) -> str:
    """Files as SQL literals, each taken literally even if its name looks like a pattern."""
    return ", ".join(literal(f if "://" in f else re.sub(r"([*?[])", r"[\1]", f)) for f in files)


def quoted(name: str) -> str:
    """A column's name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]


def explained(error: Exception) -> DataError:
    """An error with the first line of the engine's message, and what to do, if known."""
    said = _first_line(error)
    if "Out of Memory" in said or "out of memory" in said:
        room = "or use a folder for temporary files with more room."
        return DataError(
            f"the engine ran out of memory ({said}).",
            hints={
                "python": f"Give it more, such as DuckDB(memory='8GB'), {room}",
                "cli": f"Give it more, such as --memory 8GB, {room}",
            },
        )
    return DataError(f"the Parquet files could not be read: {said}")
