"""The Parquet files of a pool, whether they agree, and the roles of their columns."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np

from fewgold.errors import DataError, UnknownNameError
from fewgold.io import CostTerms
from fewgold.stored.engine import FILE, ROW, Engine, listed, quoted

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.stored.engine import DuckDB

#: A file, a folder, a pattern such as ``logs/*.parquet``, or several of these.
Paths: TypeAlias = str | Path | Sequence[str | Path]

_SUFFIXES = (".parquet", ".pq")
_PATTERN = set("*?[")
_SHOWN = 3
#: Numbers for the names of tables, so that pools sharing an engine do not collide.
NUMBERS = count()


def find_files(paths: Paths) -> list[str]:
    """The Parquet files that ``paths`` name, each once, sorted.

    A folder means all Parquet files in it and below, except hidden ones and those of unfinished
    writers (``_temporary``).
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found: set[str] = set()
    for path in given:
        name = str(path)
        if "://" in name:  # a store that the engine knows, such as s3://
            found.add(name)
        elif Path(name).is_dir():
            inside = [p for s in _SUFFIXES for p in Path(name).rglob(f"*{s}")]
            for p in inside:
                if not any(part.startswith((".", "_")) for part in p.relative_to(name).parts):
                    found.add(str(p))
        elif Path(name).is_file():
            found.add(name)
        elif set(name) & _PATTERN:
            found |= {p for p in glob.glob(name, recursive=True) if Path(p).is_file()}
        else:
            raise DataError(
                f"there is no file or folder {name!r}. Expected Parquet: a file, a folder, or a "
                "pattern such as 'logs/*.parquet'.",
                code="missing",
            )
    if not found:
        raise DataError(
            f"no Parquet file was found at {', '.join(map(str, given))}. Expected files that end "
            "in .parquet."
        )
    wrong = sorted(f for f in found if not f.lower().endswith(_SUFFIXES) and "://" not in f)
    if wrong:
        raise DataError(
            f"several files at once must be Parquet; {wrong[0]!r} does not end in .parquet. "
            "Give a single file of another kind, or convert to Parquet first."
        )
    return sorted(found)


def check_files(engine: DuckDB, files: Sequence[str], wanted: dict[str, str]) -> None:
    """Refuse files that lack a column or have it with a different type from the others.

    ``wanted`` maps columns to what they are for. Only the footers of the files are read.
    """
    found = engine._frame(
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
    """File, name and type of columns, without nested fields."""
    inside: list[int] = []  # number of fields remaining at each depth
    for file, name, type_, fields in schema.itertuples(index=False):
        if len(inside) == 1:
            yield file, name, type_
        if inside:
            inside[-1] -= 1
        inside.append(int(fields))
        while inside and not inside[-1]:
            inside.pop()


def kind(type_: Any) -> str:
    """The kind of a type: number, text, or its name in lower case."""
    name = str(type_).upper()
    if name.startswith("DECIMAL") or name in _NUMBERS:
        return "number"
    if name.startswith("ENUM") or name in ("VARCHAR", "STRING", "UTF8", "BLOB", "BYTE_ARRAY"):
        return "text"
    return name.lower()


_WHOLE_NUMBERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT",
    "BYTE", "SHORT", "INT", "LONG", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32",
    "UINT64",
}  # fmt: skip
_NUMBERS = _WHOLE_NUMBERS | {"HUGEINT", "FLOAT", "DOUBLE", "FLOAT32", "FLOAT64"}


def check_columns(known: Iterable[str], wanted: dict[str, str]) -> None:
    """Refuse columns that no file has."""
    names = list(known)
    for column in wanted:
        if column not in names:
            raise UnknownNameError("column", column, names)


def _some(files: Sequence[str]) -> str:
    more = f" and {len(files) - _SHOWN} more" if len(files) > _SHOWN else ""
    return ", ".join(files[:_SHOWN]) + more


