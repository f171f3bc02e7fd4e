"""What the formats of published text files share: lines, numbers, names of texts, mean scores."""

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
from fewgold.formats.rows import Rows, matched
from fewgold.io import guard, guess_column, read_text
from fewgold.io.cells import NUMBER
from fewgold.io.columns import INPUT_NAMES, OUTPUT_NAMES

#: Stands for the system in files that must name one, where none is known.
UNNAMED = "unnamed"
NUL = "the line holds a NUL character: it was damaged on its way"


@dataclass(frozen=True)
class TextLine:
    """A line of a file: where it stands and what it says."""

    place: str
    text: str

    def rejected(self, why: str) -> Rejected:
        """This line as one that could not be read."""
        return Rejected(self.place, why, self.text[:500])


def lines_of(path: str | Path) -> list[TextLine]:
    """The lines of a text file, plain or gzip, without those that are empty.

    Only line feeds end a line: texts hold characters that Python's ``splitlines`` takes for ends
    of lines as well, such as U+2028.
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
    """True for what published files write in place of a missing score: None, NA, NaN."""
    return text.strip().lower() in ("none", "nan", "na", "")


def json_of(text: str) -> Any:
    """What a cell holds in JSON; a `ValueError` if it is none, or has NaN or half a character."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is no JSON")

    found = json.loads(text, parse_constant=refuse)
    json.dumps(found, ensure_ascii=False).encode()  # no file can hold halves of characters
    return found


def source_of(texts: Mapping[str, str]) -> str:
    """The text that raters compare an output with; empty if there is but one text."""
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
    """A name that goes into a file separated by blanks, which it must not hold itself."""
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
    """A cell in one line that no spreadsheet takes for a formula; `fewgold.io.bare` undoes it."""
    return guard(one_line(text))


# Files of mean scores: one line per segment and system, no texts and no raters --------------------


def blank_separated(
    path: str | Path, expected: Sequence[str]
) -> Iterator[tuple[TextLine, dict[str, str] | str]]:
    """Rows of a table separated by blanks or tabs: cells by name, or why they cannot be read."""
    lines = lines_of(path)
    header = lines[0].text.split() if lines else []
    missing = [name for name in expected if name not in header]
    if missing:
        raise DataError(
            f"{path}: expected the columns {', '.join(expected)}, got "
            f"{', '.join(header) or 'none'} (no {', '.join(missing)})."
        )
    for line in lines[1:]:
        cells = line.text.split()
        if "\0" in line.text:
            yield line, NUL
        elif len(cells) != len(header):
            yield line, f"expected {len(header)} values ({', '.join(header)}), got {len(cells)}"
        else:
            yield line, dict(zip(header, cells, strict=True))


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
    rows = Rows(format)
    rows.notes.append(note)
    for line, cells in blank_separated(path, header):
        try:
            if isinstance(cells, str):
                raise DataError(cells)
            rating = rating_of(cells)
        except DataError as error:
            rows.rejected.append(line.rejected(str(error)))
            continue
        if rating is None:
            rows.blank.append(cells[id])
        else:
            rows.ratings.append(rating)
    return rows.reading()


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
