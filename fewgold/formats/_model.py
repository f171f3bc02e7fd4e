"""What goes out to annotation tools and what comes back, the same for every format."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fewgold.errors import DataError

_KEY = re.compile(r"fg-(\d+)-([a-z2-7]{6})", re.IGNORECASE)


def key(place: int, id: str, fingerprint: str) -> str:
    """A name for a segment that survives the trip through any tool.

    Spreadsheets turn ids such as 007 or 3-4 into numbers and dates; this they leave alone. The
    last letters come from the id and the pool, so that answers of another study are noticed.

    >>> key(12, "doc3:7", "9f2c11")
    'fg-12-xvrmuw'
    """
    digest = hashlib.sha256(f"{fingerprint}\x1f{id}".encode()).digest()
    return f"fg-{place}-{base64.b32encode(digest)[:6].decode().lower()}"


def is_key(text: str) -> bool:
    """True for a name that `key` may have made."""
    return _KEY.fullmatch(text.strip()) is not None


@dataclass(frozen=True)
class Segment:
    """A segment as raters see it: one to rate, or one that is there as context only.

    Parameters
    ----------
    key
        The name that comes back with the answer; see `key`.
    id
        What the pool calls it.
    texts
        What to show, by name, such as ``{"source": …, "output": …}``.
    document
        The document it belongs to, or an empty string.
    position
        Its place within the document (or in the pool), from 1.
    rate
        False for a neighbour that gives context and must not be rated.
    """

    key: str
    id: str
    texts: Mapping[str, str] = field(default_factory=dict)
    document: str = ""
    position: int = 1
    rate: bool = True


@dataclass(frozen=True)
class Tasks:
    """Segments to have rated, in the order to show them, with context around them.

    Parameters
    ----------
    segments
        Documents one after the other, each in reading order; context among what is to be rated.
    name
        Name of the study.
    question
        What raters are asked.
    limits
        Ends of the rating scale, where known.
    raters
        Names of the raters, where known.
    score
        What the tool shall call the answer.
    """

    segments: tuple[Segment, ...]
    name: str = "fewgold"
    question: str = "How good is this output?"
    limits: tuple[float, float] | None = None
    raters: tuple[str, ...] = ()
    score: str = "score"

    @cached_property
    def to_rate(self) -> tuple[Segment, ...]:
        """The segments that need an answer."""
        return tuple(s for s in self.segments if s.rate)

    @cached_property
    def text_names(self) -> tuple[str, ...]:
        """Names of the texts, in the order of their first appearance."""
        return tuple(dict.fromkeys(name for s in self.segments for name in s.texts))

    @cached_property
    def _positions(self) -> dict[str, dict[int, Segment]]:
        """The segments of each document by position."""
        found: dict[str, dict[int, Segment]] = {}
        for s in self.segments:
            found.setdefault(s.document, {})[s.position] = s
        return found

    def around(self, segment: Segment, reach: int = 2) -> tuple[list[Segment], list[Segment]]:
        """The neighbours before and after a segment in its document, nearest ``reach`` of each.

        Neighbours are those whose position follows on without a gap.
        """
        if not segment.document:
            return [], []
        beside = self._positions.get(segment.document, {})
        before: list[Segment] = []
        after: list[Segment] = []
        for step in range(1, reach + 1):
            if segment.position - step not in beside:
                break
            before.insert(0, beside[segment.position - step])
        for step in range(1, reach + 1):
            if segment.position + step not in beside:
                break
            after.append(beside[segment.position + step])
        return before, after


@dataclass(frozen=True)
class Rating:
    """One answer of one rater about one segment, as it came.

    Parameters
    ----------
    segment
        What the file calls the segment: a `key` if it went out with one, else its id.
    score
        The answer as a number.
    rater
        Who gave it, or an empty string.
    time
        When, as the file writes it, or an empty string.
    system
        The system that made the output, where the file tells.
    answer
        The tool's own id of this answer, by which it is known when it comes a second time.
    details
        What else came with it, in plain JSON values: error spans, comments, time taken.
    """

    segment: str
    score: float
    rater: str = ""
    time: str = ""
    system: str = ""
    answer: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejected:
    """A row that could not be read: where it stands, why, and what it says."""

    place: str
    why: str
    raw: str


@dataclass(frozen=True)
class Reading:
    """All that a file holds, every row of it accounted for.

    Parameters
    ----------
    format
        Name of the format.
    rows
        Rows (lines, tasks, annotations: what the format counts) in the file.
    used
        Rows that ratings were made of; several may make one rating, as errors of MQM do.
    ratings
        The answers.
    blank
        Segments that went out and have no answer yet, one a row.
    context
        Rows that are context or otherwise not meant to be rated.
    rejected
        Rows that could not be read.
    notes
        What a reader should know, such as which column was taken for the score.
    """

    format: str
    rows: int
    used: int
    ratings: tuple[Rating, ...]
    blank: tuple[str, ...] = ()
    context: int = 0
    rejected: tuple[Rejected, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        told = self.used + len(self.blank) + self.context + len(self.rejected)
        if told != self.rows:
            raise DataError(
                f"{self.rows} rows in the file, but {self.used} used, {len(self.blank)} blank, "
                f"{self.context} context and {len(self.rejected)} rejected. This is a mistake in "
                f"the reader {self.format!r}: please report it."
            )

    def frame(self) -> Any:
        """The ratings as a table, one row each."""
        import pandas as pd

        names = ("segment", "score", "rater", "time", "system", "answer")
        return pd.DataFrame(
            [[getattr(r, n) for n in names] for r in self.ratings], columns=list(names)
        )

    def require(self) -> Sequence[Rating]:
        """The ratings, or an error that says why there are none or not all of them."""
        if self.rejected:
            first = self.rejected[0]
            raise DataError(
                f"{len(self.rejected)} of {self.rows} rows cannot be read; the first is "
                f"{first.place}: {first.why}"
            )
        return self.ratings
