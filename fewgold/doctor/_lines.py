"""The lines of CSV and TSV before any reader makes a table of them: what a reader would hide."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fewgold.doctor._cells import NUMBER
from fewgold.doctor._model import Finding, plural, some

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_FIELD_LIMIT = 10_000_000


@dataclass(frozen=True)
class Lines:
    """The header, what is wrong, and the separator that would be the right one."""

    header: tuple[str, ...]
    findings: tuple[Finding, ...]
    separator: str


def check_lines(text: str, tabs: bool) -> Lines:
    """Look at separators, field counts and the header of delimited text."""
    first = text.partition("\n")[0]
    separator = "\t" if tabs else (";" if ";" in first and "," not in first else ",")
    right = _right_separator(first, separator)
    if right != separator:
        found = Finding(
            "error",
            "wrong-separator",
            f"all is in one column: the header has no {_SEPARATORS[separator]} but "
            f"{_SEPARATORS[right]}",
            f"header: {first.strip()[:60]}",
            "Write it with commas as .csv or with tabs as .tsv; see the command below.",
        )
        return Lines((first.strip(),), (found,), right)
    rows, numbers, broken = _parsed(text, separator)
    if broken is not None or not rows:
        return Lines((), (broken,) if broken else (), separator)
    header = [cell.strip("\ufeff") for cell in rows[0]]
    findings = [*_widths(header, rows[1:], numbers[1:]), *_names(header, rows[1:])]
    if not tabs and (wide := _open_quote(rows, numbers)) is not None:
        findings.append(wide)
    return Lines(tuple(header), tuple(findings), separator)


def _right_separator(first: str, separator: str) -> str:
    if separator in first:
        return separator
    counts = {s: first.count(s) for s in _SEPARATORS}
    best = max(counts, key=lambda s: counts[s])
    return best if counts[best] else separator


def _parsed(text: str, separator: str) -> tuple[list[list[str]], list[int], Finding | None]:
    """Rows that are not blank, the line that each ends in, and why parsing stopped."""
    rows: list[list[str]] = []
    numbers: list[int] = []
    if separator == "\t":  # read without quotes
        for number, line in enumerate(io.StringIO(text, newline=None), 1):
            if line.strip("\r\n"):
                rows.append(line.rstrip("\r\n").split("\t"))
                numbers.append(number)
        return rows, numbers, None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    old = csv.field_size_limit(_FIELD_LIMIT)
    try:
        for row in reader:
            if row:
                rows.append(row)
                numbers.append(reader.line_num)
    except csv.Error as error:
        found = Finding("error", "unreadable", f"line {reader.line_num:,} cannot be read: {error}",
                        do="Look at the quotation marks there.")  # fmt: skip
        return rows, numbers, found
    finally:
        csv.field_size_limit(old)
    return rows, numbers, None


def _widths(
    header: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]
) -> list[Finding]:
    widths = Counter(map(len, rows))
    if not rows or set(widths) == {len(header)}:
        return []
    if set(widths) == {len(header) + 1}:
        return [
            Finding(
                "error",
                "header-too-short",
                f"the header has {len(header)} names and every row {len(header) + 1} cells, so "
                "that each name stands over the wrong column",
                do="Give the first column a name too; R leaves it out for row names, and a "
                "separator at the end of each row does the same.",
            )
        ]
    if len(widths) == 1 and len(header) < min(widths):
        return [
            Finding(
                "error",
                "no-header",
                f"the first line has {plural(len(header), 'cell')} and every row after it "
                f"{min(widths)}",
                f"it reads: {', '.join(header)[:60]}",
                "Is there a title or a remark above the names of the columns? Remove it.",
            )
        ]
    wrong = [(n, len(r)) for n, r in zip(numbers, rows, strict=True) if len(r) != len(header)]
    long = any(width > len(header) for _, width in wrong)
    where = "; ".join(f"line {n:,} has {width}" for n, width in wrong[:3])
    return [
        Finding(
            "error" if long else "warning",
            "ragged",
            f"{plural(len(wrong), 'row')} of {len(rows):,} {'has' if len(wrong) == 1 else 'have'} "
            f"another number of cells than the header, which has {len(header)}",
            where,
            "A text with the separator in it needs quotation marks around it; short rows lack "
            "cells at their end.",
        )
    ]


def _names(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[Finding]:
    findings: list[Finding] = []
    numbers = [name for name in header if NUMBER.fullmatch(name.strip())]
    if numbers and rows:
        findings.append(
            Finding(
                "error",
                "no-header",
                "the first line looks like a row of data and not like names of columns",
                f"it holds {some(numbers)}",
                "Put a line with the names of the columns first.",
            )
        )
        return findings
    bare = [name.strip() for name in header]
    twice = [name for name, count in Counter(bare).items() if count > 1 and name]
    if twice:
        findings.append(
            Finding(
                "warning",
                "duplicate-columns",
                f"{plural(len(twice), 'name')} of columns more than once; all but the "
                f"first get a number at the end, as in “{twice[0]}.1”",
                some(twice),
                "Rename or remove them, so that the right one is used.",
            )
        )
    padded = [name for name in header if name != name.strip()]
    if padded:
        findings.append(
            Finding(
                "warning",
                "spaces-in-names",
                f"{plural(len(padded), 'name')} of columns with blanks around",
                some([repr(name) for name in padded]),
                "Remove the blanks: options must repeat the names to the letter.",
            )
        )
    if bare.count("") > max(1, len(bare) // 2):
        return [
            Finding(
                "error",
                "no-header",
                f"the first line names {len(bare) - bare.count('')} of {len(bare)} columns",
                f"it reads: {', '.join(header)[:60]}",
                "Is there a title or a remark above the names of the columns? Remove it.",
            )
        ]
    if "" in bare:
        places = [k + 1 for k, name in enumerate(bare) if not name]
        findings.append(
            Finding(
                "note",
                "unnamed-column",
                f"{plural(len(places), 'column')} without a name",
                f"column {some(places)}",
                "Written by pandas as row numbers? Leave them out with to_csv(…, index=False).",
            )
        )
    return findings


def _open_quote(rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> Finding | None:
    """A quotation mark that nobody closed swallows the lines after it."""
    last = 0
    for row, number in zip(rows, numbers, strict=True):
        if number - last > 30 and any(cell.count("\n") > 30 for cell in row):
            return Finding(
                "warning",
                "open-quote",
                f"one cell runs over {number - last} lines: a quotation mark may be left open",
                f"lines {last + 1:,} to {number:,}",
                "Close the quotation mark, or double it if it belongs to the text.",
            )
        last = number
    return None