@dataclass(frozen=True)
class ColumnRoles:
    """The roles of columns, as in `Pool.from_table`, and the order inside documents.

    ``probability`` says that the expected spread is that of a pass or fail rating with this
    probability. Internally, columns have fixed names, so that no query depends on the users' names.
    """

    id: str
    document: str | None = None
    metrics: tuple[str, ...] = ()
    cost: CostTerms | None = None
    system: str | None = None
    texts: tuple[str, ...] = ()
    order: str | None = None
    orientation: Mapping[str, int] = field(default_factory=dict)
    spread: str | None = None
    probability: bool = False

    @cached_property
    def wanted(self) -> dict[str, str]:
        """Each column that is needed, and what for."""
        found = {self.id: "ids"}
        if self.document is not None:
            found[self.document] = "documents"
        found |= dict.fromkeys(self.metrics, "metric")
        if self.cost is not None:
            found.setdefault(self.cost.column, "cost")
        if self.spread is not None:
            found.setdefault(self.spread, "expected spread")
        if self.system is not None:
            found.setdefault(self.system, "system")
        for name in self.texts:
            found.setdefault(name, "text")
        if self.order is not None:
            found.setdefault(self.order, "order")
        return found

    def check(self, types: Mapping[str, str]) -> None:
        """Refuse metrics and costs that are not numbers, and columns with two roles."""
        numeric = dict.fromkeys(self.metrics, "metric")
        if self.cost is not None and not self.cost.words:
            numeric[self.cost.column] = "cost"
        if self.spread is not None:
            numeric.setdefault(self.spread, "expected spread")
        for name, what in numeric.items():
            if kind(types[name]) not in ("number", "boolean"):
                raise DataError(
                    f"the {what} {name!r} must hold numbers; the column is of type {types[name]}. "
                    "Is it the right column?"
                )
        if len(set(self.metrics)) < len(self.metrics):
            raise DataError("a metric was named twice. Name each once.")

    def select(self, source: str, types: Mapping[str, str]) -> str:
        """The query that gives every column its internal name.

        Ids and documents are returned unchanged if they are whole numbers, else as text: Python
        writes dates or decimals differently from engines, and a top-up would not find its own ids.
        """

        def raw(column: str) -> str:
            plain = str(types[column]).upper() in _WHOLE_NUMBERS | {"VARCHAR", "STRING"}
            return quoted(column) if plain else f"CAST({quoted(column)} AS VARCHAR)"

        parts = [f"{raw(self.id)} AS id_raw", f"CAST({quoted(self.id)} AS VARCHAR) AS id_"]
        if self.document is not None:
            parts += [
                f"{raw(self.document)} AS doc_raw",
                f"CAST({quoted(self.document)} AS VARCHAR) AS doc_",
            ]
        for k, m in enumerate(self.metrics):
            # File footers hold min/max of the raw column, but not of a cast.
            parts += [f"{quoted(m)} AS m{k}_raw", f"CAST({quoted(m)} AS DOUBLE) AS m{k}_"]
        if self.spread is not None:
            raw_spread = quoted(self.spread)
            spread = f"CAST({raw_spread} AS DOUBLE)"
            if self.probability:  # NULL if it is not a probability, which is refused later
                inside = f"{spread} BETWEEN 0 AND 1"
                spread = f"CASE WHEN {inside} THEN sqrt({spread} * (1.0e0 - {spread})) END"
            parts += [f"{raw_spread} AS spread_raw", f"{spread} AS spread_"]
        if self.cost is not None:
            fixed, per, column, words = self.cost
            amount = f"CAST({quoted(column)} AS DOUBLE)"
            if words:
                amount = f"len(regexp_extract_all({quoted(column)}, '[^\\s]+'))"
            price = f"{fixed:.17e} + {per:.17e} * {amount}"
            parts += [f"{price} AS cost_raw", f"{price} AS cost_"]
        if self.system is not None:
            parts.append(f"{quoted(self.system)} AS sys_")
        parts += [f"{quoted(t)} AS t{k}_" for k, t in enumerate(self.texts)]
        if self.order is not None:
            parts.append(f"{quoted(self.order)} AS order_")
        if ROW in types:
            parts += [f"{FILE} AS file_", f"{ROW} AS row_"]
        return f"SELECT {', '.join(parts)} FROM {source}"

    def metric(self, name: str) -> str:
        """A metric's internal name."""
        if name not in self.metrics:
            raise UnknownNameError("metric", name, self.metrics)
        return f"m{self.metrics.index(name)}_"

    @property
    def numbers(self) -> list[str]:
        """The internal columns of numbers: metrics, expected spread, cost."""
        found = [f"m{k}_" for k in range(len(self.metrics))]
        found += ["spread_"] if self.spread is not None else []
        return found + (["cost_"] if self.cost is not None else [])

    @property
    def shown(self) -> list[str]:
        """The internal columns fetched for a chosen row."""
        found = ["id_raw"] + (["doc_raw"] if self.document is not None else [])
        found += self.numbers
        found += ["sys_"] if self.system is not None else []
        return found + [f"t{k}_" for k in range(len(self.texts))]

    def label(self, column: str) -> str:
        """A column to make strata by, as text."""
        if column == "document" and self.document is not None:
            return "doc_"
        if column == "system" and self.system is not None:
            return "CAST(sys_ AS VARCHAR)"
        if column in self.texts:
            return f"CAST(t{self.texts.index(column)}_ AS VARCHAR)"
        if column == self.document:
            return "doc_"
        known = [*self.texts, *(["system"] if self.system else [])]
        known += ["document"] if self.document else []
        raise DataError(
            f"unknown column {column!r} to make strata by. Known: {', '.join(known) or 'none'}. "
            "Name it in texts=[…] when the pool is opened."
        )


