"""The store of a campaign: its SQLite file as pool, settings, waves and tables of answers.

Waves are written with the design of each draw and with the design that all draws make together,
so that a file opens with the numbers with which it was closed.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.campaign.answers import ADOPTABLE, split_details
from fewgold.campaign.database import (
    connect,
    create,
    damaged,
    database_path,
    note,
    now,
    reading,
    snapshot,
    transaction,
)
from fewgold.campaign.settings import Settings, load_settings, save_settings
from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.errors import DataError
from fewgold.formats import Keys, Rating
from fewgold.pool import Pool
from fewgold.sample import Sample, SampleInfo
from fewgold.sheets import design_of, drawn

if TYPE_CHECKING:
    import pandas as pd


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


class Store:
    """The open file of a campaign, given by its path or that of its folder.

    With ``any_thread``, threads may pass it on to each other; only one may use it at a time.
    """

    def __init__(self, path: str | Path, *, any_thread: bool = False) -> None:
        self.path = database_path(path)
        self.database = connect(self.path, any_thread=any_thread)
        self._file = _identity(self.path)
        self.reload()

    @staticmethod
    def create(path: str | Path, pool: Pool, settings: Settings) -> None:
        """Write a new campaign without waves."""

        def fill(database: sqlite3.Connection) -> None:
            save_pool(database, pool)
            save_settings(database, settings)
            note(database, "init", {"segments": len(pool), **asdict(settings)})

        create(database_path(path), fill)

    def reload(self) -> None:
        """Read the settings, which other processes may change."""
        self.settings = load_settings(self.database)

    def is_current(self) -> bool:
        """Whether it sees what others write: nobody put another file there or took rights away."""
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        return writable and _identity(self.path) == self._file

    def close(self) -> None:
        """Close the file; the campaign stays."""
        self.database.close()

    def __del__(self) -> None:
        # Another thread may collect it, which may not even close what is closed.
        if "database" in self.__dict__:
            with suppress(sqlite3.ProgrammingError):
                self.close()

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Write all of it or nothing, with no other writer in between."""
        return transaction(self.database)

    def snapshot(self) -> AbstractContextManager[None]:
        """Read as of one moment while it lasts, whatever others write; nothing can be changed."""
        return snapshot(self.database)

    # The pool

    @cached_property
    def pool(self) -> Pool:
        """The segments that could be rated; the fingerprint tells if somebody changed the file."""
        with reading("the pool"):
            pool = _load_pool(self.database)
            if pool.fingerprint != self.settings.fingerprint:
                raise DataError(
                    f"the pool in this campaign was changed: its fingerprint is {pool.fingerprint} "
                    f"and was {self.settings.fingerprint}. Take a copy of the file from before."
                )
        return pool

    @cached_property
    def keys(self) -> Keys:
        """What segments are called in the tasks and forms of raters."""
        (size,) = self.database.execute("SELECT MAX(place) + 1 FROM segments").fetchone()
        return Keys(int(size), self.settings.fingerprint)

    # Waves

    def waves(self) -> list[Wave]:
        """Every draw, the first one first."""
        ids: dict[int, list[str]] = {}
        for number, id in self.database.execute(
            "SELECT wave, id FROM drawn JOIN segments ON segments.place = drawn.segment "
            "ORDER BY wave, drawn.place"
        ).fetchall():
            ids.setdefault(number, []).append(id)
        rows = self.database.execute(
            "SELECT number, drawn_at, strategy, sampler, seed, budget, n FROM waves ORDER BY number"
        ).fetchall()
        with reading("the waves"):
            found = [
                Wave(number, at, strategy, sampler, seed, json.loads(budget), n, tuple(ids[number]))
                for number, at, strategy, sampler, seed, budget, n in rows
            ]
        numbers = [w.number for w in found]
        if numbers != [*range(1, len(ids) + 1)] or any(w.n != len(w.ids) for w in found):
            raise damaged("the waves: segments are missing")
        return found

    def add_wave(
        self, sample: Sample, whole: Sample, *, number: int, seed: int, budget: Any
    ) -> None:
        """Write a wave, and the sample that it makes together with those before.

        Waves of a strategy that learns are many and small. The design that they made together is
        of no use once there is a further one, so that it is not kept.
        """
        pool, strategy = sample.pool, self.settings.strategy
        own = drawn(pool, sample.indices, sample.design)
        together = {**drawn(pool, whole.indices, whole.design), "info": whole.info.to_dict()}
        sampler = sample.info.sampler or sample.design._label
        turns = handout_order(own, seed)
        with self.transaction() as database:
            (last,) = database.execute("SELECT COALESCE(MAX(number), 0) FROM waves").fetchone()
            if last != number - 1:
                raise DataError(
                    "somebody else drew a wave at the same moment. Look at the status, and draw "
                    "again if it is still wanted."
                )
            if whole.design.drawn_as("adaptive"):
                database.execute("UPDATE waves SET whole = '' WHERE number = ?", (last,))
            database.execute(
                "INSERT INTO waves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number, now(), strategy, sampler, seed, json.dumps(budget), sample.n,
                    json.dumps(own), json.dumps(together),
                ),
            )  # fmt: skip
            rows = enumerate(zip(sample.indices.tolist(), turns.tolist(), strict=True))
            database.executemany(
                "INSERT INTO drawn VALUES (?, ?, ?, ?)",
                [(row, number, place, turn) for place, (row, turn) in rows],
            )
            note(database, "select", {"wave": number, "n": sample.n, "seed": seed})

    def sample(self, waves: int | None = None) -> Sample:
        """The first waves, all by default, as one sample with the design that they make."""
        row = self.database.execute(
            "SELECT whole FROM waves WHERE number <= ? ORDER BY number DESC LIMIT 1",
            (2**31 if waves is None else waves,),
        ).fetchone()
        if row is None:
            raise DataError(
                "nothing was drawn yet. Choose segments first: fewgold select CAMPAIGN --budget N "
                "(campaign.select(n))."
            )
        if not row[0]:
            raise DataError(
                f"what the first {waves} waves make by themselves is not kept, because "
                f"{self.settings.strategy} learns from answers. Take all waves."
            )
        with reading("the design"):
            record = json.loads(row[0])
            indices, design = design_of(record, self.pool)
            return Sample(self.pool, indices, design, info=SampleInfo.from_dict(record["info"]))

    def last_wave_with_answers(self) -> int:
        """The last wave with an answer that came after it was drawn, or with all of them; else 0.

        An answer that was there before the wave was drawn does not show that raters work on it.
        """
        (last,) = self.database.execute(
            "SELECT COALESCE(MAX(waves.number), 0) FROM waves WHERE EXISTS (SELECT 1 FROM drawn "
            "JOIN ratings USING (segment) WHERE wave = waves.number AND stored_at >= drawn_at) "
            "OR n = (SELECT COUNT(DISTINCT segment) FROM drawn JOIN ratings USING (segment) "
            "WHERE wave = waves.number)"
        ).fetchone()
        return int(last)

    # Tables

    def state(self) -> tuple[int, ...]:
        """Numbers that change with everything that is stored, and cost next to nothing to read."""
        counted = ("ratings", "set_aside", "rejected", "imports", "journal")
        last = dict(self.database.execute("SELECT name, seq FROM sqlite_sequence"))
        withdrawn, waves = self.database.execute(
            "SELECT (SELECT COUNT(*) FROM withdrawn), (SELECT COUNT(*) FROM waves)"
        ).fetchone()
        return (*(int(last.get(name, 0)) for name in counted), int(withdrawn), int(waves))

    def answers(self) -> pd.DataFrame:
        """Every answer that counts, in the order of arrival; a column for each of the criteria."""
        found = self._table(
            "SELECT id AS segment, score, rater, time, answer, details, import, stored_at "
            "FROM ratings JOIN segments ON segments.place = ratings.segment ORDER BY number"
        )
        if not all(isinstance(s, float) and math.isfinite(s) for s in found["score"].tolist()):
            raise damaged("a score is no number")
        if self.settings.criteria:
            with reading("the scores of the criteria"):
                given = [split_details(d)[1] for d in found["details"].tolist()]
            for criterion in self.settings.criteria:
                own = [scores.get(criterion.name, math.nan) for scores in given]
                found[criterion.name] = np.array(own, dtype=np.float64)
        return found

    def rated(self) -> list[Rating]:
        """Every answer that counts, as it would go to another tool."""
        rows = self.database.execute(
            "SELECT segments.place, id, score, rater, time, answer, details FROM ratings "
            "JOIN segments ON segments.place = ratings.segment ORDER BY number"
        )
        with reading("the answers"):
            return [
                Rating(
                    self.keys.of(place, id), float(score), str(rater), str(time), "",
                    str(answer), *split_details(details),
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

        cursor = self.database.execute(query)
        return pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])

    def adoptable(self) -> int:
        """Answers that were set aside and whose segments were sampled since."""
        (count,) = self.database.execute(f"SELECT COUNT(*) {ADOPTABLE}").fetchone()
        return int(count)

    def change(self, settings: Settings, changed: Mapping[str, Any]) -> None:
        """Write new settings, unless answers that are there do not fit the scale."""
        with self.transaction() as database:
            if settings.limits is not None and not settings.criteria:
                low, high = database.execute(
                    "SELECT MIN(score), MAX(score) FROM ratings"
                ).fetchone()
                ends = settings.limits
                if low is not None and (low < ends[0] or high > ends[1]):
                    raise DataError(
                        f"the scale {ends[0]:g} to {ends[1]:g} does not hold the answers that are "
                        f"there, which go from {low:g} to {high:g}."
                    )
            save_settings(database, settings)
            note(database, "change", changed)
        self.settings = settings


