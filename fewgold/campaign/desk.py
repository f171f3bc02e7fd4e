"""What raters do: they have links, get segments, rate or skip them, and undo answers."""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.campaign import checks, sides
from fewgold.campaign.answers import (
    INSERT,
    raters_of,
    split_details,
    stored_details,
    twin_of,
    why_not,
)
from fewgold.campaign.database import note, now
from fewgold.campaign.sides import SideKeys
from fewgold.campaign.store import Store
from fewgold.common.arrays import IntArray
from fewgold.common.checks import check_choice, check_count
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Keys, Rating, Segment, Tasks, alias, holds_name
from fewgold.pool import Pool

if TYPE_CHECKING:
    from fewgold.campaign.settings import Settings
    from fewgold.campaign.study import Campaign


#: Format name of the imports that answers from pages belong to.
PAGE = "page"
_COLUMNS = "number, segment, score, rater, time, answer, details, import, stored_at"
_FROM_PAGE = f"(SELECT format FROM imports WHERE imports.number = import) = '{PAGE}'"

_UNSKIP = "DELETE FROM skips WHERE segment = ? AND rater = ?"

# Number of raters that a drawn segment should have; some get one more, chosen at random.
_WANTED = ":each"
_WANTED_BY_LOT = (
    "(:each + EXISTS (SELECT 1 FROM lots WHERE lots.segment = drawn.segment AND lot < :second))"
)
# Segments that this rater has not rated or skipped, and that too few raters have rated or are
# working on.
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
) < {wanted}
"""
# The segment that the rater was given last comes first if it is unanswered, as after an undo.
# The outputs of several systems for one segment follow each other, in a different order per rater.
_NEXT = """
SELECT * FROM (
    SELECT o.segment, 1 FROM ({open}) AS o JOIN claims ON claims.segment = o.segment
    WHERE claims.rater = :rater AND claims.at > :since
    ORDER BY claims.at DESC, lot(:rater, o.segment) LIMIT 1
)
UNION ALL SELECT segment, 0 FROM (
    {open} ORDER BY wave, turn, lot(:rater, drawn.segment) LIMIT 1
) LIMIT 1
"""
# What is known about a form before its answer is stored: whether it is an attention check, whether
# its segment was drawn or skipped, and the earlier answer with the same form name, if any.
_BY_FORM = "rater = :rater AND answer = :answer"
_BEFORE = f"""
SELECT
    EXISTS (SELECT 1 FROM checks WHERE segment = :place AND rater = :rater AND {checks.OPEN}),
    EXISTS (SELECT 1 FROM drawn WHERE segment = :place),
    EXISTS (SELECT 1 FROM skips WHERE segment = :place AND rater = :rater),
    before.score, before.details, before.withdrawn
