"""Tasks and ratings as a header and rows; each tabular format puts them into a file."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._model import Rating, Tasks
from fewgold.formats._tabular_model import CONTEXT, RATE, TAIL, YES

RATING_COLUMNS = (
    "segment", "score", "rater", "time", "system", "answer_id", "details", "pool_id",
)  # fmt: skip


@dataclass(frozen=True)
class Grid:
    """What a file shall hold. ``exact`` are columns that must come back as they went."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    exact: tuple[int, ...]


def task_grid(tasks: Tasks) -> Grid:
    """A row a segment in the order of the tasks, context among them.

    The columns are ``id, document, position, <texts>, rate, <score>, rater, comment, key``.
    """
    documents = any(s.document for s in tasks.segments)
    front = ("id", "document", "position") if documents else ("id",)
    header = (*front, *tasks.text_names, RATE, tasks.score, *TAIL)
    double = next((name for name in header if header.count(name) > 1), None)
    if double is not None:
        raise DataError(
            f"the sheet would have two columns {double!r}. Rename the text or the score."
        )
    rater = tasks.raters[0] if len(tasks.raters) == 1 else ""
    rows = []
    for s in tasks.segments:
        where = (s.id, s.document, s.position) if documents else (s.id,)
        texts = (s.texts.get(name, "") for name in tasks.text_names)
        who = rater if s.rate else ""
        rows.append((*where, *texts, YES if s.rate else CONTEXT, None, who, "", s.key))
    return Grid("tasks", header, tuple(rows), (0, len(header) - 1))


def rating_grid(tasks: Tasks, ratings: Iterable[Rating]) -> Grid:
    """A row a rating; the pool's id stands last, where the tasks tell it."""
    ids = {s.id: s.id for s in tasks.segments} | {s.key: s.id for s in tasks.segments}
    rows = []
    for r in ratings:
        if not r.segment.strip() or not math.isfinite(r.score):
            raise DataError(
                f"a rating needs a segment and a finite score; got {r.segment!r} with {r.score}."
            )
        rows.append(
            (r.segment, float(r.score), r.rater, r.time, r.system, r.answer, plain_json(r),
             ids.get(r.segment, r.segment))
        )  # fmt: skip
    return Grid("ratings", RATING_COLUMNS, tuple(rows), tuple(range(len(RATING_COLUMNS))))


def plain_json(rating: Rating) -> dict[str, Any]:
    """The details of a rating as JSON knows them: lists for tuples, names as text."""
    try:
        found = json.loads(json.dumps(dict(rating.details), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(
            f"the details of a rating of {rating.segment!r} are no plain JSON: {error}."
        ) from None
    assert isinstance(found, dict)
    return found


def number(score: float) -> str:
    """A score with all its digits, whole ones without a point.

    >>> number(4.0), number(0.1 + 0.2)
    ('4', '0.30000000000000004')
    """
    whole = score.is_integer() and abs(score) < 1e15 and math.copysign(1, score) > 0
    return str(int(score)) if whole or (score.is_integer() and -1e15 < score < 0) else repr(score)


def as_texts(row: Iterable[Any]) -> list[str]:
    """Cells as text, for files that know nothing else."""
    return [as_text(value) for value in row]


def as_text(value: Any) -> str:
    """A cell as text: nothing as an empty cell, details as JSON."""
    if value is None or value == {}:
        return ""
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return number(value) if isinstance(value, float) else str(value)
