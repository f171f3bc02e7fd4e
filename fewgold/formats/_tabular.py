"""Plain tables: CSV, TSV, JSON lines, spreadsheets and Parquet.

All of them share the columns of `task_grid` and `rating_grid`, and the way their rows are read.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import zipfile
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.formats._tabular_data import read_jsonl, read_parquet, read_xlsx
from fewgold.formats._tabular_model import Sheet, guard
from fewgold.formats._tabular_read import reading
from fewgold.formats._tabular_roles import familiar
from fewgold.formats._tabular_text import read_csv, read_tsv, separator_of
from fewgold.formats._tabular_write import (
    Grid,
    as_text,
    as_texts,
    plain_json,
    rating_grid,
    task_grid,
)
from fewgold.tables import as_text as joined
from fewgold.tables import cell, write_texts

_INSTEAD = "It would not come back as it went. Write JSON lines (.jsonl)."


class _Tabular(Format):
    """A format that is a header and rows."""

    @abstractmethod
    def _sheet(self, path: str | Path, names: Names) -> Sheet:
        """The rows of a file."""

    @abstractmethod
    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        """A file with these rows."""

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        if not Path(path).is_file():
            raise DataError(f"there is no file {str(path)!r}.")
        return reading(self._sheet(path, names), self.name, names, str(path))

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        data = self._packed(task_grid(tasks), tasks, path)
        if tasks.segments:
            found = self._again(data)
            wanted = [s.key for s in tasks.to_rate]
            if list(found.blank) != wanted or found.rows != len(tasks.segments):
                raise DataError(f"{self.title} cannot hold these keys or texts. {_INSTEAD}")
        write_texts({Path(path): data})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        wanted = [replace(r, score=float(r.score), details=plain_json(r)) for r in ratings]
        data = self._packed(rating_grid(tasks, wanted), tasks, path)
        if wanted:
            found = self._again(data).ratings
            off = next((w for w, f in zip(wanted, found, strict=False) if w != f), None)
            if off is not None or len(found) != len(wanted):
                raise DataError(f"{self.title} cannot hold the rating {off}. {_INSTEAD}")
        write_texts({Path(path): data})

    def _packed(self, grid: Grid, tasks: Tasks, path: str | Path) -> bytes:
        try:
            data = self._file(grid, tasks)
        except UnicodeEncodeError as error:
            raise DataError(
                f"a text holds half a character at place {error.start}, which no file can."
            ) from None
        return gzip.compress(data, mtime=0) if str(path).lower().endswith(".gz") else data

    def _again(self, data: bytes) -> Reading:
        """What will be read from a file, to make sure before anything is written."""
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / f"made{self.suffixes[0]}"
            place.write_bytes(data)
            return self.read(place)


class Csv(_Tabular):
    """Comma-separated values, also with semicolons or tabs."""

    name = "csv"
    title = "CSV"
    suffixes = (".csv",)

    def recognises(self, probe: Probe) -> bool:
        return _is_text(probe) and (probe.name.endswith(".csv") or _familiar(probe, ",;"))

    def _sheet(self, path: str | Path, names: Names) -> Sheet:
        return read_csv(path, names)

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        rows = [[guard(c) for c in as_texts(row)] for row in (grid.header, *grid.rows)]
        return _marked(joined(rows, ","))


class Tsv(_Tabular):
    """Tab-separated values; written without quotes, which most readers of TSV do not know."""

    name = "tsv"
    title = "TSV"
    suffixes = (".tsv",)

    def recognises(self, probe: Probe) -> bool:
        return _is_text(probe) and (probe.name.endswith(".tsv") or _familiar(probe, "\t"))

    def _sheet(self, path: str | Path, names: Names) -> Sheet:
        return read_tsv(path, names)

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        rows = [as_texts(row) for row in (grid.header, *grid.rows)]
        for row in rows[1:]:
            for k in grid.exact:
                if set(row[k]) & set("\t\r\n"):
                    raise DataError(
                        f"{row[k]!r} holds a tab or a line break, which TSV cannot. Write CSV."
                    )
        flat = [[cell(guard(c), "\t") for c in row] for row in rows]
        return _marked(joined(flat, "\t"))


class JsonLines(_Tabular):
    """JSON lines, an object a line; a JSON array of objects is read as well."""

    name = "jsonl"
    title = "JSON lines"
    suffixes = (".jsonl", ".ndjson", ".json")

    def recognises(self, probe: Probe) -> bool:
        if probe.name.endswith((".jsonl", ".ndjson")):
            return _is_text(probe)
        if probe.first_object is not None:
            return familiar(probe.first_object, Names()) > 0
        found = probe.json
        first = found[0] if isinstance(found, list) and found else None
        return isinstance(first, dict) and familiar(first, Names()) == 2

    def _sheet(self, path: str | Path, names: Names) -> Sheet:
        return read_jsonl(path)

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        rows = [dict(zip(grid.header, row, strict=True)) for row in grid.rows]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


class Xlsx(_Tabular):
    """A spreadsheet: the first sheet of a workbook."""

    name = "xlsx"
    title = "a spreadsheet (.xlsx)"
    suffixes = (".xlsx",)

    def recognises(self, probe: Probe) -> bool:
        if probe.is_folder or probe.head[:4] not in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0"):
            return False
        if probe.name.endswith((".xlsx", ".xlsm")):
            return True
        try:
            with zipfile.ZipFile(probe.path) as book:
                return any(name.endswith("xl/workbook.xml") for name in book.namelist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
            return False

    def _sheet(self, path: str | Path, names: Names) -> Sheet:
        return read_xlsx(path)

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        from fewgold.formats._tabular_xlsx import workbook

        return workbook(grid, tasks)


class Parquet(_Tabular):
    """A Parquet file."""

    name = "parquet"
    title = "Parquet"
    suffixes = (".parquet",)

    def recognises(self, probe: Probe) -> bool:
        return probe.head[:4] == b"PAR1" or (
            probe.name.endswith(".parquet") and not probe.is_folder and not _is_text(probe)
        )

    def _sheet(self, path: str | Path, names: Names) -> Sheet:
        return read_parquet(path)

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise DataError(
                "writing Parquet needs pyarrow. Install it with: pip install 'fewgold[parquet]'."
            ) from None
        kinds: Mapping[str, Any] = {tasks.score: pa.float64(), "score": pa.float64()}
        kinds = {**kinds, "position": pa.int64()}
        columns = [
            pa.array([_typed(row[k]) for row in grid.rows], kinds.get(name, pa.string()))
            for k, name in enumerate(grid.header)
        ]
        out = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_arrays(columns, names=list(grid.header)), out)
        return bytes(out.getvalue().to_pybytes())


def _typed(value: Any) -> Any:
    return as_text(value) if isinstance(value, dict) else value


def _marked(text: str) -> bytes:
    """Spreadsheet programs take UTF-8 for what it is only after a byte order mark."""
    return (text if text.isascii() else f"\ufeff{text}").encode()


def _is_text(probe: Probe) -> bool:
    return not probe.is_folder and b"\x00" not in probe.head[:1024]


def _familiar(probe: Probe, separators: str) -> bool:
    """Whether the first line names a segment or a score in columns of these separators."""
    lines = [line for line in probe.lines if line.strip()]
    if not lines or lines[0].lstrip().startswith(("{", "[", "<")):
        return False
    try:
        found = separator_of([lines[0]], Names())
        columns = lines[0].split(found)
    except (DataError, ValueError):
        return False
    return found in separators and len(columns) > 1 and familiar(columns, Names()) > 0
