"""The one interface: spend a budget of annotations, report an estimate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np

from fewgold._arrays import RNGLike, as_rng
from fewgold._validate import check_count
from fewgold.errors import DataError
from fewgold.estimate import Bound, Estimate
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers import Budget, Incremental, Sampler


class Estimator(ABC):
    """Choose segments under a budget, then estimate the mean human score of the pool.

    A subclass is a frozen dataclass with fields ``sampler`` and ``bound`` and one method,
    ``estimate``.
    """

    sampler: Sampler
    bound: Bound

    @property
    def name(self) -> str:
        """Short name for signatures and tables."""
        return type(self).__name__

    def select(
        self,
        pool: Pool,
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
        annotate: Callable[[Sample], Any],
        budget: Budget,
        *,
        waves: int | None = None,
        draws: int | None = None,
        limits: tuple[float, float] | None = None,
        rng: RNGLike = None,
    ) -> Ratings:
        """Select and annotate, in one wave or several; one rating at a time where the sampler asks.

        ``annotate`` is called with each sample and returns its scores, as an array or by id.
        """
        seed = {"seed": int(rng)} if isinstance(rng, int | np.integer) else {}
        generator = as_rng(rng)
        n = self.sampler.count(pool, budget)
        if isinstance(self.sampler, Incremental):
            step = self.sampler.step if waves is None else -(-n // check_count("waves", waves))
            info = {"sampler": self.sampler.name, **seed}
            ratings = self.sampler.replay(
                pool, annotate, n, draws=draws, step=step, rng=generator, info=info
            )
            return Ratings(ratings.sample, ratings.scores, limits)
        count = check_count("waves", waves or 1)
        if count > n:
            raise DataError(f"{n} ratings cannot come in {count} waves. Ask for fewer waves.")
        sizes = np.diff(np.arange(count + 1) * n // count)
        sample = self.select(pool, int(sizes[0]), draws=draws, rng=generator)
        ratings = sample.rate(annotate(sample), limits=limits)
        for size in sizes[1:]:
            sample = self.select(pool, int(size), given=ratings, rng=generator)
            ratings = sample.rate(annotate(sample), limits=limits)
        whole = replace(ratings.sample, info={**ratings.sample.info, **seed})
        return Ratings(whole, ratings.scores, ratings.limits)

    def run(
        self, pool: Pool, annotate: Callable[[Sample], Any], budget: Budget, **options: Any
    ) -> Estimate:
        """Select, annotate and estimate; options as in `collect`."""
        return self.estimate(self.collect(pool, annotate, budget, **options))

    def with_sampler(self, sampler: Sampler) -> Self:
        """The same estimator on samples drawn another way."""
        return replace(self, sampler=sampler)  # type: ignore[type-var]
