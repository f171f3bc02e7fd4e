"""Which Parquet files make up a pool, and whether they agree."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from fewgold.errors import DataError, UnknownNameError
from fewgold.stored._engine import listed

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.stored._engine import DuckDB

#: A file, a folder, a pattern such as ``logs/*.parquet``, or several of these.
Paths: TypeAlias = str | Path | Sequence[str | Path]

_SUFFIXES = (".parquet", ".pq")
_PATTERN = set("*?[")
_SHOWN = 3


def find_files(paths: Paths) -> list[str]:
    """The Parquet files that ``paths`` name, each once, sorted.

    A folder stands for all Parquet files in it and below; hidden ones, and those of writers that
    are not yet done (``_temporary``), are left out.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found: set[str] = set()
    for path in given:
        name = str(path)
        if "://" in name:  # a store that the engine knows, such as s3://
            found.add(name)
        elif Path(name).is_dir():
            inside = [p for s in _SUFFIXES for p in Path(name).rglob(f"*{s}")]
            found |= {str(p) for p in inside if not _hidden(p.relative_to(name).parts)}
        elif Path(name).is_file():
            found.add(name)
        elif set(name) & _PATTERN:
            found |= {p for p in glob.glob(name, recursive=True) if Path(p).is_file()}
        else:
            raise DataError(
                f"there is no file or folder {name!r}. Expected Parquet: a file, a folder, or a "
                "pattern such as 'logs/*.parquet'."
            )
    if not found:
        raise DataError(
            f"no Parquet file was found at {', '.join(map(str, given))}. Expected files that end "
            "in .parquet."
        )
    wrong = sorted(f for f in found if not f.lower().endswith(_SUFFIXES) and "://" not in f)
    if wrong:
        raise DataError(
            f"several files at once must be Parquet; {wrong[0]!r} does not end in .parquet. Give "
            "one table of another kind, or turn it into Parquet first."
        )
    return sorted(found)


def _hidden(parts: Iterable[str]) -> bool:
    return any(part.startswith((".", "_")) for part in parts)


def check_files(engine: DuckDB, files: Sequence[str], wanted: dict[str, str]) -> None:
    """Refuse files that lack a column or have it in another type than the others.

    ``wanted`` maps columns to what they are for. Only the footers of the files are read.
    """
    found = engine.frame(
        "SELECT file_name, name, duckdb_type, coalesce(num_children, 0) AS fields "
        f"FROM parquet_schema([{listed(files)}]) ORDER BY file_name, column_id",
        "Looking at the files",
    )
    types: dict[str, dict[str, list[str]]] = {column: {} for column in wanted}
    for file, column, type_ in _top_level(found):
        if column in types:
            types[column].setdefault(kind(type_), []).append(file)
    for column, by_kind in types.items():
        have = {f for inside in by_kind.values() for f in inside}
        lacking = [f for f in files if f not in have]
        if lacking and have:
            raise DataError(
                f"the column {column!r} ({wanted[column]}) is missing in {len(lacking)} of "
                f"{len(files)} files: {_some(lacking)}. Leave those files out, or add the column "
                "to them."
            )
        if len(by_kind) > 1:
            said = "; ".join(f"{k} in {_some(v)}" for k, v in sorted(by_kind.items()))
            raise DataError(
                f"the column {column!r} ({wanted[column]}) has different types in different "
                f"files: {said}. Write it in one type everywhere."
            )


def _top_level(schema: pd.DataFrame) -> Iterator[tuple[str, str, Any]]:
    """File, name and type of columns, without the fields inside of them."""
    inside: list[int] = []  # how many fields are still to come at each depth
    for file, name, type_, fields in schema.itertuples(index=False):
        if len(inside) == 1:
            yield file, name, type_
        if inside:
            inside[-1] -= 1
        inside.append(int(fields))
        while inside and not inside[-1]:
            inside.pop()


def kind(type_: Any) -> str:
    """What a type is good for: number, text, or itself in lower case."""
    name = str(type_).upper()
    if name.startswith("DECIMAL") or name in _NUMBERS:
        return "number"
    if name.startswith("ENUM") or name in ("VARCHAR", "STRING", "UTF8", "BLOB", "BYTE_ARRAY"):
        return "text"
    return name.lower()


_NUMBERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "FLOAT", "DOUBLE", "INT", "LONG", "SHORT", "BYTE", "INT8", "INT16", "INT32", "INT64",
    "FLOAT32", "FLOAT64",
}  # fmt: skip


def check_columns(known: Iterable[str], wanted: dict[str, str]) -> None:
    """Refuse columns that no file has."""
    names = list(known)
    for column in wanted:
        if column not in names:
            raise UnknownNameError("column", column, names)


def _some(files: Sequence[str]) -> str:
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ", ".join(files[:_SHOWN]) + more
