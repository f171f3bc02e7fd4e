"""Write a sampler of your own: a class with one method. Then check that it is correct."""

from dataclasses import dataclass

import numpy as np

from fewgold.datasets import load_demo
from fewgold.design import Design
from fewgold.estimators import Mean
from fewgold.samplers import Sampler, SimpleRandom
from fewgold.testing import check_sampler


@dataclass(frozen=True)
class ShortFirst(Sampler):
    """Two strata, cheap and expensive segments, with half of the budget each."""

    def _draw(self, pool, n, draws, rng):
        cost = np.ones(len(pool)) if pool.cost is None else pool.cost
        costly = cost.argsort(kind="stable").argsort(kind="stable") >= len(pool) // 2
        sizes = np.array([(~costly).sum(), costly.sum()])
        first = int(np.clip(n // 2, n - sizes[1], sizes[0]))
        if n < 4 or first < 2:  # too few for two strata
            return SimpleRandom()._draw(pool, n, draws, rng)
        counts = np.array([first, n - first])
        key = rng.random((draws, len(pool))) + costly
        order = key.argsort(axis=-1)
        rows = np.concatenate([order[:, :first], order[:, sizes[0] : sizes[0] + n - first]], -1)
        stratum = np.broadcast_to(np.repeat([0, 1], counts), rows.shape)
        weights, inclusion = sizes / len(pool) / counts, counts / sizes
        return rows, Design("stratified", len(pool), weights[stratum], inclusion[stratum], stratum)


if __name__ == "__main__":
    check_sampler(ShortFirst())
    print("ShortFirst passes all checks")
    pool, gold = load_demo()
    for sampler in (SimpleRandom(), ShortFirst()):
        estimate = Mean(sampler=sampler).run(pool, lambda s: gold[s.indices], 100, draws=500, rng=0)
        error = estimate.value - gold.mean()
        print(f"\n{sampler.name}: typical error {np.abs(error).mean():.3f}")
        counts, edges = np.histogram(error, bins=np.arange(-0.9, 1.0, 0.2))
        for count, left in zip(counts, edges, strict=False):
            print(f"{left + 0.1:+.1f}  {'█' * round(count / 4)}")
