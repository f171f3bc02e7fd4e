"""The queries over a pool on disk, run by Spark through ibis."""

from __future__ import annotations

import contextlib
import itertools
import re
import signal
import threading
import uuid
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.common.temporary import unbroken
from fewgold.errors import DataError, FewgoldError
from fewgold.stored.engine import Progress
from fewgold.stored.sources import kind

if TYPE_CHECKING:
    import pandas as pd

_WHOLE = {"tinyint", "smallint", "int", "bigint"}


def read_files(session: Any, files: Sequence[str]) -> Any:
    """All files as a Spark dataframe. Columns missing in a file become null.

    If files have whole numbers and decimals in one column, all become decimals. A file that Spark
    skips is an error.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    hidden = [f for f in files if Path(f).name.startswith(("_", "."))]
    if hidden:
        raise DataError(
            f"Spark skips files whose names start with '_' or '.': {hidden[0]}. Rename them, or "
            "leave them out."
        )
    folders: dict[str, list[str]] = {}
    for file in files:
        folders.setdefault(_root(file), []).append(file)
    try:
        parts = [_read(session, root, inside) for root, inside in folders.items()]
        if len(parts) > 1:
            _agree((p.schema, "") for p in parts)
    except (PySparkException, Py4JError, _Differ):
        parts = _by_schema(session, files)
    whole = parts[0]
    for part in parts[1:]:
        whole = whole.unionByName(part, allowMissingColumns=True)
    seen = len(set(whole.inputFiles()))
    if seen < len(set(files)):
        raise DataError(
            f"Spark reads {seen} of {len(set(files))} files. Put them all into one folder and "
            "give that folder, or leave the others out."
        )
    return whole


class _Differ(Exception):
    pass


def _read(session: Any, root: str, files: Sequence[str]) -> Any:
    reader = session.read.option("mergeSchema", "true")
    if root:
        reader = reader.option("basePath", _address(root))
    return reader.parquet(*[_address(f, exact=True) for f in files])


def _root(file: str) -> str:
    """The folder above folders such as ``day=2026-01-01``, whose names are values of columns."""
    found = re.match(r"(.*?)/[^/=]+=[^/]*/", file)
    return found[1] or "/" if found else ""


def _address(file: str, *, exact: bool = False) -> str:
    """A file's address for Spark; ``exact`` keeps it from being read as a pattern."""
    if "://" in file:
        return file
    place = str(Path(file).absolute())
    return "file://" + (re.sub(r"([*?\[\]{}\\])", r"\\\1", place) if exact else place)


def _by_schema(session: Any, files: Sequence[str]) -> list[Any]:
    """Read the files one by one, converting columns to common types."""
    parts = [_read(session, _root(f), [f]) for f in files]
    types = _agree(((p.schema, f) for p, f in zip(parts, files, strict=True)), common=True)
    return [
        p.select(*[
            p[_ticked(f.name)].cast(types[f.name]).alias(f.name) for f in p.schema.fields
        ])
        for p in parts
    ]  # fmt: skip


