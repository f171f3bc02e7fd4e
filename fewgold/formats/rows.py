"""What every reader and writer needs: rows counted, ratings matched to segments, exact scores."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from itertools import count
from typing import Any

from fewgold.errors import DataError
from fewgold.formats.base import Names, Rating, Reading, Rejected, Segment, Tasks


class Rows:
    """Counts every row of a file while it is read, and makes the `Reading` of it."""

    def __init__(self, format: str) -> None:
        self.format = format
        self.ratings: list[Rating] = []
        self.blank: list[str] = []
        self.rejected: list[Rejected] = []
        self.context = 0
        self.notes: list[str] = []
        self._unanswered: list[str] = []

    def unanswered(self, segment: str) -> None:
        """A row without an answer: blank, or context if the segment is rated in another row."""
        self._unanswered.append(segment)

    def reject(self, place: str, why: str, raw: Any) -> None:
        """A row that makes no sense."""
        self.rejected.append(Rejected(place, why, brief(raw)))

    def note_choice(self, question: str, among: Iterable[str]) -> None:
        """Note which of several questions was taken for the score."""
        if len(set(among)) > 1:
            self.notes.append(f"the score is the answer to {question!r}.")

    def reading(self, names: Names | None = None) -> Reading:
        """What the file holds, one rating per row that has one."""
        rater = None if names is None else names.rater
        if rater is not None and self.ratings and not any(r.rater for r in self.ratings):
            raise DataError(f"no field {rater!r} in the file names a rater.")
        rated = {r.segment for r in self.ratings}
        blank = [*self.blank, *(s for s in self._unanswered if s not in rated)]
        context = self.context + len(self.blank) + len(self._unanswered) - len(blank)
        return Reading(
            self.format, len(self.ratings) + len(blank) + context + len(self.rejected),
            len(self.ratings), tuple(self.ratings), tuple(blank), context, tuple(self.rejected),
            tuple(self.notes),
        )  # fmt: skip


def plain(value: Any, depth: int = 20) -> Any:
    """A value for `Rating.details`, cut where it is nested too deeply to be stored."""
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, dict):
        return {name: plain(inner, depth - 1) for name, inner in value.items()}
    return [plain(inner, depth - 1) for inner in value]


def brief(value: Any, length: int = 200) -> str:
    """A row as it stands, for a message about it."""
    text = value if isinstance(value, str) else json.dumps(plain(value, 4), ensure_ascii=False)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def matched(tasks: Tasks, ratings: Iterable[Rating]) -> list[tuple[Segment, Rating]]:
    """Each rating with the segment that it is about, found by its key or id."""
    by_name = {s.id: s for s in tasks.segments} | {s.key: s for s in tasks.segments}
    pairs = []
    for rating in ratings:
        if rating.segment not in by_name:
            raise DataError(
                f"there is a rating of {rating.segment!r}, which is not among the tasks. Give the "
                "tasks that hold it."
            )
        pairs.append((by_name[rating.segment], rating))
    return pairs


def number(score: float) -> int | float:
    """A score as people write it, without loss: 4 rather than 4.0.

    >>> number(4.0), number(0.25)
    (4, 0.25)
    """
    if not math.isfinite(score):
        raise DataError(f"expected a finite score, got {score}: it cannot be written.")
    return int(score) if score == int(score) and abs(score) < 1e15 else float(score)


def distinct(name: str, taken: Iterable[str]) -> str:
    """A name that is not taken, whatever the case of letters: ``name``, ``name_2``, ….

    >>> distinct("id", ["ID", "id_2"])
    'id_3'
    """
    held = {t.lower() for t in taken}
    options = (name if k == 1 else f"{name}_{k}" for k in count(1))
    return next(option for option in options if option.lower() not in held)
