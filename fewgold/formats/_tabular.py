"""What plain tables share: a header and rows, and reading back what is to be written.

All of them share the columns of `task_grid` and `rating_grid`, and the way their rows are read.
"""

from __future__ import annotations

import gzip
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from fewgold._temporary import TemporaryFolder
from fewgold.errors import DataError
from fewgold.formats._format import Format, Names, Probe
from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.formats._tabular_model import bare
from fewgold.formats._tabular_read import reading
from fewgold.formats._tabular_write import (
    Grid,
    plain_json,
    rating_grid,
    task_grid,
)
from fewgold.tables import TableFile, read_file, write_texts

_INSTEAD = "It would not come back as it went. Write JSON lines (.jsonl)."


class Tabular(Format):
    """A format that is a header and rows."""

    @abstractmethod
    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        """A file with these rows."""

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        table = read_file(path, self.name)
        table.check_columns()
        return reading(_unguarded(table), self.name, names, str(path))

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
        with TemporaryFolder() as folder:
            place = folder / f"made{self.suffixes[0]}"
            place.write_bytes(data)
            return self.read(place)


def _unguarded(table: TableFile) -> TableFile:
    """Texts as they were before an apostrophe kept spreadsheets from taking them for formulas."""
    if table.kind not in ("csv", "tsv", "xlsx"):
        return table
    cells = [[bare(v) if isinstance(v, str) else v for v in row] for row in table.cells]
    return replace(table, header=tuple(map(bare, table.header)), cells=cells)


def is_text(probe: Probe) -> bool:
    return not probe.is_folder and probe.is_text
