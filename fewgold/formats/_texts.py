"""What the writers of published text files share: which text is which, and cells that come back."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from fewgold.errors import DataError
from fewgold.formats._model import Rating, Segment, Tasks
from fewgold.tables import guess_column, neutral

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
