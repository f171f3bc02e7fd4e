"""What the readers of published text files share: lines, columns, numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats.base import Rating, Reading, Rejected, Segment, Tasks
from fewgold.io import guess_column, neutral, read_text

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_ABSENT = {"none", "nan", "na", ""}


@dataclass(frozen=True)
class Line:
    """A line of a file: where it stands and what it says."""

    place: str
    text: str

    def rejected(self, why: str) -> Rejected:
        """This line as one that could not be read."""
        return Rejected(self.place, why, self.text[:500])


def lines_of(path: str | Path) -> list[Line]:
    """The lines of a text file, plain or gzip, without those that are empty.

    Only line feeds end a line: texts hold characters that Python's ``splitlines`` takes for ends
    of lines as well, such as U+2028.
    """
    text = read_text(path)
    if "\n" not in text:
        text = text.replace("\r", "\n")
    found = (
        Line(f"line {i}", line.removesuffix("\r")) for i, line in enumerate(text.split("\n"), 1)
    )
    return [line for line in found if line.text.strip(" \r")]


def number(text: str) -> float | None:
    """A finite number in plain notation, or None for anything else.

    >>> number("-0.5"), number("1e3"), number("nan"), number("1_000")
    (-0.5, 1000.0, None, None)
    """
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def json_of(text: str) -> Any:
    """What a cell holds in JSON; a `ValueError` if it is none, or has NaN or half a character."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    found = json.loads(text, parse_constant=refuse)
    json.dumps(found, ensure_ascii=False).encode()  # no file can hold halves of characters
    return found


def absent(text: str) -> bool:
    """True for what published files write in place of a missing score: None, NA, NaN."""
    return text.strip().lower() in _ABSENT


def columns_named(path: str | Path, expected: Sequence[str], header: Sequence[str]) -> None:
    """Refuse a file whose header lacks one of the columns that its format has."""
    missing = [name for name in expected if name not in header]
    if missing:
        raise DataError(
            f"{path}: expected the columns {', '.join(expected)}, got "
            f"{', '.join(header) or 'none'} (no {', '.join(missing)})."
        )


def blank_separated(
    path: str | Path, expected: Sequence[str]
) -> Iterator[tuple[Line, dict[str, str] | str]]:
    """Rows of a table separated by blanks or tabs: cells by name, or why they cannot be read."""
    lines = lines_of(path)
    header = lines[0].text.split() if lines else []
    columns_named(path, expected, header)
    for line in lines[1:]:
        cells = line.text.split()
        if "\0" in line.text:
            yield line, "the line holds a NUL character: it was damaged on its way"
        elif len(cells) != len(header):
            yield line, f"expected {len(header)} values ({', '.join(header)}), got {len(cells)}"
        else:
            yield line, dict(zip(header, cells, strict=True))


# What the writers of published text files share: which text is which, and cells that come back.


#: Stands for the system in files that must name one, where none is known.
UNNAMED = "unnamed"
SOURCES = ("source", "src", "input", "prompt", "question", "article", "context")
_TARGETS = (
    "output", "target", "tgt", "mt", "translation", "hypothesis", "hyp", "response", "answer",
    "summary", "text",
)  # fmt: skip


def source_of(texts: Mapping[str, str]) -> str:
    """The text that raters compare an output with; empty if there is but one text."""
    name = guess_column(texts, SOURCES)
    others = [n for n in texts if n != guess_column(texts, _TARGETS)]
    if name is None and others and len(texts) > 1:
        name = others[0]
    return texts[name] if name is not None else ""


def target_of(texts: Mapping[str, str]) -> str:
    """The text that is rated: by its name, else the last one."""
    name = guess_column(texts, _TARGETS)
    if name is None and texts:
        name = list(texts)[-1]
    return texts[name] if name is not None else ""


def matched(tasks: Tasks, ratings: Iterable[Rating]) -> list[tuple[Segment, Rating]]:
    """Each rating with the segment that it is about, found by its key or id."""
    by_name = {s.id: s for s in tasks.segments} | {s.key: s for s in tasks.segments}
    pairs = []
    for rating in ratings:
        if rating.segment not in by_name:
            raise DataError(
                f"there is a rating of {rating.segment!r}, which is not among the "
                f"{len(tasks.segments)} segments. Expected the key or id of one of them."
            )
        pairs.append((by_name[rating.segment], rating))
    return pairs


def word(text: str, what: str) -> str:
    """A name that goes into a file separated by blanks, which it must not hold itself."""
    if not text or len(text.split()) != 1 or text != text.strip() or "\0" in text:
        raise DataError(
            f"{what} {text!r} cannot be written: expected a name without blanks, as blanks "
            "separate the columns of this format. Rename it, or write CSV."
        )
    return text


def one_line(text: str) -> str:
    """Text without ends of lines, tabs and NUL, for files with a segment a line."""
    return re.sub(r"[\t\r\n\0]+", " ", text)


def disarmed(text: str) -> str:
    """A cell of a tab-separated file that no spreadsheet takes for a formula; see `armed`."""
    return neutral(one_line(text))


def armed(text: str) -> str:
    """A cell as it was before `disarmed` put an apostrophe in front of it.

    >>> armed(disarmed("- Yes.")), armed("'tis")
    ('- Yes.', "'tis")
    """
    return text[1:] if text[:1] == "'" and neutral(text[1:]) == text else text


def plain_number(value: float) -> str:
    """A number as text that reads back as the same number, whole ones without a point."""
    if not math.isfinite(value):
        raise DataError(f"expected a finite score, got {value}: it cannot be written.")
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


# What files of mean scores share: a line a segment and system, no texts and no raters.


def read_means(
    format: str,
    path: str | Path,
    header: Sequence[str],
    id: str,
    rating_of: Callable[[dict[str, str]], Rating | None],
    note: str,
) -> Reading:
    """Every line of a file as a rating, as blank, or as rejected.

    Parameters
    ----------
    format
        Name of the format.
    id
        The column that names the segment.
    rating_of
        Makes a rating of the cells by column: None where the score is absent, a `DataError` that
        says why where it makes no sense.
    note
        What a reader should know about the scores.
    """
    ratings: list[Rating] = []
    blank: list[str] = []
    rejected: list[Rejected] = []
    for line, cells in blank_separated(path, header):
        if isinstance(cells, str):
            rejected.append(line.rejected(cells))
            continue
        try:
            rating = rating_of(cells)
        except DataError as error:
            rejected.append(line.rejected(str(error)))
            continue
        if rating is None:
            blank.append(cells[id])
        else:
            ratings.append(rating)
    return Reading(
        format=format,
        rows=len(ratings) + len(blank) + len(rejected),
        used=len(ratings),
        ratings=tuple(ratings),
        blank=tuple(blank),
        rejected=tuple(rejected),
        notes=(note,),
    )


def by_output(
    tasks: Tasks, ratings: Iterable[Rating]
) -> tuple[dict[tuple[str, str], list[Rating]], list[Segment]]:
    """Ratings by system and segment, and the segments to rate that have none."""
    found: dict[tuple[str, str], list[Rating]] = {}
    rated = set()
    for segment, rating in matched(tasks, ratings):
        found.setdefault((rating.system, rating.segment), []).append(rating)
        rated.add(segment.key)
    return found, [s for s in tasks.to_rate if s.key not in rated]