FROM (SELECT 1) LEFT JOIN (
    SELECT * FROM (
        SELECT score, details, 0 AS withdrawn FROM ratings WHERE {_BY_FORM} AND {_FROM_PAGE}
        UNION ALL
        SELECT score, details, 0 FROM checks WHERE {_BY_FORM} AND score IS NOT NULL
        UNION ALL
        SELECT score, details, 1 FROM withdrawn WHERE {_BY_FORM} AND {_FROM_PAGE}
        UNION ALL
        SELECT :score, details, 1 FROM checks WHERE {_BY_FORM} AND score IS NULL
    ) LIMIT 1
) AS before
"""
# A rater who gets one output of a segment also gets those of the other systems that nobody else
# has, so that differences between systems are not differences between raters.
_BESIDE = """
INSERT OR REPLACE INTO claims
SELECT segment, :rater, CASE segment WHEN :place THEN :at ELSE :at - 1e-3 END FROM (
    {open} AND drawn.segment IN (
        SELECT other.place FROM outputs JOIN outputs AS other USING (segment)
        WHERE outputs.place = :place
    )
)
"""


def _open(query: str, settings: Settings) -> str:
    """Complete a query with the condition that a segment is open to a rater."""
    wanted = _WANTED_BY_LOT if settings.second else _WANTED
    return query.format(open=_OPEN.format(wanted=wanted))


@dataclass(frozen=True)
class Kept:
    """What became of an answer from a page."""

    new: bool  # False if the form was sent before
    score: float  # the stored score, that of the first time
    scores: Mapping[str, float] = field(default_factory=dict)  # of several criteria
    withdrawn: bool = False  # the rater has since taken it back


@dataclass(frozen=True)
class Progress:
    """Answers so far: of one rater, of all raters, and how many are wanted.

    ``all`` leaves out answers from more raters than a segment should have, since they do not bring
    the end nearer.
    """

    own: int
    all: int
    wanted: int


@dataclass(frozen=True)
class Held:
    """A segment that a rater was given and has not answered."""

    segment: str  # its key
    rater: str
    since: float  # seconds since 1970
    abandoned: bool  # no longer kept for the rater


class Desk:
    """Raters and their work. Nothing is deleted: answers taken back move to another table."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def _row(self, query: str, given: Any) -> Any:
        return self.store.database.execute(query, given).fetchone()

    # Raters and their links

    def add_rater(self, name: str) -> str:
        """Add a rater, who can then rate on pages; returns the secret of their link."""
        name = name.strip()
        if not name or len(name) > 80 or not name.isprintable():
            raise FewgoldError("a rater needs a name of 1 to 80 printable characters.")
        token = secrets.token_urlsafe(16)
        with self.store.transaction() as database:
            if database.execute("SELECT 1 FROM raters WHERE name = ?", (name,)).fetchone():
                raise FewgoldError(f"there is already a rater {name!r}. Choose another name.")
            database.execute("INSERT INTO raters VALUES (?, ?, ?)", (name, token, now()))
        return token

    def remove_rater(self, name: str) -> None:
        """Remove a rater: their link stops working, and their answers stay."""
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
        """The rater whose link has this secret."""
        row = self._row("SELECT name FROM raters WHERE token = ?", (token,))
        return None if row is None else str(row[0])

    def rated_by(self, rater: str) -> int:
        """How many segments a rater rated."""
        query = "SELECT COUNT(DISTINCT segment) FROM ratings WHERE rater = ?"
        return int(self._row(query, (rater,))[0])

    def progress(self, rater: str) -> Progress:
        """Progress of one rater and of all raters towards the sample or the budget."""
        settings = self.store.settings
        by_lot = _WANTED_BY_LOT if settings.second else _WANTED
        own, done, drawn, twice = self._row(
            "SELECT (SELECT COUNT(DISTINCT segment) FROM ratings WHERE rater = :rater) + "
            "(SELECT COUNT(*) FROM checks WHERE rater = :rater AND score IS NOT NULL), "
            f"(SELECT COALESCE(SUM(MIN(raters, {by_lot})), 0) FROM "
            "(SELECT segment, COUNT(DISTINCT rater) AS raters FROM ratings GROUP BY segment) "
            "AS drawn), (SELECT COUNT(*) FROM drawn), "
            "(SELECT COUNT(*) FROM lots WHERE lot < :second)",
            {"rater": rater, "each": settings.each, "second": settings.second},
        )
        whole = max(int(drawn), settings.budget or 0)
        more = int(twice) + round(settings.second * (whole - int(drawn)))
        return Progress(int(own), int(done), whole * settings.each + more)

    # Handing out and rating

    def claim(self, rater: str, hold: float | None = None) -> int | None:
        """The row of the next segment for a rater, kept for them for ``hold`` seconds.

        ``hold`` is that of the settings by default. The segment may be an attention check, which
        looks the same.
        """
        with self.store.transaction() as database:
            return self._claim(database, rater, hold)

    def _claim(self, database: sqlite3.Connection, rater: str, hold: float | None) -> int | None:
        settings = self.store.settings
        if settings.check_every:
            check = checks.hand_out(database, rater, settings.check_every, settings.seed)
            if check is not None:
                return check
        asked = {
            "rater": rater, "since": time.time() - (settings.hold if hold is None else hold),
            "each": settings.each, "second": settings.second,
        }  # fmt: skip
        row = database.execute(_open(_NEXT, settings), asked).fetchone()
        if row is None:
            return None
        place, held = row
        if not held and settings.systems and settings.shared:
            beside = asked | {"place": place, "at": time.time()}
            database.execute(_open(_BESIDE, settings), beside)
        else:
            _keep(database, place, rater)
        return int(place)

    def rate(self, rating: Rating) -> Kept:
        """Store an answer from a page, only once even if it is sent again; then it is on disk.

        ``rating.answer`` names the form that it came with. The first answer with that name counts;
        sending it again only returns what is stored. It does not matter whether the rater should
        have got this segment: they saw it.
        """
        with self.store.transaction() as database:
            return self._rate(database, rating)

    def rate_and_claim(self, rating: Rating, hold: float | None = None) -> tuple[Kept, int | None]:
        """Store an answer and hand out the rater's next segment, in one transaction."""
        with self.store.transaction() as database:
            return self._rate(database, rating), self._claim(database, rating.rater, hold)

    def _rate(self, database: sqlite3.Connection, rating: Rating) -> Kept:
        if not rating.rater or not rating.answer:
            raise FewgoldError("an answer from a page needs a rater and the name of its form.")
        place = self._find(rating.segment)
        told = {"rater": rating.rater, "answer": rating.answer, "place": place}
        check, sampled, skipped, *before = database.execute(
            _BEFORE, {**told, "score": rating.score}
        ).fetchone()
        if before[0] is not None:
            score, details, withdrawn = before
            return Kept(False, float(score), split_details(details or "{}")[1], bool(withdrawn))
        if not sampled and not check:
            raise _unknown_segment()
        settings = self.store.settings
        why = why_not(rating, settings)
        if not why and len(rating.scores) < len(settings.criteria):
            absent = next(c.name for c in settings.criteria if c.name not in rating.scores)
            why = f"there is no score for {absent}"
        if why:
            raise DataError(f"{why}; it was not stored.")
        assert place is not None
        details = stored_details(rating)
        if check:
            given = (rating.score, rating.time, rating.answer, details)
            checks.store_answer(database, rating.rater, place, given)
            return Kept(True, rating.score, rating.scores)
        number = database.execute(
            "INSERT INTO imports (at, source, format, counts) VALUES (?, ?, ?, ?)",
            (now(), PAGE, PAGE, json.dumps({"rows": 1, "used": 1, "stored": 1})),
        ).lastrowid
        own = (rating.score, rating.rater, rating.time, rating.answer, details)
        row = (place, *own, number, now(), twin_of(place, rating))
        new = database.execute(INSERT, row).rowcount
        if skipped:  # rating a skipped segment ends the skip
            database.execute(_UNSKIP, (place, rating.rater))
        return Kept(bool(new), rating.score, rating.scores)

    # Skipping and taking back

    def last(self, rater: str) -> tuple[str, str] | None:
        """What a rater did last on pages and can undo: ``answer`` or ``skip``, and its name."""
        row = self._row(
            "SELECT * FROM (SELECT 'answer', answer, stored_at AS at FROM ratings "
            f"WHERE rater = :rater AND {_FROM_PAGE} ORDER BY number DESC LIMIT 1) UNION ALL "
            "SELECT * FROM (SELECT 'answer', answer, stored_at FROM checks WHERE rater = :rater "
            "AND score IS NOT NULL ORDER BY stored_at DESC LIMIT 1) UNION ALL "
            "SELECT * FROM (SELECT 'skip', segment, at FROM skips WHERE rater = :rater "
            "ORDER BY at DESC, rowid DESC LIMIT 1) UNION ALL "
            "SELECT * FROM (SELECT 'skip', segment, skipped FROM checks WHERE rater = :rater "
            f"AND {checks.SKIPPED} ORDER BY skipped DESC LIMIT 1) ORDER BY at DESC, 1 LIMIT 1",
            {"rater": rater},
        )
        if row is None:
            return None
        what, name, _ = row
        return what, name if what == "answer" else self.key_at(name, rater)

    def withdraw(self, rater: str, answer: str | None = None) -> str | None:
        """Take back a rater's last answer from a page and give them its segment again; returns its
        key.

        If ``answer``, the name of a form, is given, it is taken back only if it is the last one.
        None if there is nothing to take back; earlier undos stay.
        """
        with self.store.transaction() as database:
            row = database.execute(
                "SELECT segment, number, answer, stored_at FROM ratings "
                f"WHERE rater = ? AND {_FROM_PAGE} ORDER BY number DESC LIMIT 1",
                (rater,),
            ).fetchone()
            check = database.execute(
                "SELECT answer, stored_at FROM checks WHERE rater = ? AND score IS NOT NULL "
                "ORDER BY stored_at DESC, number DESC LIMIT 1",
                (rater,),
            ).fetchone()
            last = check is not None and (row is None or row[3] < check[1])
            if last and answer in (None, check[0]):
                back = checks.take_back(database, rater, check[0])
                return None if back is None else self.key_at(back, rater)
            if row is None or answer not in (None, row[2]):
                row = database.execute(
                    "SELECT segment FROM withdrawn WHERE rater = ? AND answer = ?", (rater, answer)
                ).fetchone()
                return None if row is None else self.key_at(row[0], rater)
            place, number = row[:2]
            database.execute(
                f"INSERT INTO withdrawn SELECT {_COLUMNS}, ? FROM ratings WHERE number = ?",
                (now(), number),
            )
            database.execute("DELETE FROM ratings WHERE number = ?", (number,))
            # The newest claim is what the rater gets next.
            _keep(database, place, rater)
        return self.key_at(place, rater)

    def taken_back(self, rater: str, segment: str | int) -> Rating | None:
        """The answer to a segment (key or row) that a rater took back and has not replaced."""
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
        key = self.key_at(place, rater)
        return Rating(key, float(score), rater, time, "", answer, *split_details(details))

    def skip(self, segment: str, rater: str) -> None:
        """Skip a segment: this rater gets it again only if they ask for what they skipped."""
        with self.store.transaction() as database:
            place = self.place_of(segment)
            if database.execute(
                f"UPDATE checks SET skipped = ? WHERE segment = ? AND rater = ? AND {checks.OPEN}",
                (now(), place, rater),
            ).rowcount:
                return
            database.execute("INSERT OR IGNORE INTO skips VALUES (?, ?, ?)", (place, rater, now()))
            database.execute("DELETE FROM claims WHERE segment = ? AND rater = ?", (place, rater))

    def skipped(self, rater: str) -> int:
        """Number of segments that a rater skipped and has not asked for again."""
        count = self._row(
            "SELECT (SELECT COUNT(*) FROM skips WHERE rater = :rater) + "
            f"(SELECT COUNT(*) FROM checks WHERE rater = :rater AND {checks.SKIPPED})",
            {"rater": rater},
        )
        return int(count[0])

    def unskip(self, rater: str, segment: str | None = None) -> None:
        """Give a rater what they skipped again: one segment at once, or all of them in turn."""
        with self.store.transaction() as database:
            if segment is None:
                database.execute("DELETE FROM skips WHERE rater = ?", (rater,))
                database.execute(
                    f"UPDATE checks SET skipped = NULL WHERE rater = ? AND {checks.SKIPPED}",
                    (rater,),
                )
                return
            place = self.place_of(segment)
            database.execute(
                "UPDATE checks SET skipped = NULL WHERE segment = ? AND rater = ? AND "
                f"{checks.SKIPPED}",
                (place, rater),
            )
            if database.execute(_UNSKIP, (place, rater)).rowcount:
                _keep(database, place, rater)

    def left(self, rater: str) -> tuple[int, int]:
        """How many segments this rater could still rate: those they skipped, and others.

        If `Campaign.next` does not hand out the others, other raters have them at the moment.
        """
        settings = self.store.settings
        wanted = _WANTED_BY_LOT if settings.second else _WANTED
        skipped, other = self._row(
            "SELECT COALESCE(SUM(skipped), 0), COUNT(*) - COALESCE(SUM(skipped), 0) FROM ("
            "SELECT EXISTS (SELECT 1 FROM skips WHERE segment = drawn.segment AND rater = :rater) "
            "AS skipped FROM drawn WHERE NOT EXISTS "
            "(SELECT 1 FROM ratings WHERE segment = drawn.segment AND rater = :rater) AND "
            "(SELECT COUNT(DISTINCT rater) FROM ratings WHERE segment = drawn.segment) "
            f"< {wanted})",
            {"rater": rater, "each": settings.each, "second": settings.second},
        )
        return int(skipped), int(other)

    # Segments that were opened and left

    def held(self) -> list[Held]:
        """Segments that raters have opened or left without an answer, oldest first.

        After `Settings.hold` seconds they go to the next rater who asks. A late answer is stored
        all the same.
        """
        rows = self.store.database.execute(
            "SELECT segment, rater, at FROM claims WHERE NOT EXISTS (SELECT 1 FROM ratings "
            "WHERE segment = claims.segment AND rater = claims.rater) ORDER BY at, segment"
        ).fetchall()
        due = time.time() - self.store.settings.hold
        return [
            Held(self.key_at(s, str(r)), str(r), float(at), float(at) <= due) for s, r, at in rows
        ]

    def hand_on(self, rater: str | None = None) -> int:
        """Release the segments that a rater, or any rater, was given and has not answered.

        Returns the number of segments. If the first rater answers after all, both answers are
        stored.
        """
        own = "" if rater is None else "rater = :rater AND "
        with self.store.transaction() as database:
            rows = database.execute(
                f"DELETE FROM claims WHERE {own}NOT EXISTS (SELECT 1 FROM ratings "
                "WHERE segment = claims.segment AND rater = claims.rater) RETURNING segment",
                {"rater": rater},
            ).fetchall()
            note(database, "hand on", {"rater": rater, "count": len(rows)})
        return len(rows)

    # What segments are called

    def key_at(self, place: int, rater: str = "") -> str:
        """The key of a segment, given its row in the pool.

        The key of a pair also says which output is on the left for this rater.
        """
        id, keys = str(self.store.pool.ids[place]), self.store.keys
        if isinstance(keys, SideKeys):
            return keys.of(place, id, sides.flipped(self.store, place, rater))
        return keys.of(place, id)

    def place_of(self, segment: str) -> int:
        """The row in the pool of a segment that raters may get, given its key."""
        place = self._find(segment)
        seen = (
            "SELECT 1 FROM drawn WHERE segment = :place UNION SELECT 1 FROM checks "
            "WHERE segment = :place UNION SELECT 1 FROM practised WHERE segment = :place"
        )
        if place is None or self._row(seen, {"place": place}) is None:
            raise _unknown_segment()
        return place

    def _find(self, segment: str) -> int | None:
        ids = self.store.pool.ids
        return self.store.keys.find(segment, lambda place: str(ids[place]))


