"""A task: strategies on one rated pool at one budget, replayed many times."""

from __future__ import annotations

import hashlib
import inspect
import json
import pickle
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

import fewgold
from fewgold import registry
from fewgold._arrays import FloatArray, batches
from fewgold.estimate import Bound
from fewgold.estimator import Estimator
from fewgold.io import write_texts
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Budget
from fewgold.simulation.cells import Cell, Cover, Gathered, Score, budget_label, reason, spread_of

# What a cell's result depends on, as a digest: finished cells are found again by it.


# These parts show results and do not make them.
_SHOWN = ("cli", "plots", "report", "reproduce", "web")


def digest(*parts: Any) -> str:
    """A digest of objects and of the code behind them.

    An object that cannot be pickled, or whose class has no source file, gets a digest of its own
    each time, so that it is computed again rather than mistaken.
    """
    found = hashlib.sha256(_own_code().encode())
    for part in parts:
        try:
            found.update(pickle.dumps(part, protocol=5))
        except Exception:
            found.update(secrets.token_bytes(16))
        for kind in sorted({*_kinds(part)}, key=lambda k: (k.__module__, k.__qualname__)):
            found.update(_source(kind))
    return found.hexdigest()[:24]


def data_digest(pool: Pool, gold: Any) -> str:
    """A digest of everything in a pool, and its scores."""
    found = hashlib.sha256(np.ascontiguousarray(gold).tobytes())
    tables = {"m": pool.metrics, "t": pool.texts}
    columns: dict[str, Any] = {"ids": pool.ids, "d": pool.documents, "c": pool.cost}
    columns |= {"s": pool.system}
    columns |= {f"{k}\x1f{name}": v for k, table in tables.items() for name, v in table.items()}
    for name, values in columns.items():
        found.update(f"\x1e{name}\x1f".encode())
        if values is not None:
            found.update("\x1f".join(map(str, values.tolist())).encode())
    found.update(repr(sorted(pool.orientation.items())).encode())
    return found.hexdigest()[:24]


def all_data_digest(studies: Mapping[str, tuple[Pool, Any]]) -> str:
    """A short digest of all pools and scores of a simulation, for its signature."""
    parts = [f"{name}\x1f{data_digest(*study)}" for name, study in studies.items()]
    return hashlib.sha256("\x1e".join(parts).encode()).hexdigest()[:6]


def _kinds(part: Any, depth: int = 0) -> Iterator[type]:
    """Classes of an object and its attributes that are not fewgold's own or built in."""
    kind = part if isinstance(part, type) else type(part)
    if depth > 6 or kind.__module__ in ("builtins", "numpy"):
        items = part.values() if isinstance(part, dict) else part
        if isinstance(part, dict | list | tuple) and depth <= 6:
            for item in items:
                yield from _kinds(item, depth + 1)
        return
    for base in kind.__mro__:
        if base.__module__.partition(".")[0] not in ("fewgold", "builtins", "abc", "typing"):
            yield base
    for value in getattr(part, "__dict__", {}).values():
        yield from _kinds(value, depth + 1)


def _source(kind: type) -> bytes:
    """The file that a class comes from: its helpers are in it too."""
    try:
        return _read(inspect.getfile(kind))
    except (OSError, TypeError):
        return secrets.token_bytes(16)


@cache
def _read(path: str) -> bytes:
    return hashlib.sha256(Path(path).read_bytes()).digest()


@cache
def _own_code() -> str:
    root = Path(fewgold.__file__).parent
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in _SHOWN:
            found.update(path.read_bytes())
    return found.hexdigest()


# Draws share a random stream a block at a time, whatever the parallelism. The size of a block goes
# by the pool alone and keeps its (draws, N) arrays within some 80 MB.
_BLOCK, _NUMBERS = 100, 10_000_000


