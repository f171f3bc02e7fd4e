"""The tables of a campaign, to read."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from fewgold.campaign._answers import adoptable
from fewgold.campaign._database import snapshot
from fewgold.campaign._settings import Settings
from fewgold.campaign._trouble import damaged, reading
from fewgold.errors import DataError
from fewgold.formats import Keys, Rating

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pandas as pd


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
