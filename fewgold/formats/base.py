"""Tasks for annotation tools and the answers they return, the same for every format."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import Any, ClassVar

from fewgold.common.checks import SCALES, as_limits
from fewgold.errors import DataError, FewgoldError
from fewgold.io import TableError, read_text
from fewgold.io.files import decode

_KEY = re.compile(r"fg-(\d+)-([a-z2-7]{6})", re.IGNORECASE)
_ROUNDS = 4
#: The default question in campaigns of earlier versions.
_FORMER = "How good is this output?"


def key(place: int, id: str, fingerprint: str) -> str:
    """A name for a segment that survives export to and import from any tool.

    Spreadsheets turn ids such as 007 or 3-4 into numbers and dates; they leave this unchanged. The
    last letters are derived from the id and the pool, so that answers of another study are noticed.
    The number is a position in the pool here, and a position in the order of `Keys` in files for
    raters.

    >>> key(12, "doc3:7", "9f2c11")
    'fg-12-xvrmuw'
    """
    digest = hashlib.sha256(f"{fingerprint}\x1f{id}".encode()).digest()
    return f"fg-{place}-{base64.b32encode(digest)[:6].decode().lower()}"


def is_key(text: str) -> bool:
    """True for a name that may come from `key`."""
    return _KEY.fullmatch(text.strip()) is not None


@dataclass(frozen=True)
class Keys:
    """The keys of a pool's segments for raters, and the segment behind each key.

    A position in the pool would reveal which rows belong together, such as those of one system. So
    the number of a key is a position in another order, derived from the pool. Keys that contain the
    position itself, as in earlier exports, are also recognised.

    Parameters
    ----------
    size
        Segments of the pool.
    fingerprint
        Fingerprint of the pool.

    >>> keys = Keys(1000, "9f2c11")
    >>> keys.of(12, "doc3:7"), keys.find("fg-525-xvrmuw", {12: "doc3:7"}.get)
    ('fg-525-xvrmuw', 12)
    >>> keys.find("fg-12-xvrmuw", {12: "doc3:7"}.get)
    12
    """

    size: int
    fingerprint: str

    def of(self, place: int, id: str) -> str:
        """The key of a segment."""
        return key(self._moved(place), id, self.fingerprint)

    def find(self, name: str, id_of: Callable[[int], str | None]) -> int | None:
        """The position of the segment with this key; ``id_of`` returns the id at a position."""
        found = _KEY.fullmatch(name.strip())
        if found is None or len(found[1]) > 18 or (number := int(found[1])) >= self.size:
            return None
        for place in (self._moved(number, back=True), number):
            id = id_of(place)
            if id is not None and key(number, id, self.fingerprint) == found[0].lower():
                return place
        return None

    def _moved(self, number: int, back: bool = False) -> int:
        """A permutation of the positions, or its inverse: a Feistel network with cycle walking."""
        half = max(1, ((self.size - 1).bit_length() + 1) // 2)
        while True:
            high, low = divmod(number, 1 << half)
            for turn in reversed(range(_ROUNDS)) if back else range(_ROUNDS):
                told = f"{self.fingerprint}\x1f{turn}\x1f{high if back else low}".encode()
                mixed = int.from_bytes(hashlib.sha256(told).digest()) % (1 << half)
                high, low = (low ^ mixed, high) if back else (low, high ^ mixed)
            number = (high << half) | low
            if number < self.size:
                return number


def alias(fingerprint: str, *labels: str) -> str:
    """A meaningless name for an id or a document that could reveal the system.

    >>> alias("9f2c11", "beta.2:886")
    's-3twmbtnidv'
    """
    digest = hashlib.sha256("\x1f".join(("alias", fingerprint, *labels)).encode()).digest()
    return f"s-{base64.b32encode(digest)[:10].decode().lower()}"


def holds_name(label: str, name: str | None) -> bool:
    """Whether the name of a system occurs in a label; a short one only as a word of its own.

    >>> holds_name("Beta.2:17", "beta.2"), holds_name("seg-12", "s"), holds_name("s-12", "s")
    (True, False, True)
    """
    name, label = (name or "").strip().lower(), label.lower()
    return bool(name) and name in (label if len(name) > 2 else re.split(r"[\W_]+", label))


@dataclass(frozen=True)
class RatingScale:
    """A rating scale as described to raters.

    Parameters
    ----------
    limits
        Its ends, where known.
    higher_is_better
        Which end is good; None if unknown, in which case raters are not told.
    ends_called
        What the owner calls the low and the high end, such as ``("useless", "perfect")``.

    >>> mqm, unknown = RatingScale((0, 25), False), RatingScale((0, 100))
    >>> mqm.asked(), mqm.words
    ('How bad are the errors in this output?', '0 = best, 25 = worst')
    >>> unknown.asked(), unknown.words
    ('Rate this output.', '0 to 100')
    """

    limits: tuple[float, float] | None = None
    higher_is_better: bool | None = None
    ends_called: tuple[str, str] | None = None

    def asked(self, question: str = "") -> str:
        """The question to raters: the one chosen, else one that fits the scale."""
        if question.strip() and question != _FORMER:
            return question
        if self.limits == (0, 1):
            worse = self.higher_is_better is False
            return "Does this output have an error?" if worse else "Is this output adequate?"
        if self.higher_is_better is None:
            return "Rate this output."
        return _FORMER if self.higher_is_better else "How bad are the errors in this output?"

    @property
    def ends(self) -> tuple[str, str] | None:
        """The labels of both ends.

        >>> RatingScale((0, 1), True).ends
        ('0 = no (worst)', '1 = yes (best)')
        >>> RatingScale((0, 25), False, ("no errors", "useless")).ends
        ('0 = no errors (best)', '25 = useless (worst)')
        """
        if self.limits is None:
            return None
        low, high = (f"{end:.15g}" for end in self.limits)
        binary = self.limits == (0, 1) or self.ends_called is not None
        if binary:
            called = self.ends_called or ("no", "yes")
            low, high = f"{low} = {called[0]}", f"{high} = {called[1]}"
        if self.higher_is_better is None:
            return low, high
        words = ("worst", "best") if self.higher_is_better else ("best", "worst")
        one, other = (f" ({word})" if binary else f" = {word}" for word in words)
        return f"{low}{one}", f"{high}{other}"

    @property
    def words(self) -> str:
        """The ends in a line; empty if unknown.

        >>> RatingScale(None, True).words
        'more is better'
        """
        if self.ends is None:
            return {None: "", True: "more is better", False: "more is worse"}[self.higher_is_better]
        return (", " if "=" in self.ends[0] else " to ").join(self.ends)

    @property
    def sentence(self) -> str:
        """Which end is good, as a sentence; empty if unknown."""
        told = "" if self.higher_is_better is None else self.words
        return f"{told[:1].upper()}{told[1:]}." if told else ""


# A scale such as 1-5, -2..2 or 0-100
_SCALE = re.compile(r"(-?\d+(?:\.\d+)?)(?:-|\.\.)(-?\d+(?:\.\d+)?)")
_DIRECTIONS = {"higher": True, "lower": False}


@dataclass(frozen=True)
class Criterion:
    """One of several aspects of an item that people rate, such as fluency or adequacy.

    Parameters
    ----------
    name
        Name of the criterion, and of its column in sheets and tables.
    limits
        Ends of its scale, where known, such as ``(1, 5)`` or ``"mqm"``.
    higher_is_better
        Which end is good, if known. A scale given by name implies it.
    question
        The question to raters; by default one that fits the scale.

    >>> Criterion.parse("fluency:1-5:higher")
    Criterion(name='fluency', limits=(1.0, 5.0), higher_is_better=True, question='')
    >>> Criterion.parse("accuracy:mqm").spelled
    'accuracy:0-25:lower'
    """

    name: str
    limits: tuple[float, float] | None = None
    higher_is_better: bool | None = None
    question: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable() or set(self.name) & set(",:="):
            raise FewgoldError(
                f"a criterion needs a name without commas, colons and '='; got {self.name!r}."
            )
        object.__setattr__(self, "name", self.name.strip())
        if isinstance(self.limits, str) and self.higher_is_better is None:
            object.__setattr__(self, "higher_is_better", self.limits.lower() != "mqm")
        object.__setattr__(self, "limits", as_limits(self.limits))

    @classmethod
    def parse(cls, text: str | Criterion) -> Criterion:
        """``NAME``, ``NAME:1-5``, ``NAME:mqm`` or ``NAME:0-100:higher``."""
        if isinstance(text, Criterion):
            return text
        name, *rest = (part.strip() for part in text.split(":"))
        direction = _DIRECTIONS[rest.pop().lower()] if rest and rest[-1] in _DIRECTIONS else None
        if not rest:
            return cls(name, None, direction)
        ends = _SCALE.fullmatch(rest[0])
        if len(rest) > 1 or (ends is None and rest[0].lower() not in SCALES):
            raise FewgoldError(
                "a criterion must be like fluency, fluency:1-5 or fluency:1-5:higher, with a scale "
                f"LOW-HIGH or one of {', '.join(SCALES)}; got {text!r}."
            )
        limits: Any = rest[0] if ends is None else (float(ends[1]), float(ends[2]))
        return cls(name, limits, direction)

    @property
    def spelled(self) -> str:
        """The form that `parse` reads."""
        way = {None: "", True: ":higher", False: ":lower"}[self.higher_is_better]
        if self.limits is None:
            return f"{self.name}{way}"
        joint = ".." if self.limits[1] < 0 else "-"
        return f"{self.name}:{joint.join(f'{end:.15g}' for end in self.limits)}{way}"

    @property
    def scale(self) -> RatingScale:
        """The scale as raters are told about it."""
        return RatingScale(self.limits, self.higher_is_better)

    @property
    def asked(self) -> str:
        """The question to raters: the one chosen, else the criterion's name."""
        return self.question or f"{self.name[:1].upper()}{self.name[1:]}"

    def to_dict(self) -> dict[str, Any]:
        """The criterion in plain values, for files."""
        limits = None if self.limits is None else list(self.limits)
        found = {"name": self.name, "limits": limits, "higher_is_better": self.higher_is_better}
        return found | ({"question": self.question} if self.question else {})

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Criterion:
        """Build from the values in a file."""
        ends = record.get("limits")
        return cls(
            str(record["name"]), None if ends is None else (ends[0], ends[1]),
            record.get("higher_is_better"), str(record.get("question", "")),
        )  # fmt: skip


