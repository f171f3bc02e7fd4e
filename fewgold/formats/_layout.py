"""How tasks look in an annotation tool: fields, context, and the segment a rating is about."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._export import identifier
from fewgold.formats._json import KEY
from fewgold.formats._model import Rating, Segment, Tasks

#: What every task carries beside its texts. Tools own the name ``id``, hence ``segment_id``.
CARRIED = (KEY, "segment_id", "document", "position")
BEFORE, AFTER = "context_before", "context_after"
MARK = "[context, do not rate]"
_REACH = 2


class Layout:
    """How tasks look in a tool: the names of its fields and what they hold.

    Parameters
    ----------
    tasks
        The segments.
    reserved
        Names that the tool keeps for itself.
    lower
        True for a tool that wants names in lower case.
    """

    def __init__(self, tasks: Tasks, reserved: Iterable[str] = (), lower: bool = False) -> None:
        self.tasks = tasks
        taken = {*CARRIED, BEFORE, AFTER, *reserved}
        self.score = identifier(tasks.score, taken, lower)
        taken.add(self.score)
        self.fields: dict[str, str] = {}
        for name in tasks.text_names:
            self.fields[name] = identifier(name, taken, lower)
            taken.add(self.fields[name])
        if not tasks.to_rate:
            raise DataError("there is no segment to rate: nothing to export.")

    @cached_property
    def _places(self) -> dict[tuple[str, int], list[Segment]]:
        found: dict[tuple[str, int], list[Segment]] = {}
        for segment in self.tasks.segments:
            found.setdefault((segment.document, segment.position), []).append(segment)
        return found

    def around(self, segment: Segment) -> tuple[str, str]:
        """The neighbours before and after as text, each marked as not to be rated."""
        reach = range(segment.position - _REACH, segment.position + _REACH + 1)
        near = [s for place in reach for s in self._places.get((segment.document, place), ())]
        before, after = Tasks(tuple(near)).around(segment, _REACH)
        return "\n\n".join(map(context, before)), "\n\n".join(map(context, after))

    @cached_property
    def has_context(self) -> bool:
        """Whether any segment has neighbours to show."""
        return any(any(self.around(s)) for s in self.tasks.to_rate)

    def texts(self, segment: Segment) -> dict[str, str]:
        """All texts by field, empty where a segment lacks one, with the context around."""
        found = {field: segment.texts.get(name, "") for name, field in self.fields.items()}
        if not self.has_context:
            return found
        before, after = self.around(segment)
        return {BEFORE: before, **found, AFTER: after}

    def carried(self, segment: Segment) -> dict[str, Any]:
        """The key and where the segment stands in the pool."""
        return {
            KEY: segment.key,
            "segment_id": segment.id,
            "document": segment.document,
            "position": segment.position,
        }


def context(segment: Segment) -> str:
    """A neighbour as text, marked as not to be rated."""
    return "\n".join([MARK, *(f"{name}: {text}" for name, text in segment.texts.items())])


class Lookup:
    """Finds the segment that a rating is about, by key or id."""

    def __init__(self, tasks: Tasks) -> None:
        self._found = {s.id: s for s in tasks.segments}
        self._found.update({s.key: s for s in tasks.segments})

    def __call__(self, rating: Rating) -> Segment:
        if rating.segment not in self._found:
            raise DataError(
                f"there is a rating of {rating.segment!r}, which is not among the tasks. Give the "
                "tasks that hold it."
            )
        return self._found[rating.segment]


def grouped(tasks: Tasks, ratings: Iterable[Rating]) -> list[tuple[Segment, str, list[Rating]]]:
    """Segments to rate with their ratings, and others that were rated all the same."""
    find = Lookup(tasks)
    groups: dict[str, tuple[Segment, list[Rating]]] = {}
    for rating in ratings:
        groups.setdefault(rating.segment, (find(rating), []))[1].append(rating)
    left = [s for s in tasks.to_rate if s.key not in groups and s.id not in groups]
    for segment in left:
        groups[segment.key] = (segment, [])
    return [(segment, key, found) for key, (segment, found) in groups.items()]
