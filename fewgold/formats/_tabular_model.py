"""A sheet as every tabular format hands it on: a header, and rows that may be broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fewgold.tables import neutral

#: What the sheet says in the column ``rate``.
YES, CONTEXT = "yes", "no (context)"
#: Columns right of the score in a sheet of tasks. The key comes last: old spreadsheet programs
#: leave out empty cells at the end of a row, and a file cut short has no whole key.
TAIL = ("rater", "comment", "key")
RATE = "rate"
#: The sheet of a workbook that explains the tasks.
GUIDE = "how to rate"
_MOST_RAW = 1000


@dataclass(frozen=True)
class Row:
    """A row of a sheet; ``why`` says what is wrong if its cells cannot be told apart."""

    place: str
    cells: tuple[Any, ...]
    raw: str
    why: str = ""


@dataclass(frozen=True)
class Sheet:
    """The header of a table and all rows below it."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def raw(text: str) -> str:
    """What a row says, shortened if it is endless."""
    return text if len(text) <= _MOST_RAW else f"{text[:_MOST_RAW]}…"


def fit(place: str, cells: Sequence[Any], width: int, text: str) -> Row:
    """A row of as many cells as the header has, or one that says why not."""
    row = tuple(cells)
    while len(row) > width and row[-1] in ("", None):
        row = row[:-1]
    if len(row) == width:
        return Row(place, row, raw(text))
    return Row(place, (), raw(text), f"has {len(row)} cells where the header has {width}.")


def guard(text: str) -> str:
    """Text that no spreadsheet takes for a formula, so that `bare` can give it back.

    An apostrophe that stands before something like a formula already gets a second one.

    >>> guard("=1+1"), guard("'=1+1"), guard("it's"), guard("-1")
    ("'=1+1", "''=1+1", "it's", '-1')
    """
    return f"'{text}" if _is_formula(text) else text


def bare(text: str) -> str:
    """Text as it was before `guard`.

    >>> bare("'=1+1"), bare("''=1+1"), bare("'tis")
    ('=1+1', "'=1+1", "'tis")
    """
    return text[1:] if text.startswith("'") and _is_formula(text) else text


def _is_formula(text: str) -> bool:
    rest = text.lstrip("'")
    return neutral(rest) != rest
