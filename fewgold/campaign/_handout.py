"""Which segment a rater gets next."""

from __future__ import annotations

import sqlite3
import time

# The first segment in the order of drawing that this rater has not rated, and that fewer raters
# than wanted have rated or are at work on.
_OPEN = """
SELECT drawn.segment FROM drawn
WHERE NOT EXISTS (SELECT 1 FROM ratings WHERE segment = drawn.segment AND rater = :rater)
AND (
    SELECT COUNT(*) FROM (
        SELECT rater FROM ratings WHERE segment = drawn.segment
        UNION
        SELECT rater FROM claims
        WHERE segment = drawn.segment AND rater != :rater AND at > :since
    )
) < :each
ORDER BY wave, place LIMIT 1
"""


def claim(database: sqlite3.Connection, rater: str, each: int, hold: float) -> int | None:
    """The place of an open segment, kept for the rater. The caller holds a transaction."""
    moment = time.time()
    wanted = {"rater": rater, "since": moment - hold, "each": each}
    row = database.execute(_OPEN, wanted).fetchone()
    if row is None:
        return None
    database.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (row[0], rater, moment))
    return int(row[0])
