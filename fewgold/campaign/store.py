"""The store of a campaign: its SQLite file as pool, settings, waves and tables of answers.

Each wave is written with the design of its own draw and with the joint design of all draws so far,
so a file opens with the same numbers as when it was closed.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold.campaign import sides, systems
from fewgold.campaign.answers import ADOPTABLE, split_details
from fewgold.campaign.database import (
    connect,
    create,
    damaged,
    database_path,
    line_of,
    note,
    now,
    reading,
    snapshot,
    transaction,
)
from fewgold.campaign.settings import Settings, load_settings, save_settings
from fewgold.campaign.sides import SideKeys
from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.errors import DataError
from fewgold.formats import Keys, Rating
from fewgold.pool import Pool
from fewgold.sample import Sample, SampleInfo
from fewgold.sheets import design_of, drawn

if TYPE_CHECKING:
    import pandas as pd


class Overtaken(DataError):
    """Another process drew a wave at the same moment."""


@dataclass(frozen=True)
class Wave:
    """One draw: when, how many to rate, by which strategy and seed, and which ones."""

    number: int
    drawn_at: str
    strategy: str
    sampler: str
    seed: int
    budget: Any
    n: int
    ids: tuple[str, ...]
    segments: int = 0  # equal to ``n``, or less if segments have outputs of several systems

    def to_dict(self) -> dict[str, Any]:
        """The wave in plain values, without the ids of its segments."""
        left = {"ids", "segments"} if self.segments == self.n else {"ids"}
        return {k: v for k, v in self.__dict__.items() if k not in left}


# The system of an answer that was set aside, if its segment is known.
_OF_SYSTEM = "segment IN (SELECT place FROM segments WHERE segments.system = ?)"


class Store:
    """The open file of a campaign, given the path of the file or its folder.

    With ``any_thread``, several threads may use it, but only one at a time.
    """

    def __init__(self, path: str | Path, *, any_thread: bool = False) -> None:
        self.path = database_path(path)
        self.database = connect(self.path, any_thread=any_thread)
        self._file = _identity(self.path)
        self.reload()

    @staticmethod
    def create(
        path: str | Path, pool: Pool, settings: Settings, segments: NDArray[Any] | None = None,
        labels: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        """Write a new campaign without waves.

        ``segments`` has the segment of each output; ``labels`` are columns for slices.
        """
        cells = _checked_labels(pool, labels or {})

        def fill(database: sqlite3.Connection) -> None:
            save_pool(database, pool)
            database.executemany(
                "INSERT INTO labels VALUES (?, ?, ?)",
                [(k, n, json.dumps(v, ensure_ascii=False)) for k, (n, v) in enumerate(cells)],
            )
            if segments is not None:
                rows = enumerate(str(s) for s in segments.tolist())
                database.executemany("INSERT INTO outputs VALUES (?, ?)", rows)
            save_settings(database, settings)
            note(database, "init", {"segments": len(pool), **asdict(settings)})

        create(database_path(path), fill)

    def reload(self) -> None:
        """Read the settings again, since other processes may change them."""
        self.settings = load_settings(self.database)

    def is_current(self) -> bool:
        """Whether others' changes are visible: not if the file was replaced or is unreadable."""
        writable = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        return writable and _identity(self.path) == self._file

    def close(self) -> None:
        """Close the file; the campaign stays."""
        self.database.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write everything or nothing, with no other writer in between."""
        with line_of(self.path), transaction(self.database) as database:
            yield database

    def snapshot(self) -> AbstractContextManager[None]:
        """Read everything as of one moment, whatever others write meanwhile; read only."""
        return snapshot(self.database)

    # The pool

    @cached_property
    def pool(self) -> Pool:
        """The segments that could be rated, checked against the fingerprint."""
        with reading("the pool"):
            pool = _load_pool(self.database)
            if pool.fingerprint != self.settings.fingerprint:
                raise DataError(
                    "the pool in this campaign was changed: its fingerprint is "
                    f"{pool.fingerprint} and was {self.settings.fingerprint}. Restore the file "
                    "from a backup."
                )
        return pool

    @cached_property
    def segments(self) -> NDArray[Any]:
        """The segment of each row of the pool; with a single system, its id."""
        if not self.settings.systems:
            return self.pool.ids
        rows = self.database.execute("SELECT segment FROM outputs ORDER BY place").fetchall()
        if len(rows) != len(self.pool):
            raise damaged("the pool: segments of outputs are missing")
        return _labels([segment for (segment,) in rows])

    @cached_property
    def labels(self) -> dict[str, NDArray[Any]]:
        """Columns for slices, hidden from raters: by name, one label per row of the pool."""
        rows = self.database.execute("SELECT name, cells FROM labels ORDER BY place").fetchall()
        with reading("the columns for slices"):
            found = {name: _labels(json.loads(cells)) for name, cells in rows}
            if any(values.shape != (len(self.pool),) for values in found.values()):
                raise ValueError("labels are missing")
        return found

    @cached_property
    def frame(self) -> Pool:
        """The pool that is drawn from: the campaign's, or with several systems its segments."""
        if not self.settings.systems:
            return self.pool
        return systems.joint(self.pool, self.segments)

    @cached_property
    def keys(self) -> Keys | SideKeys:
        """The keys that name segments in tasks and forms for raters."""
        (size,) = self.database.execute("SELECT MAX(place) + 1 FROM segments").fetchone()
        made = SideKeys if self.settings.sides else Keys
        return made(int(size), self.settings.fingerprint)

    # Waves

    def waves(self) -> list[Wave]:
        """Every draw, the first one first."""
        ids: dict[int, list[str]] = {}
        segments: dict[int, int] = {}
        with self.snapshot():  # sees a wave that is being written whole or not at all
            rows = self.database.execute(
                "SELECT number, drawn_at, strategy, sampler, seed, budget, n FROM waves "
                "ORDER BY number"
            ).fetchall()
            for number, id in self.database.execute(
                "SELECT wave, id FROM drawn JOIN segments ON segments.place = drawn.segment "
                "ORDER BY wave, drawn.place"
            ).fetchall():
                ids.setdefault(number, []).append(id)
            if self.settings.systems:
                segments = dict(
                    self.database.execute(
                        "SELECT wave, COUNT(DISTINCT outputs.segment) FROM drawn "
                        "JOIN outputs ON outputs.place = drawn.segment GROUP BY wave"
                    )
                )
        with reading("the waves"):
            found = [
                Wave(
                    number, at, strategy, sampler, seed, json.loads(budget), n, tuple(ids[number]),
                    segments.get(number, n),
                )
                for number, at, strategy, sampler, seed, budget, n in rows
            ]  # fmt: skip
        numbers = [w.number for w in found]
        if numbers != [*range(1, len(ids) + 1)] or any(w.n != len(w.ids) for w in found):
            raise damaged("the waves: segments are missing")
        return found

    def add_wave(
        self, draws: Mapping[str, tuple[Sample, Sample]], *, number: int, seed: int, budget: Any
    ) -> None:
        """Write a wave, and the joint sample of this wave and those before.

        ``draws`` has both for each system that has its own sample, or for ``""`` if there is one
        sample. A strategy that learns draws many small waves. An earlier joint design is useless
        once there is another wave, so it is not kept.
        """
        strategy = self.settings.strategy
        own = {name: drawn(s.pool, s.indices, s.design) for name, (s, _) in draws.items()}
        together = {
            name: {**drawn(w.pool, w.indices, w.design), "info": w.info.to_dict()}
            for name, (_, w) in draws.items()
        }
        sample, whole = next(iter(draws.values()))
        sampler = sample.info.sampler or sample.design._label
        rows: list[tuple[int, int]] = []  # place in the pool, turn
        for name, (chosen, _) in draws.items():
            turns = handout_order(own[name], seed).tolist()
            rows += self._outputs_of(name, chosen, turns)
        one = "" in draws
        with self.transaction() as database:
            (last,) = database.execute("SELECT COALESCE(MAX(number), 0) FROM waves").fetchone()
            if last != number - 1:
                raise Overtaken(
                    "somebody else drew a wave at the same moment. Look at the status, and draw "
                    "again if you still need to."
                )
            if whole.design.drawn_as("adaptive"):
                database.execute("UPDATE waves SET whole = '' WHERE number = ?", (last,))
            database.execute(
                "INSERT INTO waves VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    number, now(), strategy, sampler, seed, json.dumps(budget), len(rows),
                    json.dumps(own[""] if one else {"systems": own}),
                    json.dumps(together[""] if one else {"systems": together}),
                ),
            )  # fmt: skip
            database.executemany(
                "INSERT INTO drawn VALUES (?, ?, ?, ?)",
                [(row, number, place, turn) for place, (row, turn) in enumerate(rows)],
            )
            _draw_lots(database, number, seed)
            note(database, "select", {"wave": number, "n": len(rows), "seed": seed})

    def _outputs_of(
        self, system: str, sample: Sample, turns: Sequence[int]
    ) -> list[tuple[int, int]]:
        """The rows of the pool to rate after a draw, and the turn at which each is handed out.

        Outputs of one segment have the same turn; each rater gets them in a different order.
        """
        if not self.settings.systems:
            return list(zip(sample.indices.tolist(), turns, strict=True))
        assert self.pool.system is not None
        places: dict[str, list[int]] = {}
        both = zip(self.segments.tolist(), self.pool.system.tolist(), strict=True)
        for place, (segment, own) in enumerate(both):
            if system in ("", str(own)):
                places.setdefault(str(segment), []).append(place)
        return [
            (place, turn)
            for segment, turn in zip(sample.ids.tolist(), turns, strict=True)
            for place in places[str(segment)]
        ]

    def drawn(self, waves: int | None = None) -> IntArray:
        """Rows of the pool that the first waves (by default all) chose, in the order of drawing."""
        rows = self.database.execute(
            "SELECT segment FROM drawn WHERE wave <= ? ORDER BY wave, place",
            (2**31 if waves is None else waves,),
        ).fetchall()
        return np.array([place for (place,) in rows], dtype=np.int64)

    def sample(
        self, waves: int | None = None, system: str = "", pool: Pool | None = None
    ) -> Sample:
        """The first waves (by default all) as one sample with their joint design.

        If each system has its own sample, give ``system`` and the ``pool`` of its outputs.
        """
        row = self.database.execute(
            "SELECT whole FROM waves WHERE number <= ? ORDER BY number DESC LIMIT 1",
            (2**31 if waves is None else waves,),
        ).fetchone()
        if row is None:
            raise DataError(
                "nothing has been drawn yet.",
                hints={
                    "python": "Choose segments first: campaign.select(n).",
                    "cli": "Choose segments first: fewgold select CAMPAIGN --budget N.",
                    "web": "Choose segments first.",
                },
            )
        if not row[0]:
            raise DataError(
                f"the sample of the first {waves} waves alone is not kept, because "
                f"{self.settings.strategy} learns from answers. Use all waves."
            )
        with reading("the design"):
            record = json.loads(row[0])
            if "systems" in record:
                if not system:
                    raise DataError(
                        "each system of this campaign has its own sample. Name a system."
                    )
                record = record["systems"][system]
            drawn_from = self.frame if pool is None else pool
            indices, design = design_of(record, drawn_from)
            return Sample(drawn_from, indices, design, info=SampleInfo.from_dict(record["info"]))

    def for_two(self) -> frozenset[str]:
        """Ids of the sampled segments that get one more rater at random; see `Settings.second`."""
        rows = self.database.execute(
            "SELECT id FROM lots JOIN segments ON segments.place = lots.segment WHERE lot < ?",
            (self.settings.second,),
        )
        return frozenset(id for (id,) in rows)

    def settled(self) -> dict[str, float]:
        """The scores that adjudicators settled, by id; the last one if a segment has several."""
        rows = self.database.execute(
            "SELECT id, score FROM settled JOIN segments ON segments.place = settled.segment "
            "ORDER BY number"
        )
        return {id: float(score) for id, score in rows}

    def last_wave_with_answers(self, system: str | None = None) -> int:
        """The last wave that raters have begun: with an answer newer than the wave, or complete; or
        0.

        An answer that is older than the wave does not show that raters are working on it.
        """
        own, n = "", "n"
        if system is not None:
            own = "JOIN segments ON segments.place = segment AND segments.system = :system "
            n = f"(SELECT COUNT(*) FROM drawn {own}WHERE wave = waves.number)"
        (last,) = self.database.execute(
            "SELECT COALESCE(MAX(waves.number), 0) FROM waves WHERE EXISTS (SELECT 1 FROM drawn "
            f"JOIN ratings USING (segment) {own}WHERE wave = waves.number "
            f"AND stored_at >= drawn_at) OR {n} = (SELECT COUNT(DISTINCT segment) FROM drawn "
            f"JOIN ratings USING (segment) {own}WHERE wave = waves.number)",
            {"system": system},
        ).fetchone()
        return int(last)

    # Tables

    def state(self) -> tuple[int, ...]:
        """Numbers that change whenever anything is stored, and are very cheap to read."""
        counted = ("ratings", "set_aside", "rejected", "imports", "journal", "settled")
        last = dict(self.database.execute("SELECT name, seq FROM sqlite_sequence"))
        withdrawn, waves = self.database.execute(
            "SELECT (SELECT COUNT(*) FROM withdrawn), (SELECT COUNT(*) FROM waves)"
        ).fetchone()
        return (*(int(last.get(name, 0)) for name in counted), int(withdrawn), int(waves))

    def answers(self, system: str | None = None) -> pd.DataFrame:
        """Every answer that counts, in the order of arrival, by id.

        With ``system``, only the answers for that system, or for all systems if it is ``""``, by
        segment. Several criteria have a column each.
        """
        what, own = "id", ""
        if system is not None:
            what = "outputs.segment"
            own = "JOIN outputs USING (place) WHERE ? IN ('', segments.system) "
        found = self._table(
            f"SELECT {what} AS segment, score, rater, time, answer, details, import, stored_at "
            f"FROM ratings JOIN segments ON segments.place = ratings.segment {own}ORDER BY number",
            () if system is None else (system,),
        )
        if not all(isinstance(s, float) and math.isfinite(s) for s in found["score"].tolist()):
            raise damaged("a score is not a number")
        if self.settings.criteria:
            with reading("the scores of the criteria"):
                given = [split_details(d)[1] for d in found["details"].tolist()]
            for criterion in self.settings.criteria:
                told = [scores.get(criterion.name, math.nan) for scores in given]
                found[criterion.name] = np.array(told, dtype=np.float64)
            found["score"] = found[self.settings.criteria[0].name]  # the first one leads
        return found

    def rated(self) -> list[Rating]:
        """Every answer that counts, as exported to other tools."""
        rows = self.database.execute(
            "SELECT segments.place, id, score, rater, time, answer, details, system FROM ratings "
            "JOIN segments ON segments.place = ratings.segment ORDER BY number"
        )
        several = bool(self.settings.systems)
        with reading("the answers"):
            found = [
                Rating(
                    self.keys.of(place, id), float(score), str(rater), str(time),
                    str(system) if several else "", str(answer), *split_details(details),
                )
                for place, id, score, rater, time, answer, details, system in rows.fetchall()
            ]  # fmt: skip
        return [sides.as_exported(self, r) for r in found] if self.settings.sides else found

    def set_aside(self, system: str | None = None) -> pd.DataFrame:
        """Answers that do not count, and why; with ``system``, those known to be about it."""
        own = "" if system is None else f"WHERE {_OF_SYSTEM} "
        return self._table(
            "SELECT named AS segment, why, score, rater, time, system, answer, details, import, "
            f"stored_at FROM set_aside {own}ORDER BY number",
            () if system is None else (system,),
        )

    def rejected(self) -> pd.DataFrame:
        """Rows that could not be read, and why."""
        return self._table("SELECT place, why, raw, import FROM rejected ORDER BY number")

    def journal(self) -> pd.DataFrame:
        """What happened and when."""
        return self._table("SELECT at, what, details FROM journal ORDER BY number")

    def _table(self, query: str, given: tuple[Any, ...] = ()) -> pd.DataFrame:
        import pandas as pd

        cursor = self.database.execute(query, given)
        return pd.DataFrame(cursor.fetchall(), columns=[c[0] for c in cursor.description])

    def adoptable(self, system: str | None = None) -> int:
        """Number of answers set aside whose segments have since been sampled."""
        own, given = ("", ()) if system is None else (f" AND {_OF_SYSTEM}", (system,))
        (count,) = self.database.execute(f"SELECT COUNT(*) {ADOPTABLE}{own}", given).fetchone()
        return int(count)

    def change(self, settings: Settings, changed: Mapping[str, Any]) -> None:
        """Write new settings, unless stored answers do not fit the scale."""
        with self.transaction() as database:
            if settings.limits is not None and not settings.criteria:
                low, high = database.execute(
                    "SELECT MIN(score), MAX(score) FROM ratings"
                ).fetchone()
                ends = settings.limits
                if low is not None and (low < ends[0] or high > ends[1]):
                    raise DataError(
                        f"some answers are outside the scale {ends[0]:g} to {ends[1]:g}: they go "
                        f"from {low:g} to {high:g}."
                    )
            save_settings(database, settings)
            if settings.second:  # campaigns of earlier versions have no lots
                for number, seed in database.execute("SELECT number, seed FROM waves").fetchall():
                    _draw_lots(database, number, seed)
            note(database, "change", changed)
        self.settings = settings


