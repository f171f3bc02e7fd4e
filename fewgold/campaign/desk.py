"""What raters do: they have links, get segments, rate or skip them, and take answers back."""

from __future__ import annotations

import json
import math
import secrets
import sqlite3
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.campaign.answers import INSERT, twin_of
from fewgold.campaign.database import now
from fewgold.campaign.store import Store
from fewgold.common.arrays import IntArray
from fewgold.common.checks import check_choice, check_count
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Keys, Rating, Segment, Tasks, alias, holds_name
from fewgold.pool import Pool

if TYPE_CHECKING:
    from fewgold.campaign.study import Campaign


#: What imports are called that hold an answer from a page.
PAGE = "page"
_COLUMNS = "number, segment, score, rater, time, answer, details, import, stored_at"
_FROM_PAGE = f"(SELECT format FROM imports WHERE imports.number = import) = '{PAGE}'"

_UNSKIP = "DELETE FROM skips WHERE segment = ? AND rater = ?"

#: Seconds for which a segment that was handed out is kept for its rater.
HOLD = 1800.0
# Segments that this rater has not rated or skipped, and that fewer raters than wanted have rated or
# are at work on.
_OPEN = """
SELECT drawn.segment FROM drawn
WHERE NOT EXISTS (SELECT 1 FROM ratings WHERE segment = drawn.segment AND rater = :rater)
AND NOT EXISTS (SELECT 1 FROM skips WHERE segment = drawn.segment AND rater = :rater)
AND (
    SELECT COUNT(*) FROM (
        SELECT rater FROM ratings WHERE segment = drawn.segment
        UNION
        SELECT rater FROM claims
        WHERE segment = drawn.segment AND rater != :rater AND at > :since
    )
) < :each
"""
# What the rater was given last and has not answered comes first, such as after taking it back.
# Outputs of several systems for one segment have one turn; each rater gets them in another order.
_NEXT = f"""
SELECT * FROM (
    SELECT o.segment, 1 FROM ({_OPEN}) AS o JOIN claims ON claims.segment = o.segment
    WHERE claims.rater = :rater AND claims.at > :since
    ORDER BY claims.at DESC, lot(:rater, o.segment) LIMIT 1
)
UNION ALL SELECT segment, 0 FROM (
    {_OPEN} ORDER BY wave, turn, lot(:rater, drawn.segment) LIMIT 1
) LIMIT 1
"""
# A rater who gets one output of a segment gets those of the other systems as well, as far as nobody
# else has them: differences between systems are then not differences between raters.
_BESIDE = f"""
INSERT OR REPLACE INTO claims SELECT segment, :rater, :at FROM ({_OPEN} AND drawn.segment IN (
    SELECT other.place FROM outputs JOIN outputs AS other USING (segment)
    WHERE outputs.place = :place
))
"""


@dataclass(frozen=True)
class Kept:
    """What became of an answer from a page."""

    new: bool  # False if it came before: a form that was sent twice
    score: float  # that is stored, which is that of the first time
    withdrawn: bool = False  # the rater has taken it back since


@dataclass(frozen=True)
class Progress:
    """Answers so far: of one rater, of all, and how many are wanted.

    Answers beyond the raters that a segment shall have do not bring the end nearer, and ``all``
    leaves them out.
    """

    own: int
    all: int
    wanted: int