def parse_criteria(
    criteria: str | Criterion | Iterable[str | Criterion],
) -> tuple[Criterion, ...]:
    """Several criteria with different names, or a single one."""
    listed = [criteria] if isinstance(criteria, str | Criterion) else criteria
    found = tuple(Criterion.parse(c) for c in listed)
    names = [c.name for c in found]
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise FewgoldError(f"the criterion {double!r} is given twice. Name each criterion once.")
    return found


@dataclass(frozen=True)
class Segment:
    """A segment as raters see it: one to rate, or one shown only as context.

    Parameters
    ----------
    key
        The name that comes back with the answer; see `key`.
    id
        Its id in the pool, or the key if the id could reveal the system.
    texts
        What to show, by name, such as ``{"source": …, "output": …}``.
    document
        The document it belongs to, or an empty string. Its name differs between systems.
    position
        Its position within the document, from 1; without a document, its position in the list.
    rate
        False for a neighbour that gives context and must not be rated.
    system
        The system whose output it is, if there are several. Never included in files for raters,
        only in ratings written for their owner.
    """

    key: str
    id: str
    texts: Mapping[str, str] = field(default_factory=dict)
    document: str = ""
    position: int = 1
    rate: bool = True
    system: str = ""


@dataclass(frozen=True)
class Tasks:
    """Segments to have rated, in the order to show them, with context around them.

    Parameters
    ----------
    segments
        Documents one after the other, each in reading order, including context.
    name
        Name of the study.
    question
        The question to raters; by default one that fits the scale.
    limits
        Ends of the rating scale, where known.
    higher_is_better
        Which end of the scale is good, where known.
    raters
        Names of the raters, where known.
    score
        The name of the answer in the tool.
    criteria
        With several criteria: each with its own name, scale and question.
    ends
        Labels of the low and the high end of the scale, if given.
    instructions
        Instructions for raters, in Markdown.
    each
        Number of raters per segment.
    pairs
        Whether raters compare two outputs. Scores are then codes of verdicts, which have no mean.
    """

    segments: tuple[Segment, ...]
    name: str = "fewgold"
    question: str = ""
    limits: tuple[float, float] | None = None
    raters: tuple[str, ...] = ()
    score: str = "score"
    higher_is_better: bool | None = None
    criteria: tuple[Criterion, ...] = ()
    ends: tuple[str, str] | None = None
    instructions: str = ""
    each: int = 1
    pairs: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "question", self._scale.asked(self.question))

    @cached_property
    def _each(self) -> tuple[Tasks, ...]:
        """The same tasks for each criterion alone, with its own question and scale."""
        return tuple(
            replace(
                self, criteria=(), score=c.name, limits=c.limits, ends=None,
                higher_is_better=c.higher_is_better, question=c.asked,
            )
            for c in self.criteria
        ) or (self,)  # fmt: skip

    @property
    def _scores(self) -> tuple[str, ...]:
        """The names of the answers."""
        return tuple(tasks.score for tasks in self._each)

    @property
    def _scale(self) -> RatingScale:
        """The scale, in words."""
        return RatingScale(self.limits, self.higher_is_better, self.ends)

    @property
    def _instruction(self) -> str:
        """The question, and what the ends of the scale mean."""
        words = self._scale.words
        return f"{self.question} ({words})" if words else self.question

    @cached_property
    def to_rate(self) -> tuple[Segment, ...]:
        """The segments that need an answer."""
        return tuple(s for s in self.segments if s.rate)

    @cached_property
    def _text_names(self) -> tuple[str, ...]:
        """Names of the texts, in the order of their first appearance."""
        return tuple(dict.fromkeys(name for s in self.segments for name in s.texts))

    @cached_property
    def _positions(self) -> dict[str, dict[int, Segment]]:
        """The segments of each document by position."""
        found: dict[str, dict[int, Segment]] = {}
        for s in self.segments:
            found.setdefault(s.document, {})[s.position] = s
        return found

    def _around(self, segment: Segment, reach: int = 2) -> tuple[list[Segment], list[Segment]]:
        """The neighbours before and after a segment in its document, nearest ``reach`` of each.

        Neighbours are those with consecutive positions.
        """
        if not segment.document:
            return [], []
        beside = self._positions.get(segment.document, {})

        def along(step: int) -> list[Segment]:
            places = range(segment.position + step, segment.position + (reach + 1) * step, step)
            return [beside[place] for place in takewhile(beside.__contains__, places)]

        return along(-1)[::-1], along(1)


