"""A table with the roles of its columns, which are those that the commands see."""

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
    LeftOut,
    other_texts,
    roles,
    texts_of,
)
from fewgold.sheets import mean_of_known

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Seen:
    """A table and what its columns are.

    Parameters
    ----------
    humans
        All columns that look like human scores, the main one first; ``human`` is what is used:
        one, or several that are a rater each.
    metrics
        What the commands take for metrics; ``left_out`` says what they do not, and why, and
        ``gaps`` how many gaps are filled.
    guessed
        The id, document and system whose names tell; others are found by their cells.
    texts_named
        Whether they find all of the texts.
    told
        The roles that the user named columns for.
    """

    path: str
    frame: pd.DataFrame
    columns: Mapping[str, Column]
    id: str | None = None
    document: str | None = None
    system: str | None = None
    rater: str | None = None
    cost: str | None = None
    texts: tuple[str, ...] = ()
    texts_named: bool = False
    human: tuple[str, ...] = ()
    humans: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    left_out: Mapping[str, LeftOut] = field(default_factory=dict)
    gaps: Mapping[str, int] = field(default_factory=dict)
    guessed: Mapping[str, str | None] = field(default_factory=dict)
    leaks: tuple[str, ...] = ()
    told: frozenset[str] = frozenset()
    _labels: dict[str, list[str]] = field(default_factory=dict, repr=False)

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return len(self.frame)

    @property
    def usable_metrics(self) -> tuple[str, ...]:
        """Metrics without those that give the human scores away."""
        return tuple(m for m in self.metrics if m not in self.leaks)

    def count(self, name: str | None) -> int:
        """How many different values a column has."""
        if name is None:
            return 0
        return len(set(self.labels(name)) - {""})

    def labels(self, name: str) -> list[str]:
        """The cells of a column as text without blanks around."""
        if name not in self._labels:
            self._labels[name] = texts_of(self.frame[name])
        return self._labels[name]

    def scores(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The human score of each row, the mean where there are several; NaN where nobody rated."""
        return mean_of_known(np.array([self.columns[name].values for name in self.human]))


def see(
    path: str,
    frame: pd.DataFrame,
    human: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
) -> Seen:
    """The roles of the columns of a table; ``given`` are those that the user told."""
    told = {role: value for role, value in (given or {}).items() if value is not None}
    found = roles(frame, need_id=False, human=list(human) or None, **told)
    if not found.human:
        # The commands ask which one; the commands that are proposed here name it.
        chosen = _main(found.humans, found.cells)
        found = roles(frame, need_id=False, human=chosen or None, **told)
        found = replace(found, humans=tuple(dict.fromkeys([*chosen, *found.humans])))
    shown = found.texts
    named = "texts" not in told
    if named and (more := other_texts(found)):
        named = set(more) <= set(shown)
        shown = tuple(n for n in map(str, frame.columns) if n in {*shown, *more})
    known = {"id": ID_NAMES, "document": DOCUMENT_NAMES, "system": SYSTEM_NAMES}
    guessed: dict[str, str | None] = dict.fromkeys(known)
    for role, names in known.items():  # whose names tell what they are
        name = getattr(found, role)
        if name is not None and io.plain(name) in names:
            guessed[role] = name
    same = ("id", "document", "system", "rater", "cost", "human", "humans", "metrics", "gaps",
            "left_out")  # fmt: skip
    return Seen(
        path, found.table, found.cells, texts=shown, texts_named=named and bool(shown),
        guessed=guessed, told=frozenset(told),
        **{name: getattr(found, name) for name in same},
    )  # fmt: skip


def spoken(given: Mapping[str, Any]) -> list[str]:
    """The columns that the user named; ``none`` is no column."""
    told = [v for v in given.values() if v is not None and v not in ("none", ["none"])]
    return [name for v in told for name in (v if isinstance(v, list) else [v])]


def _main(likely: Sequence[str], columns: Mapping[str, Column]) -> list[str]:
    """The column of human scores to use: the plainest name, the overall one, else the first."""
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
