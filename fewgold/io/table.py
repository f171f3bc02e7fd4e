"""The one reader of tables: CSV, TSV, JSON, Parquet and spreadsheets into rows with their place.

The format is recognised by content; the file name decides only if two readings are possible. No row
is lost: a row whose cells cannot be separated stays in the table with the reason, so that
`TableFile.frame` refuses the file and names the line, and ``fewgold import`` rejects it.
"""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from fewgold.io.arrow import FILE, STREAM, is_dataset, read_arrow, read_dataset
from fewgold.io.cells import NUMBER, is_empty, text_of
from fewgold.io.columns import KNOWN_NAMES, plain
from fewgold.io.files import TITLES, Decoded, TableError, decode, read_bytes, unpacked
from fewgold.io.xlsx import Formula, read_sheet

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".xlsx")
#: Names of the kinds of tables in messages.
KINDS = {"csv": "CSV", "tsv": "TSV", "jsonl": "JSON lines", "json": "JSON", "parquet": "Parquet",
         "xlsx": "XLSX", "arrow": "Arrow"}  # fmt: skip
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
#: The sheet with instructions in workbooks written by fewgold.
GUIDE = "how to rate"
#: Codes of remarks that never matter.
HARMLESS = ("byte-order-mark", "separator", "quoted", "spaces-in-names")
_KINDS = "CSV, TSV, JSON, Parquet or .xlsx"
_LONGEST_CELL = 10_000_000
_MOST_RAW = 1000
_LOOKED_AT = 60  # number of records used to find the separator
_KEY = re.compile(r"\bfg-\d+-[a-z2-7]{6}\b")
_WHOLE = re.compile(r"[+-]?\d+(\.\d+)?")
# A quoted cell that needs its quotes, as written by spreadsheets.
_NEEDED = re.compile(r'"(?:[^"]|"")*(?:,|"")(?:[^"]|"")*"')
_QUOTES = "has broken quotes: one is not closed, or is in the middle of a cell."
_RAGGED = "A cell that contains the separator needs quotation marks around it."


class Row(NamedTuple):
    """A row of a table; ``why`` says what is wrong if its cells cannot be separated."""

    place: str
    cells: tuple[Any, ...]
    raw: str
    why: str = ""


class Remark(NamedTuple):
    """A remark about a file: a code, what was found, where, and what to do."""

    code: str
    what: str
    where: str = ""
    do: str = ""


