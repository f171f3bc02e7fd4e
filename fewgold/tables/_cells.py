"""Cells of tables: as text, as scores, and so that no spreadsheet runs them."""

from __future__ import annotations

import math
import numbers
import re
from collections.abc import Sequence
from typing import Any

from fewgold.errors import DataError

# What makes spreadsheets take a cell for a formula (OWASP, CSV injection), full-width forms too.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d+,\d+")


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
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text


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


def scores_of(column: str, ids: Sequence[str], values: Sequence[Any], hint: str) -> list[float]:
    """The numbers that people typed into a column; a gap or anything else is an error."""
    texts = ["" if is_empty(v) else str(v).strip() for v in values]
    rows = list(zip(ids, texts, values, strict=True))
    refuse(f"have no score in column {column!r}", [i for i, t, _ in rows if not t], hint)
    commas = [f"{i} ({t})" for i, t, _ in rows if _COMMA.fullmatch(t)]
    refuse("have a decimal comma", commas, "Write 3.5 and not 3,5: a comma may mean thousands.")
    bad = [f"{i} ({t})" for i, t, v in rows if not _is_score(t, v)]
    refuse(f"have no number in column {column!r}", bad, "Give each a number, such as 3.5.")
    return [float(v) for v in values]


def _is_score(text: str, value: Any) -> bool:
    if isinstance(value, str):
        return bool(_NUMBER.fullmatch(text)) and math.isfinite(float(text))
    return isinstance(value, bool | numbers.Real) and math.isfinite(value)


def refuse(what: str, ids: Sequence[str], hint: str = "") -> None:
    """Raise an error about ``ids``, if there are any, that names the first few."""
    if ids:
        more = ", …" if len(ids) > 5 else ""
        if len(ids) == 1:
            what = re.sub("^have ", "has ", re.sub("^are ", "is ", what))
        count = "1 id" if len(ids) == 1 else f"{len(ids)} ids"
        raise DataError(f"{count} {what}: {', '.join(ids[:5])}{more}. {hint}".strip())
