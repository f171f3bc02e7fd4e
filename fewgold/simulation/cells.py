"""Cells of a simulation: each is one strategy on one pool at one budget.

`Draws` gathers the estimates and intervals of many repetitions into a `Cell`; `figures` compares a
cell with that of the baseline. Every figure has its Monte-Carlo standard error. A `Task` replays
strategies that share a sampler, and finished cells can be kept in a `CellStore`.
"""

from __future__ import annotations

import ast
import hashlib
import inspect
import json
import pickle
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

import fewgold
from fewgold import registry
from fewgold.common.arrays import BoolArray, FloatArray, batches
from fewgold.common.statistics import padded_share
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound, Estimate
from fewgold.estimator import Estimator
from fewgold.io import write_texts
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Budget, Cost

# Means over draws with their Monte-Carlo errors ---------------------------------------------------

# Draws needed to estimate a slope, and to estimate how much a variance varies.
_FOR_SLOPE, _FOR_SPREAD = 30, 8
# A control variate is used only if its mean is within this many standard errors of the known one.
_NEAR = 3.0


class Score(NamedTuple):
    """Mean of a figure over the draws and its Monte-Carlo standard error."""

    mean: float
    mc: float

    @classmethod
    def of(cls, values: FloatArray) -> Score:
        spread = values.std(ddof=1) if values.size > 1 and np.isfinite(values).all() else np.nan
        return cls(float(values.mean()), float(spread / np.sqrt(values.size)))

    @classmethod
    def of_share(cls, hits: BoolArray) -> Score:
        return cls(*padded_share(hits))

    def times(self, unit: float) -> Score:
        return Score(self.mean * unit, self.mc * unit)


NOTHING = Score(np.nan, np.nan)


def ratio(above: FloatArray, below: FloatArray) -> Score:
    """Ratio of two means over paired draws, corrected for its bias of order 1/draws (Beale 1962).

    Beale, Some use of computers in operational research, Industrielle Organisation 31.
    """
    a, b, draws = above.mean(), below.mean(), above.size
    if not b > 0:
        return NOTHING
    if draws < 2 or not np.isfinite(a):
        return Score(float(a / b), np.nan)
    cov = np.cov(above, below)
    value = a / b
    if a > 0:
        value *= (1 + cov[0, 1] / (draws * a * b)) / (1 + cov[1, 1] / (draws * b**2))
    influence = (above - a / b * below) / b
    return Score(float(value), float(influence.std(ddof=1) / np.sqrt(draws)))


def over_known(values: FloatArray, control: FloatArray, known: float) -> Score:
    """Mean of ``values`` over the known mean of ``control``, which serves as a control variate.

    The baseline itself then comes out as exactly 1, and strategies on the same samples are
    compared with it more precisely. With too few draws for a slope, or a mean of the control far
    from the known one (no draw had a rare segment), it is a plain ratio.
    """
    if not known > 0:
        return NOTHING
    if np.array_equal(values, control):
        return Score(1.0, 0.0)
    seen = Score.of(control)
    if values.size < _FOR_SLOPE or not abs(seen.mean - known) <= _NEAR * seen.mc:
        return ratio(values, control)
    slope = float(((values - values.mean()) * control).mean() / control.var())
    score = Score.of(values - slope * (control - known))
    return score.times(1 / known) if score.mean > 0 else ratio(values, control)


def squared_deviations(values: FloatArray) -> FloatArray:
    """Terms whose mean is the variance with divisor draws − 1."""
    return np.asarray((values - values.mean()) ** 2 * values.size / max(values.size - 1, 1))


def deviation(values: FloatArray) -> Score:
    """Standard deviation; its error from the fourth moment, as errors are rarely normal."""
    draws = values.size
    if draws < 2:
        return NOTHING
    variance = float(values.var(ddof=1))
    if variance <= 0:
        return Score(0.0, 0.0)
    fourth = float(((values - values.mean()) ** 4).mean())
    noise = np.sqrt(max(fourth - variance**2 * (draws - 3) / (draws - 1), 0.0) / draws)
    root = float(np.sqrt(variance))
    return if_enough(Score(root, float(noise / (2 * root))), draws)


def root(square: Score) -> Score:
    """The square root of a mean, with its error."""
    value = float(np.sqrt(square.mean))
    return Score(value, square.mc / (2 * value) if value > 0 else 0.0)


