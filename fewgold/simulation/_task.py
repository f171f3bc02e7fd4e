"""A task: strategies on one rated pool at one budget, replayed many times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fewgold import registry
from fewgold._arrays import FloatArray, batches
from fewgold.estimate import Bound
from fewgold.estimator import Estimator
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Budget
from fewgold.simulation._cell import Cell, budget_label, reason, spread_of
from fewgold.simulation._digest import data_digest, digest
from fewgold.simulation._gathered import Gathered

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
