"""Shared code for annotation tools with JSON files: strict reading, scores, layouts."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats.base import Names, Rating, Segment, Tasks
from fewgold.formats.rows import Rows, brief, distinct, matched, plain
from fewgold.io import ID_NAMES, guess_column, read_text
from fewgold.io.cells import NUMBER

#: Names in our own exports of the segment's key, and of the object for values without a place in
#: the tool.
KEY = "fewgold_key"
EXTRA = "fewgold"

_PAIR = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_ESCAPE = re.compile(rf"\\(?:{_PAIR}|(u[dD][89a-fA-F][0-9a-fA-F]{{2}})|.)", re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_LABELLED = re.compile(
    r"([+-]?\d+(?:\.\d+)?)(?:(?:\s*[-–—:.)=]\s*|\s+)[^\W\d_].*|\s*\(.*)",
    re.DOTALL,
)
_WORDS = {
    "yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0, "adequate": 1.0, "inadequate": 0.0,
}  # fmt: skip


def parse(text: str, what: str) -> Any:
    """Parse JSON strictly, or raise an error with a clear message.

    NaN, Infinity and numbers too large for a float become text, so that they are refused where a
    number is expected. Half of a surrogate pair, which no file can hold, becomes U+FFFD. A key that
    occurs twice in an object is an error: one of its values would be lost.
    """
    if _SURROGATE.search(text):
        text = _ESCAPE.sub(lambda m: r"\ufffd" if m[1] else m[0], text)
    try:
        return json.loads(
            text, parse_constant=str, parse_float=_float, object_pairs_hook=_object,
            parse_int=lambda digits: int(digits) if len(digits) < 300 else digits,
        )  # fmt: skip
    except json.JSONDecodeError as error:
        raise DataError(
            f"{what} is not JSON: {error.msg} at line {error.lineno}, column {error.colno}. "
            "Was it cut off? Export it again."
        ) from None
    except RecursionError:
        raise DataError(f"{what} is nested too deeply to be an export of a tool.") from None


def _float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        twice = next(k for k, _ in pairs if k in seen or seen.add(k))  # type: ignore[func-returns-value]
        raise DataError(f"the key {twice!r} occurs twice in one object. Keep one of them.")
    return made


def read_json(path: str | Path) -> Any:
    """A whole file of JSON."""
    text = read_text(path)
    if not text.strip():
        raise DataError(f"{str(path)!r} is empty.")
    return parse(text, repr(str(path)))


def read_lines(path: str | Path) -> list[tuple[int, Any | DataError]]:
    """A file of JSON lines: the number of each line that is not empty, and what it holds.

    A line that is not JSON is returned as an error.
    """
    found: list[tuple[int, Any | DataError]] = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append((number, parse(line, "the line")))
        except DataError as error:
            found.append((number, error))
    if not found:
        raise DataError(f"{str(path)!r} is empty.")
    if all(isinstance(value, DataError) for _, value in found):
        raise DataError(f"{str(path)!r} holds no JSON lines. Line {found[0][0]}: {found[0][1]}")
    return found


def as_text(value: Any) -> str:
    """Text or a number as text; an empty string for anything else."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return value if isinstance(value, str) else repr(value)