@dataclass(frozen=True)
class Task:
    """Cells that share their samples: strategies with one sampler, on one pool at one budget."""

    label: str
    pool: Pool
    gold: FloatArray
    budget: Budget
    strategies: Mapping[str, Estimator | str]
    draws: int
    seed: int
    confidence: float
    bounds: Mapping[str, Bound]
    limits: tuple[float, float] | None

    @cached_property
    def keys(self) -> dict[str, str]:
        """For each strategy a digest of all that its cell depends on."""
        facts = (self.label, self.budget, self.draws, self.seed, self.confidence, self.limits)
        data, bounds = data_digest(self.pool, self.gold), dict(self.bounds)
        return {s: digest(*facts, data, bounds, s, made) for s, made in self.strategies.items()}

    def run(self) -> list[Cell]:
        """Replay the studies; a strategy that fails says why and does not stop the others."""
        made: dict[str, Estimator] = {}
        cells: dict[str, Cell] = {}
        for name, given in self.strategies.items():
            try:
                made[name] = (
                    registry.strategy(given, self.pool) if isinstance(given, str) else given
                )
            except Exception as error:
                cells[name] = self._failed(name, reason(error))
        if made:
            cells |= self._replay(made)
        return [cells[name] for name in self.strategies]

    def _replay(self, made: Mapping[str, Estimator]) -> dict[str, Cell]:
        gathered = {name: Gathered(self.gold, self.confidence, self.bounds) for name in made}
        broken: dict[str, str] = {}
        n = 0
        try:
            for ratings in self._blocks(next(iter(made.values()))):
                n = ratings.n
                for name, estimator in made.items():
                    if name in broken:
                        continue
                    try:
                        gathered[name].add(ratings, estimator)
                    except Exception as error:
                        broken[name] = reason(error)
        except Exception as error:  # the sampler failed, and with it all that rely on it
            broken = {**{name: reason(error) for name in made}, **broken}
        cells = {name: self._failed(name, why, n) for name, why in broken.items()}
        for name in made.keys() - broken:
            try:
                cells[name] = gathered[name].cell(self.facts(name, n))
            except Exception as error:
                cells[name] = self._failed(name, reason(error), n)
        return cells

    def _blocks(self, estimator: Estimator) -> Iterator[Ratings]:
        """Ratings of all draws, a block at a time. The estimator lends its sampler only."""
        n = estimator.sampler.count(self.pool, self.budget)
        size = max(min(_BLOCK, _NUMBERS // len(self.pool)), 1)
        text = f"{self.label}\x1f{budget_label(self.budget)!r}".encode()
        words = np.frombuffer(hashlib.sha256(text).digest()[:16], np.uint32).tolist()
        for k, part in enumerate(batches(self.draws, size)):
            ratings = estimator.collect(
                *(self.pool, lambda sample: self.gold[sample.indices], n),
                draws=part.stop - part.start,
                limits=self.limits,
                rng=np.random.default_rng([self.seed, k, *words]),
            )
            ratings.scores.setflags(write=False)  # all strategies of the task see the same ones
            yield ratings

    def _failed(self, name: str, why: str, n: int = 0) -> Cell:
        return Cell(**self.facts(name, n), errors=np.empty(0), failure=why)

    def facts(self, name: str, n: int) -> dict[str, Any]:
        """What is known of a cell before its estimates are."""
        return {
            "pool": self.label,
            "strategy": name,
            "budget": budget_label(self.budget),
            "n": n,
            "size": len(self.pool),
            "truth": float(self.gold.mean()),
            "spread": spread_of(self.gold),
        }


# Finished cells on disk, one file each, so that an interrupted simulation can go on.


class Store:
    """A folder of finished cells. A file that cannot be read is computed again."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def save(self, key: str, cell: Cell) -> None:
        """Keep a cell; not one that failed, since the cause may go away."""
        if cell.failure is None:
            facts = vars(cell) | {"errors": cell.errors.tolist()}
            write_texts({self._path(key): json.dumps(facts)})

    def load(self, key: str) -> Cell | None:
        """The cell of that key; None where there is none, or none that can be read."""
        try:
            return _cell(json.loads(self._path(key).read_text("utf-8")))
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _path(self, key: str) -> Path:
        return self.folder / f"cell-{key}.json"


def _cell(facts: dict[str, Any]) -> Cell:
    for name in ("se", "se_ratio", "cost"):
        if facts[name] is not None:
            facts[name] = Score(*facts[name])
    covers = {b: Cover(*(Score(*s) for s in parts)) for b, parts in facts.pop("covers").items()}
    errors = np.array(facts.pop("errors"), dtype=np.float64)
    return Cell(**facts, covers=covers, errors=errors)
