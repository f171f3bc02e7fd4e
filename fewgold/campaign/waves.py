"""Samples that were drawn, wave after wave, with how each was drawn and all of them together."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import IntArray, codes_of
from fewgold.campaign.database import damaged, now, reading
from fewgold.errors import DataError, FewgoldError
from fewgold.pool import Pool
from fewgold.sample import Sample, SampleInfo
from fewgold.sheets import design_of, drawn

# Which segment a rater gets next.


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


# The pool in the campaign's file: labels and texts as rows, metrics as exact arrays.


_FLOAT = np.dtype("<f8")


def save_pool(database: sqlite3.Connection, pool: Pool) -> None:
    """Write a pool into the empty tables of a new campaign."""
    texts = {name: _words(column) for name, column in pool.texts.items()}
    rows = zip(
        range(len(pool)),
        _words(pool.ids),
        _maybe(pool.documents, len(pool)),
        _maybe(pool.system, len(pool)),
        [None] * len(pool) if pool.cost is None else pool.cost.tolist(),
        (
            json.dumps(dict(zip(texts, row, strict=True)), ensure_ascii=False)
            for row in (zip(*texts.values(), strict=True) if texts else [()] * len(pool))
        ),
        strict=True,
    )
    database.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)", rows)
    database.executemany(
        "INSERT INTO metrics VALUES (?, ?, ?, ?)",
        [
            (name, place, pool.orientation.get(name), scores.astype(_FLOAT).tobytes())
            for place, (name, scores) in enumerate(pool.metrics.items())
        ],
    )


def load_pool(database: sqlite3.Connection, fingerprint: str) -> Pool:
    """The pool as it was written; the fingerprint tells if somebody changed the file."""
    with reading("the pool"):
        pool = _load(database)
        if pool.fingerprint != fingerprint:
            raise DataError(
                f"the pool in this campaign was changed: its fingerprint is {pool.fingerprint} "
                f"and was {fingerprint}. Take a copy of the file from before."
            )
    return pool


def _load(database: sqlite3.Connection) -> Pool:
    rows = database.execute(
        "SELECT id, document, system, cost, texts FROM segments ORDER BY place"
    ).fetchall()
    ids, documents, system, cost, texts = zip(*rows, strict=True)
    shown = [json.loads(text) for text in texts]
    metrics = database.execute(
        "SELECT name, orientation, scores FROM metrics ORDER BY place"
    ).fetchall()
    return Pool(
        ids=_labels(ids),
        metrics={
            name: np.frombuffer(scores, dtype=_FLOAT).astype(np.float64)
            for name, _, scores in metrics
        },
        documents=None if documents[0] is None else _labels(documents),
        system=None if system[0] is None else _labels(system),
        cost=None if cost[0] is None else np.array(cost, dtype=np.float64),
        texts={name: _labels([row[name] for row in shown]) for name in shown[0]},
        orientation={name: sign for name, sign, _ in metrics if sign is not None},
    )


def _labels(values: Sequence[str]) -> NDArray[Any]:
    # As objects: an array of texts would give each the room of the longest.
    return np.array(values, dtype=object)


def _words(column: NDArray[Any]) -> list[str]:
    return [str(value) for value in column.tolist()]


def _maybe(column: NDArray[Any] | None, size: int) -> list[Any]:
    return [None] * size if column is None else _words(column)


@dataclass(frozen=True)
class Wave:
    """One draw: when, how many, by which strategy and seed, and which segments."""

    number: int
    drawn_at: str
    strategy: str
    sampler: str
    seed: int
    budget: Any
    n: int
    ids: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The wave in plain values, without its segments."""
        return {k: v for k, v in self.__dict__.items() if k != "ids"}


def check_left(pool: Pool, drawn: int) -> None:
    """Refuse to draw from a pool that is drawn to the last segment."""
    if drawn >= len(pool):
        raise FewgoldError(
            f"all {len(pool)} segments of the pool were drawn already: there is nothing to add."
        )


def wave_seed(seed: int, number: int) -> int:
    """The seed of a wave: the first has the campaign's own, later ones their own by derivation.

    With the same seed again, which segments a wave takes would hang together with which ones the
    first took.

    >>> wave_seed(7, 1), wave_seed(7, 2)
    (7, 178997)
    """
    if number == 1:
        return seed
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0] % 10**6)


def save_wave(
    database: sqlite3.Connection, sample: Sample, whole: Sample, *, number: int, strategy: str,
    seed: int, budget: Any,
) -> None:  # fmt: skip
    """Write a wave and what it makes together with those before. The caller holds a transaction.

    Waves of a strategy that learns are many and small. What they made together is of no use once
    there is a further one, so that it is let go.
    """
    pool = sample.pool
    own = drawn(pool, sample.indices, sample.design)
    if whole.design.drawn_as("adaptive"):
        database.execute("UPDATE waves SET whole = '' WHERE number = ?", (number - 1,))
    database.execute(
        "INSERT INTO waves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            number, now(), strategy, sample.info.sampler or sample.design._label, seed,
            json.dumps(budget), sample.n, json.dumps(own),
            json.dumps(
                {**drawn(pool, whole.indices, whole.design), "info": whole.info.to_dict()}
            ),
        ),
    )  # fmt: skip
    database.executemany(
        "INSERT INTO drawn VALUES (?, ?, ?, ?)",
        [
            (int(row), number, place, int(turn))
            for place, (row, turn) in enumerate(
                zip(sample.indices.tolist(), turns(own, seed), strict=True)
            )
        ],
    )


def load_waves(database: sqlite3.Connection) -> list[Wave]:
    """All waves, the first one first."""
    ids: dict[int, list[str]] = {}
    for number, id in database.execute(
        "SELECT wave, id FROM drawn JOIN segments ON segments.place = drawn.segment "
        "ORDER BY wave, drawn.place"
    ).fetchall():
        ids.setdefault(number, []).append(id)
    rows = database.execute(
        "SELECT number, drawn_at, strategy, sampler, seed, budget, n FROM waves ORDER BY number"
    ).fetchall()
    with reading("the waves"):
        found = [
            Wave(number, at, strategy, sampler, seed, json.loads(budget), n, tuple(ids[number]))
            for number, at, strategy, sampler, seed, budget, n in rows
        ]
    if [w.number for w in found] != list(range(1, len(ids) + 1)) or any(
        w.n != len(w.ids) for w in found
    ):
        raise damaged("the waves: segments are missing")
    return found


def load_whole(database: sqlite3.Connection, pool: Pool, waves: int | None = None) -> Sample | None:
    """The first waves together, all by default, as one sample with the design that they make.

    None before the first wave, and for waves whose design was let go.
    """
    row = database.execute(
        "SELECT whole FROM waves WHERE number <= ? ORDER BY number DESC LIMIT 1",
        (2**31 if waves is None else waves,),
    ).fetchone()
    if row is None or not row[0]:
        return None
    with reading("the design"):
        record = json.loads(row[0])
        indices, design = design_of(record, pool)
        return Sample(pool, indices, design, info=SampleInfo.from_dict(record["info"]))
