"""Which segment a rater gets next."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from fewgold._arrays import IntArray, codes_of

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
_OWN = """
SELECT o.segment FROM ({open}) AS o JOIN claims ON claims.segment = o.segment
WHERE claims.rater = :rater AND claims.at > :since ORDER BY claims.at DESC LIMIT 1
"""


def claim(database: sqlite3.Connection, rater: str, each: int, hold: float) -> int | None:
    """The place of an open segment, kept for the rater. The caller holds a transaction."""
    wanted = {"rater": rater, "since": time.time() - hold, "each": each}
    mine = database.execute(_OWN.format(open=_OPEN), wanted).fetchone()
    if mine is not None:
        keep(database, mine[0], rater)
        return int(mine[0])
    row = database.execute(f"{_OPEN} ORDER BY wave, turn LIMIT 1", wanted).fetchone()
    if row is None:
        return None
    keep(database, row[0], rater)
    return int(row[0])


def keep(database: sqlite3.Connection, segment: int, rater: str) -> None:
    """Note that a rater has a segment. The caller holds a transaction."""
    database.execute(
        "INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (segment, rater, time.time())
    )


def turns(own: Mapping[str, Any], seed: int) -> IntArray:
    """When each segment of a wave is handed out, 0 for the first: (n,) in the order of drawing.

    Whoever stops half-way has rated the first ones. They stand for the rest only if chance decided
    which they are, and most samples are listed by stratum or along a line. So segments come in
    a random order that the seed fixes; those of a unit that was drawn whole, one after the other.
    A simple random sample lies in a random order already, which stopping rules go by, and one that
    learns must keep to its own.
    """
    segments = own["segments"]
    n = len(segments)
    if own["kind"] in ("simple", "adaptive"):
        return np.arange(n)
    units = codes_of(np.array([s.get("unit", place) for place, s in enumerate(segments)]))
    # A stream of its own: that of the draw itself would tie the order to what was drawn.
    chance = np.random.default_rng([seed, 1]).permutation(int(units.max()) + 1)
    turn = np.empty(n, dtype=np.int64)
    turn[np.argsort(chance[units], kind="stable")] = np.arange(n)
    return turn