def if_enough(score: Score, draws: int) -> Score:
    """The score, without an error if there are too few draws to estimate it."""
    return score if draws >= _FOR_SPREAD or score.mc == 0 else Score(score.mean, np.nan)


# A cell, and how it is made -----------------------------------------------------------------------

#: The estimator's own interval, beside the extra bounds.
OWN = ""


class Cover(NamedTuple):
    """Performance of intervals: share that contain the truth, half-width t, and t − |error|."""

    coverage: Score
    half_width: Score
    slack: Score


@dataclass(frozen=True)
class Cell:
    """Results of one strategy on one pool at one budget.

    ``errors`` holds estimate − truth of every draw; it is empty if the strategy failed, and
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


def budget_label(budget: Budget) -> int | float | str:
    """The budget as the ``budget`` column shows it."""
    if isinstance(budget, int | np.integer):
        return int(budget)
    if isinstance(budget, float | np.floating):
        return float(budget)
    risk = "" if budget.risk == Cost.risk else f" at risk {budget.risk:g}"
    return f"cost {budget.limit:g}{risk}"


def reason(error: Exception) -> str:
    """The reason for a failure, in one line without hints, which differ between audiences."""
    if isinstance(error, FewgoldError):
        return " ".join(error.message.split())
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def spread_of(gold: FloatArray) -> float:
    """Standard deviation of the scores with divisor N − 1, also for scores of 1e200."""
    unit = float(np.abs(gold).max())
    if gold.size < 2 or unit == 0:
        return 0.0
    return float((gold / unit).std(ddof=1)) * unit


class Draws:
    """Estimates and intervals of one strategy, collected block by block for a cell.

    ``gold`` are the scores of all segments.
    """

    def __init__(self, gold: FloatArray, confidence: float, bounds: Mapping[str, Bound]) -> None:
        self.gold, self.confidence, self.bounds = gold, confidence, bounds
        self.errors: list[FloatArray] = []
        self.se: list[FloatArray] = []
        self.cost: list[FloatArray] = []
        self.ends: dict[str, list[tuple[FloatArray, FloatArray]]] = {}
        self.refusals: dict[str, str] = {}

    def add(self, ratings: Ratings, estimator: Estimator) -> None:
        """Add the estimates of a block of draws, at once or one by one, and their intervals."""
        if estimator.batched:
            self._add(ratings, estimator.estimate(ratings))
            return
        for k in range(ratings.scores.shape[0]):
            one = ratings.draw(k)
            self._add(one, estimator.estimate(one))

    def _add(self, ratings: Ratings, estimate: Estimate) -> None:
        shape = ratings.scores.shape[:-1]
        value = np.ma.filled(np.ma.asarray(estimate.value, dtype=np.float64), np.nan)
        if value.shape != shape:
            raise FewgoldError(
                f"the estimate has the shape {value.shape} where {shape} draws were given. Set "
                "batched = False in an estimator that takes one study at a time."
            )
        bad = int((~np.isfinite(value)).sum())
        if bad:
            raise FewgoldError(f"{bad} of {value.size} draws gave no finite number.")
        self.errors.append(np.atleast_1d(value - self.gold.mean()))
        self.se.append(_of_shape(estimate.se, shape))
        self.cost.append(np.atleast_1d(ratings.sample.cost))
        for name, bound in {OWN: None, **self.bounds}.items():
            if name not in self.refusals:
                self._add_interval(name, bound, estimate, shape)

    def _add_interval(
        self, name: str, bound: Bound | None, estimate: Any, shape: tuple[int, ...]
    ) -> None:
        try:
            if bound is not None and not hasattr(estimate, "residuals"):
                raise FewgoldError(
                    f"{bound.name} is for linear estimates, and this is a "
                    f"{type(estimate).__name__}, which has its own interval."
                )
            ends = estimate.interval(self.confidence, *(() if bound is None else (bound,)))
            low, high = (_of_shape(end, shape) for end in ends)
            if not (low <= high).all():
                raise FewgoldError("the lower end of an interval is above the upper end.")
        except Exception as error:
            self.refusals[name] = reason(error)
            return
        self.ends.setdefault(name, []).append((low, high))

    def cell(self, facts: Mapping[str, Any]) -> Cell:
        """The cell of all draws; ``facts`` are its fields that do not depend on draws."""
        errors, se = np.concatenate(self.errors), np.concatenate(self.se)
        rounding = 0.0
        if facts["n"] == facts["size"] or np.ptp(self.gold) == 0:
            # There is no sampling error: differences from the truth are rounding errors.
            rounding = 1e-9 * float(np.abs(self.gold).max())
            errors = np.where(np.abs(errors) <= rounding, 0.0, errors)
        covers = {}
        for bound, ends in self.ends.items():
            if bound in self.refusals:
                continue
            low, high = (np.concatenate(part) for part in zip(*ends, strict=True))
            truth, half = self.gold.mean(), high / 2 - low / 2
            held = (low <= truth + rounding) & (truth - rounding <= high)
            covers[bound] = Cover(
                Score.of_share(held),
                Score.of(half),
                Score.of(half - np.abs(errors)),
            )
        unit = float(np.abs(errors).max()) or 1.0  # 1e200 squared overflows
        return Cell(
            **facts,
            errors=errors,
            se=Score.of(se),
            se_ratio=root(ratio((se / unit) ** 2, squared_deviations(errors / unit))),
            cost=Score.of(np.concatenate(self.cost)),
            covers=covers,
            refusals=self.refusals,
        )


def _of_shape(values: Any, shape: tuple[int, ...]) -> FloatArray:
    """One number per draw: a single one is repeated, and masked ones become NaN."""
    array = np.ma.filled(np.ma.asarray(values, dtype=np.float64), np.nan)
    return np.atleast_1d(np.broadcast_to(array, shape))


# The figures of a cell against the baseline -------------------------------------------------------
#
# Draw k of a strategy and draw k of the baseline may share their sample, so errors of ratios and
# differences come from the pairs, which is right whether they are correlated or not.

PARTS = ("coverage", "half_width", "slack")
AGAINST = ("reduction", "variance_ratio", "ess", "ess_ratio", "win")


def figures(cell: Cell, baseline: Cell | None, plain: bool) -> dict[str, float]:
    """All figures of a cell; ``plain`` if the baseline is the mean of a simple random sample.

    Its mean squared error is then known exactly, S²(1/n − 1/N), and need not be simulated.
    """
    unit = float(np.abs(cell.errors).max()) or 1.0  # squares of 1e-200 and 1e200 under- or overflow
    errors = cell.errors / unit
    size = np.abs(errors)
    found: dict[str, Score] = {
        "abs_error": Score.of(size).times(unit),
        "abs_error_sd": deviation(size).times(unit),
        "bias": Score.of(errors).times(unit),
        "rmse": root(Score.of(errors**2)).times(unit),
        "sd": deviation(errors).times(unit),
    }
    found |= dict.fromkeys(AGAINST, NOTHING)
    if baseline is not None and baseline.failure is None:
        found |= _against(cell, baseline, plain)
    for name in ("se", "se_ratio", "cost"):
        found[name] = getattr(cell, name) or NOTHING
    for bound in dict.fromkeys((OWN, *cell.covers, *cell.refusals)):
        suffix = "" if bound == OWN else f"_{bound}"
        for part in PARTS:
            found[part + suffix] = getattr(cell.covers.get(bound), part, NOTHING)
    means = {name: score.mean for name, score in found.items()}
    return means | {f"{name}_mc": score.mc for name, score in found.items()}


def _against(cell: Cell, baseline: Cell, plain: bool) -> dict[str, Score]:
    unit = float(np.abs(baseline.errors).max())
    if unit == 0:  # all rated, or all scores equal: nothing to compare
        return {}
    errors, base = cell.errors / unit, baseline.errors / unit
    alone = cell.strategy == baseline.strategy
    gain = ratio(np.abs(errors), np.abs(base))
    left = 1 / baseline.n - 1 / cell.size
    if alone:
        variance = mse = Score(1.0, 0.0)
    elif plain:
        exact = (cell.spread / unit) ** 2 * left
        variance = over_known(squared_deviations(errors), base**2, exact)
        mse = over_known(errors**2, base**2, exact)
    else:
        variance = ratio(squared_deviations(errors), squared_deviations(base))
        mse = ratio(errors**2, base**2)
    ess = _effective_size(if_enough(mse, errors.size), cell.size, left)
    return {
        "reduction": Score(0.0, 0.0) if alone else Score(1 - gain.mean, gain.mc),
        "variance_ratio": if_enough(variance, errors.size),
        "ess": ess,
        "ess_ratio": ess.times(1 / cell.n),
        "win": NOTHING if alone else _win(np.abs(base) - np.abs(errors)),
    }


def _effective_size(mse: Score, size: int, left: float) -> Score:
    """The sample size with which the baseline would have had this mean squared error.

    If the baseline is not the mean of a random sample, its mean squared error is still assumed to
    follow 1/n − 1/N. The inverse of a noisy figure is too large on average, which the last line
    corrects to first order.
    """
    ess = 1 / (1 / size + mse.mean * left)
    noise = 0.0 if np.isnan(mse.mc) else (left * ess * mse.mc) ** 2
    return Score(ess / (1 + noise), ess**2 * left * mse.mc)


def _win(gain: FloatArray) -> Score:
    """1 if the mean error is below the baseline's, as counted in the paper; else 0.

    Its Monte-Carlo error is √(p(1 − p)), p being the probability that a repetition of the whole
    simulation would be below.
    """
    mean = float(gain.mean())
    spread = float(gain.std(ddof=1)) if gain.size > 1 else 0.0
    if spread == 0:
        return Score(float(mean > 0), 0.0)
    p = float(ndtr(mean / spread * np.sqrt(gain.size)))
    return Score(float(mean > 0), float(np.sqrt(p * (1 - p))))


# A task: strategies with one sampler on one rated pool at one budget, replayed many times ---------
#
# Draws come in blocks. Block k of a pool and budget has its own random stream, so results depend
# neither on the parallelism nor on the other pools and strategies. Finished cells are stored under
# a digest of everything they depend on.

# Largest number of draws in a block, and of numbers in its (draws, N) arrays: about 80 MB.
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
        """For each strategy, a digest of everything its cell depends on."""
        facts = (self.label, self.budget, self.draws, self.seed, self.confidence, self.limits)
        data, bounds = data_digest(self.pool, self.gold), dict(self.bounds)
        return {s: digest(*facts, data, bounds, s, made) for s, made in self.strategies.items()}

    def run(self) -> list[Cell]:
        """Replay the studies; a failing strategy records why and does not stop the others."""
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
        except Exception as error:  # the sampler failed, and so do all strategies that use it
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
    """The estimator with this name for this pool."""
    return registry.strategy(strategy, pool) if isinstance(strategy, str) else strategy


class CellStore:
    """A folder of finished cells, one file per cell. Unreadable ones are computed again."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)

    def save(self, key: str, cell: Cell) -> None:
        """Save a cell, unless it failed, since the cause may go away."""
        if cell.failure is None:
            facts = vars(cell) | {"errors": cell.errors.tolist()}
            write_texts({self._path(key): json.dumps(facts)})

    def load(self, key: str) -> Cell | None:
        """The cell with this key; None if there is none, or if it cannot be read."""
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


