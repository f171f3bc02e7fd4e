"""The base class of all samplers, and cost budgets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.random import Generator
from scipy.special import ndtri

from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng
from fewgold.design import Design
from fewgold.errors import BudgetError, DataError, DesignError
from fewgold.pool import Pool, Population
from fewgold.sample import Ratings, Sample, SampleInfo
from fewgold.samplers.chances import Chances
from fewgold.stored import StoredPool


@dataclass(frozen=True)
class Cost:
    """A budget in the units of the pool's cost column, such as seconds or euros.

    The number of segments is fixed before drawing, so that the design stays exactly unbiased; the
    total cost of the drawn segments is then random. ``risk`` is the accepted probability of
    overspending: 0.5 spends the budget on average, 0.05 nearly always stays within it.
    """

    limit: float
    risk: float = 0.5

    def __post_init__(self) -> None:
        if not self.limit > 0:
            raise BudgetError(f"a cost budget must be above 0; got {self.limit!r}.")
        if not 0 < self.risk <= 0.5:
            raise BudgetError(f"risk must lie above 0 and not above 0.5; got {self.risk!r}.")


_TRIALS = 200

Budget: TypeAlias = int | float | Cost
#: Returns the scores of a sample, as an array of its shape or a mapping from id.
Annotate: TypeAlias = Callable[[Sample], Any]


class Sampler(ABC):
    """Chooses which segments of a pool to annotate.

    A subclass is a frozen dataclass that implements ``_draw`` only; ``draw`` checks the budget,
    leaves out segments that are already rated and assembles the sample.
    """

    #: Ratings to ask for at a time; None for samplers that choose without seeing answers.
    step: int | None = None

    def __post_init__(self) -> None:
        chances = getattr(self, "chances", None)
        if not isinstance(chances, Chances | None):
            raise DesignError(
                f"chances must be Chances(…) or None; got {type(chances).__name__}. For the "
                "expected spread of each segment write pool.with_spread(numbers) and Chances()."
            )

    @property
    def _learns(self) -> bool:
        """Whether the choice of further segments depends on the scores so far."""
        return self.step is not None

    @property
    def name(self) -> str:
        """Short name for signatures and tables."""
        return type(self).__name__

    def draw(
        self,
        pool: Population,
        budget: Budget,
        *,
        draws: int | None = None,
        given: Ratings | None = None,
        rng: RNGLike = None,
    ) -> Sample:
        """Draw segments to annotate.

        Parameters
        ----------
        pool
            The segments to choose from, in memory or on disk.
        budget
            How many segments: a count, a share of the pool (a float up to 1.0), or a `Cost`.
        draws
            Draw this many independent samples at once, as a simulation does.
        given
            Existing ratings: choose ``budget`` more segments in addition to them.
        rng
            A seed or a generator. The same seed gives the same sample.
        """
        if draws is not None and draws < 1:
            raise BudgetError(f"draws must be at least 1; got {draws}.")
        if given is not None and draws is not None:
            raise BudgetError(
                "draws and given cannot be combined: a top-up has as many draws as the ratings "
                "that it continues."
            )
        if given is not None and given.sample.pool.fingerprint != pool.fingerprint:
            raise DataError(
                "the given ratings belong to another pool. Use the pool they came from."
            )
        rated = 0 if given is None else given.n
        n = self.count(pool, budget, rated)
        seed = rng if isinstance(rng, int | np.integer) else None
        info = SampleInfo((self.name,), () if seed is None else (int(seed),))
        generator = as_rng(rng)
        if given is not None:
            return self._top_up(pool, n, given, generator, info)
        part, rows, design = pool._draw_with(self, n, draws, generator)
        return Sample(part, rows, design, info=info)

    @property
    def _draws_from_disk(self) -> bool:
        return type(self)._draw_stored is not Sampler._draw_stored

    @abstractmethod
    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        """Rows (draws, n) of ``pool`` and their design, of the same shape."""

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        """Rows drawn and loaded from a pool on disk, and their design: (n,)."""
        self._refuse_disk()

    def _refuse_disk(self) -> NoReturn:
        raise DesignError(
            f"{self.name} needs every segment in memory, and this pool is on disk. Use "
            "docs-balanced, or load the pool with Pool.from_file."
        )

    def _top_up(
        self, pool: Population, n: int, given: Ratings, rng: Generator, info: SampleInfo
    ) -> Sample:
        """Draw another wave from the remaining segments."""
        before = given.sample
        part, rows, design = pool._draw_beside(self, n, before.pool, before.indices, rng)
        return Sample(part, rows, design, given, info=info)

    def _replay(
        self,
        pool: Pool,
        annotate: Annotate,
        sizes: Sequence[int],
        *,
        draws: int | None,
        rng: Generator,
    ) -> Ratings:
        """Choose and rate wave by wave, ``sizes`` segments at a time."""
        sample = self.draw(pool, sizes[0], draws=draws, rng=rng)
        ratings = sample.rate(annotate(sample))
        for size in sizes[1:]:
            sample = self.draw(pool, size, given=ratings, rng=rng)
            ratings = sample.rate(annotate(sample))
        return ratings

    def count(self, pool: Population, budget: Budget, rated: int = 0) -> int:
        """The number of segments that ``budget`` allows, beyond those already rated."""
        left = len(pool) - rated
        if isinstance(budget, Cost):
            return self._affordable(pool, budget, left)
        if not isinstance(budget, int | float | np.number):
            raise BudgetError(
                f"budget must be a number of segments, a share such as 0.1, or Cost(…); got "
                f"{budget!r}."
            )
        if isinstance(budget, float) and 0 < budget <= 1:
            return min(max(round(budget * len(pool)), 1), left)
        whole = np.isfinite(budget) and int(budget) == budget and not isinstance(budget, bool)
        if not whole or not 1 <= budget <= left:
            what = "segments not yet rated" if rated else "segments of the pool"
            raise BudgetError(
                f"a budget must be a whole number from 1 to {left}, the {what}; got {budget!r}.",
                hints={
                    "python": "A float such as 0.1 is a share of the pool.",
                    "cli": "A share of the pool is --budget 10%.",
                    "web": "",
                },
            )
        return int(budget)

    def _affordable(self, pool: Population, budget: Cost, left: int) -> int:
        if not pool._has_cost:
            raise BudgetError(
                "a cost budget needs the cost of each segment.",
                hints={
                    "python": "Give the pool a cost (cost=…), or a number of segments as budget.",
                    "cli": "Name a column or formula with --cost, or give --budget instead.",
                },
            )
        low, high = 0, left
        while low < high:
            n = (low + high + 1) // 2
            mean, variance = pool._cost_with(self, n)
            fits = mean + ndtri(1 - budget.risk) * np.sqrt(variance) <= budget.limit * (1 + 1e-12)
            low, high = (n, high) if fits else (low, n - 1)
        if low == 0:
            raise BudgetError(
                f"a budget of {budget.limit:g} does not pay for one rating, which costs "
                f"{pool._cost_with(self, 1)[0]:g} on average."
            )
        return low

    def _cost_stored(self, pool: StoredPool, n: int) -> tuple[float, float]:
        """Mean and variance of the cost for a pool on disk."""
        if (chances := getattr(self, "chances", None)) is not None:
            from fewgold.samplers.phases import cost_in_phases

            return cost_in_phases(chances, pool, n)
        moments = pool._scan.moments
        mean, sd = float(moments.mean[-1]), float(moments.sd[-1])
        return n * mean, n * (1 - n / len(pool)) * sd**2

    def _cost_moments(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        """Mean and variance of the cost of n segments; in closed form if chances are equal."""
        if getattr(self, "chances", None) is not None:
            return self._cost_by_drawing(pool, cost, n)
        return float(n * cost.mean()), float(n * (1 - n / len(pool)) * cost.var())

    def _cost_by_drawing(self, pool: Pool, cost: FloatArray, n: int) -> tuple[float, float]:
        """The same by simulation, for unequal chances and clusters."""
        rows, _ = self._draw(pool, n, _TRIALS, np.random.default_rng(0))
        total = cost[rows].sum(-1)
        return float(total.mean()), float(total.var(ddof=1))


def shuffled(
    codes: IntArray,
    draws: int,
    rng: Generator,
    within: FloatArray | None = None,
    *,
    turned: bool = False,
) -> IntArray:
    """Rows in a line with documents in random order: (draws, N).

    Segments of a document stay together, in random order or in the order of ``within``, which may
    start at a random segment of each document and wrap around (``turned``).
    """
    n_docs = int(codes.max()) + 1
    place = rng.permuted(np.tile(np.arange(n_docs), (draws, 1)), axis=-1)[:, codes]
    if within is None:
        key = rng.random((draws, codes.size))
    else:
        sizes = np.bincount(codes)
        first = np.cumsum(sizes) - sizes
        rank = np.empty(codes.size, dtype=np.int64)
        rank[np.lexsort((within, codes))] = np.arange(codes.size)
        rank -= first[codes]
        if turned:
            rank = rank + rng.integers(np.broadcast_to(sizes, (draws, n_docs)))[:, codes]
        key = np.broadcast_to(rank % sizes[codes] / codes.size, place.shape)
    return np.asarray(np.argsort(place + key, axis=-1, kind="stable"))


def batch_design(design: Design, draws: int) -> Design:
    """The same design for every draw of a batch."""
    arrays: dict[str, Any] = {
        name: np.broadcast_to(value, (draws, *value.shape))
        for name in ("weights", "inclusion", "groups", "influence", "units", "balance", "strata")
        if (value := getattr(design, name)) is not None
    }
    batch = replace(design, **arrays)
    if design.balance is None and design.documents is None:
        batch.__dict__["_shared"] = (
            design  # known here; `Design._shared` would infer it from strides
        )
    return batch
