"""A cell: one strategy on one rated pool at one budget, replayed many times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from fewgold import registry
from fewgold._arrays import FloatArray, batches
from fewgold._version import __version__
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound, Estimate
from fewgold.estimator import Estimator
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Budget
from fewgold.simulation._scores import Score, ratio, root, squared_deviations

#: The estimator's own interval, beside the extra bounds.
OWN = ""
# Draws share a random stream a block at a time, whatever the parallelism. The size of a block goes
# by the pool alone and keeps its (draws, N) arrays within some 80 MB.
_BLOCK, _NUMBERS = 100, 10_000_000


class Cover(NamedTuple):
    """How an interval did: share that hold the truth, half-width t, and t − |error|."""

    coverage: Score
    half_width: Score
    slack: Score


@dataclass(frozen=True)
class Cell:
    """What came of one strategy on one pool at one budget.

    ``errors`` holds estimate − truth of every draw; it is empty where the strategy failed, and
    ``failure`` says why.
    """

    pool: str
    strategy: str
    budget: int | float | str
    n: int
    size: int
    truth: float
    variance: float
    errors: FloatArray
    se: Score | None = None
    se_ratio: Score | None = None
    cost: Score | None = None
    covers: Mapping[str, Cover] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None


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

    @property
    def key(self) -> str:
        """A digest of all that the result depends on: finished cells are found again by it.

        A part whose repr tells its address in memory gets another digest in another process, so
        that it is computed again rather than mistaken.
        """
        parts = (
            *(self.label, self.pool.fingerprint, self.budget, dict(self.strategies)),
            *(self.draws, self.seed, self.confidence, dict(self.bounds), self.limits, __version__),
        )
        digest = hashlib.sha256(repr(parts).encode())
        digest.update(self.gold.tobytes())
        digest.update(repr(sorted(self.pool.orientation.items())).encode())
        return digest.hexdigest()[:24]

    def run(self) -> list[Cell]:
        """Replay the studies; a strategy that fails says why and does not stop the others."""
        made: dict[str, Estimator] = {}
        failed: dict[str, str] = {}
        for name, given in self.strategies.items():
            try:
                made[name] = (
                    registry.strategy(given, self.pool) if isinstance(given, str) else given
                )
            except Exception as error:
                failed[name] = reason(error)
        cells = self._replay(made) if made else {}
        for name, why in failed.items():
            cells[name] = self._failed(name, why)
        return [cells[name] for name in self.strategies]

    def _replay(self, made: Mapping[str, Estimator]) -> dict[str, Cell]:
        gathered = {name: _Gathered(self) for name in made}
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
        return {
            name: self._failed(name, broken[name], n)
            if name in broken
            else gathered[name].cell(name, n)
            for name in made
        }

    def _blocks(self, estimator: Estimator) -> Iterator[Ratings]:
        """Ratings of all draws, a block at a time. The estimator lends its sampler only."""

        def annotate(sample: Sample) -> FloatArray:
            return np.asarray(self.gold[sample.indices])

        n = estimator.sampler.count(self.pool, self.budget)
        size = max(min(_BLOCK, _NUMBERS // len(self.pool)), 1)
        words = np.frombuffer(hashlib.sha256(self.label.encode()).digest()[:16], np.uint32)
        for k, part in enumerate(batches(self.draws, size)):
            entropy = np.random.SeedSequence([self.seed, n, k, *words.tolist()])
            yield estimator.collect(
                *(self.pool, annotate, n),
                draws=part.stop - part.start,
                limits=self.limits,
                rng=np.random.default_rng(entropy),
            )

    def _failed(self, name: str, why: str, n: int = 0) -> Cell:
        return Cell(**self.facts(name, n), errors=np.empty(0), failure=why)

    def facts(self, name: str, n: int) -> dict[str, Any]:
        return {
            "pool": self.label,
            "strategy": name,
            "budget": budget_label(self.budget),
            "n": n,
            "size": len(self.pool),
            "truth": float(self.gold.mean()),
            "variance": float(self.gold.var(ddof=1)) if self.gold.size > 1 else 0.0,
        }


class _Gathered:
    """Figures of one strategy, block by block."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.errors: list[FloatArray] = []
        self.se: list[FloatArray] = []
        self.cost: list[FloatArray] = []
        self.ends: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
        self.refusals: dict[str, str] = {}

    def add(self, ratings: Ratings, estimator: Estimator) -> None:
        draws = ratings.scores.shape[0]
        if estimator.batched:
            self._add(ratings, estimator.estimate(ratings))
            return
        for k in range(draws):
            one = ratings.draw(k)
            self._add(one, estimator.estimate(one))

    def _add(self, ratings: Ratings, estimate: Estimate) -> None:
        task, shape = self.task, ratings.scores.shape[:-1]
        value = np.asarray(estimate.value, dtype=np.float64)
        if value.shape != shape:
            raise FewgoldError(
                f"the estimate has the shape {value.shape} where {shape} draws were given. Set "
                "batched = False in an estimator that takes one study at a time."
            )
        bad = int((~np.isfinite(value)).sum())
        if bad:
            raise FewgoldError(f"{bad} of {value.size} draws gave no finite number.")
        self.errors.append(np.atleast_1d(value - task.gold.mean()))
        self.se.append(np.atleast_1d(np.asarray(estimate.se, dtype=np.float64)))
        self.cost.append(np.atleast_1d(ratings.sample.cost))
        self._interval(OWN, lambda: estimate.interval(task.confidence))
        for name, bound in task.bounds.items():
            self._interval(name, lambda b=bound: _by(estimate, task.confidence, b))

    def _interval(self, name: str, make: Any) -> None:
        if name in self.refusals:
            return
        try:
            low, high = make()
        except Exception as error:
            self.refusals[name] = reason(error)
            return
        self.ends.setdefault(name, []).append((np.atleast_1d(low), np.atleast_1d(high)))

    def cell(self, name: str, n: int) -> Cell:
        errors, se = np.concatenate(self.errors), np.concatenate(self.se)
        covers = {}
        for bound, ends in self.ends.items():
            if bound in self.refusals:
                continue
            low, high = (np.concatenate(part) for part in zip(*ends, strict=True))
            truth, half = self.task.gold.mean(), (high - low) / 2
            # Where nothing is left to chance, only rounding errors stand between them.
            slip = 1e-9 * max(abs(truth), 1e-300)
            held = (low <= truth + slip) & (truth - slip <= high)
            covers[bound] = Cover(
                Score.of_share(held.astype(np.float64)),
                Score.of(half),
                Score.of(half - np.abs(errors)),
            )
        return Cell(
            **self.task.facts(name, n),
            errors=errors,
            se=Score.of(se),
            se_ratio=root(ratio(se**2, squared_deviations(errors))),
            cost=Score.of(np.concatenate(self.cost)),
            covers=covers,
            refusals=self.refusals,
        )


def _by(estimate: Any, confidence: float, bound: Bound) -> Any:
    if not hasattr(estimate, "residuals"):
        raise FewgoldError(
            f"{bound.name} is for linear estimates, and this is a {type(estimate).__name__}, which "
            "has its own interval."
        )
    return estimate.interval(confidence, bound)


def budget_label(budget: Budget) -> int | float | str:
    """The budget as the ``budget`` column shows it."""
    if isinstance(budget, int | np.integer):
        return int(budget)
    if isinstance(budget, float | np.floating):
        return float(budget)
    return f"cost {budget.limit:g}"


def reason(error: Exception) -> str:
    """Why something failed, in a line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, FewgoldError) else f"{type(error).__name__}: {text}"
