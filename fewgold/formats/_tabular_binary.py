"""Tables that only programs can read: spreadsheets and Parquet."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._format import Probe
from fewgold.formats._model import Tasks
from fewgold.formats._tabular import Tabular, is_text
from fewgold.formats._tabular_write import Grid, as_text


class Xlsx(Tabular):
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

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        from fewgold.formats._tabular_xlsx import workbook

        return workbook(grid, tasks)


class Parquet(Tabular):
    """A Parquet file."""

    name = "parquet"
    title = "Parquet"
    suffixes = (".parquet",)

    def recognises(self, probe: Probe) -> bool:
        return probe.head[:4] == b"PAR1" or (
            probe.name.endswith(".parquet") and not probe.is_folder and not is_text(probe)
        )

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