@dataclass(frozen=True)
class TableView:
    """A table of an engine, with internal column names and their roles.

    ``placed`` says whether the engine knows the positions of rows. ``files`` is the same table file
    by file, if it pays to read min/max of columns from the footers.
    """

    engine: Engine
    table: str
    columns: ColumnRoles
    placed: bool = False
    files: tuple[str, ...] = ()

    def row(self, sql: str, doing: str) -> Any:
        """The only row of a query's result."""
        return self.engine._frame(sql, doing).iloc[0]

    def add_ids(self, name: str, ids: Iterable[Any]) -> None:
        """A table of ids, as text."""
        import pandas as pd

        self.engine._add(name, pd.DataFrame({"id_": np.array([str(i) for i in ids], object)}))

    @contextmanager
    def ids_table(self, ids: Iterable[Any]) -> Iterator[str]:
        """The name of a temporary table of ids, dropped at the end."""
        name = f"ids_{next(NUMBERS)}"
        self.add_ids(name, ids)
        yield name
        self.engine._drop(name)

    def refuse_twice(self, ids: Iterable[Any] | None = None) -> None:
        """Refuse ids that occur twice, some of them or any."""
        if ids is None:
            found = self.engine._frame(
                f"SELECT id_ FROM {self.table} "
                "GROUP BY id_ HAVING count(*) > 1 ORDER BY id_ LIMIT 1",
                "Comparing ids",
            )
        else:
            # Counted in Python: engines may count all ids of the table before they join.
            with self.ids_table(ids) as asked:
                found = self.engine._frame(
                    f"SELECT p.id_ FROM {self.table} AS p INNER JOIN {asked} AS a ON p.id_ = a.id_",
                    "Comparing ids",
                )
            found = found[found["id_"].duplicated()].sort_values("id_")
        if len(found):
            refuse_id(found["id_"].iloc[0])


def refuse_id(twice: Any) -> NoReturn:
    """Say that an id occurs more than once, and what to do."""
    raise DataError(
        f"ids must differ; {str(twice)!r} occurs more than once. If the files hold several "
        "systems or raters, keep one of them; if ids start again in each file, combine file and "
        "row into one id."
    )