class Desk:
    """Raters and their work. Nothing is thrown away: what is taken back moves to another table."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def _row(self, query: str, given: Any) -> Any:
        return self.store.database.execute(query, given).fetchone()

    # Raters and their links

    def add_rater(self, name: str) -> str:
        """Let somebody rate on pages; the secret of their link."""
        name = name.strip()
        if not name or len(name) > 80 or not name.isprintable():
            raise FewgoldError("a rater needs a name of 1 to 80 characters that can be printed.")
        token = secrets.token_urlsafe(16)
        with self.store.transaction() as database:
            if database.execute("SELECT 1 FROM raters WHERE name = ?", (name,)).fetchone():
                raise FewgoldError(f"there is a rater {name!r} already. Choose another name.")
            database.execute("INSERT INTO raters VALUES (?, ?, ?)", (name, token, now()))
        return token

    def remove_rater(self, name: str) -> None:
        """Their link leads nowhere from now on; their answers stay."""
        with self.store.transaction() as database:
            gone = database.execute("DELETE FROM raters WHERE name = ?", (name,)).rowcount
            database.execute("DELETE FROM claims WHERE rater = ?", (name,))
        if not gone:
            raise FewgoldError(f"there is no rater {name!r}.")

    def links(self) -> dict[str, str]:
        """The secret of every rater's link, by name."""
        query = "SELECT name, token FROM raters ORDER BY made_at, name"
        return dict(self.store.database.execute(query))

    def rater_of(self, token: str) -> str | None:
        """Whose link it is."""
        row = self._row("SELECT name FROM raters WHERE token = ?", (token,))
        return None if row is None else str(row[0])

    def rated_by(self, rater: str) -> int:
        """Segments that somebody rated."""
        query = "SELECT COUNT(DISTINCT segment) FROM ratings WHERE rater = ?"
        return int(self._row(query, (rater,))[0])

    def progress(self, rater: str) -> Progress:
        """How far one rater and all of them have come, against the sample or the budget."""
        each, budget = self.store.settings.each, self.store.settings.budget
        own, done, drawn = self._row(
            "SELECT (SELECT COUNT(DISTINCT segment) FROM ratings WHERE rater = :rater), "
            "(SELECT COALESCE(SUM(MIN(raters, :each)), 0) FROM "
            "(SELECT COUNT(DISTINCT rater) AS raters FROM ratings GROUP BY segment)), "
            "(SELECT COUNT(*) FROM drawn)",
            {"rater": rater, "each": each},
        )
        return Progress(int(own), int(done), max(int(drawn), budget or 0) * each)

    # Handing out and rating

    def claim(self, rater: str, hold: float = HOLD) -> int | None:
        """The place of the next segment for a rater, kept for them for ``hold`` seconds."""
        with self.store.transaction() as database:
            return self._claim(database, rater, hold)

    def _claim(self, database: sqlite3.Connection, rater: str, hold: float) -> int | None:
        each, since = self.store.settings.each, time.time() - hold
        asked = {"rater": rater, "since": since, "each": each}
        row = database.execute(_NEXT, asked).fetchone()
        if row is None:
            return None
        place, held = row
        if not held and self.store.settings.systems and self.store.settings.shared:
            database.execute(_BESIDE, asked | {"place": place, "at": time.time() - 1e-3})
        _keep(database, place, rater)
        return int(place)

    def rate(self, rating: Rating) -> Kept:
        """Store an answer from a page, once however often it is sent; it is on the disk then.

        ``rating.answer`` names the form that it came with. The first answer with that name counts;
        a later one says what is stored. Whether the rater was to get this segment does not matter:
        they saw it.
        """
        with self.store.transaction() as database:
            return self._rate(database, rating)

    def rate_and_claim(self, rating: Rating, hold: float = HOLD) -> tuple[Kept, int | None]:
        """Store an answer and hand out the rater's next segment, in one transaction."""
        with self.store.transaction() as database:
            return self._rate(database, rating), self._claim(database, rating.rater, hold)

    def _rate(self, database: sqlite3.Connection, rating: Rating) -> Kept:
        if not rating.rater or not rating.answer:
            raise FewgoldError("an answer from a page needs a rater and the name of its form.")
        place = self._find(rating.segment)
        before, undone, sampled, skipped = database.execute(
            "SELECT (SELECT score FROM ratings "
            f"WHERE rater = :rater AND answer = :answer AND {_FROM_PAGE}), "
            "(SELECT score FROM withdrawn "
            f"WHERE rater = :rater AND answer = :answer AND {_FROM_PAGE}), "
            "EXISTS (SELECT 1 FROM drawn WHERE segment = :place), "
            "EXISTS (SELECT 1 FROM skips WHERE segment = :place AND rater = :rater)",
            {"rater": rating.rater, "answer": rating.answer, "place": place},
        ).fetchone()
        if before is not None or undone is not None:
            return Kept(False, float(undone if before is None else before), before is None)
        if not sampled:
            raise _unknown_segment()
        low, high = self.store.settings.limits or (-math.inf, math.inf)
        if not (low <= rating.score <= high and math.isfinite(rating.score)):
            raise DataError(
                f"the score {rating.score:g} is outside {low:g} to {high:g}; it was not stored."
            )
        assert place is not None
        number = database.execute(
            "INSERT INTO imports (at, source, format, counts) VALUES (?, ?, ?, ?)",
            (now(), PAGE, PAGE, json.dumps({"rows": 1, "used": 1, "stored": 1})),
        ).lastrowid
        details = json.dumps(dict(rating.details), default=str)
        own = (rating.score, rating.rater, rating.time, rating.answer, details)
        row = (place, *own, number, now(), twin_of(place, rating))
        new = database.execute(INSERT, row).rowcount
        if skipped:  # whoever rates what they had skipped has looked at it again
            database.execute(_UNSKIP, (place, rating.rater))
        return Kept(bool(new), rating.score)

    # Skipping and taking back

    def last(self, rater: str) -> tuple[str, str] | None:
        """What a rater did last on pages and may undo: ``answer`` or ``skip``, and its name."""
        row = self._row(
            "SELECT * FROM (SELECT 'answer', answer, stored_at AS at FROM ratings "
            f"WHERE rater = :rater AND {_FROM_PAGE} ORDER BY number DESC LIMIT 1) UNION ALL "
            "SELECT * FROM (SELECT 'skip', segment, at FROM skips WHERE rater = :rater "
            "ORDER BY at DESC, rowid DESC LIMIT 1) ORDER BY at DESC, 1 LIMIT 1",
            {"rater": rater},
        )
        if row is None:
            return None
        what, name, _ = row
        return what, name if what == "answer" else self.key_at(name)

    def withdraw(self, rater: str, answer: str | None = None) -> str | None:
        """Take a rater's last answer from a page back and hand them its segment again; its key.

        With ``answer``, the name of its form, only if that is the last one. None if there is
        nothing to take back; what was taken back before stays so.
        """
        with self.store.transaction() as database:
            row = database.execute(
                "SELECT segment, number, answer FROM ratings "
                f"WHERE rater = ? AND {_FROM_PAGE} ORDER BY number DESC LIMIT 1",
                (rater,),
            ).fetchone()
            if row is None or answer not in (None, row[2]):
                row = database.execute(
                    "SELECT segment FROM withdrawn WHERE rater = ? AND answer = ?", (rater, answer)
                ).fetchone()
                return None if row is None else self.key_at(row[0])
            place, number, _ = row
            database.execute(
                f"INSERT INTO withdrawn SELECT {_COLUMNS}, ? FROM ratings WHERE number = ?",
                (now(), number),
            )
            database.execute("DELETE FROM ratings WHERE number = ?", (number,))
            # The newest claim is what the rater gets next.
            _keep(database, place, rater)
        return self.key_at(place)

    def taken_back(self, rater: str, segment: str | int) -> Rating | None:
        """What a rater took back of a segment (its key or place) and has not answered since."""
        place = segment if isinstance(segment, int) else self.place_of(segment)
        row = self._row(
            "SELECT score, time, answer, details FROM withdrawn AS w "
            "WHERE segment = :place AND rater = :rater AND NOT EXISTS (SELECT 1 FROM ratings "
            "WHERE segment = :place AND rater = :rater AND number > w.number) "
            "ORDER BY number DESC LIMIT 1",
            {"place": place, "rater": rater},
        )
        if row is None:
            return None
        score, time, answer, details = row
        details = json.loads(details)
        return Rating(self.key_at(place), float(score), rater, time, "", answer, details)

    def skip(self, segment: str, rater: str) -> None:
        """Do not hand a segment to this rater again, unless they ask for what they skipped."""
        with self.store.transaction() as database:
            place = self.place_of(segment)
            database.execute("INSERT OR IGNORE INTO skips VALUES (?, ?, ?)", (place, rater, now()))
            database.execute("DELETE FROM claims WHERE segment = ? AND rater = ?", (place, rater))

    def skipped(self, rater: str) -> int:
        """Segments that a rater skipped and nobody gave them again."""
        return int(self._row("SELECT COUNT(*) FROM skips WHERE rater = ?", (rater,))[0])

    def unskip(self, rater: str, segment: str | None = None) -> None:
        """Hand out again what a rater skipped: one segment at once, or all in their turn."""
        with self.store.transaction() as database:
            if segment is None:
                database.execute("DELETE FROM skips WHERE rater = ?", (rater,))
                return
            place = self.place_of(segment)
            if database.execute(_UNSKIP, (place, rater)).rowcount:
                _keep(database, place, rater)

    def left(self, rater: str) -> tuple[int, int]:
        """Segments that still want a rater and could have this one: skipped by them, and others.

        The others are with other raters just now if `Campaign.next` does not hand them out.
        """
        skipped, other = self._row(
            "SELECT COALESCE(SUM(skipped), 0), COUNT(*) - COALESCE(SUM(skipped), 0) FROM ("
            "SELECT EXISTS (SELECT 1 FROM skips WHERE segment = drawn.segment AND rater = :rater) "
            "AS skipped FROM drawn WHERE NOT EXISTS "
            "(SELECT 1 FROM ratings WHERE segment = drawn.segment AND rater = :rater) AND "
            "(SELECT COUNT(DISTINCT rater) FROM ratings WHERE segment = drawn.segment) < :each)",
            {"rater": rater, "each": self.store.settings.each},
        )
        return int(skipped), int(other)

    # What segments are called

    def key_at(self, place: int) -> str:
        """The key of a segment, by its place in the pool."""
        return self.store.keys.of(place, str(self.store.pool.ids[place]))

    def place_of(self, segment: str) -> int:
        """The place of a sampled segment in the pool, by its key."""
        place = self._find(segment)
        if place is None or self._row("SELECT 1 FROM drawn WHERE segment = ?", (place,)) is None:
            raise _unknown_segment()
        return place

    def _find(self, segment: str) -> int | None:
        ids = self.store.pool.ids
        return self.store.keys.find(segment, lambda place: str(ids[place]))


