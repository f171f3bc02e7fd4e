"""Attention checks: segments that a rater gets again, and segments whose answer is known.

A check looks like any other segment. Its answer is kept in a separate table and never enters the
estimate.
"""

from __future__ import annotations

import math
import sqlite3
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.campaign.database import note, now
from fewgold.errors import DataError, FewgoldError

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign.store import Store

#: Kinds of checks: a segment that the rater rated before, or one whose answer the owner knows.
REPEAT, KNOWN = "repeat", "known"

#: The check that a rater was handed and has not answered.
OPEN = "score IS NULL AND skipped IS NULL"
#: Checks that the rater skipped and may get again.
SKIPPED = "score IS NULL AND skipped IS NOT NULL"


def hand_out(database: sqlite3.Connection, rater: str, every: int, seed: int) -> int | None:
    """The row of the segment that a rater gets as a check now, if a check is due.

    A check is due after every ``check_every`` answers. Known answers and repeats take turns if
    there are both. A repeat is of a segment that the rater answered at least ``check_every``
    answers ago. The caller holds a transaction.
    """
    open_, given, last, before, latest = database.execute(
        f"SELECT (SELECT segment FROM checks WHERE rater = :rater AND {OPEN} "
        "ORDER BY number DESC LIMIT 1), "
        "(SELECT COUNT(*) FROM ratings WHERE rater = :rater), "
        "(SELECT COALESCE(MAX(after), 0) FROM checks WHERE rater = :rater), "
        "(SELECT COUNT(*) FROM checks WHERE rater = :rater), "
        "(SELECT kind FROM checks WHERE rater = :rater ORDER BY number DESC LIMIT 1)",
        {"rater": rater},
    ).fetchone()
    if open_ is not None or given - last < every:
        return None if open_ is None else int(open_)
    for kind in (REPEAT, KNOWN) if latest == KNOWN else (KNOWN, REPEAT):
        places = _candidates(database, rater, kind, given - every)
        if places:
            rng = np.random.default_rng([seed, 4, before, zlib.crc32(rater.encode())])
            place = int(places[int(rng.integers(len(places)))])
            database.execute(
                "INSERT INTO checks (rater, kind, segment, after, handed_at) "
                "VALUES (?, ?, ?, ?, ?)",
                (rater, kind, place, given, now()),
            )
            return place
    return None


def _candidates(database: sqlite3.Connection, rater: str, kind: str, first: int) -> list[int]:
    """Candidates for a check: known segments new to the rater, or segments they rated earlier."""
    if kind == KNOWN:
        query = (
            "SELECT segment FROM known WHERE NOT EXISTS (SELECT 1 FROM ratings "
            "WHERE segment = known.segment AND rater = :rater) AND NOT EXISTS (SELECT 1 "
            "FROM checks WHERE segment = known.segment AND rater = :rater) AND NOT EXISTS "
            "(SELECT 1 FROM practised WHERE segment = known.segment AND rater = :rater) "
            "ORDER BY segment"
        )
    else:
        query = (
            "SELECT segment FROM (SELECT segment, MAX(number) AS at FROM ratings "
            "WHERE rater = :rater GROUP BY segment ORDER BY at LIMIT :first) AS early "
            "WHERE NOT EXISTS (SELECT 1 FROM checks WHERE segment = early.segment "
            "AND rater = :rater) ORDER BY segment"
        )
    found = database.execute(query, {"rater": rater, "first": max(first, 0)})
    return [int(place) for (place,) in found.fetchall()]


def store_answer(
    database: sqlite3.Connection, rater: str, place: int, answer: tuple[float, str, str, str]
) -> None:
    """Keep the answer to a check; the caller holds a transaction.

    ``answer`` is the score, the time, the name of the form and the details.
    """
    database.execute(
        "UPDATE checks SET score = ?, time = ?, answer = ?, details = ?, stored_at = ? "
        f"WHERE rater = ? AND segment = ? AND {OPEN}",
        (*answer, now(), rater, place),
    )