def _identity(path: Path) -> tuple[int, int] | None:
    """The identity of the file at a path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def wave_seed(seed: int, number: int) -> int:
    """The seed of a wave: the campaign's own for the first one, derived from it for later ones.

    If the same seed were used again, the segments of a wave would depend on those of the first.

    >>> wave_seed(7, 1), wave_seed(7, 2)
    (7, 178997)
    """
    if number == 1:
        return seed
    return int(np.random.SeedSequence([seed, number]).generate_state(1)[0] % 10**6)


def handout_order(own: Mapping[str, Any], seed: int) -> IntArray:
    """The turn of each segment of a wave, 0 for the first: (n,) in the order of drawing.

    If raters stop half-way, the first segments represent the rest only if they are a random part,
    but most samples are listed by stratum or in the order of the pool. So segments come in a random
    order fixed by the seed, and those of a unit that was drawn whole follow each other. A simple
    random sample is in random order already, which stopping rules rely on, and a strategy that
    learns must keep its own order.
    """
    segments = own["segments"]
    n = len(segments)
    if own["kind"] in ("simple", "adaptive"):
        return np.arange(n)
    units = codes_of(np.array([s.get("unit", place) for place, s in enumerate(segments)]))
    # A separate random stream, so that the order does not depend on what was drawn.
    chance = np.random.default_rng([seed, 1]).permutation(int(units.max()) + 1)
    turn = np.empty(n, dtype=np.int64)
    turn[np.argsort(chance[units], kind="stable")] = np.arange(n)
    return turn


def _draw_lots(database: sqlite3.Connection, wave: int, seed: int) -> None:
    """Give every segment of a wave a random number (lot) from 0 to 1; the caller holds a
    transaction.

    The segments whose lot is below a share are that share of the wave, chosen at random. A larger
    share keeps them and adds others. Existing lots are kept.
    """
    rows = database.execute(
        "SELECT segment FROM drawn WHERE wave = ? ORDER BY place", (wave,)
    ).fetchall()
    rng = np.random.default_rng([seed, 3])
    lots = (rng.permutation(len(rows)) + rng.random()) / max(len(rows), 1)
    database.executemany(
        "INSERT OR IGNORE INTO lots VALUES (?, ?)",
        [(segment, float(lot)) for (segment,), lot in zip(rows, lots, strict=True)],
    )


# The pool in the file: labels and texts as rows, metrics as arrays with all digits.

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


def _checked_labels(pool: Pool, labels: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Columns for slices as texts; missing values become empty texts."""
    known = {"document", "system", *pool.texts, *pool.metrics}
    found = []
    for name, values in labels.items():
        cells = np.asarray(values)
        if not str(name).strip() or cells.shape != (len(pool),):
            raise DataError(
                f"the labels {str(name)!r} must have a name and one value per row of the pool, "
                f"{len(pool)}; got {cells.shape}."
            )
        if str(name) in known:
            raise DataError(
                f"{str(name)!r} is a column of the pool already and can be used for slices. "
                "Leave it out of the labels."
            )
        told = ["" if v is None or v != v else str(v) for v in cells.tolist()]
        found.append((str(name), told))
    return found


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
    # As objects: in an array of texts, each would take as much memory as the longest.
    return np.array(values, dtype=object)
