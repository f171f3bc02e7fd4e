"""What the readers of published text files share: lines, columns, numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fewgold.errors import DataError
from fewgold.formats._model import Rejected
from fewgold.tables import read_text

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