@dataclass(frozen=True)
class Rating:
    """One answer of one rater about one segment, as in the file.

    Parameters
    ----------
    segment
        The segment's name in the file: a `key` if it was exported with one, else its id.
    score
        The answer as a number.
    rater
        Who gave it, or an empty string.
    time
        When it was given, as the file writes it, or an empty string.
    system
        The system that made the output, where the file tells.
    answer
        The tool's own id of this answer, to recognise it if it comes twice.
    details
        Other information as plain JSON values: error spans, comments, time taken.
    scores
        With several criteria, the score of each; ``score`` is then the first of them.
    """

    segment: str
    score: float = math.nan
    rater: str = ""
    time: str = ""
    system: str = ""
    answer: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.scores and math.isnan(self.score):
            object.__setattr__(self, "score", next(iter(self.scores.values())))


@dataclass(frozen=True)
class Rejected:
    """A row that could not be read: where it is, why, and its content."""

    place: str
    why: str
    raw: str


@dataclass(frozen=True)
class Reading:
    """The content of a file, with every row accounted for.

    Parameters
    ----------
    format
        Name of the format.
    rows
        Rows (lines, tasks, annotations: what the format counts) in the file.
    used
        Rows that became ratings; several may form one rating, like the errors of MQM.
    ratings
        The answers.
    blank
        Exported segments without an answer yet, one per row.
    context
        Rows that are context or otherwise not meant to be rated.
    rejected
        Rows that could not be read.
    notes
        Remarks for the reader, such as which column was taken as the score.
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

    def _require(self) -> Sequence[Rating]:
        """The ratings, or an error if there are none or some rows cannot be read."""
        if self.rejected:
            first = self.rejected[0]
            raise DataError(
                f"{len(self.rejected)} of {self.rows} rows cannot be read; the first is "
                f"{first.place}: {first.why}"
            )
        return self.ratings


# The interface of a format ------------------------------------------------------------------------

_HEAD = 65536


@dataclass(frozen=True)
class Names:
    """Which fields of a file hold what; None to let the reader find out."""

    id: str | None = None
    score: str | None = None
    rater: str | None = None


class Probe:
    """A first look at a file, shared by all formats that try to recognise it."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = self.path.name.lower().removesuffix(".gz")
        self.is_folder = self.path.is_dir()

    @cached_property
    def head(self) -> bytes:
        """The first 64 KB, unpacked; empty for folders."""
        if self.is_folder:
            return b""
        with open(self.path, "rb") as file:
            head = file.read(_HEAD)
        if head[:2] != b"\x1f\x8b":
            return head
        try:
            with gzip.open(self.path, "rb") as file:
                return file.read(_HEAD)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            return b""

    @cached_property
    def is_text(self) -> bool:
        """Whether the file begins with text in a readable encoding."""
        return not self.is_folder and self._decoded is not None

    @cached_property
    def text(self) -> str:
        """The head as text; a character cut in two at its end is left out."""
        found = self._decoded
        return self.head.decode("utf-8-sig", errors="replace") if found is None else found

    @cached_property
    def _decoded(self) -> str | None:
        head = self.head
        if len(head) == _HEAD:
            # The last line may be cut within a character, which is then not valid UTF-8 or UTF-16.
            # The end of a line is a safe place; in UTF-16 it takes two bytes.
            end = head.rfind(b"\n") + 1
            head = head[: end + end % 2 if b"\x00" in head[:64] else end or None]
        try:
            return decode(head, str(self.path)).text
        except TableError:
            return None

    @cached_property
    def lines(self) -> list[str]:
        """Whole lines of the head."""
        # Not splitlines(), which also breaks at characters that texts may contain, such as U+2028.
        lines = self.text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
        cut = len(self.head) == _HEAD and b"\n" not in self.head  # else the text ends with a line
        return lines[:-1] if cut and len(lines) > 1 else lines

    @cached_property
    def json(self) -> Any:
        """The whole file as JSON, or None if it is not JSON."""
        if self.is_folder or not self.text.lstrip().startswith(("[", "{")):
            return None
        try:
            return json.loads(read_text(self.path))
        except (ValueError, RecursionError):
            return None

    @cached_property
    def first_object(self) -> dict[str, Any] | None:
        """The object in the first line of JSON lines, however long the line is."""
        line = next((line for line in self.lines if line.strip()), "")
        if not line.lstrip().startswith("{"):
            return None
        if len(self.head) == _HEAD and b"\n" not in self.head.lstrip():
            line = read_text(self.path).lstrip().partition("\n")[0]
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