def _ticked(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _agree(schemas: Iterable[tuple[Any, str]], *, common: bool = False) -> dict[str, str]:
    """The type of every column; with ``common``, a type that suits all files."""
    found: dict[str, dict[str, str]] = {}
    for schema, file in schemas:
        for field in schema.fields:
            found.setdefault(field.name, {}).setdefault(field.dataType.simpleString(), file)
    types = {}
    for name, by_type in found.items():
        if len(by_type) > 1 and not common:
            raise _Differ
        if len({kind(t) for t in by_type}) > 1:
            said = "; ".join(f"{t} in {f}" for t, f in sorted(by_type.items()))
            raise DataError(
                f"the column {name!r} has different types in different files: {said}. Write it in "
                "one type everywhere."
            )
        types[name] = next(iter(by_type))
        if len(by_type) > 1:
            whole = set(by_type) <= _WHOLE
            types[name] = "string" if kind(types[name]) == "text" else (
                "bigint" if whole else "double"
            )  # fmt: skip
    return types


_POLL = 0.2  # seconds between two looks at a job that is running
_CHUNK = 1 << 17  # rows at a time when all rows are read

# The session is separate from the user's, so that these settings and table names stay private.
_SETTINGS = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
_PARTS = "spark.sql.shuffle.partitions"
# Types that Spark and DuckDB write identically as text.
_SAME_TEXT = ("string", "tinyint", "smallint", "int", "bigint", "boolean", "date")


class Spark:
    """Spark, on this machine or a cluster, for pools too large for one machine.

    The same queries as with `DuckDB`, translated by ibis, and so the same samples.

    Parameters
    ----------
    session
        A ``SparkSession``. By default the active one; if there is none, one is started with the
        settings of ``spark-submit`` or of the machine, and stopped at the end.
    progress
        Called with what is being done and how much of it is done.

    Notes
    -----
    Files must be readable by all machines of the cluster. Views, cached tables and settings belong
    to a separate session, and disappear when the pool is closed.
    """

    def __init__(self, session: Any = None, *, progress: Progress | None = None) -> None:
        self.name, self.progress = "Spark", progress
        session, started = _session(session)
        self._session = session.newSession()
        for key, value in _SETTINGS.items():
            self._session.conf.set(key, value)
        self._context = session.sparkContext
        if self._context.master.startswith("local") and self._session.conf.get(_PARTS) == "200":
            # The default is meant for clusters; on one machine it would take most of the time.
            self._session.conf.set(_PARTS, str(4 * self._context.defaultParallelism))
        self._kept: dict[str, Any] = {}
        self._types: dict[str, dict[str, str]] = {}
        self._end = weakref.finalize(
            self, _end, self._session, self._kept, self._types, session if started else None
        )
        import ibis

        self._ibis = ibis.pyspark.connect(self._session)

    def _attach(self, name: str, files: Sequence[str]) -> dict[str, str]:
        found = self._run(lambda: read_files(self._session, files), "Looking at the files")
        return self._named(name, found)

    def _view(self, name: str, sql: str) -> None:
        self._named(name, self._run(lambda: self._query(sql), None))

    def _keep(self, name: str, sql: str, doing: str) -> None:
        self._cached(name, lambda: self._query(sql), doing)

    def _add(self, name: str, frame: pd.DataFrame) -> None:
        import pyarrow as pa

        table = pa.Table.from_pandas(frame, preserve_index=False)
        plain = [pa.field(f.name, _plain(f.type)) for f in table.schema]
        # Cached, because only then does Spark know that it is small and broadcast it.
        self._cached(name, lambda: self._session.createDataFrame(table.cast(pa.schema(plain))))

    def _drop(self, name: str) -> None:
        self._types.pop(name, None)
        self._run(lambda: self._session.catalog.dropTempView(name), None)
        if name in self._kept:
            self._kept.pop(name).unpersist()

    def _frame(self, sql: str, doing: str) -> pd.DataFrame:
        return self._run(lambda: self._query(sql).toArrow(), doing).to_pandas()  # type: ignore[no-any-return]

    def _chunks(self, sql: str, doing: str) -> Iterator[pd.DataFrame]:
        import pandas as pd

        found = self._run(lambda: self._query(sql), doing)
        group = _group()
        with self._grouped(group, doing):
            rows = found.toLocalIterator(prefetchPartitions=True)
        try:
            with _spoken(), _quiet():
                while part := list(itertools.islice(rows, _CHUNK)):
                    yield pd.DataFrame.from_records(part, columns=found.columns)
        finally:
            self._context.cancelJobGroup(group)

    def close(self) -> None:
        self._end()

    def _cached(self, name: str, make: Callable[[], Any], doing: str | None = None) -> None:
        self._drop(name)
        self._kept[name] = self._run(make, doing).cache()
        self._run(self._kept[name].count, doing)
        self._named(name, self._kept[name])

    def _named(self, name: str, found: Any) -> dict[str, str]:
        found.createOrReplaceTempView(name)
        self._types[name] = {f.name: f.dataType.simpleString() for f in found.schema.fields}
        return self._types[name]

    def _query(self, sql: str) -> Any:
        return self._ibis.raw_sql(translated(sql, self._types))

    @contextlib.contextmanager
    def _grouped(self, group: str, doing: str | None) -> Iterator[None]:
        """Put the jobs started inside into a group that can be watched and cancelled."""
        keys = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
        before = [self._context.getLocalProperty(k) for k in keys]
        self._context.setJobGroup(group, f"fewgold: {doing or 'preparing'}", interruptOnCancel=True)
        try:
            yield
        finally:
            for key, value in zip(keys, before, strict=True):
                self._context.setLocalProperty(key, value)

    def _run(self, work: Callable[[], Any], doing: str | None) -> Any:
        """Run a task in its own thread, so that it can be watched and interrupted."""
        from pyspark import InheritableThread

        if not self._end.alive:
            raise FewgoldError("this pool was closed. Open it again.")
        outcome: dict[str, Any] = {}
        group = _group()

        def watched() -> None:
            try:
                with self._grouped(group, doing), _spoken(), _quiet():
                    outcome["result"] = work()
            except BaseException as error:
                outcome["error"] = error

        thread = InheritableThread(target=watched, daemon=True)
        begun = False
        try:
            with unbroken():
                thread.start()
                begun = True
            with _noticed() as pressed:
                while thread.is_alive():
                    thread.join(_POLL)
                    if pressed:
                        raise KeyboardInterrupt
                    if doing is not None and self.progress is not None:
                        self.progress(doing, _share(self._context, group))
        except BaseException:  # mostly Ctrl-C
            if begun:
                self._context.cancelJobGroup(group)
                thread.join()
            raise
        if "error" in outcome:
            raise outcome["error"]
        return outcome["result"]


@contextlib.contextmanager
def _noticed() -> Iterator[list[bool]]:
    """Record Ctrl-C and raise it once no call to Java is open; not empty if it was pressed.

    Spark's own handler calls Java from within the current call, which may fail, and cancels
    everybody's jobs.
    """
    pressed: list[bool] = []
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)


