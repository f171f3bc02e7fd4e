"""What sheets of tasks are made of, and texts that no spreadsheet takes for a formula."""

from __future__ import annotations

from fewgold.tables import neutral

#: What the sheet says in the column ``rate``.
YES, CONTEXT = "yes", "no (context)"
#: Columns right of the score in a sheet of tasks. The key comes last: old spreadsheet programs
#: leave out empty cells at the end of a row, and a file cut short has no whole key.
TAIL = ("rater", "comment", "key")
RATE = "rate"


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
