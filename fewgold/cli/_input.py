"""The one door by which commands read tables, and say what they took the columns for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fewgold.cli._console import note

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.roles import Roles

# Remarks about a file that make no difference to anybody.
_SILENT = ("byte-order-mark", "separator", "quoted")


def read_table(
    path: str, quiet: bool, *, pair: str | None = None, raters: bool = False
) -> pd.DataFrame:
    """A table, or published ratings as one; says what is odd about the file.

    ``raters`` keeps one row for each rater of published ratings; otherwise it is one per output.
    """
    from fewgold import formats, tables

    found = None if path == "-" else formats.rated_table(path, pair, raters)
    if found is not None:
        for sentence in found.notes:
            note(f"note: {sentence.rstrip('.')}", quiet)
        return found.frame
    file = tables.read_file(path)
    frame = file.frame()
    for remark, sentence in zip(file.remarks, file.sentences, strict=True):
        if remark.code not in _SILENT:
            note(f"note: {sentence.rstrip('.')}", quiet)
    return frame


def understand(table: pd.DataFrame, quiet: bool, **named: Any) -> Roles:
    """The roles of the columns of rated data, with a note on what was guessed."""
    from fewgold.roles import roles

    found = roles(table, **named)
    for sentence in found.notes():
        note(f"note: {sentence}", quiet)
    return found


def unrated(found: Roles) -> Roles:
    """Roles in a table to choose from, where human scores are nothing but columns to leave out."""
    guessed = {k: v for k, v in found.guessed.items() if k not in ("human", "rater")}
    people = dict.fromkeys(found.human, "may be human scores")
    return replace(found, human=(), guessed=guessed, left_out={**people, **found.left_out})
