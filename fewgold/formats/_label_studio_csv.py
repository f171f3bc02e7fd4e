"""Label Studio: tasks to import and exports as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._export import dumps
from fewgold.formats._export import number as as_written
from fewgold.formats._format import Names, Probe
from fewgold.formats._json import EXTRA, Rows, parse
from fewgold.formats._label_studio_config import (
    FLAT,
    RESERVED,
    LabelStudio,
    config,
    data_of,
    kept_of,
)
from fewgold.formats._label_studio_flat import read_flat
from fewgold.formats._layout import CARRIED, Layout, grouped
from fewgold.formats._model import Rating, Reading, Tasks
from fewgold.tables import as_text as as_table
from fewgold.tables import neutral, read_text, write_texts

_TEXT = {*RESERVED, *CARRIED} - {EXTRA}


class LabelStudioCsv(LabelStudio):
    """Tasks and exports of Label Studio as CSV (or with tabs or semicolons).

    Tasks are one line per segment to rate with the same fields as the JSON, and the same
    labelling interface beside them. Cells that a spreadsheet would take for a formula get an
    apostrophe in front, which reading takes away again.

    A **row** is a line below the header. Answers are read in Label Studio's wrapping
    (``[{"number": 83}]``) and bare. Label Studio leaves skipped annotations out of this export.
    `write_ratings` keeps all of a rating, in a column ``fewgold`` where Label Studio has none.
    """

    name = "label-studio-csv"
    title = "Label Studio CSV"
    suffixes = (".csv", ".tsv")

    def recognises(self, probe: Probe) -> bool:
        """True for a header with the columns that Label Studio adds."""
        header = probe.lines[0] if probe.lines else ""
        try:
            names = next(csv.reader([header], delimiter=_delimiter(header)), [])
        except csv.Error:
            return False
        return all(name in names for name in (*FLAT, "lead_time"))

    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """The annotations in an export; see the class for what a row is."""
        lines = _table(path)
        header = [_bare(cell) for cell in lines[0]]
        twice = sorted({n for n in header if header.count(n) > 1})
        if twice:
            raise DataError(f"{str(path)!r} has more than one column {twice[0]!r}.")
        if len(lines) == 1:
            raise DataError(f"{str(path)!r} has no rows below its header.")
        rows = Rows(self.name)
        records = []
        for number, cells in enumerate(lines[1:], start=2):
            if len(cells) != len(header):
                why = f"{len(cells)} cells under {len(header)} columns."
                rows.reject(f"row {number}", why, cells)
                continue
            named = zip(header, cells, strict=True)
            records.append((f"row {number}", {name: _cell(name, cell) for name, cell in named}))
        return read_flat(self.name, records, names, rows)

    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """The tasks to import, and the labelling interface beside them."""
        layout = Layout(tasks, RESERVED)
        listed = [data_of(layout, s, s.key) for s in tasks.to_rate]
        write_texts({Path(path): _csv(listed), self.beside(path): config(tasks)})

    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """An export with every segment that was to be rated, answered or not."""
        layout = Layout(tasks, RESERVED)
        listed = []
        for segment, key, found in grouped(tasks, ratings):
            data = {**data_of(layout, segment, key), layout.score: ""}
            empty = dict.fromkeys((*FLAT, "created_at", "updated_at", "lead_time", EXTRA), "")
            listed += [{**data, **_flat(layout, r)} for r in found] or [{**data, **empty}]
        write_texts({Path(path): _csv(listed)})


def _flat(layout: Layout, rating: Rating) -> dict[str, Any]:
    lead, kept = kept_of(rating)
    return {
        layout.score: dumps([{"number": as_written(rating.score)}]),
        "annotator": rating.rater,
        "annotation_id": rating.answer,
        "created_at": rating.time,
        "updated_at": rating.time,
        "lead_time": "" if lead is None else repr(lead),
        EXTRA: dumps(kept) if kept else "",
    }


def _csv(records: list[dict[str, Any]]) -> str:
    columns = list(records[0])
    lines = [[neutral(str(record[name])) for name in columns] for record in records]
    text = as_table([columns, *lines], ",")
    return text.encode("utf-8", "replace").decode()


def _delimiter(header: str) -> str:
    return max(",\t;", key=header.count)


def _table(path: str | Path) -> list[list[str]]:
    """The cells of all lines that are not empty."""
    text = read_text(path)
    limit = csv.field_size_limit(2**31 - 1)
    try:
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=_delimiter(text.partition("\n")[0]),
            strict=True,
        )
        lines = [cells for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise DataError(f"{str(path)!r} is not CSV: {error}. Was it cut off?") from None
    finally:
        csv.field_size_limit(limit)
    if not lines:
        raise DataError(f"{str(path)!r} is empty.")
    return lines


def _bare(cell: str) -> str:
    """A cell without the apostrophe that keeps spreadsheets from taking it for a formula."""
    return cell[1:] if cell.startswith("'") and neutral(cell[1:]) == cell else cell


def _cell(name: str, cell: str) -> Any:
    """What a cell holds: an object or a list where it is written as JSON, else its text."""
    text = _bare(cell)
    if name not in _TEXT and text.startswith(("[{", '{"')):
        try:
            return parse(text, "the cell")
        except DataError:
            return text
    return text
