"""Tables in plain text: CSV, TSV and JSON lines."""

from __future__ import annotations

import json

from fewgold.errors import DataError
from fewgold.formats._format import Names, Probe
from fewgold.formats._model import Tasks
from fewgold.formats._tabular import Tabular, is_text
from fewgold.formats._tabular_model import guard
from fewgold.formats._tabular_roles import familiar
from fewgold.formats._tabular_write import Grid, as_texts
from fewgold.tables import as_text as joined
from fewgold.tables import cell, separator_of


class Csv(Tabular):
    """Comma-separated values, also with semicolons or tabs."""

    name = "csv"
    title = "CSV"
    suffixes = (".csv",)

    def recognises(self, probe: Probe) -> bool:
        named = probe.name.endswith((".csv", ".tsv"))
        return is_text(probe) and (named or _familiar(probe, ",;|"))

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        rows = [[guard(c) for c in as_texts(row)] for row in (grid.header, *grid.rows)]
        return _marked(joined(rows, ","))


class Tsv(Tabular):
    """Tab-separated values; written without quotes, which most readers of TSV do not know."""

    name = "tsv"
    title = "TSV"
    suffixes = (".tsv",)

    def recognises(self, probe: Probe) -> bool:
        lines = [f"{line}\n" for line in probe.lines if line.strip()]
        tabs = bool(lines) and "\t" in lines[0] and separator_of(lines, 0, "\t") == "\t"
        return is_text(probe) and tabs and (probe.name.endswith(".tsv") or _familiar(probe, "\t"))

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


class JsonLines(Tabular):
    """JSON lines, an object a line; a JSON array of objects is read as well."""

    name = "jsonl"
    title = "JSON lines"
    suffixes = (".jsonl", ".ndjson", ".json")

    def recognises(self, probe: Probe) -> bool:
        if probe.name.endswith((".jsonl", ".ndjson")):
            return is_text(probe)
        if probe.first_object is not None:
            return familiar(probe.first_object, Names()) > 0
        found = probe.json
        first = found[0] if isinstance(found, list) and found else None
        return isinstance(first, dict) and familiar(first, Names()) == 2

    def _file(self, grid: Grid, tasks: Tasks) -> bytes:
        rows = [dict(zip(grid.header, row, strict=True)) for row in grid.rows]
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _marked(text: str) -> bytes:
    """Spreadsheet programs take UTF-8 for what it is only after a byte order mark."""
    return (text if text.isascii() else f"\ufeff{text}").encode()


def _familiar(probe: Probe, separators: str) -> bool:
    """Whether the first line names a segment or a score in columns of these separators."""
    lines = [line for line in probe.lines if line.strip()]
    if not lines or lines[0].lstrip().startswith(("{", "[", "<")):
        return False
    found = separator_of([f"{line}\n" for line in lines])
    columns = lines[0].split(found)
    return found in separators and len(columns) > 1 and familiar(columns, Names()) > 0
