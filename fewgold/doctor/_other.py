"""Roles of columns whose names do not tell: what their cells say instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import tables
from fewgold.doctor._cells import Column

if TYPE_CHECKING:
    import pandas as pd

Labels = Callable[[str], list[str]]
#: Texts that systems were given; raters need what systems made of them, too.
INPUTS = {"source", "src", "input", "prompt", "question", "article", "context"}
#: What raters must not see, or need not, by a word of its name.
HIDDEN = {"ref", "refs", "reference", "references", "comment", "comments", "note", "notes"}
#: Columns with more values than this are no systems, unless they are called so.
_MOST_SYSTEMS = 20
# The share of all pairs of segment and system that must be there: a few outputs may have failed.
_CROSSED = 0.9


def other_id(
    frame: pd.DataFrame, columns: Mapping[str, Column], labels: Labels, told: Mapping[str, Any]
) -> dict[str, str | None]:
    """A column that names segments though it is not called so, with document and system.

    Each value must stand once, or once for each system; systems under another name are found by
    that, too. Running text never names segments, however different its cells are. A column whose
    name says id and whose cells are spoilt is taken too, so that somebody is told.
    """
    names = [str(c) for c in frame.columns]
    system = told.get("system") or tables.guess_column(names, tables.SYSTEM_NAMES)
    document = told.get("document") or tables.guess_column(names, tables.DOCUMENT_NAMES)
    words = _words(names, labels) | set(told.get("texts", ())) | set(told.get("metrics", ()))
    free = [n for n in names if n not in words and n not in (system, told.get("document"))]
    named = [n for n in free if not columns[n].numeric or tables.looks_like_position(n)]
    found: dict[str, str | None] = {"id": None, "document": document, "system": system}
    for name in named:
        cells = labels(name)
        alone = len(set(cells)) == len(cells) and not columns[name].blank.any()
        if alone or (system is not None and once_each(cells, labels(system))):
            return found | {"id": name, "document": None if name == document else document}
    called = [n for n in named if {"id", "ids"} & set(tables.parts(n)) and n != document]
    counted = [n for n in free if n != document and (n in named or _whole(columns[n]))]
    if system is not None:
        numbers = [n for n in counted if crossed(labels(n), labels(system))]
        if numbers:
            return found | {"id": numbers[0]}
    else:
        few = [n for n in free if n != document and _few(columns[n], labels(n))]
        pairs = [(n, s) for n in called for s in few if once_each(labels(n), labels(s))]
        pairs += [(n, s) for n in counted for s in few if crossed(labels(n), labels(s))]
        if pairs:
            return found | dict(zip(("id", "system"), pairs[0], strict=True))
    if document is not None:
        for name in called:
            both = set(zip(labels(name), labels(document), strict=True))
            if len(both) == len(frame):
                return found | {"id": name}
    most = max(called, key=lambda n: len(set(labels(n)) - {""}), default=None)
    if most is not None and 2 * len(set(labels(most)) - {""}) > len(frame):
        found["id"] = most
    return found


def other_system(
    roled: Mapping[str, Any], frame: pd.DataFrame, columns: Mapping[str, Column], labels: Labels
) -> str | None:
    """Systems under another name: a column of few values, with each of which each id stands."""
    ids = labels(roled["id"])
    taken = {roled["id"], roled["document"], *(roled["texts"] or ()), *roled["metrics"]}
    free = [n for n in map(str, frame.columns) if n not in taken]
    few = [n for n in free if _few(columns[n], labels(n)) and not wordy(labels(n))]
    return next((n for n in few if crossed(ids, labels(n))), None)


def crossed(ids: Sequence[str], systems: Sequence[str]) -> bool:
    """True where nearly each of the ids stands once with each of the systems, of which few.

    >>> crossed(["a", "a", "b", "b", "c", "c"], ["x", "y", "x", "y", "x", "y"])
    True
    >>> crossed(["a", "b", "c", "d", "e", "e"], ["x", "y", "x", "y", "x", "y"])
    False
    """
    many, few = len(set(ids)), len(set(systems))
    return many > few and once_each(ids, systems) and len(ids) >= _CROSSED * many * few


def once_each(labels: Sequence[str], systems: Sequence[str]) -> bool:
    """True where labels come again, but never twice with the same system."""
    pairs = set(zip(labels, systems, strict=True))
    return len(pairs) == len(labels) and len(set(labels)) < len(labels)


def other_texts(
    frame: pd.DataFrame, labels: Labels, roled: Mapping[str, Any], short: bool = False
) -> tuple[str, ...]:
    """Columns of texts under names of their own, ``short`` ones too; references are not for raters.

    Running text is text. Two or three words may be a category, unless they differ row by row.
    """
    taken = {roled["id"], roled["document"], roled["system"]}
    return tuple(
        n
        for n in map(str, frame.columns)
        if n not in taken
        and not HIDDEN & set(tables.parts(n))
        and (wordy(labels(n)) or (short and varied(labels(n))))
    )


def only_inputs(texts: Sequence[str]) -> bool:
    """True where raters would see what systems were given, but nothing that they made of it.

    >>> only_inputs(["source"]), only_inputs(["source", "output"]), only_inputs([])
    (True, False, False)
    """
    return bool(texts) and {tables.plain(t) for t in texts} <= INPUTS


def wordy(labels: Sequence[str]) -> bool:
    """True for running text: more than three words a cell, on average."""
    filled = [v for v in labels if v]
    return bool(filled) and sum(len(v.split()) for v in filled) > 3 * len(filled)


def varied(labels: Sequence[str]) -> bool:
    """True for cells of several words that mostly differ, as short replies do."""
    filled = [v for v in labels if v]
    several = [v for v in filled if " " in v and any(map(str.isalpha, v))]
    return 2 * len(set(several)) > len(filled)


def _words(names: Sequence[str], labels: Labels) -> set[str]:
    return {n for n in names if tables.plain(n) in tables.TEXT_NAMES or wordy(labels(n))}


def _few(column: Column, labels: Sequence[str]) -> bool:
    """Two to twenty names, none missing, that are no numbers."""
    return not column.numeric and not column.blank.any() and 2 <= len(set(labels)) <= _MOST_SYSTEMS


def _whole(column: Column) -> bool:
    """Whole numbers throughout, as segments may be numbered."""
    return bool(column.finite.all() and (column.values == np.round(column.values)).all())
