"""What raters do on pages: they have links of their own, skip segments, and take answers back."""

from __future__ import annotations

import json
import math
import secrets
import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fewgold.campaign.answers import INSERT, adoptable, twin_of
from fewgold.campaign.database import damaged, now, reading, snapshot, transaction
from fewgold.campaign.settings import Settings
from fewgold.campaign.waves import keep
from fewgold.errors import DataError, FewgoldError
from fewgold.formats import Keys, Rating

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas as pd

# The tables of a campaign, to read.


class Ledger:
    """What came in and what happened."""

    _database: sqlite3.Connection
    settings: Settings

    def close(self) -> None:
        """Close the file; the campaign stays."""
        self._database.close()

    def __del__(self) -> None:
        # Another thread may collect it, which may not even close what is closed.
        if "_database" in self.__dict__:
            with suppress(sqlite3.ProgrammingError):
                self.close()

    @cached_property
    def _keys(self) -> Keys:
        (size,) = self._database.execute("SELECT MAX(place) + 1 FROM segments").fetchone()
        return Keys(int(size), self.settings.fingerprint)

    def moment(self) -> AbstractContextManager[None]:
        """Read as of one moment while it lasts, whatever others write; nothing can be changed."""
        return snapshot(self._database)

    def state(self) -> tuple[int, ...]:
        """Numbers that change with everything that is stored, and cost next to nothing to read."""
        counted = ("ratings", "set_aside", "rejected", "imports", "journal")
        last = dict(self._database.execute("SELECT name, seq FROM sqlite_sequence"))
        (gone,) = self._database.execute("SELECT COUNT(*) FROM withdrawn").fetchone()
        (waves,) = self._database.execute("SELECT COUNT(*) FROM waves").fetchone()
        return (*(int(last.get(name, 0)) for name in counted), int(gone), int(waves))

    def answers(self) -> pd.DataFrame:
        """Every answer that counts, in the order of arrival: segment, score, rater, time, …"""
        found = self._table(
            "SELECT id AS segment, score, rater, time, answer, details, import, stored_at "
            "FROM ratings JOIN segments ON segments.place = ratings.segment ORDER BY number"
        )
        if not all(isinstance(s, float) and math.isfinite(s) for s in found["score"].tolist()):
            raise damaged("a score is no number")
        return found

    def rated(self) -> list[Rating]:
        """Every answer that counts, as it would go to another tool."""
        rows = self._database.execute(
            "SELECT segments.place, id, score, rater, time, answer, details FROM ratings "
            "JOIN segments ON segments.place = ratings.segment ORDER BY number"
        )
        with reading("the answers"):
            return [
                Rating(
                    self._keys.of(place, id), float(score), str(rater), str(time), "",
                    str(answer), json.loads(details),
                )
                for place, id, score, rater, time, answer, details in rows
            ]  # fmt: skip

    def set_aside(self) -> pd.DataFrame:
        """Answers that do not count, and why."""
        return self._table(
            "SELECT named AS segment, why, score, rater, time, system, answer, details, import, "
            "stored_at FROM set_aside ORDER BY number"
        )

    def rejected(self) -> pd.DataFrame:
        """Rows that could not be read, and why."""
        return self._table("SELECT place, why, raw, import FROM rejected ORDER BY number")

    def journal(self) -> pd.DataFrame:
        """What happened and when."""
        return self._table("SELECT at, what, details FROM journal ORDER BY number")

    def _table(self, query: str) -> pd.DataFrame:
        import pandas as pd

        cursor = self._database.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])

    def adoptable(self) -> int:
        """Answers that were set aside and whose segments were sampled since."""
        return adoptable(self._database)

    def _check_scale(self, limits: tuple[float, float] | None) -> None:
        """Refuse a scale that answers do not fit which are there already."""
        if limits is None:
            return
        low, high = self._database.execute("SELECT MIN(score), MAX(score) FROM ratings").fetchone()
        if low is not None and (low < limits[0] or high > limits[1]):
            raise DataError(
                f"the scale {limits[0]:g} to {limits[1]:g} does not hold the answers that are "
                f"there, which go from {low:g} to {high:g}."
            )


