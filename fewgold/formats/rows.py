"""Shared helpers of readers and writers: counting rows, matching ratings, exact scores, lines."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats.base import Names, Rating, Reading, Rejected, Segment, Tasks
from fewgold.io import guard, guess_column, read_text
from fewgold.io.cells import NUMBER
from fewgold.io.columns import INPUT_NAMES, OUTPUT_NAMES


class Rows:
    """Counts every row of a file during reading, and builds its `Reading`."""

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
        """Count a malformed row."""
        self.rejected.append(Rejected(place, why, brief(raw)))

    def note_choice(self, question: str, among: Iterable[str]) -> None:
        """Note which of several questions was taken for the score."""
        if len(set(among)) > 1:
            self.notes.append(f"the score is the answer to {question!r}.")

    def reading(self, names: Names | None = None) -> Reading:
        """The content of the file, one rating per row that has one."""
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
    """A value for `Rating.details`, truncated if nested too deeply to be stored."""
    if not isinstance(value, dict | list):
        return value
    if depth == 0:
        return "…"
    if isinstance(value, dict):
        return {name: plain(inner, depth - 1) for name, inner in value.items()}
    return [plain(inner, depth - 1) for inner in value]


def brief(value: Any, length: int = 200) -> str:
    """A row in short form, for messages."""
    text = value if isinstance(value, str) else json.dumps(plain(value, 4), ensure_ascii=False)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def matched(tasks: Tasks, ratings: Iterable[Rating]) -> list[tuple[Segment, Rating]]:
    """Each rating with the segment that it is about, found by its key or id."""
    by_name = {s.id: s for s in tasks.segments} | {s.key: s for s in tasks.segments}
    pairs = []
    for rating in ratings:
        if rating.segment not in by_name:
            raise DataError(
                f"there is a rating of {rating.segment!r}, which is not among the tasks. Give "
                "tasks that contain it."
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


#: Placeholder for an unknown system in files that must name one.
UNNAMED = "unnamed"
NUL = "the line contains a NUL character: it was damaged in transfer"


@dataclass(frozen=True)
class TextLine:
    """A line of a file: its place and content."""

    place: str
    text: str

    def rejected(self, why: str) -> Rejected:
        """This line as an unreadable one."""
        return Rejected(self.place, why, self.text[:500])


def lines_of(path: str | Path) -> list[TextLine]:
    """The lines of a text file, plain or gzip, without those that are empty.

    Only line feeds end a line: texts may contain characters that Python's ``splitlines`` also
    treats as line ends, such as U+2028.
    """
    text = read_text(path)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    found = (
        TextLine(f"line {i}", line.removesuffix("\r")) for i, line in enumerate(text.split("\n"), 1)
    )
    return [line for line in found if line.text.strip(" \r")]


def finite(text: str) -> float | None:
    """A finite number in plain notation, or None for anything else.

    >>> finite("-0.5"), finite("1e3"), finite("nan"), finite("1_000")
    (-0.5, 1000.0, None, None)
    """
    value = float(text) if NUMBER.fullmatch(text.strip()) else math.inf
    return value if math.isfinite(value) else None


def absent(text: str) -> bool:
    """True for placeholders of missing scores in published files: None, NA, NaN."""
    return text.strip().lower() in ("none", "nan", "na", "")


def json_of(text: str) -> Any:
    """The JSON in a cell; a `ValueError` if it is invalid, or has NaN or a lone surrogate."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    found = json.loads(text, parse_constant=refuse)
    json.dumps(found, ensure_ascii=False).encode()  # no file can hold halves of characters
    return found


def source_of(texts: Mapping[str, str]) -> str:
    """The text that raters compare an output with; empty if there is only one text."""
    name = guess_column(texts, INPUT_NAMES)
    others = [n for n in texts if n != guess_column(texts, OUTPUT_NAMES)]
    if name is None and others and len(texts) > 1:
        name = others[0]
    return texts[name] if name is not None else ""


def target_of(texts: Mapping[str, str]) -> str:
    """The text that is rated: by its name, else the last one."""
    name = guess_column(texts, OUTPUT_NAMES) or next(reversed(list(texts)), None)
    return texts[name] if name is not None else ""


def word(text: str, what: str) -> str:
    """A name for a blank-separated file, which must not contain blanks itself."""
    if not text or len(text.split()) != 1 or text != text.strip() or "\0" in text:
        raise DataError(
            f"{what} {text!r} cannot be written: expected a name without blanks, as blanks "
            "separate the columns of this format. Rename it, or write CSV."
        )
    return text


def one_line(text: str) -> str:
    """Text without ends of lines, tabs and NUL, for files with one segment per line."""
    return re.sub(r"[\t\r\n\0]+", " ", text)


def guarded(text: str) -> str:
    """A one-line cell that no spreadsheet treats as a formula; `fewgold.io.bare` undoes it."""
    return guard(one_line(text))
