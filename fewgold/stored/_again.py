"""A pool on disk, and the rows drawn from it, opened again from the record of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fewgold.errors import DataError, UnknownNameError
from fewgold.stored._engine import DuckDB, Engine, Progress
from fewgold.stored._excerpt import Excerpt
from fewgold.stored._pool import StoredPool
from fewgold.stored._sources import Paths


def make_engine(
    name: str, *, memory: str | None = None, progress: Progress | None = None
) -> Engine:
    """An engine by its name, ``duckdb`` or ``spark``; ``memory`` is for DuckDB."""
    if name.lower() == "duckdb":
        return DuckDB(progress=progress, memory=memory or "2GB")
    if name.lower() == "spark":
        from fewgold.stored._spark import Spark

        return Spark(progress=progress)
    raise UnknownNameError("engine", name, ["duckdb", "spark"])


def reopen(
    record: Mapping[str, Any], folder: Path, path: Paths | None, engine: Engine | None
) -> StoredPool:
    """The pool that a record speaks of, its paths as seen from ``folder``, or at ``path``."""
    if path is None and not record["path"]:
        raise DataError("where the pool lies was not recorded. Say which files it is with --pool.")
    # Joining to an absolute path leaves it as it is.
    paths = [p if "://" in p else str(folder / p) for p in record["path"] or ()]
    engine = make_engine(record["engine"]) if engine is None else engine
    try:
        return StoredPool(paths if path is None else path, engine=engine, **record["columns"])
    except DataError as error:
        if path is not None or "there is no file" not in str(error):
            raise
        raise DataError(f"{error} If the pool has moved, say where it is with --pool.") from None


def rows_of(waves: Iterable[Mapping[str, Any] | None], pool: StoredPool) -> Excerpt:
    """The rows of all waves of a study, each at the place where its designs look for it."""
    rows = {s["index"]: s["id"] for wave in waves if wave for s in wave["segments"]}
    if sorted(rows) != list(range(len(rows))):
        raise DataError("the design speaks of rows that the pool does not have.")
    return pool.fetch([rows[k] for k in range(len(rows))])
