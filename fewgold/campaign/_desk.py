"""What raters do on pages: they have links of their own, skip segments, and take answers back."""

from __future__ import annotations

import secrets

from fewgold.campaign._database import now, transaction
from fewgold.campaign._ledger import Ledger
from fewgold.errors import DataError, FewgoldError

_COLUMNS = "number, segment, score, rater, time, answer, details, import, stored_at"


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

    def withdraw(self, rater: str) -> str | None:
        """Take the rater's last answer back and hand them its segment again; its id, or None."""
        with transaction(self._database) as database:
            row = database.execute(
                "SELECT number, segment, id FROM ratings "
                "JOIN segments ON segments.place = ratings.segment "
                "WHERE rater = ? ORDER BY number DESC LIMIT 1",
                (rater,),
            ).fetchone()
            if row is None:
                return None
            number, segment, id = row
            database.execute(
                f"INSERT INTO withdrawn SELECT {_COLUMNS}, ? FROM ratings WHERE number = ?",
                (now(), number),
            )
            database.execute("DELETE FROM ratings WHERE number = ?", (number,))
            # The newest claim is what the rater gets next.
            self._claim(segment, rater)
        return str(id)

    def skip(self, id: str, rater: str) -> None:
        """Do not hand a segment to this rater again, unless they ask for what they skipped."""
        with transaction(self._database) as database:
            row = database.execute(
                "SELECT segment FROM drawn JOIN segments ON segments.place = drawn.segment "
                "WHERE id = ?",
                (id,),
            ).fetchone()
            if row is None:
                raise DataError(f"the segment {id!r} was not sampled.")
            database.execute("INSERT OR IGNORE INTO skips VALUES (?, ?, ?)", (*row, rater, now()))
            database.execute("DELETE FROM claims WHERE segment = ? AND rater = ?", (*row, rater))

    def skipped(self, rater: str) -> int:
        """Segments that a rater skipped and nobody gave them again."""
        (count,) = self._database.execute(
            "SELECT COUNT(*) FROM skips WHERE rater = ?", (rater,)
        ).fetchone()
        return int(count)

    def unskip(self, rater: str) -> None:
        """Hand out again what a rater skipped."""
        with transaction(self._database) as database:
            database.execute("DELETE FROM skips WHERE rater = ?", (rater,))

    def _claim(self, segment: int, rater: str) -> None:
        from fewgold.campaign._handout import keep

        keep(self._database, segment, rater)