def translated(sql: str, types: dict[str, dict[str, str]]) -> str:
    """Translate a query from DuckDB's dialect to Spark's.

    ``types`` has the columns of each table. Numbers and times that the two write differently are
    refused as ids and labels, since the samples would differ.
    """
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read="duckdb")
    for cast in list(tree.find_all(exp.Cast)):
        column = cast.this
        if cast.to.this in exp.DataType.TEXT_TYPES and isinstance(column, exp.Column):
            for table in tree.find_all(exp.Table):
                type_ = types.get(table.name, {}).get(column.name, "string")
                if not type_.startswith((*_SAME_TEXT, "decimal")):
                    raise DataError(
                        f"the column {column.name!r} is of type {type_}, which Spark writes "
                        "differently from other engines. Ids, documents and strata must be text "
                        "or whole numbers: convert the column."
                    )
    for test in list(tree.find_all(exp.IsInf)):
        test.replace(sqlglot.parse_one(f"abs({test.this.sql()}) = CAST('Infinity' AS DOUBLE)"))
    # DuckDB's length of a list: Spark's function is for texts only.
    for words in list(tree.find_all(exp.Length)):
        if isinstance(words.this, exp.RegexpExtractAll):
            words.replace(exp.ArraySize(this=words.this))
    return str(tree.sql(dialect="spark"))


def _session(given: Any) -> tuple[Any, bool]:
    """A session, and whether it was started here."""
    try:
        import ibis  # noqa: F401
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError:
        raise FewgoldError(
            "pools on Spark need ibis and PySpark. Install them with: pip install 'fewgold[spark]'."
        ) from None
    found = SparkSession.getActiveSession() if given is None else given
    if found is None:
        started = SparkSession.builder.appName("fewgold")
        started = started.config("spark.ui.showConsoleProgress", "false")
        try:
            return started.getOrCreate(), True
        except (PySparkException, OSError) as error:
            raise FewgoldError(
                f"Spark could not start ({_said(error)}). It needs Java 17 or newer: install it, "
                "and set JAVA_HOME if it is not found."
            ) from None
    if not isinstance(found, SparkSession) or not hasattr(found, "_jsparkSession"):
        raise FewgoldError(
            f"expected a SparkSession of this process, got {type(found).__module__}."
            f"{type(found).__name__}. Sessions of Spark Connect are not supported."
        )
    return found, False


def _end(session: Any, kept: dict[str, Any], names: dict[str, Any], started: Any) -> None:
    # The session, or all of Spark, may already have been stopped.
    with contextlib.suppress(Exception):
        for found in kept.values():
            found.unpersist()
        for name in names:
            session.catalog.dropTempView(name)
    kept.clear()
    names.clear()
    if started is not None:
        with contextlib.suppress(Exception):
            started.stop()


def _group() -> str:
    return f"fewgold-{uuid.uuid4().hex[:12]}"


def _plain(type_: Any) -> Any:
    """An Arrow type that Spark supports: text for all-missing columns, no dictionaries."""
    import pyarrow as pa

    if pa.types.is_null(type_) or pa.types.is_large_string(type_):
        return pa.string()
    return _plain(type_.value_type) if pa.types.is_dictionary(type_) else type_


def _share(context: Any, group: str) -> float | None:
    tracker = context.statusTracker()
    tasks = done = 0
    for job in tracker.getJobIdsForGroup(group):
        info = tracker.getJobInfo(job)
        for stage in info.stageIds if info is not None else ():
            known = tracker.getStageInfo(stage)
            if known is not None:
                tasks += known.numTasks
                done += known.numCompletedTasks
    return done / tasks if tasks else None


@contextlib.contextmanager
def _spoken() -> Iterator[None]:
    """Turn Spark's errors into one sentence."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        said = _said(error)
        if "OutOfMemory" in str(error) or "Java heap space" in str(error):
            raise DataError(
                f"Spark ran out of memory ({said}). Start it with more, such as "
                "spark.driver.memory=4g and spark.executor.memory=4g."
            ) from error
        raise DataError(f"Spark could not read the Parquet files: {said}") from error


def _said(error: Exception) -> str:
    """The message of an error, without the Java stack trace."""
    lines = [line.strip() for line in str(error).strip().split("\n")]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes[-1].removeprefix("Caused by: ") if causes else lines[0])[:400]


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence PySpark's logging of errors, since they are raised anyway."""
    from pyspark.logger import PySparkLogger

    names = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
    loggers = [PySparkLogger.getLogger(name) for name in names]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was
