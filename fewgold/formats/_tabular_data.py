"""JSON lines, Parquet files and spreadsheets into rows, none of them lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fewgold._xlsx import read_sheet
from fewgold.errors import DataError
from fewgold.formats._format import read_text
from fewgold.formats._tabular_model import GUIDE, Row, Sheet, bare, raw
from fewgold.tables import text_of


class _Unreadable(ValueError):
    """Why a line is not the object that it should be."""


def read_jsonl(path: str | Path) -> Sheet:
    """JSON lines, an object a line, or a JSON array of objects."""
    text = read_text(path)
    if not text.strip():
        raise DataError(f"{str(path)!r} is empty. Expected an object {{…}} in every line.")
    if text.lstrip().startswith("["):
        return _read_array(path, text)
    found: list[tuple[str, str, Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            found.append((f"line {number}", line.rstrip("\r"), line))
    if not any(isinstance(_object(line), dict) for _, _, line in found):
        raise DataError(
            f"no line of {str(path)!r} is an object {{…}}; the first one {_object(found[0][2])}"
        )
    return _sheet((place, shown, _object(line)) for place, shown, line in found)


def _read_array(path: str | Path, text: str) -> Sheet:
    try:
        rows = json.loads(text, object_pairs_hook=_pairs, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise DataError(f"{str(path)!r} is not JSON that can be read: {why}.") from None
    return _sheet(
        (
            f"item {k}",
            json.dumps(row, ensure_ascii=False),
            row if isinstance(row, dict) else "is not an object {…}.",
        )
        for k, row in enumerate(rows, 1)
    )


def _sheet(found: Iterable[tuple[str, str, Any]]) -> Sheet:
    """Rows of objects; a string in place of an object says why there is none."""
    rows = list(found)
    header = tuple(dict.fromkeys(k for _, _, o in rows if isinstance(o, dict) for k in o))
    return Sheet(
        header,
        tuple(
            Row(place, tuple(map(o.get, header)), raw(text))
            if isinstance(o, dict)
            else Row(place, (), raw(text), o)
            for place, text, o in rows
        ),
    )


def _object(line: str) -> dict[str, Any] | str:
    """The object in a line, or why there is none."""
    try:
        found = json.loads(line, object_pairs_hook=_pairs, parse_constant=_constant)
    except _Unreadable as why:
        return str(why)
    except RecursionError:
        return "is nested too deep."
    except ValueError as error:
        return f"is not JSON: {str(error).partition(';')[0]}."
    return found if isinstance(found, dict) else "is not an object {…}."


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unreadable("names a field twice.")
    return found


def _constant(word: str) -> None:
    raise _Unreadable(f"holds {word}, which is no number; leave it out or write null.")


def read_xlsx(path: str | Path) -> Sheet:
    """The first sheet of a workbook, its first filled row being the header."""
    cells = read_sheet(path)
    if not cells.rows:
        raise DataError(
            f"the sheet {cells.name!r} of {str(path)!r} is empty. Expected a header line and a row "
            "a segment."
        )
    header = tuple(bare(text_of(v)) for v in cells.rows[0][1])
    rows = tuple(_row(number, values, header) for number, values in cells.rows[1:])
    others = ", ".join(repr(other) for other in cells.others if other != GUIDE)
    note = f"only the sheet {cells.name!r} is read, not {others}."
    return Sheet(header, rows, (note,) if others else ())


def _row(number: int, values: Sequence[Any], header: Sequence[str]) -> Row:
    cells = [bare(v) if isinstance(v, str) else v for v in values]
    cells += [None] * (len(header) - len(cells))
    shown = raw(json.dumps([text_of(v) for v in cells], ensure_ascii=False))
    place = f"row {number}"
    if any(v not in (None, "") for v in cells[len(header) :]):
        return Row(place, (), shown, "has cells to the right of the last column with a header.")
    return Row(place, tuple(cells[: len(header)]), shown)


def read_parquet(path: str | Path) -> Sheet:
    """A Parquet file, row by row."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise DataError(
            "reading Parquet needs pyarrow. Install it with: pip install 'fewgold[parquet]'."
        ) from None
    try:
        # Not by its path: pyarrow would take a folder, or parts of the path, for columns.
        table = pq.ParquetFile(pa.BufferReader(Path(path).read_bytes())).read(use_threads=False)
        table.validate(full=True)
        columns = [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, OSError, ValueError, OverflowError, TypeError, KeyError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise DataError(f"{str(path)!r} is no Parquet file that can be read: {why}.") from None
    header = tuple(map(str, table.column_names))
    rows = list(zip(*columns, strict=True))
    return Sheet(
        header,
        tuple(
            Row(f"row {k}", row, raw(json.dumps([_shown(v) for v in row], ensure_ascii=False)))
            for k, row in enumerate(rows, 1)
        ),
    )


def _shown(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else text_of(value)