def _identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at a path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def wave_seed(seed: int, number: int) -> int:
    """The seed of a wave: the first has the campaign's own, later ones derive theirs from it.

    With the same seed again, which segments a wave takes would depend on which ones the first
    took.

    >>> wave_seed(7, 1), wave_seed(7, 2)
    (7, 178997)
    """
    if number == 1:
        return seed
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0] % 10**6)


def handout_order(own: Mapping[str, Any], seed: int) -> IntArray:
    """When each segment of a wave is handed out, 0 for the first: (n,) in the order of drawing.

    Whoever stops half-way has rated the first ones. They stand for the rest only if chance decided
    which they are, and most samples are listed by stratum or in the order of the pool. So segments
    come in a random order that the seed fixes; those of a unit that was drawn whole, one after the
    other. A simple random sample is in a random order already, which stopping rules rely on, and a
    strategy that learns must keep its own.
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


# The pool in the file: labels and texts as rows, metrics as exact arrays.

_FLOAT = np.dtype("<f8")


def save_pool(database: sqlite3.Connection, pool: Pool) -> None:
    """Write a pool into the empty tables of a new campaign."""

    def column(values: NDArray[Any] | None, kind: Callable[[Any], Any] = str) -> Iterable[Any]:
        return [None] * len(pool) if values is None else [kind(v) for v in values.tolist()]

    texts = {name: column(values) for name, values in pool.texts.items()}
    shown = zip(*texts.values(), strict=True) if texts else [()] * len(pool)
    rows = zip(
        range(len(pool)), column(pool.ids), column(pool.documents), column(pool.system),
        column(pool.cost, float),
        (json.dumps(dict(zip(texts, row, strict=True)), ensure_ascii=False) for row in shown),
        strict=True,
    )  # fmt: skip
    database.executemany("INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?)", rows)
    database.executemany(
        "INSERT INTO metrics VALUES (?, ?, ?, ?)",
        [
            (name, place, pool.orientation.get(name), scores.astype(_FLOAT).tobytes())
            for place, (name, scores) in enumerate(pool.metrics.items())
        ],
    )
    if pool.spread is not None:
        database.execute("INSERT INTO spread VALUES (?)", (pool.spread.astype(_FLOAT).tobytes(),))


def _load_pool(database: sqlite3.Connection) -> Pool:
    rows = database.execute(
        "SELECT id, document, system, cost, texts FROM segments ORDER BY place"
    ).fetchall()
    ids, documents, system, cost, texts = zip(*rows, strict=True)
    shown = [json.loads(text) for text in texts]
    metrics = database.execute(
        "SELECT name, orientation, scores FROM metrics ORDER BY place"
    ).fetchall()
    known = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'spread'").fetchone()
    # Campaigns of earlier versions have no such table.
    spread = database.execute("SELECT expected FROM spread").fetchone() if known else None

    def floats(exact: bytes) -> FloatArray:
        return np.frombuffer(exact, dtype=_FLOAT).astype(np.float64)

    return Pool(
        ids=_labels(ids),
        metrics={name: floats(v) for name, _, v in metrics},
        documents=None if documents[0] is None else _labels(documents),
        system=None if system[0] is None else _labels(system),
        cost=None if cost[0] is None else np.array(cost, dtype=np.float64),
        texts={name: _labels([row[name] for row in shown]) for name in shown[0]},
        orientation={name: sign for name, sign, _ in metrics if sign is not None},
        spread=None if spread is None else floats(spread[0]),
    )


def _labels(values: Sequence[str]) -> NDArray[Any]:
    # As objects: an array of texts would give each the room of the longest.
    return np.array(values, dtype=object)
