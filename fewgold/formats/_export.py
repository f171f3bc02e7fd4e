"""What the writers of annotation tools share: names that tools accept, context, exact numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._json import KEY
from fewgold.formats._model import Rating, Segment, Tasks

#: What every task carries beside its texts. Tools own the name ``id``, hence ``segment_id``.
CARRIED = (KEY, "segment_id", "document", "position")
BEFORE, AFTER = "context_before", "context_after"
MARK = "[context, do not rate]"
_MOST_OPTIONS = 11
_REACH = 2


def dumps(value: Any, indent: int | None = None) -> str:
    """JSON in readable letters, or in escapes where a text holds what no file can."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def clean(text: str) -> str:
    """Text that every file can hold: control characters and lone surrogates become U+FFFD."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def number(score: float) -> int | float:
    """The score as people write it: 4 rather than 4.0.

    >>> number(4.0), number(0.25)
    (4, 0.25)
    """
    if not math.isfinite(score):
        raise DataError(f"a score must be a number, got {score}.")
    return int(score) if score == int(score) and abs(score) < 2**53 else float(score)


def as_number(text: str) -> int | float | str:
    """The number that reads back as exactly this text, or the text.

    >>> as_number("12"), as_number("012"), as_number("1771.5"), as_number("x")
    (12, '012', 1771.5, 'x')
    """
    for kind in (int, float):
        try:
            made = kind(text)
        except (ValueError, OverflowError):
            continue
        if math.isfinite(made) and repr(made) == text:
            return made
    return text


def is_number(value: Any) -> bool:
    """True for a finite number that is no verdict."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def extra(details: Mapping[str, Any], **lost: str) -> dict[str, Any]:
    """What a tool has no field for, as an object to keep beside the answer."""
    kept: dict[str, Any] = {name: text for name, text in lost.items() if text}
    if details:
        kept["details"] = dict(details)
    return kept


def options(limits: tuple[float, float] | None) -> list[int] | None:
    """The points of a scale of few whole numbers, such as 1 to 5; None for any other scale."""
    if limits is None or any(not math.isfinite(end) or end != int(end) for end in limits):
        return None
    low, high = map(int, limits)
    return list(range(low, high + 1)) if 0 < high - low < _MOST_OPTIONS else None


def step(limits: tuple[float, float]) -> int | float:
    """A step fine enough for a scale: 1 where its ends are whole and far apart."""
    whole = all(end == int(end) for end in limits)
    return 1 if whole and limits[1] - limits[0] >= _MOST_OPTIONS - 1 else 0.01


def identifier(text: str, taken: Collection[str], lower: bool = False) -> str:
    """A name of plain letters, digits and underscores that is not taken yet.

    >>> identifier("machine output", ()), identifier("id", ("id",)), identifier("原文", ())
    ('machine_output', 'id_2', 'text')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "text"
    name = f"text_{name}" if name[0].isdigit() else name
    name = name.lower() if lower else name
    held = {t.lower() for t in taken}
    made, count = name, 1
    while made.lower() in held:
        count += 1
        made = f"{name}_{count}"
    return made


def beside(path: str | Path, ending: str) -> Path:
    """A file next to another: ``tasks.json`` and ``.config.xml`` give ``tasks.config.xml``."""
    path = Path(path)
    return path.with_name(f"{path.name.removesuffix(path.suffix) or path.name}{ending}")


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