def _keep(database: sqlite3.Connection, segment: int, rater: str) -> None:
    """Record that a rater has a segment. The caller holds a transaction."""
    database.execute(
        "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (segment, rater, time.time())
    )


def _unknown_segment() -> DataError:
    return DataError(
        "this form is about a segment that was not sampled in this campaign. Nothing was stored. "
        "Load the page again."
    )


# Segments as raters see them, with their neighbours for context

WHICH = ("unrated", "incomplete", "all", "last")


def segment(
    campaign: Campaign, place: int, *, position: int | None = None, rate: bool = True,
    masked: bool = True, rater: str = "",
) -> Segment:  # fmt: skip
    """A segment as raters see it, without metrics and system, which could influence them.

    Ids and documents that could reveal the system are hidden too, unless ``masked`` is False.
    """
    pool = campaign.pool
    id = str(pool.ids[place])
    if named := campaign.settings.sides:  # no context, since it would reveal the systems
        key = campaign.desk.key_at(place, rater)
        turned = sides.flipped(campaign.store, place, rater)
        return Segment(key, key if masked else id, sides.texts(pool, named, place, turned))
    key = Keys(len(pool), pool.fingerprint).of(place, id)
    document = "" if pool.documents is None else str(pool.documents[place])
    if position is None:
        position = members(pool, place).index(place) + 1 if document else 1
    system = "" if pool.system is None else str(pool.system[place])
    if document and masked and tells(campaign, document):
        document = alias(pool.fingerprint, system, document)
    elif document and pool._has_several_systems:
        document = f"{system}:{document}"  # so that one is not taken as context of the other
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
    """The rows of all segments of a document by the same system, in reading order."""
    return [int(p) for p in np.flatnonzero(pool._passages == pool._passages[place])]


