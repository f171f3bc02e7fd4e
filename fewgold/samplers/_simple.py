"""Simple random sampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import IntArray
from fewgold.design import Design
from fewgold.pool import Pool
from fewgold.samplers._base import Sampler, batch_design


@dataclass(frozen=True)
class SimpleRandom(Sampler):
    """Every set of n segments is equally likely."""

    @property
    def name(self) -> str:
        return "random"

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        size = len(pool)
        rows = np.stack([rng.permutation(size)[:n] for _ in range(draws)])
        one = Design(
            kind="simple",
            size=size,
            weights=np.full(n, 1 / n),
            inclusion=np.full(n, n / size),
            groups=np.zeros(n, dtype=np.int64),
        )
        return rows, batch_design(one, draws)
