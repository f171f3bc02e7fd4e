"""The pool in the campaign's file: labels and texts as rows, metrics as exact arrays."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.campaign._trouble import reading
from fewgold.errors import DataError
from fewgold.pool import Pool

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
