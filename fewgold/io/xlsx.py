"""Cells of a spreadsheet (.xlsx), read directly from its XML.

Spreadsheet libraries trust the size stated in the file, drop rows that are out of order, and treat
a formula without a stored value as an empty cell. Ratings must not get lost that way, so this
module returns every row and cell of the file, or refuses it.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from fewgold.errors import DataError
from fewgold.io.cells import NUMBER

_MOST_BYTES = 1_000_000_000  # uncompressed size; more is a mistake or an attack
_MOST_COLUMNS = 16384
_WHERE = re.compile(r"([A-Z]{1,3})([1-9]\d{0,6})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_WHOLE = re.compile(r"[+-]?\d{1,15}")
_DATES = {*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)}


@dataclass(frozen=True)
class Formula:
    """A formula whose value the file does not hold."""

    text: str

    def __str__(self) -> str:
        return f"={self.text}"


@dataclass(frozen=True)
class SheetCells:
    """The nonempty rows of a sheet, by number, with cells starting at column A.

    A cell is text, a number, a boolean, a `datetime`, a `Formula` or None.
    """

    name: str
    rows: tuple[tuple[int, tuple[Any, ...]], ...]
    others: tuple[str, ...] = ()


def read_sheet(path: str | Path, data: bytes | None = None) -> SheetCells:
    """Read the first sheet of a workbook; ``data`` is the file's content, if already read."""
    data = Path(path).read_bytes() if data is None else data
    if data[:4] == b"\xd0\xcf\x11\xe0":
        raise DataError(
            f"{str(path)!r} is an old .xls file or locked with a password. Save it as .xlsx "
            "without a password."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            return _read(book)
    except _Damaged as error:
        why = str(error)
    except (zipfile.BadZipFile, zlib.error, EOFError, ParseError, UnicodeError) as error:
        why = str(error)
    except (KeyError, NotImplementedError, OverflowError, RuntimeError, ValueError) as error:
        why = f"{type(error).__name__}, {error}"
    raise DataError(
        f"{str(path)!r} cannot be read as a spreadsheet: {why.rstrip('.')}. Save it again as "
        ".xlsx, or as CSV in UTF-8."
    )


class _Damaged(Exception):
    """The workbook is damaged; the message says how."""


def _read(book: zipfile.ZipFile) -> SheetCells:
    if sum(entry.file_size for entry in book.infolist()) > _MOST_BYTES:
        raise _Damaged("it unpacks to more than 1 GB")
    names = set(book.namelist())
    if len(names) != len(book.namelist()):
        raise _Damaged("two of its parts have the same name")
    home = next((n for n in sorted(names) if n.endswith("xl/workbook.xml")), None)
    if home is None:
        raise _Damaged("it is a zip file without xl/workbook.xml")
    folder, file = posixpath.split(home)
    links = {
        e.get("Id", ""): (e.get("Type", ""), e.get("Target", ""))
        for e in _elements(book, f"{folder}/_rels/{file}.rels", {"Relationship"})
    }
    sheets: list[tuple[str, str]] = []
    old_dates = False
    for e in _elements(book, home, {"sheet", "workbookPr"}):
        if _tag(e) == "workbookPr":
            old_dates = e.get("date1904", "0").lower() in ("1", "true")
            continue
        ref = next((v for k, v in e.attrib.items() if k.endswith("}id")), "")
        kind, target = links.get(ref, ("", ""))
        if kind.endswith("/worksheet"):
            sheets.append((e.get("name", ""), posixpath.join(folder, target)))
    if not sheets:
        raise _Damaged("it has no sheet")
    name, place = sheets[0][0], posixpath.normpath(sheets[0][1]).lstrip("/")
    if place not in names:
        raise _Damaged(f"its sheet {name!r} is missing")
    strings = [_text(e) for e in _elements(book, f"{folder}/sharedStrings.xml", {"si"})]
    dates = _date_styles(book, f"{folder}/styles.xml")
    epoch = datetime(1904, 1, 1) if old_dates else datetime(1899, 12, 30)
    rows = tuple(_rows(book, place, strings, dates, epoch))
    return SheetCells(name, rows, tuple(other for other, _ in sheets[1:]))


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _elements(book: zipfile.ZipFile, name: str, wanted: set[str]) -> Iterator[Element]:
    """The elements with these names in a part of the workbook; none if the part is missing."""
    if name not in book.namelist():
        return
    parser: Any = XMLPullParser(("start", "end"))
    depth, inside = 0, 0
    with book.open(name) as file:
        while piece := file.read(65536):
            if b"<!DOCTYPE" in piece or b"<!ENTITY" in piece:
                raise _Damaged("it defines entities, which no spreadsheet program does")
            parser.feed(piece)
            for event, e in parser.read_events():
                if event == "start":
                    depth += 1
                    if depth > 100:
                        raise _Damaged("its parts are nested too deep")
                    inside += _tag(e) in wanted
                    continue
                depth -= 1
                if _tag(e) in wanted:
                    inside -= 1
                    yield e
                if not inside:
                    e.clear()
    parser.close()


def _text(element: Element) -> str:
    """The text of a formatted string, without phonetic hints (``rPh``)."""
    found: list[str] = []
    for part in element:
        if _tag(part) == "t":
            found.append(part.text or "")
        elif _tag(part) == "r":
            found += [t.text or "" for t in part if _tag(t) == "t"]
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), "".join(found))


