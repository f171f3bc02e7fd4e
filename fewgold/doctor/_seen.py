"""A table with the roles of its columns, as the commands would guess them or a little better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import tables
from fewgold.doctor._cells import Column, column_of
from fewgold.doctor._other import only_inputs, other_id, other_system, other_texts
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
    left_out: Mapping[str, str] = field(default_factory=dict)
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
            cells = self.frame[name].tolist()
            self._labels[name] = ["" if tables.is_empty(v) else str(v).strip() for v in cells]
        return self._labels[name]

    def scores(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The human score of each row, the mean where there are several; NaN where nobody rated."""
        rows = np.array([self.columns[name].values for name in self.human])
        known = np.isfinite(rows)
        total = np.where(known, rows, 0.0).sum(0)
        return np.where(known.any(0), total / np.maximum(known.sum(0), 1), np.nan)


def see(
    path: str,
    frame: pd.DataFrame,
    human: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
) -> Seen:
    """The roles of the columns of a table; ``given`` are those that the user told."""
    told = {role: value for role, value in (given or {}).items() if value is not None}
    names = [str(c) for c in frame.columns]
    columns = {name: column_of(frame[name], name) for name in names}
    said = spoken(told)
    free = [n for n in names if n not in said]
    rater = tables.guess_column([n for n in free if n not in human], RATER_NAMES)
    likely = [
        n
        for n in human_columns([n for n in free if n != rater])
        if columns[n].numeric or columns[n].blank.all()
    ]
    chosen = list(human) or _main(likely, columns)
    rest = frame.drop(columns=[*chosen, *([rater] if rater else [])])
    seen = Seen(path, frame, columns, rater=rater, human=tuple(chosen), told=frozenset(told))
    seen = replace(seen, humans=tuple(dict.fromkeys([*chosen, *likely])))
    seen = replace(seen, guessed=_by_name(rest))
    wanted = _NOTHING | told
    if wanted["id"] is None and seen.guessed["id"] is None:
        other = other_id(rest, columns, seen.labels, told)
        if other["id"] is None:
            return replace(seen, document=other["document"], system=other["system"])
        wanted |= {"id": other["id"], "system": other["system"]}
    found = roles(rest, wanted, {})
    if found.columns["system"] is None and rater is None:
        wanted["system"] = other_system(found.columns, rest, columns, seen.labels)
        found = roles(rest, wanted, {}) if wanted["system"] is not None else found
    roled = found.columns
    shown, named = tuple(roled["texts"] or ()), "texts" not in told
    if named and (not shown or only_inputs(shown)):
        more = other_texts(rest, seen.labels, roled, short=bool(shown))
        named = not more or set(more) <= set(shown)
        shown = tuple(n for n in names if n in {*shown, *more})
    return replace(
        seen,
        id=roled["id"],
        document=roled["document"],
        system=roled["system"],
        cost=roled["cost"],
        texts=shown,
        texts_named=named and bool(shown),
        metrics=tuple(roled["metrics"]),
        left_out=dict(found.left_out),
    )


def spoken(given: Mapping[str, Any]) -> list[str]:
    """The columns that the user named; ``none`` is no column."""
    told = [v for v in given.values() if v is not None and v != ["none"]]
    return [name for v in told for name in (v if isinstance(v, list) else [v])]


def _by_name(frame: pd.DataFrame) -> dict[str, str | None]:
    """The id, document and system that the commands find if nobody tells them."""
    names = [str(c) for c in frame.columns]
    try:
        found = roles(frame, _NOTHING, {}).columns
    except DataError:
        wanted = {"document": tables.DOCUMENT_NAMES, "system": tables.SYSTEM_NAMES}
        return {"id": None} | {r: tables.guess_column(names, n) for r, n in wanted.items()}
    return {role: found[role] for role in ("id", "document", "system")}


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