def tells(campaign: Campaign, label: str) -> bool:
    """Whether an id or document name could reveal the system.

    With several systems, any could, since the file may list one system after the other.
    """
    pool, system = campaign.pool, campaign.settings.system
    if pool._has_several_systems:
        return True
    return holds_name(label, system if pool.system is None else str(pool.system[0]))


def tasks(campaign: Campaign, which: str, context: int, masked: bool = True) -> Tasks:
    """The segments to rate, document by document in reading order.

    The documents come in a random order fixed by the seed, so a rater who stops half-way has rated
    random documents and not the first ones of the pool.
    """
    wanted = _wanted(campaign, which)
    made = _tasks_of(campaign, wanted, context, masked)
    if which != "incomplete":
        return made
    return replace(made, each=max(_missing(campaign, wanted).values(), default=1))


def tasks_for(
    campaign: Campaign, raters: Sequence[str], which: str, context: int
) -> dict[str, Tasks]:
    """Tasks for each of some raters: shared out, and in a different random order for each."""
    parts = _shared_out(campaign, _wanted(campaign, which), raters, which)
    return {
        rater: replace(_tasks_of(campaign, own, context, True, rater), raters=(rater,), each=1)
        for rater, own in parts.items()
    }


def _wanted(campaign: Campaign, which: str) -> set[int]:
    """Rows of the segments to rate."""
    check_choice("which", which, WHICH)
    pool, drawn = campaign.pool, campaign.store.drawn()
    if not drawn.size:
        campaign.store.sample()  # raises an error, since nothing has been drawn yet
    if which == "last":
        return set(drawn[-campaign.waves[-1].n :].tolist())
    wanted = set(drawn.tolist())
    if which == "unrated":
        names = set(campaign.unrated)
        return {p for p in wanted if str(pool.ids[p]) in names}
    if which == "incomplete":
        return {p for p, count in _missing(campaign, wanted).items() if count > 0}
    return wanted


