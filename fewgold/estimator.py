"""The interface of every estimator: spend a budget of annotations, report an estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from fewgold.bounds import as_bound
from fewgold.common.arrays import RNGLike, as_rng
from fewgold.common.checks import Limits, as_limits, check_count
from fewgold.common.text import spelled
from fewgold.errors import BudgetError
from fewgold.estimate import Bound, Estimate
from fewgold.pool import Pool, Population
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Annotate, Budget, Sampler


class Estimator(ABC):
    """Choose segments under a budget, then estimate the mean human score of the pool.

    A subclass is a frozen dataclass with fields ``sampler`` and ``bound`` and one method,
    ``estimate``. The bound may be given by name, such as ``"student"``.
    """

    sampler: Sampler
    bound: Bound | str
    #: False if the estimator handles one study at a time; simulations then loop over draws.
    batched: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if isinstance(self.bound, str):  # a name, such as "student"
            object.__setattr__(self, "bound", as_bound(self.bound))

    @property
    def _bound(self) -> Bound:
        return as_bound(self.bound)

    @property
    def name(self) -> str:
        """Short name for signatures and tables."""
        return type(self).__name__

    @property
    def _named_fields(self) -> tuple[str, ...]:
        """Fields left out of the brackets: part of the name, or the sampler and the bound."""
        return ("sampler", "bound")

    @cached_property
    def spelled(self) -> str:
        """The name, with settings that differ from the defaults in brackets: for signatures."""
        return spelled(self.name, self, self._named_fields)

    def select(
        self,
        pool: Population,
        budget: Budget,
        *,
        draws: int | None = None,
        given: Ratings | None = None,
        rng: RNGLike = None,
    ) -> Sample:
        """Choose segments to annotate, beyond those already ``given``; see `Sampler.draw`."""
        return self.sampler.draw(pool, budget, draws=draws, given=given, rng=rng)

    @abstractmethod
    def estimate(self, ratings: Ratings) -> Estimate:
        """Estimate from rated segments. Pure: no state, no randomness."""

    def collect(
        self,
        pool: Pool,
        annotate: Annotate,
        budget: Budget,
        *,
        waves: int | None = None,
        draws: int | None = None,
        limits: Limits | None = None,
        rng: RNGLike = None,
    ) -> Ratings:
        """Select and annotate, in one or more waves; segment by segment for sequential samplers.

        ``annotate`` is called with each sample and returns its scores, as an array or by id.
        """
        n = self.sampler.count(pool, budget)
        step = self.sampler.step or n
        count = -(-n // step) if waves is None else check_count("waves", waves)
        if count > n:
            raise BudgetError(
                f"{n} ratings cannot be split into {count} waves. Ask for fewer waves."
            )
        sizes = np.diff(np.arange(count + 1) * n // count).tolist()
        ratings = self.sampler._replay(pool, annotate, sizes, draws=draws, rng=as_rng(rng))
        info = ratings.sample.info
        if isinstance(rng, int | np.integer):
            info = replace(info, seeds=(int(rng),))
        sample = replace(ratings.sample, info=info)
        return Ratings(sample, ratings.scores, as_limits(limits))

    def run(self, pool: Pool, annotate: Annotate, budget: Budget, **options: Any) -> Estimate:
        """Select, annotate and estimate; options as in `collect`."""
        return self.estimate(self.collect(pool, annotate, budget, **options))

    def with_sampler(self, sampler: Sampler) -> Self:
        """The same estimator with another sampler."""
        return replace(self, sampler=sampler)  # type: ignore[type-var]
