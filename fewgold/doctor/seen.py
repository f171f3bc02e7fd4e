"""A table with the roles of its columns, as the commands see them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import io
from fewgold.io import Column
from fewgold.io.columns import (
    DOCUMENT_NAMES,
    HUMAN_NAMES,
    ID_NAMES,
    SYSTEM_NAMES,
    Roles,
    other_texts,
    roles,
)
from fewgold.sheets import mean_of_known

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Seen(Roles):
    """A table and the roles of its columns; ``humans`` starts with the main one.

    Parameters
    ----------
    path
        The file.
    named
        The id, document and system recognised by name; others are found by their cells.
    texts_named
        Whether the commands find all texts.
    leaks
        Metrics derived from the human scores.
    told
        The roles that the user named columns for.
    """

    path: str = ""
    named: Mapping[str, str | None] = field(default_factory=dict)
    texts_named: bool = False
    leaks: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return len(self.table)

    @property
    def usable_metrics(self) -> tuple[str, ...]:
        """Metrics that are not derived from the human scores."""
        return tuple(m for m in self.metrics if m not in self.leaks)

    def count(self, name: str | None) -> int:
        """Number of different values in a column."""
        if name is None:
            return 0
        return len(set(self.labels(name)) - {""})

    def labels(self, name: str) -> list[str]:
        """The cells of a column as text without surrounding blanks."""
        return self.cells.labels(name)

    def scores(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The human score of each row, the mean if there are several; NaN if unrated."""
        return mean_of_known(np.array([self.cells[name].values for name in self.human]))


def see(
    path: str,
    frame: pd.DataFrame,
    human: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
) -> Seen:
    """Find the roles of the columns of a table; ``given`` are those from the user."""
    told = {role: value for role, value in (given or {}).items() if value is not None}
    found = roles(frame, need_id=False, human=list(human) or None, **told)
    if not found.human:
        # The commands would ask which one; the suggested commands name it.
        chosen = _main(found.humans, found.cells)
        found = roles(frame, need_id=False, human=chosen or None, **told)
        found = replace(found, humans=tuple(dict.fromkeys([*chosen, *found.humans])))
    shown = found.texts
    named = "texts" not in told
    if named and (more := other_texts(found)):
        named = set(more) <= set(shown)
        shown = tuple(n for n in map(str, frame.columns) if n in {*shown, *more})
    known = {"id": ID_NAMES, "document": DOCUMENT_NAMES, "system": SYSTEM_NAMES}
    names = set(map(str, frame.columns))
    # Commands do not find the paths into nested cells that the user named here.
    own = [n for n in names if n.split(".")[0] not in names - {n}]
    by_name = {
        role: column if column == getattr(found, role) else None
        for role, wanted in known.items()
        for column in [io.guess_column(own, wanted)]
    }
    return Seen(
        **vars(found) | {"texts": shown}, path=path, named=by_name,
        texts_named=named and bool(shown), told=frozenset(told),
    )  # fmt: skip


def spoken(given: Mapping[str, Any]) -> list[str]:
    """The columns that the user named; ``none`` is not a column."""
    told = [v for v in given.values() if v is not None and v not in ("none", ["none"])]
    return [name for v in told for name in (v if isinstance(v, list) else [v])]


def _main(likely: Sequence[str], columns: Mapping[str, Column]) -> list[str]:
    """The column of human scores to use: the clearest name, the overall one, else the first."""
    filled = [n for n in likely if columns[n].finite.any()] or list(likely)
    who = [n for n in filled if {"rater", "annotator"} & set(io.parts(n))]
    if len(who) > 1 and len(who) == len(filled):
        return who
    for name in HUMAN_NAMES:
        hits = [n for n in filled if io.plain(n) == name]
        if len(hits) == 1:
            return hits
    overall = [n for n in filled if "overall" in io.parts(n)]
    return (overall or filled)[:1]
