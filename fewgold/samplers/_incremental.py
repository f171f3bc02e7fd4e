"""Incremental sampling: the ratings so far decide where the next ones go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewgold._arrays import FloatArray, IntArray, group_sum, spread_out
from fewgold._validate import check_choice, check_count
from fewgold.design import Design, collapse
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers._base import Annotate, Sampler
from fewgold.samplers._growing import Neighbours
from fewgold.samplers._strata import ByDocument, Stratifier, strata_of


@dataclass(frozen=True)
class Incremental(Sampler):
    """Optimal allocation with spreads learnt on the way (Saldías et al. 2022, section 2.1).

    Each further rating goes to the stratum that is furthest below its share n N_h σ_h / Σ N σ.
    The paper leaves the start open; here a stratum with fewer than two ratings has the spread of
    all ratings so far, and all spreads are equal as long as there are fewer than two ratings, or
    no more than the model needs.

    The sample sizes depend on the scores, and strata may stay empty, so the stratified mean is
    biased, as the paper's results show; the design says so. Top-ups of the other samplers
    (``given=``) are the unbiased way to go on.

    Parameters
    ----------
    spread
        ``human``: standard deviation of the ratings in the stratum. ``metrics``: standard
        deviation of a nearest-neighbour model's predictions for its unrated segments.
    k
        Neighbours of that model.
    by
        How strata are made.
    measure
        What a stratum's size is multiplied by. ``sd``: its standard deviation, as Neyman's
        allocation has it. ``variance``: its variance, as the paper says in words ("proportional to
        a bin's size and variance"); kept for reproduction.
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

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        progress = _Progress(self, pool, draws)
        progress.choose(n, rng)
        return progress.rows, progress.design()

    def _top_up(
        self, pool: Pool, n: int, given: Ratings, rng: np.random.Generator, info: dict[str, Any]
    ) -> Sample:
        rated, scores = np.atleast_2d(given.sample.indices), np.atleast_2d(given.scores)
        progress = _Progress(self, pool, len(rated))
        progress.take(rated)
        progress.tell(scores)
        rows = progress.choose(n, rng)
        joined = progress.design()
        wave = _slice(joined, n)
        if given.sample.indices.ndim == 1:
            return Sample(pool, rows[0], wave.draw(0), given, joined.draw(0), info)
        return Sample(pool, rows, wave, given, joined, info)

    def replay(
        self,
        pool: Pool,
        annotate: Annotate,
        sizes: Sequence[int],
        *,
        draws: int | None,
        rng: np.random.Generator,
    ) -> Ratings:
        """As for every sampler, but without starting the model anew for each wave."""
        progress = _Progress(self, pool, draws or 1)
        info = {"sampler": self.name}
        for size in sizes:
            fresh = progress.choose(size, rng)
            ask = Sample(pool, fresh, _slice(progress.design(), size), info=info)
            ask = ask if draws is not None else ask.draw(0)
            progress.tell(ask.rate(annotate(ask)).scores.reshape(fresh.shape))
        whole = Sample(pool, progress.rows, progress.design(), info=info)
        ratings = Ratings(whole, progress.scores)
        return ratings if draws is not None else ratings.draw(0)


def _slice(design: Design, n: int) -> Design:
    """The part of a design that describes the last n segments; used for listing them only."""
    arrays = ("weights", "inclusion", "groups", "strata")
    part = {name: getattr(design, name)[..., -n:] for name in arrays}
    return Design(kind="adaptive", size=design.size, unbiased=False, **part)


class _Progress:
    """How far each of a batch of studies has come."""

    def __init__(self, sampler: Incremental, pool: Pool, draws: int) -> None:
        self.pool, self.draws = pool, draws
        self.strata = strata_of(sampler.by, pool)
        self.sizes = np.bincount(self.strata)
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

    def choose(self, n: int, rng: np.random.Generator) -> IntArray:
        """Take n further segments in each study, by the spreads known now."""
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
            stratum = deficit.argmax(-1)
            key = rng.random(self.free.shape)
            key[~(self.free & (self.strata == stratum[:, None]))] = 2.0
            self.take(key.argmin(-1)[:, None])
        return self.rows[:, before:]

    def _spread(self) -> FloatArray:
        """σ̂ of each stratum in each study: (draws, H)."""
        h = self.sizes.size
        rated = self.scores.shape[-1]
        if rated < 2 or (self.model is not None and rated <= self.model.k):
            # The model of so few ratings predicts their mean everywhere, and what its predictions
            # vary by are rounding errors.
            return np.ones((self.draws, h))
        if self.model is not None:
            predicted = np.where(self.free, self.model.predictions(), 0.0)
            return _group_sd(predicted, self.strata, self.free.astype(np.float64), h)
        strata = self.strata[self.rows[:, :rated]]
        ones = np.ones(strata.shape)
        own = _group_sd(self.scores, strata, ones, h, ddof=1)
        count = group_sum(ones, strata, h)
        overall = self.scores.std(-1, ddof=1)[:, None]
        return np.asarray(np.where(count >= 2, own, overall))

    def design(self) -> Design:
        """The stratified mean as printed: strata without ratings are left out."""
        strata = np.broadcast_to(self.strata, self.free.shape)
        stratum = np.take_along_axis(strata, self.rows, axis=-1)
        used = self.taken > 0
        whole = np.where(used, self.sizes, 0).sum(-1, keepdims=True)
        weights = self.sizes / whole / np.maximum(self.taken, 1)
        return Design(
            kind="adaptive",
            size=len(self.pool),
            weights=spread_out(weights, stratum),
            inclusion=spread_out(self.taken / self.sizes, stratum),
            groups=collapse(stratum, self.taken, self.sizes),
            strata=stratum,
            unbiased=False,
        )


def _group_sd(
    values: FloatArray, groups: IntArray, mask: FloatArray, h: int, ddof: int = 0
) -> FloatArray:
    """Standard deviation of the masked values in each group: (draws, H)."""
    groups = np.broadcast_to(groups, values.shape)
    count = group_sum(mask, groups, h)
    mean = group_sum(values * mask, groups, h) / np.maximum(count, 1)
    centred = (values - spread_out(mean, groups)) * mask
    return np.asarray(np.sqrt(group_sum(centred**2, groups, h) / np.maximum(count - ddof, 1)))
