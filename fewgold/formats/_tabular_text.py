"""CSV and TSV into rows, none of them lost to a quote that is never closed."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from fewgold.errors import DataError
from fewgold.formats._format import Names, read_text
from fewgold.formats._tabular_model import Row, Sheet, bare, fit, raw
from fewgold.formats._tabular_roles import familiar

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_LONGEST_CELL = 1_000_000
_QUOTES = "has broken quotes: one is not closed, or stands in the middle of a cell."
_KEY = re.compile(r"\bfg-\d+-[a-z2-7]{6}\b")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
# A cell in quotes that needs them, as spreadsheets write it.
_NEEDED = re.compile(r'"(?:[^"]|"")*(?:,|"")(?:[^"]|"")*"')


def read_csv(path: str | Path, names: Names) -> Sheet:
    """CSV with commas, semicolons or tabs, whichever makes sense of the header."""
    lines = _lines(read_text(path))
    stated = re.fullmatch(r"sep=(.)", lines[0].strip("\r\n\"'")) if lines else None
    first = 1 if stated else 0
    start = next((k for k in range(first, len(lines)) if not _is_blank(lines[k])), None)
    if start is None:
        raise DataError(f"{str(path)!r} is empty. Expected a header line and a row a segment.")
    separator = stated[1] if stated else separator_of(lines[start:], names)
    try:
        header, end = next((cells, end) for _, end, cells, _ in _parse(lines, start, separator))
    except StopIteration:
        header, end = None, start
    if header is None:
        raise DataError(f"the header of {str(path)!r} {_QUOTES}")
    rows = [
        fit(_place(a), [bare(c) for c in cells], len(header), text)
        if cells is not None
        else Row(_place(a), (), raw(text), _QUOTES)
        for a, _, cells, text in _parse(lines, end, separator, len(header))
    ]
    told = SEPARATORS.get(separator, repr(separator))
    notes = () if separator == "," else (f"cells are separated by {told}.",)
    return Sheet(tuple(bare(c) for c in header), tuple(rows), notes)


def read_tsv(path: str | Path, names: Names) -> Sheet:
    """TSV without quotes, or with quotes where a spreadsheet program put them."""
    lines = _lines(read_text(path))
    start = next((k for k, line in enumerate(lines) if not _is_blank(line)), None)
    if start is None:
        raise DataError(f"{str(path)!r} is empty. Expected a header line and a row a segment.")
    if "\t" not in lines[start]:
        other = separator_of(lines[start:], names)
        hint = "Read it as csv." if other != "\t" else "Expected columns with tabs between them."
        raise DataError(f"the header of {str(path)!r} has no tabs. {hint}")
    header = _cells(lines[start])
    plain = [(k, _cells(lines[k])) for k in range(start + 1, len(lines)) if not _is_blank(lines[k])]
    if _is_quoted(header, plain) or any(len(_trimmed(c, header)) != len(header) for _, c in plain):
        quoted = _with_quotes(lines, start)
        if quoted is not None:
            return quoted
    rows = [
        fit(_place(k), [bare(c) for c in cells], len(header), lines[k].rstrip("\r\n"))
        for k, cells in plain
    ]
    return Sheet(tuple(bare(c) for c in header), tuple(rows))


def separator_of(lines: Sequence[str], names: Names) -> str:
    """The separator under which the header names the most columns that are needed."""

    def worth(separator: str) -> tuple[int, int]:
        parsed = next(_parse(lines, 0, separator), None)
        header = [] if parsed is None or parsed[2] is None else parsed[2]
        return familiar(header, names), len(header)

    return max(SEPARATORS, key=worth)


def _with_quotes(lines: Sequence[str], start: int) -> Sheet | None:
    """The file as spreadsheet programs write it, if every row makes sense that way."""
    records = list(_parse(lines, start, "\t"))
    if any(cells is None for _, _, cells, _ in records):
        return None
    header = [bare(c) for c in records[0][2] or ()]
    rows = [
        fit(_place(a), [bare(c) for c in cells or ()], len(header), text)
        for a, _, cells, text in records[1:]
    ]
    if any(row.why for row in rows):
        return None
    note = "cells in quotes are read without them, as spreadsheet programs write them."
    return Sheet(tuple(header), tuple(rows), (note,))


def _is_quoted(header: Sequence[str], rows: Sequence[tuple[int, Sequence[str]]]) -> bool:
    """True if all quotes are such that a spreadsheet program must have put them."""
    if any(len(c) > 1 and c[0] == c[-1] == '"' for c in header):
        return True
    quotes = [c for _, cells in rows for c in cells if '"' in c]
    return bool(quotes) and all(_NEEDED.fullmatch(c) for c in quotes)


def _parse(
    lines: Sequence[str], start: int, separator: str, width: int | None = None
) -> Iterator[tuple[int, int, list[str] | None, str]]:
    """Records as (first line, line after the last, cells, text); None for cells that are broken.

    After a broken record reading goes on with the very next line, so that a quote that is never
    closed costs one row and not the rest of the file.
    """
    before = csv.field_size_limit(_LONGEST_CELL)
    again = 0
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
                        yield start, end, cells, "".join(lines[start:end]).rstrip("\r\n")
                    start = end
            except csv.Error:
                again += base + reader.line_num - start
                if again > 100_000 + 10 * len(lines):
                    raise DataError(
                        "quotes are broken in too many places to tell the rows apart. Save the "
                        "table again with its program, as CSV."
                    ) from None
                yield start, start + 1, None, lines[start].rstrip("\r\n")
                start += 1
    finally:
        csv.field_size_limit(before)


def _are_rows(lines: Sequence[str], separator: str, width: int) -> bool:
    """True if lines that quotes make one record look like rows of their own.

    A quote that was never closed meets the next one a few rows later. Then each line has all its
    cells and a number among them, or there are several keys.
    """
    if len(set(_KEY.findall("".join(lines)))) > 1:
        return True
    rows = [[c.strip(' "\r\n') for c in line.split(separator)] for line in lines]
    return all(len(row) == width and any(map(_NUMBER.fullmatch, row)) for row in rows)


def _lines(text: str) -> list[str]:
    """Lines with their ends, which are those of files only and not all that Unicode knows."""
    return list(io.StringIO(text, newline=""))


def _is_blank(line: str) -> bool:
    return not line.strip(" \r\n")


def _cells(line: str) -> list[str]:
    return line.rstrip("\r\n").split("\t")


def _trimmed(cells: Sequence[str], header: Sequence[str]) -> Sequence[str]:
    return cells if any(cells[len(header) :]) else cells[: len(header)]


def _place(index: int) -> str:
    return f"line {index + 1}"