def _keep(database: sqlite3.Connection, segment: int, rater: str) -> None:
    """Note that a rater has a segment. The caller holds a transaction."""
    database.execute(
        "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (segment, rater, time.time())
    )


def _unknown_segment() -> DataError:
    return DataError(
        "this form names a segment that was not sampled in this campaign. Nothing was stored. "
        "Load the page again."
    )


# Segments as raters get them, with their neighbours for context

WHICH = ("unrated", "wanting", "all", "last")


def segment(
    campaign: Campaign, place: int, *, position: int | None = None, rate: bool = True,
    masked: bool = True,
) -> Segment:  # fmt: skip
    """A segment as it is shown. Neither metrics nor the system are: they would sway raters.

    Nor are ids and documents that could tell the system, unless ``masked`` is False.
    """
    pool = campaign.pool
    id = str(pool.ids[place])
    key = Keys(len(pool), pool.fingerprint).of(place, id)
    document = "" if pool.documents is None else str(pool.documents[place])
    if position is None:
        position = members(pool, place).index(place) + 1 if document else 1
    system = "" if pool.system is None else str(pool.system[place])
    if document and masked and tells(campaign, document):
        document = alias(pool.fingerprint, system, document)
    elif document and pool._has_several_systems:
        document = f"{system}:{document}"  # or formats would take one for context of the other
    return Segment(
        key=key,
        id=key if masked and tells(campaign, id) else id,
        texts={name: str(column[place]) for name, column in pool.texts.items()},
        document=document,
        position=position,
        rate=rate,
        system=system if campaign.systems and not masked else "",
    )