def text_of(holder: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that holds text or a number, as text."""
    return next((t for name in names if (t := as_text(holder.get(name)))), "")


def object_of(holder: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The object in a field, or an empty one."""
    value = holder.get(name)
    return value if isinstance(value, dict) else {}


def list_of(holder: Mapping[str, Any], name: str) -> list[Any]:
    """The list in a field, or an empty one."""
    value = holder.get(name)
    return value if isinstance(value, list) else []


def score_of(value: Any) -> float | None:
    """The number that an answer stands for, None if there is no answer; otherwise an error.

    Besides numbers, and text that is one, an option may begin with a number. Yes, true and
    adequate are 1; no, false and inadequate are 0. Everything else is refused.

    >>> [score_of(v) for v in (4, "3.5", "4 - good", "5 (best)", "No", ["2"], " ")]
    [4.0, 3.5, 4.0, 5.0, 0.0, 2.0, None]
    >>> score_of("1-2")
    Traceback (most recent call last):
        ...
    fewgold.errors.DataError: '1-2' is not a number.
    """
    if isinstance(value, list):
        if len(value) > 1:
            raise DataError(f"expected one answer, got {len(value)}: {brief(value, 60)}.")
        if not value or not isinstance(value[0], list):
            return score_of(value[0]) if value else None
    if isinstance(value, dict | list):
        raise DataError(f"{brief(value, 60)} is not a number.")
    if value is None:
        return None
    if not isinstance(value, str):
        return float(value)
    text = value.strip()
    if not text:
        return None
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    labelled = _LABELLED.fullmatch(text)
    number = labelled[1] if labelled else text
    if NUMBER.fullmatch(number) and math.isfinite(float(number)):
        return float(number)
    comma = " Write 3.5 instead of 3,5." if re.fullmatch(r"[+-]?\d+,\d+", text) else ""
    raise DataError(f"{brief(text, 60)!r} is not a number.{comma}")


def has_score(value: Any) -> bool:
    """True for an answer that means a number."""
    try:
        return score_of(value) is not None
    except DataError:
        return False


def question_of(
    rows: Rows, what: str, answers: Mapping[str, Sequence[Any]], wanted: str | None
) -> str | None:
    """The question with the score, from all answers by question; None where there are none.

    Likely questions are those with mostly numeric answers; their other answers count as mistakes.
    """
    if not answers:
        return None
    likely = [question for question, values in answers.items() if mostly_scores(values)]
    chosen = choose(what, answers, likely, wanted)
    rows.note_choice(chosen, answers)
    return chosen


def mostly_scores(values: Sequence[Any]) -> bool:
    """True if more than half of the answers are numeric; the others count as mistakes."""
    given = [v for v in values if v is not None]
    return 2 * sum(map(has_score, given)) > len(given)


def take_answer(
    rows: Rows, place: str, rating: Rating, what: str, value: Any, holder: Mapping[str, Any],
    raw: Any = None,
) -> None:  # fmt: skip
    """Add one answer: a score, a gap, or a malformed row.

    Parameters
    ----------
    rating
        Everything known except the score.
    what, value
        The name of the answer in messages, and the answer.
    holder
        The object that may keep what our own export added (`with_extra`).
    raw
        The row to show if it is malformed; the holder by default.
    """
    try:
        score = score_of(value)
    except DataError as error:
        return rows.reject(place, f"{what}: {error}", holder if raw is None else raw)
    if score is None:
        return rows.unanswered(rating.segment)
    return rows.ratings.append(with_extra(replace(rating, score=score), holder))


def choose(what: str, found: Iterable[str], likely: Iterable[str], wanted: str | None) -> str:
    """The question with the score: the one requested, the only one, or the only likely one."""
    every, some = list(dict.fromkeys(found)), list(dict.fromkeys(likely))
    names = ", ".join(repr(name) for name in every[:20]) or "none"
    if wanted is not None:
        if wanted not in every:
            raise DataError(f"there is no {what} {wanted!r} in the file. It has: {names}.")
        return wanted
    if len(every) == 1:
        return every[0]
    if len(some) == 1:
        return some[0]
    if not some:
        raise DataError(f"no {what} of the file holds numbers. It has: {names}.")
    raise DataError(
        f"more than one {what} may hold the score: {', '.join(repr(n) for n in some[:20])}.",
        hints={
            "python": "Choose one: Names(score=…).",
            "cli": "Choose one with --human.",
            "web": "Choose one.",
        },
    )


def key_field(holders: Iterable[Mapping[str, Any]], names: Names, own: str = KEY) -> str | None:
    """The field with the key: the one named, our own, or one with a usual name for ids."""
    found = dict.fromkeys(str(name) for holder in holders for name in holder)
    if names.id is not None:
        if names.id not in found:
            listed = ", ".join(repr(n) for n in list(found)[:20]) or "none"
            raise DataError(f"there is no field {names.id!r} in the file. It has: {listed}.")
        return names.id
    return own if own in found else guess_column(found, ID_NAMES)


def with_extra(rating: Rating, holder: Mapping[str, Any]) -> Rating:
    """The rating with the values that our own export kept outside the tool's fields."""
    extra = object_of(holder, EXTRA)
    fields = ("rater", "time", "system", "answer")
    kept: dict[str, Any] = {name: text_of(extra, name) for name in fields if name in extra}
    details = {**rating.details, **plain(object_of(extra, "details"))}
    return replace(rating, details=details, **kept)


# Writing -----------------------------------------------------------------------------------------

_MOST_OPTIONS = 11


def dumps(value: Any, indent: int | None = None) -> str:
    """JSON in readable letters, or in escapes where a text holds what no file can.

    Characters at which readers in Python break lines are escaped as well: Potato treats the rest of
    such a line as a new one.

    >>> dumps("a\\u2028b é")
    '"a\\\\u2028b é"'
    """
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return _BREAKS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


#: Ends of lines for `str.splitlines` that JSON allows within texts as they are.
_BREAKS = re.compile("[\x85\u2028\u2029]")


def clean(text: str) -> str:
    """Text that every file can hold: control characters and lone surrogates become U+FFFD."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


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
    """True for a finite number, but not for a verdict (True or False)."""
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
    """A step fine enough for a scale: 1 if its ends are whole and far apart."""
    whole = all(end == int(end) for end in limits)
    return 1 if whole and limits[1] - limits[0] >= _MOST_OPTIONS - 1 else 0.01


def identifier(text: str, taken: Collection[str], lower: bool = False) -> str:
    """An unused name of plain letters, digits and underscores.

    >>> identifier("machine output", ()), identifier("id", ("id",)), identifier("原文", ())
    ('machine_output', 'id_2', 'text')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "text"
    name = f"text_{name}" if name[0].isdigit() else name
    return distinct(name.lower() if lower else name, taken)


def beside(path: str | Path, ending: str) -> Path:
    """A file next to another: ``tasks.json`` and ``.config.xml`` give ``tasks.config.xml``."""
    path = Path(path)
    return path.with_name(f"{path.name.removesuffix(path.suffix) or path.name}{ending}")


# Layouts -----------------------------------------------------------------------------------------

#: Fields of every task besides its texts. Tools own the name ``id``, hence ``segment_id``.
CARRIED = (KEY, "segment_id", "document", "position")
BEFORE, AFTER = "context_before", "context_after"
MARK = "[context, do not rate]"


class Layout:
    """The layout of tasks in a tool: the names of its fields and their contents.

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
        #: The field of each answer, and the tasks with its question and scale.
        self.controls: dict[str, Tasks] = {}
        for asked in tasks._each:
            name = identifier(asked.score, taken, lower)
            self.controls[name] = asked
            taken.add(name)
        self.score = next(iter(self.controls))
        self.fields: dict[str, str] = {}
        for name in tasks._text_names:
            self.fields[name] = identifier(name, taken, lower)
            taken.add(self.fields[name])
        if not tasks.to_rate:
            raise DataError("there is no segment to rate: nothing to export.")

    def around(self, segment: Segment) -> tuple[str, str]:
        """The neighbours before and after as text, each marked as not to be rated."""
        before, after = self.tasks._around(segment)
        return "\n\n".join(map(context, before)), "\n\n".join(map(context, after))

    @property
    def main(self) -> str:
        """The field that is rated: the last text, or the id where there are no texts."""
        return list(self.fields.values())[-1] if self.fields else "segment_id"

    @cached_property
    def shown(self) -> dict[str, str]:
        """The fields that raters see, in order, with a title for each."""
        found = {field: name for name, field in self.fields.items()} or {"segment_id": "segment"}
        if not self.has_context:
            return found
        told = "context {}, do not rate"
        return {BEFORE: told.format("before"), **found, AFTER: told.format("after")}

    @cached_property
    def has_context(self) -> bool:
        """Whether any segment has neighbours to show."""
        return any(any(self.around(s)) for s in self.tasks.to_rate)

    def texts(self, segment: Segment) -> dict[str, str]:
        """All texts by field, empty where a segment lacks one, with neighbours as context."""
        found = {field: segment.texts.get(name, "") for name, field in self.fields.items()}
        if not self.has_context:
            return found
        before, after = self.around(segment)
        return {BEFORE: before, **found, AFTER: after}

    def carried(self, segment: Segment) -> dict[str, Any]:
        """The key and the segment's position in the pool."""
        held = (segment.key, segment.id, segment.document, segment.position)
        return dict(zip(CARRIED, held, strict=True))


def scores_of(layout: Layout, rating: Rating) -> dict[str, float]:
    """The score of a rating for each of the layout's answers that it has."""
    if not layout.tasks.criteria:
        return {layout.score: rating.score}
    named = {name: rating.scores.get(asked.score) for name, asked in layout.controls.items()}
    return {name: score for name, score in named.items() if score is not None}


def context(segment: Segment) -> str:
    """A neighbour as text, marked as not to be rated."""
    return "\n".join([MARK, *(f"{name}: {text}" for name, text in segment.texts.items())])


def grouped(tasks: Tasks, ratings: Iterable[Rating]) -> list[tuple[Segment, str, list[Rating]]]:
    """Segments to rate with their ratings, and other segments that were rated anyway."""
    groups: dict[str, tuple[Segment, str, list[Rating]]] = {}
    for segment, rating in matched(tasks, ratings):
        groups.setdefault(rating.segment, (segment, rating.segment, []))[2].append(rating)
    left = [s for s in tasks.to_rate if s.key not in groups and s.id not in groups]
    return [*groups.values(), *((segment, segment.key, []) for segment in left)]
