"""Simple random sampling."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import IntArray
from fewgold.design import Design, DesignKind, simple_design
from fewgold.pool import Pool, Population
from fewgold.sample import Ratings, Sample, SampleInfo
from fewgold.samplers.base import Sampler, batch_design
from fewgold.samplers.chances import Chances, uneven_design
from fewgold.samplers.phases import draw_in_phases
from fewgold.samplers.systematic import along_line
from fewgold.stored import StoredPool
from fewgold.stored.groups import Wanted, salt_of


@dataclass(frozen=True)
class SimpleRandom(Sampler):
    """Every set of n segments is equally likely.

    Parameters
    ----------
    chances
        Uneven chances: segments are put on a line in random order, each as long as its chance, and
        selected by points at distance 1 (Hartley and Rao 1962). None for equal chances.
    """

    chances: Chances | None = None

    @property
    def name(self) -> str:
        return "random" if self.chances is None else f"random-{self.chances.name}"

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        if self.chances is not None:
            inclusion = self.chances.inclusion(pool, n)
            order = rng.permuted(np.tile(np.arange(len(pool)), (draws, 1)), axis=-1)
            rows, certain = along_line(order, inclusion, n, rng)
            groups = (np.arange(n) >= n - certain).astype(np.int64)
            return rows, uneven_design(DesignKind.UNEVEN, inclusion, rows, groups)
        rows = np.stack([rng.permutation(len(pool))[:n] for _ in range(draws)])
        return rows, batch_design(simple_design(n, len(pool)), draws)

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        if self.chances is not None:
            return draw_in_phases(self, pool, n, rng)
        salt, size = salt_of(rng), len(pool)
        rank = rng.choice(size, n, replace=False)
        if pool.metrics:  # any order will do, and that of a metric is quick to read
            whole = pool._scan.bins(pool.metrics[0], 1)
            everything = whole.wanted(np.zeros(n, dtype=np.int64), rank)
        else:
            everything = Wanted("'all'", np.full(n, "all", dtype=object), rank, np.full(n, size))
        return pool._rows(everything, salt), simple_design(n, size)

    def _top_up(
        self, pool: Population, n: int, given: Ratings, rng: Generator, info: SampleInfo
    ) -> Sample:
        """Two random samples, the second from the rest of the first, form one random sample."""
        wave = super()._top_up(pool, n, given, rng, info)
        if self.chances is not None or not given.sample.design.drawn_as("simple"):
            return wave
        both = simple_design(given.n + wave.n, len(wave.pool))
        if given.sample.indices.ndim > 1:
            both = batch_design(both, len(given.sample.indices))
        return replace(wave, joined=both)