class _Problem(NamedTuple):
    code: str
    why: str
    width: int = 0


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table as it was read from a file.

    Parameters
    ----------
    path
        Name of the file in messages.
    kind
        ``csv``, ``tsv``, ``jsonl``, ``json``, ``xlsx`` or ``parquet``, whatever the name says.
    header
        Names of the columns, as in the file.
    cells
        The cells of each row, as text, numbers, booleans or dates, depending on the format.
    numbers
        The line, row or item where each row begins, counted from 1.
    remarks
        Things the user should know, such as an encoding other than UTF-8.
    """

    path: str
    kind: str
    header: tuple[str, ...]
    cells: Sequence[Sequence[Any]]
    numbers: Sequence[int]
    remarks: tuple[Remark, ...] = ()
    encoding: str = "utf-8"
    separator: str = ""
    packed: bool = False
    unit: str = "line"
    _problems: dict[int, _Problem] = field(default_factory=dict, repr=False)
    _raw: Callable[[int], str] = field(default=lambda k: "", repr=False)
    _native: Callable[[], pd.DataFrame] | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def title(self) -> str:
        """What the file is, in a few words."""
        return f"{KINDS[self.kind]}{', gzip' if self.packed else ''}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The remarks that may matter, as sentences."""
        told = zip(self.remarks, self.sentences, strict=True)
        return tuple(sentence for remark, sentence in told if remark.code not in HARMLESS)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The remarks as sentences."""
        return tuple(f"{r.what}{f' ({r.where})' if r.where else ''}." for r in self.remarks)

    def place(self, k: int) -> str:
        """Where row ``k`` is in the file."""
        return f"{self.unit} {self.numbers[k]}"

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """Every row, including those that cannot be read."""
        found = []
        for k, cells in enumerate(self.cells):
            raw = self._raw(k)
            raw = raw if len(raw) <= _MOST_RAW else f"{raw[:_MOST_RAW]}…"
            problem = self._problems.get(k)
            held = tuple(cells) if problem is None else ()
            found.append(Row(self.place(k), held, raw, "" if problem is None else problem.why))
        return tuple(found)

    def frame(self) -> pd.DataFrame:
        """The table as a dataframe; refuses a file in which any row or column is unclear.

        Cells of text formats and spreadsheets stay text: ids are often numbers with leading zeros.
        Empty rows are left out.
        """
        import pandas as pd

        self._refuse()
        if self._native is not None:
            frame = self._stored
            frame = frame.drop(index=list(self.empty)) if self.empty else frame.copy()
        else:
            gone = set(self.empty)
            rows = [c for k, c in enumerate(self.cells) if k not in gone] if gone else self.cells
            if self.kind in ("json", "jsonl"):
                objects = [
                    {n: v for n, v in zip(self.header, row, strict=True) if v is not None}
                    for row in rows
                ]
                frame = pd.DataFrame(objects, columns=list(self.header))
            else:
                if self.kind == "xlsx":
                    rows = [[text_of(v) for v in row] for row in rows]
                columns = zip(*rows, strict=True) if rows else [[] for _ in self.header]
                made = dict(zip(self.header, map(list, columns), strict=True))
                frame = pd.DataFrame(made, dtype=str)
        if frame.empty:
            raise self._error("no-rows", "it has no rows", "Expected one row per segment.")
        frame = frame.set_axis([str(c).strip() for c in frame.columns], axis=1)
        return frame.reset_index(drop=True) if len(frame) != len(self) else frame

    @cached_property
    def empty(self) -> tuple[int, ...]:
        """Empty rows, which spreadsheets leave behind."""
        likely: Iterable[int] = range(len(self))
        if self._native is not None and self.header:
            first = self._stored.iloc[:, 0]
            likely = [k for k, v in enumerate(first.tolist()) if is_empty(v)]
        return tuple(
            k
            for k in likely
            if k not in self._problems
            and (not self.cells[k] or is_empty(self.cells[k][0]))
            and all(map(is_empty, self.cells[k]))
        )

    @cached_property
    def _stored(self) -> pd.DataFrame:
        assert self._native is not None
        return self._native()

    def _error(self, code: str, what: str, do: str, where: str = "") -> TableError:
        return TableError(self.path, code, what, do, where)

    def check_columns(self) -> None:
        """Refuse a table without rows or a header, or with two columns of one name."""
        if not self.cells:
            raise self._error("no-rows", "it has no rows", "Expected one row per segment.")
        named = [name.strip() for name in self.header]
        data = [name for name in named if NUMBER.fullmatch(name)]
        familiar = any(plain(name) in KNOWN_NAMES for name in named)
        if data and not familiar and self.kind in ("csv", "tsv", "xlsx"):
            raise self._error(
                "no-header", "the first line looks like a row of data, not like column names",
                "Add a first line with the column names.",
                f"it holds {', '.join(data[:3])}",
            )  # fmt: skip
        twice = [name for name, count in Counter(named).items() if count > 1]
        if twice:
            raise self._error(
                "duplicate-columns", f"two columns are called {twice[0]!r}",
                "Rename or remove one of them.",
            )  # fmt: skip

    def _refuse(self) -> None:
        """Raise an error if anything is wrong with rows or columns."""
        if self._problems:
            raise self._broken()
        self.check_columns()
        for k, row in enumerate(self.cells if self.kind == "xlsx" else ()):
            if any(isinstance(v, Formula) for v in row):
                raise self._error(
                    "formula", f"{self.place(k)} has a formula without a value",
                    "Open and save it with a spreadsheet program, or type the value.",
                )  # fmt: skip

    def _broken(self) -> TableError:
        """The error about unreadable rows, for their first kind."""
        wide = len(self.header)
        ragged = {k: p.width for k, p in self._problems.items() if p.code == "ragged"}
        if len(ragged) == len(self) and len(set(ragged.values())) == 1:
            width = next(iter(ragged.values()))
            if width == wide + 1:
                return self._error(
                    "header-too-short",
                    f"the header has {wide} names but every row has {width} cells, so each name "
                    "is above the wrong column",
                    "Name every column, including the first (R leaves it out for row names).",
                )
            if width > wide:
                return self._error(
                    "no-header",
                    f"the first line has {wide} cell{'s' * (wide > 1)} and every row after it "
                    f"{width}",
                    "Is there a title or a remark above the column names? Remove it.",
                    f"it reads: {', '.join(self.header)[:60]}",
                )
        first = next(iter(self._problems))
        problem = self._problems[first]
        if problem.code == "ragged":
            told = "; ".join(f"{self.place(k)} has {w}" for k, w in list(ragged.items())[:3])
            count = "1 row" if len(ragged) == 1 else f"{len(ragged)} rows"
            return self._error(
                "ragged",
                f"{count} of {len(self)} {'has' if len(ragged) == 1 else 'have'} a different "
                f"number of cells from the header ({wide})",
                f"{_RAGGED} Short rows lack cells at their end.",
                told,
            )
        others = sum(p.code == problem.code for p in self._problems.values()) - 1
        more = f", and so {'does 1 row' if others == 1 else f'do {others} rows'} more"
        return self._error(
            problem.code, f"{self.place(first)} {problem.why.rstrip('.')}{more if others else ''}",
            "Correct it there, or save the table again with its program.",
        )  # fmt: skip


def read_table(path: str | Path) -> pd.DataFrame:
    """Read a table from CSV, TSV, JSON, Parquet or a spreadsheet; ``-`` is standard input.

    Text files may be gzipped (``.gz``), in UTF-8, UTF-16 or Windows-1252, and separated by commas,
    semicolons, tabs or bars. In a spreadsheet (``.xlsx``) the first sheet is read.
    """
    return read_file(path).frame()


def read_file(path: str | Path, kind: str | None = None, shown: str | None = None) -> TableFile:
    """Read a table with its rows, their positions, and remarks on oddities.

    Parameters
    ----------
    path
        A file, or ``-`` for standard input.
    kind
        The format, a key of `KINDS`; detected if None.
    shown
        Name to use in messages instead of the path.
    """
    name = shown or str(path)
    if str(path) == "-":
        stream: Any = getattr(sys.stdin, "buffer", None)
        data = stream.read() if stream is not None else sys.stdin.read().encode()
        data, packed = unpacked(data, name)
    elif is_dataset(path):
        table, said = read_dataset(path)
        return replace(
            _arrow(table, name, "arrow"), remarks=(Remark("splits", said),) if said else ()
        )
    elif not Path(path).is_file():
        code, what = "missing", "there is no file"
        if Path(path).is_dir():
            code, what = "folder", "it is a folder"
        raise TableError(name, code, what, f"Give the path of a {_KINDS} file.")
    else:
        data, packed = read_bytes(path, name)
    if not data.strip():
        raise _empty(name)
    found = _parsed(data, kind, name)
    remarks = (*found.remarks, *_remarks(found))
    return replace(found, packed=packed, remarks=remarks)


def _parsed(data: bytes, kind: str | None, name: str) -> TableFile:
    if kind == "xlsx" or (kind is None and data[:4] in (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        return _spreadsheet(data, name)
    if kind == "parquet" or (kind is None and data[:4] == b"PAR1"):
        return _parquet(data, name)
    if kind == "arrow" or (kind is None and data.startswith((FILE, STREAM))):
        return _arrow(read_arrow(data, name), name, "arrow")
    if data.startswith(b"SQLite format 3\x00"):
        raise TableError(
            name, "sqlite", "it is a database, such as a fewgold campaign, not a table",
            "Use a command that takes a campaign.",
        )  # fmt: skip
    decoded = decode(data, name)
    if not decoded.text.strip():
        raise _empty(name)
    if kind in (None, "json", "jsonl"):
        found = _json(decoded.text, name, sure=kind is not None)
        if found is not None:
            return replace(found, encoding=decoded.encoding)
    return _delimited(decoded, kind, name)


def _empty(name: str) -> TableError:
    return TableError(
        name, "empty", "it is empty", "Expected a header line and one row per segment."
    )


def _remarks(table: TableFile) -> Iterator[Remark]:
    """Oddities of a table that can be read."""
    if table.encoding == "utf-8-sig":
        do = "Harmless: fewgold reads it as spreadsheets do."
        yield Remark("byte-order-mark", "the file begins with a byte order mark", do=do)
    elif table.encoding != "utf-8":
        what = f"the text is not in UTF-8 and was read as {TITLES[table.encoding]}"
        do = "Check that names with accents look right; if not, save the file as UTF-8."
        yield Remark("encoding", what, do=do)
    if table.separator not in ("", ",", "\t") or (table.separator == "\t" and table.kind == "csv"):
        told = SEPARATORS.get(table.separator, repr(table.separator))
        yield Remark("separator", f"cells are separated by {told}")
    bare = [k + 1 for k, n in enumerate(table.header) if n.startswith("Unnamed: ")]
    if bare and table.kind in ("csv", "tsv", "xlsx"):
        what = f"{len(bare)} column{'s' * (len(bare) > 1)} without a name"
        do = "Written by pandas as row numbers? Leave them out with to_csv(…, index=False)."
        yield Remark("unnamed-column", what, f"column {', '.join(map(str, bare[:3]))}", do)
    if padded := [n for n in table.header if n != n.strip()]:
        what = f"{len(padded)} column name{'s' * (len(padded) > 1)} with spaces around"
        do = "Harmless: fewgold removes the spaces."
        yield Remark("spaces-in-names", what, ", ".join(map(repr, padded[:3])), do)
    if table.empty:
        one = len(table.empty) == 1
        told = ", ".join(str(table.numbers[k]) for k in table.empty[:3])
        more = ", …" if len(table.empty) > 3 else ""
        rows = "row with nothing in it" if one else "rows with nothing in them"
        what = f"{len(table.empty)} {rows} left out"
        yield Remark("empty-rows", what, f"{table.unit} {told}{more}", "Remove them.")


# Delimited text ---------------------------------------------------------------------------------


def _delimited(decoded: Decoded, kind: str | None, name: str) -> TableFile:
    """Read CSV or TSV, with the separator that fits the header and the rows below it."""
    lines = _lines(decoded.text)
    stated = re.fullmatch(r"sep=(.)", lines[0].strip("\r\n\"'")) if kind != "tsv" else None
    start = next((k for k in range(1 if stated else 0, len(lines)) if not _is_blank(lines[k])), -1)
    if start < 0:
        raise _empty(name)
    if kind == "tsv":
        separator = "\t"
        if (
            "\t" not in lines[start]
            and len(_head(lines, start, separator_of(lines, start, "")) or "") > 1
        ):
            raise TableError(name, "wrong-separator", "the header has no tabs", "Read it as csv.")
    else:
        tabs = name.lower().removesuffix(".gz").endswith(".tsv")
        separator = stated[1] if stated else separator_of(lines, start, "\t" if tabs else ",")
    header = _head(lines, start, separator)
    known = name == "-" or name.lower().removesuffix(".gz").endswith(SUFFIXES)
    if kind is None and not known and header is not None and len([n for n in header if n]) < 2:
        raise TableError(
            name, "not-a-table", "it is text but not a table: no separator between cells was found",
            f"Expected a {_KINDS} file, a sheet of fewgold select, a campaign, or the export of an "
            "annotation tool.",
        )  # fmt: skip
    if header is None:
        raise TableError(
            name, "broken-quotes", f"the header (line {start + 1}) {_QUOTES.rstrip('.')}",
            "Close the quotation mark, or double it if it belongs to the name.",
        )  # fmt: skip
    found = _rows(lines, start, separator, name)
    if "\x00" in decoded.text:
        for k, row in enumerate(found.cells):
            if any("\x00" in cell for cell in row):
                why = "holds a NUL character: it was damaged in transfer."
                found.problems[k] = _Problem("nul", why)
    remarks: tuple[Remark, ...] = ()
    if separator == "\t" and found.quoted and any('"' in line for line in lines):
        remarks = (
            Remark("quoted", "cells in quotes are read without them, as spreadsheet programs and "
                   "pandas write them"),
        )  # fmt: skip
    header, cells = _named(found.header, found.cells, found.problems)
    blank = header.count("")
    if blank > max(1, len(header) // 2):
        raise TableError(
            name, "no-header", f"the first line names {len(header) - blank} of {len(header)} "
            "columns", "Is there a title or a remark above the column names? Remove it.",
            f"it reads: {', '.join(header)[:60]}",
        )  # fmt: skip
    header = [n or f"Unnamed: {k}" for k, n in enumerate(header)]
    tabs = separator == "\t" and (kind == "tsv" or not name.lower().endswith(".csv"))
    return TableFile(
        name, "tsv" if tabs else "csv", tuple(header), cells,
        [first + 1 for first in found.starts],
        remarks, encoding=decoded.encoding, separator=separator, _problems=found.problems,
        _raw=lambda k: "".join(lines[found.starts[k] : found.ends[k]]).rstrip("\r\n"),
    )  # fmt: skip


class _Parsed(NamedTuple):
    header: list[str]
    cells: list[list[str]]
    starts: list[int]
    ends: list[int]
    problems: dict[int, _Problem]
    quoted: bool


def _rows(lines: Sequence[str], start: int, separator: str, name: str) -> _Parsed:
    """All rows; for tabs, with or without quotes, whichever leaves fewer rows unclear."""
    quotes = any('"' in line for line in lines)
    if separator == "\t" and quotes:
        plainly = _fitted(_split(lines, start, separator), False)
        if not plainly.problems and not _is_quoted(plainly):
            return plainly
        quoted = _fitted(_records(lines, start, separator, name), True)
        return quoted if len(quoted.problems) <= len(plainly.problems) else plainly
    if quotes:
        return _fitted(_records(lines, start, separator, name), True)
    return _fitted(_split(lines, start, separator), False)


def _fitted(records: Iterator[tuple[int, int, list[str] | None]], quoted: bool) -> _Parsed:
    """Records as rows with as many cells as the header, or with the reason why not."""
    _, _, header = next(records)
    assert header is not None
    wide = len(header)
    cells: list[list[str]] = []
    starts, ends = [], []
    problems: dict[int, _Problem] = {}
    for first, end, found in records:
        k, row = len(cells), found or []
        if found is None:
            problems[k] = _Problem("broken-quotes", _QUOTES)
        elif len(row) != wide:
            while len(row) > wide and row[-1] == "":
                row.pop()
            if len(row) != wide:
                why = f"has {len(row)} cells where the header has {wide}."
                problems[k] = _Problem("ragged", why, len(row))
        cells.append(row)
        starts.append(first)
        ends.append(end)
    return _Parsed(header, cells, starts, ends, problems, quoted)


def _named(
    header: list[str], cells: list[list[str]], problems: dict[int, _Problem]
) -> tuple[list[str], list[list[str]]]:
    """The table without empty, nameless columns, which come from trailing separators."""
    bare = [
        k
        for k, n in enumerate(header)
        if not n.strip()
        and all(not row[k].strip() for i, row in enumerate(cells) if i not in problems)
    ]
    if not bare:
        return header, cells
    kept = [k for k in range(len(header)) if k not in bare]
    rows = [row if i in problems else [row[k] for k in kept] for i, row in enumerate(cells)]
    return [header[k] for k in kept], rows


def separator_of(lines: Sequence[str], start: int = 0, hint: str = ",") -> str:
    """The separator under which rows have as many cells as the header, and names make sense."""
    best, most = hint or ",", (False, 0, 0.0, False, 0)
    text = lines[start : start + 3 * _LOOKED_AT]
    for separator in SEPARATORS:
        header = _head(text, 0, separator)
        if header is None or len(header) < 2:
            continue
        readings = [_split(text, 0, separator)] if separator == "\t" else []
        readings.append(_records(text, 0, separator, ""))
        agree = 0.0
        for records in readings:
            rows = [row for _, _, row in records][1:_LOOKED_AT]
            wide = len(header)  # empty cells beyond the header do not count
            fits = sum(row is not None and len(row) >= wide and not any(row[wide:]) for row in rows)
            agree = max(agree, fits / len(rows) if rows else 1.0)
        known = sum(plain(c) in KNOWN_NAMES for c in header)
        worth = (agree >= 0.8, known, round(agree, 2), separator == hint, len(header))
        if worth > most:
            best, most = separator, worth
    return best


def _head(lines: Sequence[str], start: int, separator: str) -> list[str] | None:
    """The cells of the header, or None if its quotes are broken."""
    if '"' not in lines[start]:
        return lines[start].rstrip("\r\n").split(separator)
    found = next(_records(lines, start, separator, ""), None)
    return None if found is None else found[2]


def _is_quoted(found: _Parsed) -> bool:
    """True if all quotes look as if a program had put them around cells."""
    if any(len(c) > 1 and c[0] == c[-1] == '"' for c in found.header):
        return True
    quotes = [c for row in found.cells for c in row if '"' in c]
    if not quotes or not all(_NEEDED.fullmatch(c) for c in quotes):
        return False
    # Doubled quotes are a sure sign; commas only if cells with commas are always quoted.
    if any('""' in c[1:-1] for c in quotes):
        return True
    return not any("," in c and '"' not in c for row in found.cells for c in row)


def _split(
    lines: Sequence[str], start: int, separator: str
) -> Iterator[tuple[int, int, list[str] | None]]:
    """Records of text without quotes: (first line, line after it, cells)."""
    for k in range(start, len(lines)):
        if not _is_blank(lines[k]):
            yield k, k + 1, lines[k].rstrip("\r\n").split(separator)


def _records(
    lines: Sequence[str], start: int, separator: str, name: str
) -> Iterator[tuple[int, int, list[str] | None]]:
    """Records of text with quotes: (first line, line after the last, cells); None for broken cells.

    After a broken record, reading continues with the next line, so that an unclosed quote costs one
    row and not the rest of the file.
    """
    before = csv.field_size_limit(_LONGEST_CELL)
    reread = 0  # lines read a second time after broken quotes
    width = None
    try:
        while start < len(lines):
            base = start
            reader = csv.reader(
                (lines[k] for k in range(base, len(lines))), delimiter=separator, strict=True
            )
            try:
                for cells in reader:
                    end = base + reader.line_num
                    if (
                        width
                        and end - start > 1
                        and (len(cells) != width or _are_rows(lines[start:end], separator, width))
                    ):
                        raise csv.Error
                    if not (end - start == 1 and _is_blank(lines[start])):
                        yield start, end, cells
                        width = width or len(cells)
                    start = end
            except csv.Error:
                reread += base + reader.line_num - start
                if reread > 100_000 + 10 * len(lines):
                    raise TableError(
                        name, "broken-quotes",
                        "quotes are broken in too many places to tell the rows apart",
                        "Save the table again with its program, as CSV.",
                    ) from None  # fmt: skip
                yield start, start + 1, None
                start += 1
    finally:
        csv.field_size_limit(before)


def _are_rows(lines: Sequence[str], separator: str, width: int) -> bool:
    """True if the lines of a quoted record look like separate rows.

    An unclosed quote is matched with the next one a few rows later. Then each line has all its
    cells, including a number, or there are several keys.
    """
    if len(set(_KEY.findall("".join(lines)))) > 1:
        return True
    rows = [[c.strip(' "\r\n') for c in line.split(separator)] for line in lines]
    return all(len(row) == width and any(map(_WHOLE.fullmatch, row)) for row in rows)


def _lines(text: str) -> list[str]:
    """Lines with their line ends; only \n, \r and \r\n count, not other Unicode ones."""
    return list(io.StringIO(text, newline=""))


def _is_blank(line: str) -> bool:
    return not line.strip(" \r\n")


# JSON -------------------------------------------------------------------------------------------


class _Unreadable(ValueError):
    """Why a line is not a JSON object."""


def _json(text: str, name: str, sure: bool) -> TableFile | None:
    """Read JSON lines or a list of objects; None for other text, unless JSON is required."""
    body = text.lstrip()
    named = name.lower().removesuffix(".gz").endswith((".json", ".jsonl", ".ndjson"))
    if body.startswith("["):
        try:
            items = json.loads(text, object_pairs_hook=_pairs)
        except (ValueError, RecursionError) as error:
            if not (sure or named):
                return None
            why = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
            raise TableError(name, "json", f"it cannot be read as JSON: {why}", "") from None
        return _objects(name, "json", "item", [
            (k, json.dumps(v, ensure_ascii=False), v if isinstance(v, dict)
             else _Problem("json", "is not an object {…}."))
            for k, v in enumerate(items, 1)
        ])  # fmt: skip
    if not (sure or named or body.startswith("{")):
        return None
    filled = [(k, v.rstrip("\r")) for k, v in enumerate(text.split("\n"), 1) if v.strip()]
    found = [(k, v, _object(v)) for k, v in filled]
    lone = len(found) == 1 and name.lower().removesuffix(".gz").endswith(".json")
    if lone or not any(isinstance(o, dict) for _, _, o in found):
        if not (sure or named):
            return None
        at, _, first = found[0]
        why = first.why.rstrip(".") if isinstance(first, _Problem) else ""
        where = f"line {at} {why}" if why and len(found) > 1 else ""
        raise TableError(
            name, "json", "it holds no list of objects [{…}, …] and no object {…} per line",
            "Write the rows as a list of objects, or one object per line.", where,
        )  # fmt: skip
    return _objects(name, "jsonl", "line", found)


def _objects(name: str, kind: str, unit: str, found: Sequence[tuple[int, str, Any]]) -> TableFile:
    """Rows from objects; an unreadable object is replaced by the reason."""
    header = tuple(dict.fromkeys(k for _, _, o in found if isinstance(o, dict) for k in o))
    return TableFile(
        name, kind, header,
        [list(map(o.get, header)) if isinstance(o, dict) else [] for _, _, o in found],
        [number for number, _, _ in found],
        unit=unit,
        _problems={k: o for k, (_, _, o) in enumerate(found) if isinstance(o, _Problem)},
        _raw=lambda k: found[k][1],
    )  # fmt: skip


def _object(line: str) -> dict[str, Any] | _Problem:
    """The object in a line, or why there is none."""
    try:
        found = json.loads(line, object_pairs_hook=_pairs)
    except _Unreadable as why:
        return _Problem("json", str(why))
    except RecursionError:
        return _Problem("json", "is nested too deep.")
    except ValueError as error:
        return _Problem("json", f"is not JSON: {str(error).partition(';')[0]}.")
    return found if isinstance(found, dict) else _Problem("json", "is not an object {…}.")


def _pairs(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Unreadable("has a field twice.")
    return found


# Spreadsheets and Parquet -----------------------------------------------------------------------


def _spreadsheet(data: bytes, name: str) -> TableFile:
    """Read the first sheet of a workbook; its first nonempty row is the header."""
    sheet = read_sheet(name, data)
    if not sheet.rows:
        raise TableError(
            name, "empty", f"the sheet {sheet.name!r} is empty",
            "Expected a header line and one row per segment.",
        )  # fmt: skip
    header = [text_of(v) for v in sheet.rows[0][1]]
    while header and not header[-1]:
        header.pop()
    wide = len(header)
    cells: list[list[Any]] = []
    problems: dict[int, _Problem] = {}
    for k, (_, values) in enumerate(sheet.rows[1:]):
        row = [*values, *[None] * (wide - len(values))]
        if any(v not in (None, "") for v in row[wide:]):
            problems[k] = _Problem(
                "loose-cells", "has cells to the right of the last named column."
            )
        cells.append(row[:wide])
    bare = [k for k, n in enumerate(header) if not n and all(is_empty(row[k]) for row in cells)]
    kept = [k for k in range(wide) if k not in bare]
    others = ", ".join(repr(other) for other in sheet.others if other != GUIDE)
    note = Remark("sheets", f"only the sheet {sheet.name!r} is read, not {others}")
    return TableFile(
        name, "xlsx", tuple(header[k] or f"Unnamed: {k}" for k in kept),
        [[row[k] for k in kept] for row in cells],
        [number for number, _ in sheet.rows[1:]],
        (note,) if others else (),
        unit="row",
        _problems=problems,
        _raw=lambda k: json.dumps([text_of(v) for v in cells[k]], ensure_ascii=False),
    )  # fmt: skip


def _parquet(data: bytes, name: str) -> TableFile:
    """Read a Parquet file."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise TableError(
            name, "parquet", "reading Parquet needs pyarrow",
            "Install it with: pip install 'fewgold[parquet]'.",
        ) from None  # fmt: skip
    try:
        # Not by path: pyarrow would interpret folders in the path as columns.
        table = pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, OverflowError, TypeError, KeyError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        raise TableError(
            name, "parquet", f"it cannot be read as a Parquet file: {why}", "Write it again."
        ) from None
    return _arrow(table, name, "parquet")


def _arrow(table: Any, name: str, kind: str) -> TableFile:
    """Read an Arrow table."""
    cells = _ArrowRows(table)
    return TableFile(
        name, kind, tuple(map(str, table.column_names)), cells, range(1, len(cells) + 1),
        unit="row",
        _raw=lambda k: json.dumps(list(cells[k]), ensure_ascii=False, default=text_of),
        _native=partial(_as_pandas, table),
    )  # fmt: skip


class _ArrowRows(Sequence[tuple[Any, ...]]):
    """The rows of an Arrow table, created on first use, since dataframes do not need them."""

    def __init__(self, table: Any) -> None:
        self._table = table

    @cached_property
    def _made(self) -> list[tuple[Any, ...]]:
        return list(zip(*(c.to_pylist() for c in self._table.columns), strict=True))

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __getitem__(self, k: Any) -> Any:
        return self._made[k]


def _as_pandas(table: Any) -> pd.DataFrame:
    """The columns as pandas stored them; a named index becomes a column."""
    frame: pd.DataFrame = table.to_pandas()
    if frame.index.names != [None]:
        frame = frame.reset_index()
    return frame.reset_index(drop=True).rename(columns=str)
