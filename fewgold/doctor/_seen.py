"""A table with the roles of its columns, as the commands would guess them or a little better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import tables
from fewgold.doctor._cells import Column, column_of
from fewgold.errors import DataError
from fewgold.roles import human_columns, roles

if TYPE_CHECKING:
    import pandas as pd

RATER_NAMES = (
    "rater", "raterid", "annotator", "annotatorid", "user", "userid", "worker", "workerid",
    "evaluator", "evaluatorid",
)  # fmt: skip
_NOTHING: dict[str, Any] = {
    "id": None, "document": None, "system": None, "metrics": None, "cost": None, "texts": None
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Seen:
    """A table and what its columns are.

    Parameters
    ----------
    humans
        All columns that look like human scores, the main one first; ``human`` is what is used:
        one, or several that are a rater each.
    metrics
        What the commands take for metrics; ``left_out`` says what they do not, and why.
    guessed
        The id, document and system that the commands find by themselves.
    texts_named
        Whether they find the texts.
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
    left_out: Mapping[str, str] = field(default_factory=dict)
    guessed: Mapping[str, str | None] = field(default_factory=dict)
    leaks: tuple[str, ...] = ()
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
            cells = self.frame[name].tolist()
            self._labels[name] = ["" if tables.is_empty(v) else str(v).strip() for v in cells]
        return self._labels[name]

    def scores(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The human score of each row, the mean where there are several; NaN where nobody rated."""
        rows = np.array([self.columns[name].values for name in self.human])
        known = np.isfinite(rows)
        total = np.where(known, rows, 0.0).sum(0)
        return np.where(known.any(0), total / np.maximum(known.sum(0), 1), np.nan)


def see(path: str, frame: pd.DataFrame, human: Sequence[str] = ()) -> Seen:
    """The roles of the columns of a table."""
    names = [str(c) for c in frame.columns]
    columns = {name: column_of(frame[name], name) for name in names}
    rater = tables.guess_column([n for n in names if n not in human], RATER_NAMES)
    likely = [
        n
        for n in human_columns([n for n in names if n != rater])
        if columns[n].numeric or columns[n].blank.all()
    ]
    chosen = list(human) or _main(likely, columns)
    told = [*chosen, *([rater] if rater else [])]
    rest = frame.drop(columns=told)
    seen = Seen(path, frame, columns, rater=rater, human=tuple(chosen))
    seen = replace(seen, humans=tuple(dict.fromkeys([*chosen, *likely])))
    given = dict(_NOTHING)
    try:
        found = roles(rest, given, {})
        guessed = {k: found.columns[k] for k in ("id", "document", "system")}
    except DataError:
        other = _other_id(rest, seen)
        guessed = {"id": None, "system": tables.guess_column(names, tables.SYSTEM_NAMES)}
        if other["id"] is None:
            lone = replace(seen, document=other["document"], system=other["system"])
            return replace(lone, guessed=guessed)
        given |= {"id": other["id"], "system": other["system"]}
        found = roles(rest, given, {})
        guessed["document"] = found.columns["document"]
    roled = found.columns
    shown = tuple(roled["texts"] or ()) or _other_texts(rest, seen, roled)
    return replace(
        seen,
        guessed=guessed,
        id=roled["id"],
        document=roled["document"],
        system=roled["system"],
        cost=roled["cost"],
        texts=shown,
        texts_named=bool(roled["texts"]),
        metrics=tuple(roled["metrics"]),
        left_out=dict(found.left_out),
    )


def _main(likely: Sequence[str], columns: Mapping[str, Column]) -> list[str]:
    """The column of human scores to use: the plainest name, the overall one, else the first."""
    filled = [n for n in likely if columns[n].finite.any()] or list(likely)
    who = [n for n in filled if {"rater", "annotator"} & set(tables.parts(n))]
    if len(who) > 1 and len(who) == len(filled):
        return who
    for name in tables.HUMAN_NAMES:
        hits = [n for n in filled if tables.plain(n) == name]
        if len(hits) == 1:
            return hits
    overall = [n for n in filled if "overall" in tables.parts(n)]
    return (overall or filled)[:1]


def _other_id(frame: pd.DataFrame, seen: Seen) -> dict[str, str | None]:
    """A column that names segments though it is not called so, with document and system.

    Each value must stand once, or once for each system. Running text never names segments, however
    different its cells are. A column whose name says id and whose cells are spoilt is taken too, so
    that somebody is told.
    """
    names = [str(c) for c in frame.columns]
    system = tables.guess_column(names, tables.SYSTEM_NAMES)
    document = tables.guess_column(names, tables.DOCUMENT_NAMES)
    texts = {n for n in names if tables.plain(n) in tables.TEXT_NAMES or wordy(seen.labels(n))}
    free = [n for n in names if n not in texts and n != system]
    free = [n for n in free if not seen.columns[n].numeric or tables.looks_like_position(n)]
    found: dict[str, str | None] = {"id": None, "document": document, "system": system}
    for name in free:
        labels = seen.labels(name)
        alone = len(set(labels)) == len(labels) and not seen.columns[name].blank.any()
        if alone or (system is not None and _once_each(labels, seen.labels(system))):
            return found | {"id": name, "document": None if name == document else document}
    called = [n for n in free if {"id", "ids"} & set(tables.parts(n)) and n != document]
    for name in called:
        labels = seen.labels(name)
        for other in free if system is None else ():
            few = 2 <= seen.count(other) <= 20 and other != document
            if few and not seen.columns[other].numeric and _once_each(labels, seen.labels(other)):
                return found | {"id": name, "system": other}
        if document is not None:
            pairs = set(zip(labels, seen.labels(document), strict=True))
            if len(pairs) == len(labels):
                return found | {"id": name}
    most = max(called, key=seen.count, default=None)
    if most is not None and 2 * seen.count(most) > seen.rows:
        found["id"] = most
    return found


def _other_texts(frame: pd.DataFrame, seen: Seen, roled: Mapping[str, Any]) -> tuple[str, ...]:
    """Columns of running text under names of their own; references are not for raters."""
    taken = {roled["id"], roled["document"], roled["system"]}
    unseen = {"ref", "refs", "reference", "references", "comment", "comments", "note", "notes"}
    return tuple(
        n
        for n in map(str, frame.columns)
        if n not in taken and not unseen & set(tables.parts(n)) and wordy(seen.labels(n))
    )


def wordy(labels: Sequence[str]) -> bool:
    """True for running text: more than three words a cell, on average."""
    filled = [v for v in labels if v]
    return bool(filled) and sum(len(v.split()) for v in filled) > 3 * len(filled)


def _once_each(labels: Sequence[str], systems: Sequence[str]) -> bool:
    pairs = list(zip(labels, systems, strict=True))
    return len(set(pairs)) == len(pairs) and len(set(labels)) < len(labels)
