"""Cells of tables: as text, and so that no spreadsheet runs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fewgold.errors import DataError

# What makes spreadsheets take a cell for a formula (OWASP, CSV injection), full-width forms too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
#: A number in plain notation.
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def text_of(value: Any) -> str:
    """A cell of any kind of file as text, its numbers without loss; whole ones without a point.

    >>> [text_of(v) for v in ("007", 7.0, 0.1 + 0.2, None, True)]
    ['007', '7', '0.30000000000000004', '', 'True']
    """
    if isinstance(value, str):
        return value
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def neutral(text: str) -> str:
    """Text that no spreadsheet takes for a formula: with an apostrophe in front where needed."""
    return f"'{text}" if text.startswith(_FORMULA) and not NUMBER.fullmatch(text) else text


def cell(value: Any, separator: str) -> str:
    """A value as a cell of CSV or TSV that no spreadsheet takes for a formula."""
    text = neutral(str(value))
    return re.sub(r"[\t\r\n]+", " ", text) if separator == "\t" else text


def as_text(lines: Sequence[Sequence[str]], separator: str) -> str:
    """Rows of cells as CSV or TSV."""
    if separator == "\t":  # read back without quotes, so written without
        return "".join("\t".join(line) + "\n" for line in lines)
    return "".join(",".join(map(_quoted, line)) + "\n" for line in lines)


def _quoted(text: str) -> str:
    """In quotes where CSV needs them; Python's own writer forgets a lone carriage return."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[,"\r\n]', text) else text


def is_empty(value: Any) -> bool:
    """True for a cell with nothing in it, of any kind of file."""
    if isinstance(value, str):
        return not value.strip()
    # By its text: comparing a gap of pandas with anything gives a gap, not a truth value.
    return value is None or str(value).strip() in ("", "nan", "NaN", "NaT", "<NA>")


def refuse(what: str, ids: Sequence[str], hint: str = "") -> None:
    """Raise an error about ``ids``, if there are any, that names the first few."""
    if ids:
        more = ", …" if len(ids) > 5 else ""
        if len(ids) == 1:
            what = re.sub("^have ", "has ", re.sub("^are ", "is ", what))
        count = "1 id" if len(ids) == 1 else f"{len(ids)} ids"
        raise DataError(f"{count} {what}: {', '.join(ids[:5])}{more}. {hint}".strip())