# Digests of everything a cell depends on: data, settings and code ---------------------------------

# These parts read and display data and results, and no cell depends on them.
_AROUND = (
    *("campaign", "cli", "doctor", "formats", "plots", "report", "reproduce", "web"),
    *("sheets.py", "shared_sheets.py"),
)


def digest(*parts: Any) -> str:
    """A digest of objects and of the code behind them.

    An object that cannot be pickled, or whose class has no source file, gets a new digest each
    time, so that it is computed again rather than confused with another.
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
    """A digest of everything in a pool and of its scores."""
    found = hashlib.sha256(np.ascontiguousarray(gold).tobytes())
    columns: dict[str, Any] = {"ids": pool.ids, "d": pool.documents, "c": pool.cost}
    columns["s"] = pool.system
    columns |= {f"m\x1f{name}": values for name, values in pool.metrics.items()}
    columns |= {f"t\x1f{name}": values for name, values in pool.texts.items()}
    columns |= {} if pool.spread is None else {"spread": pool.spread}
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
    """The source file of a class, which also contains its helpers."""
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
        if path.relative_to(root).parts[0] not in _AROUND:
            found.update(_meaning(path.read_bytes()))
    return found.hexdigest()


def _meaning(source: bytes) -> bytes:
    """Code without comments, docstrings and layout, so that rewording keeps stored cells valid."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                del node.body[0]
    return ast.dump(tree).encode()
