"""Incremental sampling: the ratings so far decide which segments come next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import FloatArray, IntArray, RNGLike, as_rng, group_sum, spread_out
from fewgold.common.checks import check_choice, check_count
from fewgold.common.neighbours import Neighbours
from fewgold.design import Design, DesignKind, collapse
from fewgold.errors import DesignError
from fewgold.pool import Pool, Population
from fewgold.sample import Ratings, Sample, SampleInfo
from fewgold.samplers.balanced import Balanced
from fewgold.samplers.base import Annotate, Sampler
from fewgold.samplers.chances import Chances, RatedSpread
from fewgold.samplers.strata import ByDocument, Stratifier, strata_of
from fewgold.stored import StoredPool


@dataclass(frozen=True)
class Incremental(Sampler):
    """Optimal allocation with spreads learnt from the ratings so far (Saldías et al. 2022, §2.1).

    Each new rating goes to the stratum that is furthest below its allocation n N_h σ_h / Σ N σ. The
    paper leaves the start open; here a stratum with fewer than two ratings has the spread of all
    ratings so far, and all spreads are equal as long as there are fewer than two ratings, or no
    more than the model needs.

    The sample sizes depend on the scores, and strata may stay empty, so the stratified mean is
    biased, as the paper's results show; the design says so. To continue without bias, use top-ups
    of the other samplers (``given=``).

    Parameters
    ----------
    spread
        ``human``: standard deviation of the ratings in the stratum. ``metrics``: standard
        deviation of a nearest-neighbour model's predictions for its unrated segments.
    k
        Number of neighbours in that model.
    by
        How strata are made.
    measure
        The factor of a stratum's size. ``sd``: its standard deviation, as in Neyman's allocation.
        ``variance``: its variance, as in the text of the paper ("proportional to a bin's size and
        variance"); kept for reproduction.
    """

    spread: str = "human"
    k: int = 25
    by: Stratifier = ByDocument()
    measure: str = "sd"

    step = 1

    def __post_init__(self) -> None:
        check_choice("spread", self.spread, ("human", "metrics"))
        check_count("k", self.k)
        check_choice("measure", self.measure, ("sd", "variance"))

    @property
    def name(self) -> str:
        tail = "-printed" if self.measure == "variance" else ""
        return f"docs-incr-{self.spread}{tail}"

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        progress = _Progress(self, pool, draws)
        progress.choose(n, rng)
        return progress.rows, progress.design()

    def _top_up(
        self, pool: Population, n: int, given: Ratings, rng: Generator, info: SampleInfo
    ) -> Sample:
        if not pool._can_use(self):
            self._refuse_disk()
        return self._beside(n, given, given.scores, rng, info)

    def draw_meanwhile(
        self, sample: Sample, scores: FloatArray, n: int = 1, *, rng: RNGLike = None
    ) -> Sample:
        """Draw further segments of a study while others are still being rated.

        Parameters
        ----------
        sample
            All segments drawn so far: (n,).
        scores
            Their ratings, NaN for those still pending. Pending segments count as taken, but say
            nothing yet about the spread of their stratum. Even if the time an answer takes depends
            on its score, the chances within a stratum are not affected: each of its remaining
            segments is equally likely to be next.
        n
            How many to draw.
        """
        known = ~np.isnan(scores)
        given = Ratings(sample, np.where(known, scores, 0.0))
        seed = rng if isinstance(rng, int | np.integer) else None
        info = SampleInfo((self.name,), () if seed is None else (int(seed),))
        count = self.count(sample.pool, n, sample.n)
        return self._beside(count, given, scores, as_rng(rng), info)

    def _beside(
        self, n: int, given: Ratings, scores: FloatArray, rng: Generator, info: SampleInfo
    ) -> Sample:
        """More segments of one study, given the known scores; pending ones are NaN."""
        pool = given.sample.pool
        rated, told = np.atleast_2d(given.sample.indices), np.atleast_2d(scores)
        progress = _Progress(self, pool, len(rated))
        missing = np.isnan(told)
        first = np.argsort(
            missing, axis=-1, kind="stable"
        )  # known scores are looked up by position
        progress.take(np.take_along_axis(rated, first, -1))
        known = told.shape[-1] - int(missing[0].sum())
        progress.tell(np.take_along_axis(told, first, -1)[:, :known])
        rows = progress.choose(n, rng)
        progress.rows = np.concatenate([rated, rows], -1)
        joined, wave = progress.design(), progress.design(last=n)
        if given.sample.indices.ndim == 1:
            return Sample(pool, rows[0], wave.draw(0), given, joined.draw(0), info)
        return Sample(pool, rows, wave, given, joined, info)

    def _replay(
        self,
        pool: Pool,
        annotate: Annotate,
        sizes: Sequence[int],
        *,
        draws: int | None,
        rng: Generator,
    ) -> Ratings:
        """As in every sampler, but without refitting the model from scratch for each wave."""
        progress = _Progress(self, pool, draws or 1)
        info = SampleInfo((self.name,))
        for size in sizes:
            fresh = progress.choose(size, rng)
            ask = Sample(pool, fresh, progress.design(last=size), info=info)
            ask = ask if draws is not None else ask.draw(0)
            progress.tell(ask.rate(annotate(ask)).scores.reshape(fresh.shape))
        whole = Sample(pool, progress.rows, progress.design(), info=info)
        ratings = Ratings(whole, progress.scores)
        return ratings if draws is not None else ratings.draw(0)


@dataclass(frozen=True)
class TwoWave(Sampler):
    """A balanced wave, then a second where the first wave's ratings were far from the metrics.

    Given the first wave, the second has known chances, so that each estimates the pool mean by
    itself and the two are combined as in any top-up. No prior knowledge is needed: a first wave of
    some 30 ratings shows the spreads well enough to help.

    Parameters
    ----------
    share
        Part of the budget for the first wave if both are drawn in one go, as in simulations.
        Otherwise the first `draw` is the first wave, and every top-up (``given=``) is a second.
    uniform
        Share of equal chances in the second wave, as in `Chances`.
    """

    share: float = 0.4
    uniform: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise DesignError(
                "share, the part of the budget spent on the first wave, must lie between 0 and "
                f"1; got {self.share!r}."
            )
        Chances(uniform=self.uniform)  # which reports what is wrong with the share

    @property
    def name(self) -> str:
        return "docs-two-wave"

    @property
    def _learns(self) -> bool:
        return True

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        return Balanced()._draw(pool, n, draws, rng)

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        return Balanced()._draw_stored(pool, n, rng)

    def _top_up(
        self, pool: Population, n: int, given: Ratings, rng: Generator, info: SampleInfo
    ) -> Sample:
        before = given.sample
        if before.indices.ndim == 1:
            second = self._second(given)
            part, rows, design = pool._draw_beside(second, n, before.pool, before.indices, rng)
            return Sample(part, rows, design, given, info=info)
        waves = [
            pool._draw_beside(
                self._second(own := given.draw(k)), n, before.pool, own.sample.indices, rng
            )
            for k in range(len(before.indices))
        ]
        rows, design = np.stack([w[1] for w in waves]), Design._stack([w[2] for w in waves])
        return Sample(before.pool, rows, design, given, info=info)

    def _second(self, given: Ratings) -> Balanced:
        return Balanced(chances=Chances(RatedSpread(given), self.uniform))

    def _replay(
        self,
        pool: Pool,
        annotate: Annotate,
        sizes: Sequence[int],
        *,
        draws: int | None,
        rng: Generator,
    ) -> Ratings:
        if len(sizes) == 1 and sizes[0] > 1:
            first = min(max(round(self.share * sizes[0]), 1), sizes[0] - 1)
            sizes = (first, sizes[0] - first)
        return super()._replay(pool, annotate, sizes, draws=draws, rng=rng)


class _Progress:
    """The progress of each study in a batch."""

    def __init__(self, sampler: Incremental, pool: Pool, draws: int) -> None:
        self.pool, self.draws = pool, draws
        self.strata = strata_of(sampler.by, pool)
        self.sizes = np.bincount(self.strata)
        # Segments sorted by stratum, for sums over each.
        self.order = np.argsort(self.strata, kind="stable")
        self.starts = np.cumsum(self.sizes) - self.sizes
        self.rows = np.empty((draws, 0), dtype=np.int64)
        self.free = np.ones((draws, len(pool)), dtype=bool)
        self.taken = np.zeros((draws, self.sizes.size))
        self.scores = np.empty((draws, 0))
        self.model = (
            Neighbours(pool.standardised(), sampler.k, draws)
            if sampler.spread == "metrics"
            else None
        )
        self.power = 2.0 if sampler.measure == "variance" else 1.0

    def take(self, rows: IntArray) -> None:
        self.rows = np.concatenate([self.rows, rows], -1)
        np.put_along_axis(self.free, rows, False, axis=-1)
        self.taken += group_sum(np.ones(rows.shape), self.strata[rows], self.sizes.size)

    def tell(self, scores: FloatArray) -> None:
        start = self.scores.shape[-1]
        self.scores = np.concatenate([self.scores, scores], -1)
        if self.model is not None:
            for t in range(start, self.scores.shape[-1]):
                self.model.add(self.rows[:, t], self.scores[:, t])

    def choose(self, n: int, rng: Generator) -> IntArray:
        """Take n more segments in each study, by the spreads known so far."""
        spread = self._spread() ** self.power
        before = self.rows.shape[-1]
        for _ in range(n):
            mass = np.where(self.taken < self.sizes, self.sizes * spread, 0.0)
            empty = mass.sum(-1) <= 0
            mass[empty] = (self.sizes - self.taken)[empty]
            target = (self.rows.shape[-1] + 1) * mass / mass.sum(-1, keepdims=True)
            deficit = np.where(mass > 0, target - self.taken, -np.inf)
            # Ties, as at the start, are broken at random.
            deficit += rng.random(deficit.shape) * 1e-9
            self.take(self._any_free(deficit.argmax(-1), rng))
        return self.rows[:, before:]

    def _any_free(self, stratum: IntArray, rng: Generator) -> IntArray:
        """An unrated segment of a stratum in each study, all with the same chance: (draws, 1)."""
        place = np.arange(self.sizes.max())
        inside = place < self.sizes[stratum][:, None]
        member = self.order[np.where(inside, self.starts[stratum][:, None] + place, 0)]
        free = inside & np.take_along_axis(self.free, member, axis=-1)
        key = np.where(free, rng.random(free.shape), 2.0)
        return np.asarray(np.take_along_axis(member, key.argmin(-1)[:, None], axis=-1))

    def _spread(self) -> FloatArray:
        """σ̂ of each stratum in each study: (draws, H)."""
        h = self.sizes.size
        rated = self.scores.shape[-1]
        if rated < 2 or (self.model is not None and rated <= self.model.k):
            # With so few ratings the model predicts their mean everywhere, and its predictions vary
            # only by rounding errors.
            return np.ones((self.draws, h))
        if self.model is not None:
            # The spread of the predictions for the unrated segments of each stratum.
            predicted, free = self.model.predictions()[:, self.order], self.free[:, self.order]
            count = np.maximum(self.sizes - self.taken, 1)
            mean = np.add.reduceat(np.where(free, predicted, 0.0), self.starts, axis=-1) / count
            gaps = np.where(free, predicted - np.repeat(mean, self.sizes, axis=-1), 0.0)
            return np.asarray(np.sqrt(np.add.reduceat(gaps**2, self.starts, axis=-1) / count))
        strata = self.strata[self.rows[:, :rated]]
        count = group_sum(np.ones(strata.shape), strata, h)
        mean = group_sum(self.scores, strata, h) / np.maximum(count, 1)
        squares = group_sum((self.scores - spread_out(mean, strata)) ** 2, strata, h)
        own = np.sqrt(squares / np.maximum(count - 1, 1))
        overall = self.scores.std(-1, ddof=1)[:, None]
        return np.asarray(np.where(count >= 2, own, overall))

    def design(self, last: int = 0) -> Design:
        """The stratified mean as printed: strata without ratings are left out.

        If ``last`` is not 0, the design lists only the last segments drawn.
        """
        stratum = self.strata[self.rows[:, -last:]]
        whole = np.where(self.taken > 0, self.sizes, 0).sum(-1, keepdims=True)
        weights = self.sizes / whole / np.maximum(self.taken, 1)
        return Design(
            kind=DesignKind.ADAPTIVE,
            size=len(self.pool),
            weights=spread_out(weights, stratum),
            inclusion=spread_out(self.taken / self.sizes, stratum),
            groups=collapse(stratum, self.taken, self.sizes),
            strata=stratum,
            unbiased=False,
        )
