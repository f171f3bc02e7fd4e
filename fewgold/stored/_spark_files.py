"""Parquet files as one table of Spark, read as DuckDB reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.stored._sources import kind

_WHOLE = {"tinyint", "smallint", "int", "bigint"}


def read_files(session: Any, files: Sequence[str]) -> Any:
    """All files as a data frame of Spark. What is missing in a file is null.

    Where files have whole numbers and decimals in one column, all become decimals. A file
    that Spark passes over is an error.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    hidden = [f for f in files if Path(f).name.startswith(("_", "."))]
    if hidden:
        raise DataError(
            f"Spark passes over files whose names start with '_' or '.': {hidden[0]}. Rename them, "
            "or leave them out."
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
            f"Spark reads {seen} of {len(set(files))} files. Put them all into one folder and give "
            "that, or leave the others out."
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
    """A file as Spark knows it, wherever its own home folder is, and ``exact``, as no pattern."""
    if "://" in file:
        return file
    place = str(Path(file).absolute())
    return "file://" + (re.sub(r"([*?\[\]{}\\])", r"\\\1", place) if exact else place)


def _by_schema(session: Any, files: Sequence[str]) -> list[Any]:
    """The files one by one, their columns brought to types that all can have."""
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
    """The type of every column, one that all files can have if it is to be ``common``."""
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