def _missing(campaign: Campaign, places: set[int]) -> dict[int, int]:
    """How many raters these segments still need."""
    settings, twice = campaign.settings, campaign.store.for_two()
    raters = raters_of(campaign.answers(), settings).to_dict()
    names = {p: str(campaign.pool.ids[p]) for p in places}
    return {p: settings.each + (id in twice) - raters.get(id, 0) for p, id in names.items()}


def _shared_out(
    campaign: Campaign, wanted: set[int], raters: Sequence[str], which: str
) -> dict[str, set[int]]:
    """Who rates what: each segment goes to as many raters as it still needs, evenly at random.

    Whole documents stay together, with the outputs of all systems, so that differences between
    systems or within a document are not differences between raters.
    """
    pool, settings = campaign.pool, campaign.settings
    answers, twice = campaign.answers(), campaign.store.for_two()
    before: dict[str, set[str]] = {}
    if which in ("unrated", "incomplete"):
        for id, rater in zip(answers["segment"], answers["rater"], strict=True):
            before.setdefault(str(id), set()).add(str(rater))
    labels = pool.documents
    if labels is None:
        labels = campaign.store.segments if campaign.systems else pool.ids
    groups: dict[str, list[int]] = {}
    for place in sorted(wanted):
        groups.setdefault(str(labels[place]), []).append(place)
    rng = np.random.default_rng([settings.seed, 8])
    line = list(groups.values())
    found: dict[str, set[int]] = {rater: set() for rater in raters}
    for k in rng.permutation(len(line)).tolist():
        lots = rng.permutation(len(raters)).tolist()
        turn = sorted(range(len(raters)), key=lambda r: (len(found[raters[r]]), lots[r]))
        for place in line[k]:
            id = str(pool.ids[place])
            known = before.get(id, set())
            missing = settings.each + (id in twice) - len(known)
            free = [raters[r] for r in turn if raters[r] not in known]
            for rater in free[: max(missing, 0)]:
                found[rater].add(place)
    return found


