"""Incoming answers: matched to segments, stored once each, and never thrown away.

There are three tables. `ratings` has the answers to sampled segments, `set_aside` those that must
not enter the estimate (segments not sampled, unknown ids, other systems), and `rejected` what could
not be read. An answer that arrives twice is recognised and counted as known.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from fewgold.agreement import Answers
from fewgold.campaign.database import note, now
from fewgold.campaign.settings import COLUMNS, Settings
from fewgold.campaign.sides import SideKeys, oriented
from fewgold.errors import DataError
from fewgold.formats import Keys, Rating, Reading, Rejected, is_key
from fewgold.io import neutral
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd

UNKNOWN = "there is no such segment in the pool"
UNSAMPLED = "the segment was not sampled"
FOREIGN = "the key belongs to another campaign"
CONFLICT = "the key and the id name different segments"
OTHER = "it rates another system"
INSERT = (
    "INSERT OR IGNORE INTO ratings (segment, score, rater, time, answer, details, import, "
    "stored_at, twin) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)


#: Key under which the details of a stored answer have its score for each criterion.
CRITERIA = "criteria"


def stored_details(rating: Rating) -> str:
    """The details of an answer as they are stored, with its scores for several criteria."""
    details = dict(rating.details)
    if rating.scores:
        details[CRITERIA] = {name: float(score) for name, score in rating.scores.items()}
    return json.dumps(details, default=str)


def split_details(stored: str) -> tuple[dict[str, Any], dict[str, float]]:
    """The details of a stored answer, and its scores for several criteria."""
    details = json.loads(stored)
    scores = details.pop(CRITERIA, None) or {}
    return details, {str(name): float(score) for name, score in scores.items()}


def why_not(rating: Rating, settings: Settings) -> str:
    """Why an answer does not fit the scale or the criteria of a campaign; empty if it does."""
    if settings.sides and rating.score not in (-1, 0, 1):
        return (
            "the score of a pair must be 1 (the first output is better), -1 (the second) or 0; "
            f"got {rating.score:g}"
        )
    if not settings.criteria:
        if rating.scores:
            return f"it has scores for {', '.join(rating.scores)}, but the campaign has no criteria"
        scales = {"": settings.limits}
        given: Mapping[str, float] = {"": rating.score}
    else:
        scales = {c.name: c.limits for c in settings.criteria}
        given = rating.scores
        if not given:
            return f"it has no scores for {', '.join(scales)}"
        if wrong := [name for name in given if name not in scales]:
            return f"{wrong[0]} is not among the criteria ({', '.join(scales)})"
    for name, score in given.items():
        low, high = scales[name] or (-math.inf, math.inf)
        if not (low <= score <= high and math.isfinite(score)):
            of = f" of {name}" if name else ""
            return f"the score {score:g}{of} is outside {low:g} to {high:g}"
    return ""


@dataclass(frozen=True)
class Receipt:
    """What became of the rows of an import. The counts add up.

    Parameters
    ----------
    number
        Number of the import.
    rows, used, blank, context
        Numbers of rows in the file, with an answer, without an answer, and of context only.
    stored
        New answers that count.
    known
        Answers that had been stored before.
    set_aside
        New answers that must not enter the estimate, by reason.
    rejected
        New rows that could not be read, and new answers outside the scale.
    refused
        All such rows and answers, new or not, as in the file.
    """

    number: int
    source: str
    format: str
    rows: int
    used: int
    blank: int
    context: int
    stored: int
    known: int
    set_aside: dict[str, int]
    rejected: int
    refused: tuple[Rejected, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Finder:
    """Finds the segment that an answer is about."""

    pool: Pool
    sampled: frozenset[int]
    system: str | None = None
    sided: bool = False  # pairs of outputs, whose keys say which one was on the left

    @cached_property
    def _places(self) -> dict[str, int]:
        ids = [str(i) for i in self.pool.ids.tolist()]
        exact = {i: place for place, i in enumerate(ids)}
        return {form: exact[i] for i in ids for form in forms(i)} | exact

    def find(self, rating: Rating) -> tuple[int | None, str]:
        """The row of the segment in the pool, and why the answer does not count, if it does not."""
        place, why = self._place(rating)
        if place is None or why:
            return place, why
        told = rating.system
        mine = self.system if self.pool.system is None else str(self.pool.system[place])
        if told and mine is not None and told != mine:
            return place, OTHER
        return place, "" if place in self.sampled else UNSAMPLED

    def _id_at(self, place: int) -> str:
        return str(self.pool.ids[place])

    def _by_id(self, name: str) -> int | None:
        found = self._places.get(name)
        return self._places.get(name.strip()) if found is None else found

    def _place(self, rating: Rating) -> tuple[int | None, str]:
        name = rating.segment.strip()
        found = self._by_id(rating.segment)
        if not is_key(name) or found is not None:
            if found is None and rating.system:
                found = self._by_id(f"{rating.system}:{name}")
            return found, "" if found is not None else UNKNOWN
        keys = (SideKeys if self.sided else Keys)(len(self.pool), self.pool.fingerprint)
        place = keys.find(name, self._id_at)
        if place is None:
            return None, FOREIGN
        # There is a key because spreadsheets may change ids. But an id that belongs to another
        # segment means that rows were shifted against each other. If ids could reveal the system,
        # the key stands in their place, too.
        told = str(rating.details.get("id", ""))
        other = self._by_id(told)
        other = keys.find(told, self._id_at) if other is None else other
        return place, "" if other in (None, place) else CONFLICT


def forms(id: str) -> set[str]:
    """Forms that an id may take in tools and spreadsheets: trimmed, or with a leading quote."""
    return {id.strip(), neutral(id), neutral(id.strip())}


def check_ids(pool: Pool) -> None:
    """Refuse ids that a tool could turn into each other: answers would go to the wrong segment."""
    known: dict[str, str] = {}
    for id in (str(i) for i in pool.ids.tolist()):
        if not id.strip():
            raise DataError("a segment has a blank id, so no answer could name it. Give it an id.")
        for form in forms(id) | {id}:
            if known.setdefault(form, id) != id:
                raise DataError(
                    f"the ids {known[form][:40]!r} and {id[:40]!r} cannot be told apart once a "
                    "tool has trimmed blanks or a spreadsheet added a quote. Rename one of them."
                )


def check_systems(ratings: Sequence[Rating], pool: Pool, system: str | None) -> None:
    """Refuse a file with several systems if it is unknown which of them is in the pool."""
    told = sorted({r.system for r in ratings if r.system})
    if pool.system is None and system is None and len(told) > 1:
        raise DataError(
            f"the file rates several systems ({', '.join(told[:5])}{', …' if told[5:] else ''}), "
            "and the pool does not say which one it has.",
            hints={
                "python": "Name it when the campaign begins, with system=….",
                "cli": "Name it when the campaign begins, with fewgold init --only-system.",
            },
        )


def receive(
    database: sqlite3.Connection, pool: Pool, settings: Settings, reading: Reading, source: str
) -> Receipt:
    """Store everything that was read. The caller holds a transaction."""
    sampled = frozenset(place for (place,) in database.execute("SELECT segment FROM drawn"))
    number = database.execute(
        "INSERT INTO imports (at, source, format, counts) VALUES (?, ?, ?, '')",
        (now(), source, reading.format),
    ).lastrowid
    assert number is not None
    found = _store(
        database,
        Finder(pool, sampled, settings.system, bool(settings.sides)),
        reading,
        settings,
        number,
    )
    receipt = Receipt(
        number=number, source=source, format=reading.format, rows=reading.rows, used=reading.used,
        blank=len(reading.blank), context=reading.context, notes=reading.notes, **found,
    )  # fmt: skip
    counts = {k: v for k, v in receipt.to_dict().items() if k not in ("refused", "notes")}
    database.execute("UPDATE imports SET counts = ? WHERE number = ?", (json.dumps(counts), number))
    note(database, "import", counts)
    return receipt


def _store(
    database: sqlite3.Connection, finder: Finder, reading: Reading, settings: Settings, number: int
) -> dict[str, Any]:
    """Put answers where they belong; returns the counts for the receipt."""
    stored = known = fresh = 0
    aside: Counter[str] = Counter()
    refused = list(reading.rejected)
    for given in reading.ratings:
        raw, rating = json.dumps(asdict(given), default=str), given
        texts = rating.segment, rating.rater, rating.time, rating.system, rating.answer
        if any(0xD800 <= ord(c) <= 0xDFFF for text in texts for c in text):
            refused.append(Rejected("an answer", "it contains invalid characters", raw))
            continue
        place, why = finder.find(rating)
        rating, sentence = oriented(given, finder.pool, settings.sides)
        if not why and (sentence := sentence or why_not(rating, settings)):
            refused.append(Rejected(f"segment {rating.segment}", sentence, raw))
            continue
        twin = twin_of(place if place is not None else rating.segment, rating)
        detail = stored_details(rating)
        own = (rating.score, rating.rater, rating.time, rating.answer, detail, number, now(), twin)
        if not why:
            done = database.execute(INSERT, (place, *own)).rowcount
            stored += done
        else:
            done = database.execute(
                "INSERT OR IGNORE INTO set_aside (segment, named, system, why, score, rater, "
                "time, answer, details, import, stored_at, twin) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (place, rating.segment, rating.system, why, *own),
            ).rowcount
            aside[why] += done
        known += 1 - done
    for row in refused:
        # SQLite stores text, but what could not be read may be anything.
        raw = row.raw.encode("utf-8", "backslashreplace").decode()
        fresh += database.execute(
            "INSERT OR IGNORE INTO rejected (place, why, raw, import, twin) VALUES (?, ?, ?, ?, ?)",
            (row.place, row.why, raw, number, _digest(row.place, row.why, raw)),
        ).rowcount
    return {"stored": stored, "known": known, "set_aside": dict(+aside), "rejected": fresh,
            "refused": tuple(refused)}  # fmt: skip


def twin_of(segment: int | str, rating: Rating) -> str:
    """A hash that is equal for two answers that say the same, to recognise repeats."""
    told = (rating.system, rating.rater, repr(float(rating.score)), rating.time, rating.answer)
    given = [f"{name}={float(score)!r}" for name, score in rating.scores.items()]
    return _digest(repr(segment), *told, *given)


def _digest(*parts: str) -> str:
    text = "\x1f".join(parts).encode("utf-8", "backslashreplace")
    return hashlib.sha256(text).hexdigest()[:32]


#: Answers that were set aside but whose segments have been sampled since.
ADOPTABLE = f"FROM set_aside JOIN drawn USING (segment) WHERE why = '{UNSAMPLED}'"


def adopt(database: sqlite3.Connection) -> int:
    """Let answers count whose segments have since been sampled. The caller holds a transaction."""
    rows = database.execute(
        "SELECT set_aside.number, set_aside.segment, score, rater, time, answer, details, import, "
        f"stored_at, twin {ADOPTABLE}"
    ).fetchall()
    for number, *rest in rows:
        database.execute(INSERT, rest)
        database.execute("DELETE FROM set_aside WHERE number = ?", (number,))
    note(database, "adopt", {"count": len(rows)})
    return len(rows)


# From answers of several raters, given once or twice, to one score per segment

_EPOCH = re.compile(r"\d{9,19}(\.\d+)?")


def moments(times: pd.Series[str]) -> pd.Series[pd.Timestamp]:
    """Times as tools write them: ISO 8601, seconds (or fractions) since 1970, and e-mail dates.

    Without a time zone they count as UTC. Ambiguous dates, such as 03/04/2026, are not times.

    >>> import pandas as pd
    >>> told = pd.Series(["2026-11-16T12:00:00+02:00", "1794823200", "1794823200000", "soon"])
    >>> [str(t) for t in moments(told)]  # doctest: +NORMALIZE_WHITESPACE
    ['2026-11-16 10:00:00+00:00', '2026-11-16 10:00:00+00:00', '2026-11-16 10:00:00+00:00',
     'NaT']
    """
    import pandas as pd

    found = pd.to_datetime(times, errors="coerce", utc=True, format="ISO8601").dt.as_unit("us")
    for k, text in enumerate(times):
        if _EPOCH.fullmatch(text) or pd.isna(found.iloc[k]):
            found.iloc[k] = _moment(text).as_unit("us")
    return found


def _moment(text: str) -> pd.Timestamp:
    import pandas as pd

    try:
        if _EPOCH.fullmatch(text):
            # 9 to 11 digits are seconds; milliseconds, microseconds and nanoseconds have more.
            digits = len(text.partition(".")[0])
            unit: Any = (
                "s" if digits < 12 else "ms" if digits < 15 else "us" if digits < 18 else "ns"
            )
            return pd.Timestamp(float(text), unit=unit, tz="UTC")
        told = parsedate_to_datetime(text)
        return pd.Timestamp(told if told.tzinfo else told.replace(tzinfo=UTC)).tz_convert("UTC")
    except (ValueError, OverflowError, IndexError, TypeError):
        return cast("pd.Timestamp", pd.NaT)


def in_time(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers ordered by their own times if all of a rater's have one, else by arrival."""
    import pandas as pd

    times = moments(answers["time"])
    pairs = [answers["segment"], answers["rater"]]
    known = times.notna().groupby(pairs).transform("all")
    order = pd.DataFrame({"time": times.where(known), "place": range(len(answers))})
    return answers.loc[order.sort_values(["time", "place"]).index]