def members(pool: Pool, place: int) -> list[int]:
    """The places of all segments of a document, as the same system wrote it, in reading order."""
    return [int(p) for p in np.flatnonzero(pool._passages == pool._passages[place])]


def tells(campaign: Campaign, label: str) -> bool:
    """Whether an id or a document could tell which system it is.

    Among several systems any could: the file may list one after the other.
    """
    pool, system = campaign.pool, campaign.settings.system
    if pool._has_several_systems:
        return True
    return holds_name(label, system if pool.system is None else str(pool.system[0]))


def tasks(campaign: Campaign, which: str, context: int, masked: bool = True) -> Tasks:
    """What is to be rated, document by document in reading order.

    Documents come in a random order that the seed fixes: whoever stops half-way has then rated
    documents that chance chose, and not those that stand first in the pool.
    """
    check_choice("which", which, WHICH)
    check_count("context", context, 0)
    pool, settings, drawn = campaign.pool, campaign.settings, campaign.store.drawn()
    if not drawn.size:
        campaign.store.sample()  # an error, since nothing was drawn yet
    wanted = set(drawn.tolist())
    if which == "last":
        wanted = set(drawn[-campaign.waves[-1].n :].tolist())
    if which == "unrated":
        names = set(campaign.unrated)
        wanted = {p for p in wanted if str(pool.ids[p]) in names}
    if which == "wanting":
        raters = campaign.answers().groupby("segment")["rater"].nunique().to_dict()
        wanted = {p for p in wanted if raters.get(str(pool.ids[p]), 0) < settings.each}
    rng = np.random.default_rng([settings.seed, 2])
    if pool.documents is None or not context:
        line = rng.permutation(sorted(wanted)).tolist()
        shown = [
            segment(campaign, place, position=k if pool.documents is None else None, masked=masked)
            for k, place in enumerate(line, 1)
        ]
    else:
        documents = rng.permutation(int(pool._passages.max()) + 1)
        shown = _with_context(campaign, wanted, context, documents, masked)
    systems = [settings.system] if pool.system is None else sorted(set(pool.system.tolist()))
    named = masked and any(holds_name(settings.name, s and str(s)) for s in systems)
    name = Tasks.name if named else settings.name
    return Tasks(
        tuple(shown), name=name, question=settings.question, limits=settings.limits,
        higher_is_better=settings.higher_is_better,
    )  # fmt: skip


def _with_context(
    campaign: Campaign, wanted: set[int], context: int, line: IntArray, masked: bool
) -> list[Segment]:
    """Wanted segments and up to ``context`` neighbours on either side, documents by ``line``."""
    codes = campaign.pool._passages
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 2))
    shown = []
    for code in sorted({int(codes[place]) for place in wanted}, key=line.__getitem__):
        whole = order[starts[code] : starts[code + 1]].tolist()
        rated = [k for k, place in enumerate(whole) if place in wanted]
        near = sorted({n for k in rated for n in range(k - context, k + context + 1)})
        shown += [
            segment(campaign, whole[k], position=k + 1, rate=whole[k] in wanted, masked=masked)
            for k in near
            if 0 <= k < len(whole)
        ]
    return shown