def _date_styles(book: zipfile.ZipFile, name: str) -> set[int]:
    """Numbers of the cell styles that show a number as a date."""
    dates = set(_DATES)
    styles: set[int] = set()
    for e in _elements(book, name, {"numFmt", "cellXfs"}):
        if _tag(e) == "numFmt":
            code = re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", e.get("formatCode", "")).lower()
            if set(code) & set("dmyhs") and "general" not in code:
                dates.add(int(e.get("numFmtId", "-1")))
        else:
            styles |= {k for k, xf in enumerate(e) if int(xf.get("numFmtId", "0")) in dates}
    return styles


def _rows(
    book: zipfile.ZipFile, place: str, strings: list[str], dates: set[int], epoch: datetime
) -> Iterator[tuple[int, tuple[Any, ...]]]:
    number = 0
    for row in _elements(book, place, {"row"}):
        number = int(row.get("r", number + 1))
        cells: dict[int, Any] = {}
        column = 0
        for c in row:
            if _tag(c) != "c":
                continue
            column = _column(c.get("r")) if c.get("r") else column + 1
            if column in cells or not 1 <= column <= _MOST_COLUMNS:
                raise _Damaged(f"row {number} has the cell {c.get('r')} twice or beyond the sheet")
            cells[column] = _cell(c, strings, dates, epoch)
        filled = [k for k, v in cells.items() if v is not None and v != ""]
        if filled:
            yield number, tuple(cells.get(k) for k in range(1, max(filled) + 1))


def _column(where: str | None) -> int:
    match = _WHERE.fullmatch(where or "")
    if match is None:
        raise _Damaged(f"a cell claims to be at {where!r}")
    column = 0
    for letter in match[1]:
        column = 26 * column + ord(letter) - 64
    return column


def _cell(c: Element, strings: list[str], dates: set[int], epoch: datetime) -> Any:
    parts = {_tag(e): e for e in c}
    kind = c.get("t", "n")
    if kind == "inlineStr":
        return _text(parts["is"]) if "is" in parts else ""
    value = parts["v"].text if "v" in parts else None
    if value is None or value == "":
        return Formula(parts["f"].text or "") if "f" in parts and kind != "str" else None
    if kind == "s":
        index = int(value)
        if not 0 <= index < len(strings):
            raise _Damaged(f"the cell {c.get('r')} refers to a text that is not in the file")
        return strings[index]
    if kind == "b":
        return value.strip() == "1"
    if kind == "n" and _WHOLE.fullmatch(value.strip()) and not _dated(c, dates):
        return int(value)
    if kind == "n" and NUMBER.fullmatch(value.strip()):
        return _day(float(value), epoch) if _dated(c, dates) else float(value)
    return _ESCAPED.sub(lambda m: chr(int(m[1], 16)), value)  # text, errors such as #N/A, dates


def _dated(c: Element, dates: set[int]) -> bool:
    return int(c.get("s", "0")) in dates


def _day(number: float, epoch: datetime) -> Any:
    """Convert days since the epoch to a date, rounded to milliseconds."""
    try:
        return epoch + timedelta(milliseconds=round(number * 86_400_000))
    except OverflowError:
        return number
