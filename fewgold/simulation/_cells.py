"""A cell: one strategy on one rated pool at one budget, replayed many times."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from fewgold import registry
from fewgold._arrays import FloatArray, batches
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound, Estimate
from fewgold.estimator import Estimator
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Budget, Cost
from fewgold.simulation._digest import data_digest, digest
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
    spread: float
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

    @cached_property
    def keys(self) -> dict[str, str]:
        """For each strategy a digest of all that its cell depends on."""
        facts = (self.label, self.budget, self.draws, self.seed, self.confidence, self.limits)
        data, bounds = data_digest(self.pool, self.gold), dict(self.bounds)
        return {s: digest(*facts, data, bounds, s, made) for s, made in self.strategies.items()}

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
        cells = {}
        for name in made:
            try:
                cells[name] = gathered[name].cell(name, n) if name not in broken else None
            except Exception as error:
                broken[name] = reason(error)
        return {name: cells.get(name) or self._failed(name, broken[name], n) for name in made}

    def _blocks(self, estimator: Estimator) -> Iterator[Ratings]:
        """Ratings of all draws, a block at a time. The estimator lends its sampler only."""

        def annotate(sample: Sample) -> FloatArray:
            return np.asarray(self.gold[sample.indices])

        n = estimator.sampler.count(self.pool, self.budget)
        size = max(min(_BLOCK, _NUMBERS // len(self.pool)), 1)
        text = f"{self.label}\x1f{budget_label(self.budget)!r}".encode()
        words = np.frombuffer(hashlib.sha256(text).digest()[:16], np.uint32).tolist()
        for k, part in enumerate(batches(self.draws, size)):
            entropy = np.random.SeedSequence([self.seed, k, *words])
            ratings = estimator.collect(
                *(self.pool, annotate, n),
                draws=part.stop - part.start,
                limits=self.limits,
                rng=np.random.default_rng(entropy),
            )
            ratings.scores.setflags(write=False)  # all strategies of the task see the same ones
            yield ratings

    def _failed(self, name: str, why: str, n: int = 0) -> Cell:
        return Cell(**self.facts(name, n), errors=np.empty(0), failure=why)

    @property
    def _spread(self) -> float:
        """Standard deviation of the scores with divisor N − 1, also for scores of 1e200."""
        unit = float(np.abs(self.gold).max())
        if self.gold.size < 2 or unit == 0:
            return 0.0
        return float((self.gold / unit).std(ddof=1)) * unit

    def facts(self, name: str, n: int) -> dict[str, Any]:
        return {
            "pool": self.label,
            "strategy": name,
            "budget": budget_label(self.budget),
            "n": n,
            "size": len(self.pool),
            "truth": float(self.gold.mean()),
            "spread": self._spread,
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
        value = np.ma.filled(np.ma.asarray(estimate.value, dtype=np.float64), np.nan)
        if value.shape != shape:
            raise FewgoldError(
                f"the estimate has the shape {value.shape} where {shape} draws were given. Set "
                "batched = False in an estimator that takes one study at a time."
            )
        bad = int((~np.isfinite(value)).sum())
        if bad:
            raise FewgoldError(f"{bad} of {value.size} draws gave no finite number.")
        self.errors.append(np.atleast_1d(value - task.gold.mean()))
        self.se.append(_of_shape(estimate.se, shape))
        self.cost.append(np.atleast_1d(ratings.sample.cost))
        self._interval(OWN, shape, lambda: estimate.interval(task.confidence))
        for name, bound in task.bounds.items():
            self._interval(name, shape, lambda b=bound: _by(estimate, task.confidence, b))

    def _interval(self, name: str, shape: tuple[int, ...], make: Any) -> None:
        if name in self.refusals:
            return
        try:
            low, high = (_of_shape(end, shape) for end in make())
            if not (low <= high).all():
                raise FewgoldError("the lower end of an interval lies above the upper end.")
        except Exception as error:
            self.refusals[name] = reason(error)
            return
        self.ends.setdefault(name, []).append((low, high))

    def cell(self, name: str, n: int) -> Cell:
        task = self.task
        errors, se = np.concatenate(self.errors), np.concatenate(self.se)
        slip = 0.0
        if n == len(task.pool) or np.ptp(task.gold) == 0:
            # Nothing is left to chance: what differs from the truth are rounding errors.
            slip = 1e-9 * float(np.abs(task.gold).max())
            errors = np.where(np.abs(errors) <= slip, 0.0, errors)
        covers = {}
        for bound, ends in self.ends.items():
            if bound in self.refusals:
                continue
            low, high = (np.concatenate(part) for part in zip(*ends, strict=True))
            truth, half = task.gold.mean(), high / 2 - low / 2
            held = (low <= truth + slip) & (truth - slip <= high)
            covers[bound] = Cover(
                Score.of_share(held.astype(np.float64)),
                Score.of(half),
                Score.of(half - np.abs(errors)),
            )
        unit = float(np.abs(errors).max()) or 1.0  # squares of 1e200 are none
        return Cell(
            **task.facts(name, n),
            errors=errors,
            se=Score.of(se),
            se_ratio=root(ratio((se / unit) ** 2, squared_deviations(errors / unit))),
            cost=Score.of(np.concatenate(self.cost)),
            covers=covers,
            refusals=self.refusals,
        )


def _of_shape(values: Any, shape: tuple[int, ...]) -> FloatArray:
    """Numbers for each draw; a single one is taken for all, and masked ones are none."""
    array = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    return np.atleast_1d(np.broadcast_to(array, shape))


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
    risk = "" if budget.risk == Cost.risk else f" at risk {budget.risk:g}"
    return f"cost {budget.limit:g}{risk}"


def reason(error: Exception) -> str:
    """Why something failed, in a line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, FewgoldError) else f"{type(error).__name__}: {text}"
