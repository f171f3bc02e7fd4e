"""The one door by which commands read tables, and say what they took the columns for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fewgold.cli._console import note

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.roles import Roles


def noting(quiet: bool) -> Callable[[str], None]:
    """Says sentences on stderr."""
    return lambda sentence: note(f"note: {sentence}", quiet)


def read_table(
    path: str, quiet: bool, *, pair: str | None = None, raters: bool = False
) -> pd.DataFrame:
    """A table, or published ratings as one; says what is odd about the file.

    ``raters`` keeps one row for each rater of published ratings; otherwise it is one per output.
    """
    from fewgold import files

    return files.open_table(path, noting(quiet), pair=pair, raters=raters)


def read_sheet(path: str, score: str | list[str], quiet: bool) -> pd.DataFrame:
    """A sheet that people filled in; says what is odd about the file and how scores are written."""
    from fewgold import tables

    file = tables.read_file(path)
    frame = file.frame()
    for sentence in file.notes:
        note(f"note: {sentence.rstrip('.')}", quiet)
    for name in [score] if isinstance(score, str) else score:
        how = tables.column_of(frame[name], name).read_as if name in frame.columns else ""
        if how:
            note(f"note: {tables.read_as_sentence(name, how)}", quiet)
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