def answers_to(answers: pd.DataFrame, criterion: str) -> pd.DataFrame:
    """The answers to one of several criteria, with its score in ``score``."""
    told = answers.drop(columns="score").rename(columns={criterion: "score"})
    return told[told["score"].notna()][[c for c in answers.columns if c != criterion]]


def scores(
    answers: pd.DataFrame, settings: Settings, settled: Mapping[str, float] | None = None,
    criterion: str | None = None,
) -> dict[str, float]:  # fmt: skip
    """One score per answered segment, for the first criterion unless another is named.

    A score that an adjudicator ``settled`` replaces the raters' answers, or joins them as one more
    rater. With several criteria only the first one is settled.
    """
    if settings.criteria:
        first = settings.criteria[0].name
        settled = settled if criterion in (None, first) else None
        answers = answers_to(answers, criterion or first)
    if answers.empty:
        return {}
    ordered = in_time(answers)
    told = Answers.from_table(ordered, segment="segment", rater="rater", score="score")
    found = told.scores(repeats=settings.repeats, raters=settings.among)
    last = {id: score for id, score in (settled or {}).items() if id in found}
    if settings.adjudication == "replaces" or not last:
        return found | last
    # One more rater, with a name that nobody else has.
    raters = [*(("rater", name) for name in told.raters), *[("adjudicator",)] * len(last)]
    joined = Answers([*told.segments, *last], raters, [*told.ratings, *last.values()])
    return joined.scores(repeats=settings.repeats, raters=settings.among)


def raters_of(answers: pd.DataFrame, settings: Settings) -> pd.Series[int]:
    """How many raters gave a score for every criterion, by segment."""
    names = [c.name for c in settings.criteria]
    if names and not answers.empty:
        whole = answers[["segment", "rater", *names]].groupby(["segment", "rater"]).count()
        complete = (whole > 0).all(axis=1)
        return complete[complete].groupby("segment").size()
    return answers.groupby("segment")["rater"].nunique()


def rated_differently(answers: pd.DataFrame) -> int:
    """Segments that a rater rated twice with different scores."""
    if answers.empty:
        return 0
    told = ["score", *(c for c in answers.columns if c not in COLUMNS)]  # and each criterion
    kinds = answers.groupby(["segment", "rater"])[told].nunique()
    return int((kinds > 1).any(axis=1).groupby("segment").any().sum())