#: What imports are called that hold an answer from a page.
PAGE = "page"
_COLUMNS = "number, segment, score, rater, time, answer, details, import, stored_at"
_FROM_PAGE = f"(SELECT format FROM imports WHERE imports.number = import) = '{PAGE}'"


@dataclass(frozen=True)
class Kept:
    """What became of an answer from a page.

    Parameters
    ----------
    new
        False if it came before: a form that was sent twice.
    score
        The score that is stored, which is that of the first time.
    withdrawn
        True if the rater has taken it back since.
    """

    new: bool
    score: float
    withdrawn: bool = False


@dataclass(frozen=True)
class Progress:
    """Answers so far: of one rater, of all, and how many are wanted.

    Answers beyond the raters that a segment shall have do not bring the end nearer, and ``all``
    leaves them out.
    """

    own: int
    all: int
    wanted: int


class Desk(Ledger):
    """Raters and their work. Nothing is thrown away: what is taken back moves to another table."""

    def add_rater(self, name: str) -> str:
        """Let somebody rate on pages; the secret of their link."""
        name = name.strip()
        if not name or len(name) > 80 or not name.isprintable():
            raise FewgoldError("a rater needs a name of 1 to 80 characters that can be printed.")
        token = secrets.token_urlsafe(16)
        with transaction(self._database) as database:
            if database.execute("SELECT 1 FROM raters WHERE name = ?", (name,)).fetchone():
                raise FewgoldError(f"there is a rater {name!r} already. Choose another name.")
            database.execute("INSERT INTO raters VALUES (?, ?, ?)", (name, token, now()))
        return token

    def remove_rater(self, name: str) -> None:
        """Their link leads nowhere from now on; their answers stay."""
        with transaction(self._database) as database:
            gone = database.execute("DELETE FROM raters WHERE name = ?", (name,)).rowcount
            database.execute("DELETE FROM claims WHERE rater = ?", (name,))
        if not gone:
            raise FewgoldError(f"there is no rater {name!r}.")

    def links(self) -> dict[str, str]:
        """The secret of every rater's link, by name."""
        return dict(self._database.execute("SELECT name, token FROM raters ORDER BY made_at, name"))

    def rater_of(self, token: str) -> str | None:
        """Whose link it is."""
        row = self._database.execute("SELECT name FROM raters WHERE token = ?", (token,)).fetchone()
        return None if row is None else str(row[0])

    def rated_by(self, rater: str) -> int:
        """Segments that somebody rated."""
        (count,) = self._database.execute(
            "SELECT COUNT(DISTINCT segment) FROM ratings WHERE rater = ?", (rater,)
        ).fetchone()
        return int(count)

    def progress(self, rater: str) -> Progress:
        """How far one rater and all of them have come, against the sample or the budget."""
        each, budget = self.settings.each, self.settings.budget
        (drawn,) = self._database.execute("SELECT COUNT(*) FROM drawn").fetchone()
        (done,) = self._database.execute(
            "SELECT COALESCE(SUM(MIN(raters, ?)), 0) FROM "
            "(SELECT COUNT(DISTINCT rater) AS raters FROM ratings GROUP BY segment)",
            (each,),
        ).fetchone()
        return Progress(self.rated_by(rater), int(done), max(int(drawn), budget or 0) * each)

    def rate(self, rating: Rating) -> Kept:
        """Store an answer from a page, once however often it is sent; it is on the disk then.

        ``rating.answer`` names the form that it came with. The first answer with that name counts;
        a later one says what is stored. Whether the rater was to get this segment does not matter:
        they saw it.
        """
        if not rating.rater or not rating.answer:
            raise FewgoldError("an answer from a page needs a rater and the name of its form.")
        with transaction(self._database) as database:
            for table in ("ratings", "withdrawn"):
                row = database.execute(
                    f"SELECT score FROM {table} WHERE rater = ? AND answer = ? AND {_FROM_PAGE}",
                    (rating.rater, rating.answer),
                ).fetchone()
                if row is not None:
                    return Kept(False, float(row[0]), table == "withdrawn")
            place = self.place_of(rating.segment)
            low, high = self.settings.limits or (-math.inf, math.inf)
            if not (low <= rating.score <= high and math.isfinite(rating.score)):
                raise DataError(
                    f"the score {rating.score:g} is outside {low:g} to {high:g}; it was not stored."
                )
            number = database.execute(
                "INSERT INTO imports (at, source, format, counts) VALUES (?, ?, ?, ?)",
                (now(), PAGE, PAGE, json.dumps({"rows": 1, "used": 1, "stored": 1})),
            ).lastrowid
            details = json.dumps(dict(rating.details), default=str)
            own = (rating.score, rating.rater, rating.time, rating.answer, details)
            new = database.execute(
                INSERT, (place, *own, number, now(), twin_of(place, rating))
            ).rowcount
            # Whoever rates what they had skipped has looked at it again.
            database.execute(
                "DELETE FROM skips WHERE segment = ? AND rater = ?", (place, rating.rater)
            )
        return Kept(bool(new), rating.score)

    def last(self, rater: str) -> tuple[str, str] | None:
        """What a rater did last on pages and may undo: ``answer`` or ``skip``, and its name."""
        answer = self._database.execute(
            f"SELECT answer, stored_at FROM ratings WHERE rater = ? AND {_FROM_PAGE} "
            "ORDER BY number DESC LIMIT 1",
            (rater,),
        ).fetchone()
        skip = self._database.execute(
            "SELECT place, id, at FROM skips JOIN segments ON segments.place = skips.segment "
            "WHERE rater = ? ORDER BY at DESC, skips.rowid DESC LIMIT 1",
            (rater,),
        ).fetchone()
        if skip is not None and (answer is None or skip[2] > answer[1]):
            return "skip", self._keys.of(int(skip[0]), str(skip[1]))
        return None if answer is None else ("answer", str(answer[0]))

    def withdraw(self, rater: str, answer: str | None = None) -> str | None:
        """Take a rater's last answer from a page back and hand them its segment again; its id.

        With ``answer``, the name of its form, only if that is the last one. None if there is
        nothing to take back; what was taken back before stays so.
        """
        with transaction(self._database) as database:
            row = database.execute(
                "SELECT number, segment, id, answer FROM ratings "
                "JOIN segments ON segments.place = ratings.segment "
                f"WHERE rater = ? AND {_FROM_PAGE} ORDER BY number DESC LIMIT 1",
                (rater,),
            ).fetchone()
            if row is None or answer not in (None, row[3]):
                return self._withdrawn(rater, answer)
            number, segment, id, _ = row
            database.execute(
                f"INSERT INTO withdrawn SELECT {_COLUMNS}, ? FROM ratings WHERE number = ?",
                (now(), number),
            )
            database.execute("DELETE FROM ratings WHERE number = ?", (number,))
            # The newest claim is what the rater gets next.
            keep(database, segment, rater)
        return str(id)

    def _withdrawn(self, rater: str, answer: str | None) -> str | None:
        row = self._database.execute(
            "SELECT id FROM withdrawn JOIN segments ON segments.place = withdrawn.segment "
            "WHERE rater = ? AND answer = ?",
            (rater, answer),
        ).fetchone()
        return None if row is None else str(row[0])

    def taken_back(self, rater: str, segment: str) -> Rating | None:
        """What a rater took back of a segment (its key) and has not answered again since."""
        row = self._database.execute(
            "SELECT score, time, answer, details, number FROM withdrawn AS w "
            "WHERE segment = :place AND rater = :rater AND NOT EXISTS (SELECT 1 FROM ratings "
            "WHERE segment = :place AND rater = :rater AND number > w.number) "
            "ORDER BY number DESC LIMIT 1",
            {"place": self.place_of(segment), "rater": rater},
        ).fetchone()
        if row is None:
            return None
        score, time, answer, details, _ = row
        return Rating(segment, float(score), rater, time, "", answer, json.loads(details))

    def skip(self, id: str, rater: str) -> None:
        """Do not hand a segment to this rater again, unless they ask for what they skipped."""
        with transaction(self._database) as database:
            place = self._sampled(id)
            database.execute("INSERT OR IGNORE INTO skips VALUES (?, ?, ?)", (place, rater, now()))
            database.execute("DELETE FROM claims WHERE segment = ? AND rater = ?", (place, rater))

    def skipped(self, rater: str) -> int:
        """Segments that a rater skipped and nobody gave them again."""
        (count,) = self._database.execute(
            "SELECT COUNT(*) FROM skips WHERE rater = ?", (rater,)
        ).fetchone()
        return int(count)

    def unskip(self, rater: str, id: str | None = None) -> None:
        """Hand out again what a rater skipped: one segment at once, or all in their turn."""
        with transaction(self._database) as database:
            if id is None:
                database.execute("DELETE FROM skips WHERE rater = ?", (rater,))
                return
            place = self._sampled(id)
            gone = database.execute(
                "DELETE FROM skips WHERE segment = ? AND rater = ?", (place, rater)
            ).rowcount
            if gone:
                keep(database, place, rater)

    def left(self, rater: str) -> tuple[int, int]:
        """Segments that still want a rater and could have this one: skipped by them, and others.

        The others are with other raters just now if `Campaign.next` does not hand them out.
        """
        skipped, other = self._database.execute(
            "SELECT COALESCE(SUM(skipped), 0), COUNT(*) - COALESCE(SUM(skipped), 0) FROM ("
            "SELECT EXISTS (SELECT 1 FROM skips WHERE segment = drawn.segment AND rater = :rater) "
            "AS skipped FROM drawn WHERE NOT EXISTS "
            "(SELECT 1 FROM ratings WHERE segment = drawn.segment AND rater = :rater) AND "
            "(SELECT COUNT(DISTINCT rater) FROM ratings WHERE segment = drawn.segment) < :each)",
            {"rater": rater, "each": self.settings.each},
        ).fetchone()
        return int(skipped), int(other)

    def id_of(self, segment: str) -> str:
        """The id of a sampled segment, by its key."""
        found = self._id_at(self.place_of(segment))
        assert found is not None
        return found

    def key_of(self, id: str) -> str:
        """The key of a sampled segment, by its id."""
        return self._keys.of(self._sampled(id), id)

    def place_of(self, segment: str) -> int:
        """The place of a sampled segment in the pool, by its key."""
        place = self._keys.find(segment, self._id_at)
        if place is None:
            raise DataError(
                "this form names a segment that was not sampled in this campaign. Nothing was "
                "stored. Load the page again."
            )
        return place

    def _id_at(self, place: int) -> str | None:
        """The id of the sampled segment at a place; None if there is no such one."""
        row = self._database.execute(
            "SELECT id FROM segments JOIN drawn ON drawn.segment = segments.place "
            "WHERE segments.place = ?",
            (place,),
        ).fetchone()
        return None if row is None else str(row[0])

    def _sampled(self, id: str) -> int:
        row = self._database.execute(
            "SELECT segment FROM drawn JOIN segments ON segments.place = drawn.segment "
            "WHERE id = ?",
            (id,),
        ).fetchone()
        if row is None:
            raise DataError(f"the segment {id!r} was not sampled.")
        return int(row[0])