def _tasks_of(
    campaign: Campaign, wanted: set[int], context: int, masked: bool, rater: str = ""
) -> Tasks:
    """These segments as tasks, in the order for one rater or in the common order."""
    check_count("context", context, 0)
    pool, settings = campaign.pool, campaign.settings
    lot = [int.from_bytes(hashlib.sha256(rater.encode()).digest()[:7])] if rater else []
    rng = np.random.default_rng([settings.seed, 2, *lot])
    if settings.sides:
        line = rng.permutation(sorted(wanted)).tolist()
        return Tasks(
            tuple(replace(segment(campaign, p, masked=masked, rater=rater), position=k)
                  for k, p in enumerate(line, 1)),
            name=Tasks.name if masked else settings.name,
            question=f"{settings.asked} {sides.EXPLAINED}", limits=(1.0, 4.0),
            instructions=settings.instructions, each=settings.each, pairs=True,
        )  # fmt: skip
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
        higher_is_better=settings.higher_is_better, criteria=settings.criteria,
        ends=settings.ends, instructions=settings.instructions, each=settings.each,
    )  # fmt: skip


def _with_context(
    campaign: Campaign, wanted: set[int], context: int, line: IntArray, masked: bool
) -> list[Segment]:
    """Wanted segments with up to ``context`` neighbours on each side; ``line`` orders documents."""
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