class Format(ABC):
    """One format of annotation tools or of published ratings. Instances have no state."""

    #: Its name on the command line.
    name: ClassVar[str]
    #: Its readable name.
    title: ClassVar[str]
    #: Its file extensions; the first one is written.
    suffixes: ClassVar[tuple[str, ...]]
    #: Whether what it writes holds the scores of several criteria.
    _several: ClassVar[bool] = False
    #: Whether it holds the mean of all answers, and no answers of single raters.
    _means: ClassVar[bool] = False
    #: Whether one file holds a list for each rater.
    _assigns: ClassVar[bool] = False

    def _beside(self, path: str | Path) -> Path | None:
        """A second file that `write_tasks` puts beside the first, such as a configuration."""
        return None

    def _write_assigned(self, tasks: Mapping[str, Tasks], path: str | Path) -> None:
        """Write what the tool imports, with a list for each rater; only for formats that assign."""
        raise NotImplementedError

    @abstractmethod
    def _recognises(self, probe: Probe) -> bool:
        """Whether the file is in this format, judged by its content. Never raises."""

    @abstractmethod
    def read(self, path: str | Path, names: Names = Names()) -> Reading:  # noqa: B008
        """Read the answers in a file, with every row accounted for.

        A malformed row is rejected with a reason; a malformed file raises a `DataError`.
        """

    @abstractmethod
    def write_tasks(self, tasks: Tasks, path: str | Path) -> None:
        """Write the tool's import file: segments to rate, with context marked as such."""

    @abstractmethod
    def write_ratings(self, tasks: Tasks, ratings: Iterable[Rating], path: str | Path) -> None:
        """Write answers as the tool itself would export them; `read` returns the same ratings.

        ``tasks`` provides the texts; ``Rating.segment`` is the `key` (or id) of one of them.
        """
