"""A task: strategies with one sampler on one rated pool at one budget, replayed many times.

Draws come in blocks. Block k of a pool and budget has a random stream of its own, so that results
depend neither on the parallelism nor on the other pools and strategies. Finished cells can be kept
in a `CellStore`, under a digest of all that they depend on, and are found again by it.
"""

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
from fewgold.common.arrays import FloatArray, batches
from fewgold.estimate import Bound
from fewgold.estimator import Estimator
from fewgold.io import write_texts
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Budget
from fewgold.simulation.cells import Cell, Cover, Draws, Score, budget_label, reason, spread_of

# Draws in a block at most, and numbers in its (draws, N) arrays: some 80 MB.
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
                made[name] = as_estimator(given, self.pool)
            except Exception as error:
                cells[name] = self._failed(name, reason(error))
        if made:
            cells |= self._replay(made)
        return [cells[name] for name in self.strategies]

    def _replay(self, made: Mapping[str, Estimator]) -> dict[str, Cell]:
        drawn = {name: Draws(self.gold, self.confidence, self.bounds) for name in made}
        broken: dict[str, str] = {}
        n = 0
        try:
            for ratings in self._blocks(next(iter(made.values()))):
                n = ratings.n
                for name, estimator in made.items():
                    if name in broken:
                        continue
                    try:
                        drawn[name].add(ratings, estimator)
                    except Exception as error:
                        broken[name] = reason(error)
        except Exception as error:  # the sampler failed, and with it all that rely on it
            broken = {**{name: reason(error) for name in made}, **broken}
        cells = {name: self._failed(name, why, n) for name, why in broken.items()}
        for name in made.keys() - broken:
            try:
                cells[name] = drawn[name].cell(self._facts(name, n))
            except Exception as error:
                cells[name] = self._failed(name, reason(error), n)
        return cells

    def _blocks(self, estimator: Estimator) -> Iterator[Ratings]:
        """Ratings of all draws, a block at a time; only the estimator's sampler is used."""
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
        return Cell(**self._facts(name, n), errors=np.empty(0), failure=why)

    def _facts(self, name: str, n: int) -> dict[str, Any]:
        """Fields of a cell that are known before its estimates."""
        return {
            "pool": self.label,
            "strategy": name,
            "budget": budget_label(self.budget),
            "n": n,
            "size": len(self.pool),
            "truth": float(self.gold.mean()),
            "spread": spread_of(self.gold),
        }


def as_estimator(strategy: Estimator | str, pool: Pool) -> Estimator:
    """The estimator that a name means for this pool."""
    return registry.strategy(strategy, pool) if isinstance(strategy, str) else strategy


class CellStore:
    """A folder of finished cells, a file each. What cannot be read is computed again."""

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
            facts = json.loads(self._path(key).read_text("utf-8"))
            for name in ("se", "se_ratio", "cost"):
                facts[name] = None if facts[name] is None else Score(*facts[name])
            covers = facts.pop("covers").items()
            return Cell(
                **facts | {"errors": np.array(facts["errors"], dtype=np.float64)},
                covers={b: Cover(*(Score(*s) for s in parts)) for b, parts in covers},
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return None

    def _path(self, key: str) -> Path:
        return self.folder / f"cell-{key}.json"


# Digests of all that a cell depends on: data, settings and code -----------------------------------

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
    columns: dict[str, Any] = {"ids": pool.ids, "d": pool.documents, "c": pool.cost}
    columns["s"] = pool.system
    columns |= {f"m\x1f{name}": values for name, values in pool.metrics.items()}
    columns |= {f"t\x1f{name}": values for name, values in pool.texts.items()}
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