def take_back(database: sqlite3.Connection, rater: str, answer: str) -> int | None:
    """Reopen a check whose answer the rater takes back; returns its row."""
    row = database.execute(
        "SELECT number, segment, score FROM checks WHERE rater = ? AND answer = ? "
        "AND score IS NOT NULL",
        (rater, answer),
    ).fetchone()
    if row is None:
        return None
    number, place, score = row
    note(database, "check taken back", {"rater": rater, "check": number, "score": score})
    database.execute("UPDATE checks SET score = NULL WHERE number = ?", (number,))
    return int(place)


def set_known(store: Store, answers: Mapping[str, tuple[float, float]]) -> int:
    """Set the range of right answers to some segments of the pool; returns how many.

    Raters get them as checks if ``check_every`` is set. They change nothing else: a known segment
    that is sampled is rated like any other.
    """
    places = {str(id): place for place, id in enumerate(store.pool.ids.tolist())}
    ends = store.settings.limits or (-math.inf, math.inf)
    rows = []
    for id, (low, high) in answers.items():
        if str(id) not in places:
            raise DataError(
                f"the pool has no segment {str(id)[:40]!r}, so its answer cannot serve as a check. "
                "Give segments of the pool, preferably some that are not sampled."
            )
        if not (math.isfinite(low) and math.isfinite(high) and ends[0] <= low <= high <= ends[1]):
            raise FewgoldError(
                f"the known answer to {str(id)[:40]!r} must be on the scale, with its lower end "
                f"not above the upper; got {low:g} to {high:g}."
            )
        rows.append((places[str(id)], float(low), float(high)))
    with store.transaction() as database:
        database.executemany("INSERT OR REPLACE INTO known VALUES (?, ?, ?)", rows)
        note(database, "known answers", {"count": len(rows)})
    return len(rows)


def known(store: Store) -> dict[str, tuple[float, float]]:
    """The segments with a known answer: by id, the lowest and highest right score."""
    rows = store.database.execute(
        "SELECT id, low, high FROM known JOIN segments ON segments.place = known.segment "
        "ORDER BY known.segment"
    )
    return {id: (float(low), float(high)) for id, low, high in rows.fetchall()}


def drop_known(store: Store, segment: str) -> bool:
    """Forget the known answer to a segment; False if there is none. Answers of raters stay."""
    with store.transaction() as database:
        gone = database.execute(
            "DELETE FROM known WHERE segment = (SELECT place FROM segments WHERE id = ?)",
            (segment,),
        ).rowcount
        note(database, "known answer dropped", {"segment": segment})
    return bool(gone)


def results(store: Store) -> pd.DataFrame:
    """Every answered check: rater, kind, segment, score, expected score and distance.

    ``expected`` is the rater's earlier answer or the nearest right one; ``off`` is the distance
    from it. A repeat is left out if the rater has since taken back the first answer.
    """
    import pandas as pd

    rows = store.database.execute(
        "SELECT checks.rater, kind, id, checks.score, low, high, "
        "(SELECT score FROM ratings WHERE segment = checks.segment AND rater = checks.rater "
        "AND stored_at <= checks.stored_at ORDER BY number DESC LIMIT 1), checks.stored_at "
        "FROM checks JOIN segments ON segments.place = checks.segment "
        "LEFT JOIN known ON known.segment = checks.segment "
        "WHERE checks.score IS NOT NULL ORDER BY checks.number"
    ).fetchall()
    found: list[dict[str, Any]] = []
    for rater, kind, id, score, low, high, first, at in rows:
        expected = first
        if kind == KNOWN:
            expected = None if low is None else min(max(score, low), high)
        if expected is not None:
            found.append({
                "rater": rater, "kind": kind, "segment": id, "score": score, "expected": expected,
                "off": abs(score - expected), "at": at,
            })  # fmt: skip
    names = ["rater", "kind", "segment", "score", "expected", "off", "at"]
    return pd.DataFrame(found, columns=names)
