"""Samples that were drawn, wave after wave, with how each was drawn and all of them together."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewgold.campaign._database import now
from fewgold.campaign._handout import turns
from fewgold.campaign._trouble import damaged, reading
from fewgold.errors import FewgoldError
from fewgold.pool import Pool
from fewgold.records import design_of, drawn
from fewgold.sample import Sample


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
    if whole.design.kind == "adaptive":
        database.execute("UPDATE waves SET whole = '' WHERE number = ?", (number - 1,))
    database.execute(
        "INSERT INTO waves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            number, now(), strategy, str(sample.info.get("sampler", sample.design.kind)), seed,
            json.dumps(budget), sample.n, json.dumps(own),
            json.dumps(
                {**drawn(pool, whole.indices, whole.design), "info": dict(whole.info)}
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
        return Sample(pool, indices, design, info=record["info"])
