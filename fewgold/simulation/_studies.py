"""Fully rated pools: what a simulation replays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.errors import DataError
from fewgold.pool import Pool


class Study(NamedTuple):
    """A pool and the human score of every one of its segments."""

    pool: Pool
    gold: FloatArray


def as_studies(data: Any, gold: Any = None) -> dict[str, Study]:
    """One pool with its scores, or many: a mapping by name, or pairs in a sequence."""
    if gold is None and isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], Pool):
        data, gold = data  # as load_demo returns them
    if isinstance(data, Pool):
        if gold is None:
            raise DataError(
                "a simulation needs the human score of every segment. Give simulate(pool, gold)."
            )
        return {_own_name(data, 0): study_of(data, gold)}
    if gold is not None:
        raise DataError(
            "gold goes with a single pool. For several give pairs: simulate({name: (pool, gold)})."
        )
    if not isinstance(data, Mapping):
        if isinstance(data, str) or not isinstance(data, Iterable):
            raise DataError(
                "expected a pool with its scores, (pool, gold), or several in a mapping or a "
                f"list; got {type(data).__name__}."
            )
        pairs = [_pair(item) for item in data]
        names = _distinct([_own_name(pair[0], k) for k, pair in enumerate(pairs)])
        data = dict(zip(names, pairs, strict=True))
    names = [str(name) for name in data]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise DataError(f"two pools are called {twice[0]!r}. Give each a name of its own.")
    studies = {str(name): study_of(*_pair(pair)) for name, pair in data.items()}
    if not studies:
        raise DataError("there is no pool to simulate on. Give at least one (pool, gold).")
    return studies


def _pair(item: Any) -> tuple[Any, Any]:
    if isinstance(item, Sequence) and len(item) == 2 and isinstance(item[0], Pool):
        return item[0], item[1]
    raise DataError(
        f"expected pairs (pool, gold), a Pool and its scores; got {_what(item)}. For a table, see "
        "studies_from_table."
    )


def _what(item: Any) -> str:
    """What came instead of a pair."""
    if isinstance(item, tuple | list):
        kinds = ", ".join(type(part).__name__ for part in item[:3])
        return f"{type(item).__name__} of {len(item)} ({kinds}{', …' if len(item) > 3 else ''})"
    return type(item).__name__


def _own_name(pool: Pool, k: int) -> str:
    """The system, where the pool holds one; else its number."""
    systems = set() if pool.system is None else set(pool.system.tolist())
    return str(systems.pop()) if len(systems) == 1 else f"pool {k + 1}"


def _distinct(names: list[str]) -> list[str]:
    """Names with a number after those that occurred before."""
    found: list[str] = []
    for name in names:
        count, label = 1, name
        while label in found or (count > 1 and label in names):
            count += 1
            label = f"{name} ({count})"
        found.append(label)
    return found


def study_of(pool: Pool, gold: Any) -> Study:
    if hasattr(gold, "index") and hasattr(gold, "to_dict"):
        gold = _series(pool, gold)
    if isinstance(gold, Mapping):
        missing = [i for i in pool.ids.tolist() if i not in gold]
        if missing:
            raise DataError(
                f"{len(missing)} of {len(pool)} segments have no score, first {missing[:3]}. A "
                "simulation needs them all."
            )
        gold = [gold[i] for i in pool.ids.tolist()]
    try:
        scores = np.ma.filled(np.ma.asarray(gold, dtype=np.float64), np.nan)
    except (TypeError, ValueError):
        raise DataError("gold must hold a number for every segment of the pool.") from None
    if scores.shape != (len(pool),):
        raise DataError(
            f"gold must hold one score for each of the {len(pool)} segments; got the shape "
            f"{scores.shape}."
        )
    gaps = ~np.isfinite(scores)
    if gaps.any():
        raise DataError(
            f"{int(gaps.sum())} of {len(pool)} segments have no finite score, first "
            f"{pool.ids[gaps][0]!s}. A simulation needs them all: leave those segments out of the "
            "pool, which then is the test set that is simulated."
        )
    return Study(pool, scores)


def _series(pool: Pool, gold: Any) -> Any:
    """A pandas Series goes by id where its index holds ids, by position where it only counts."""
    if set(pool.ids.tolist()) <= set(gold.index.tolist()):
        if not gold.index.is_unique:
            raise DataError("some ids have more than one score. Average them first.")
        return gold.to_dict()
    if gold.index.tolist() == list(range(len(gold))):
        return gold.to_numpy()
    raise DataError(
        "the index of gold holds neither the ids of the pool nor 0, 1, 2, …. Give gold.to_numpy() "
        "if it is in the pool's order, or set the ids as its index."
    )
