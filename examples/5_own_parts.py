"""A sampler, an estimator and a bound of your own, and the checks that tell whether they hold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold.bounds import Bound, Student
from fewgold.design import Design
from fewgold.estimate import Interval, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.samplers import Sampler, SimpleRandom
from fewgold.testing import check_bound, check_estimator, check_sampler


@dataclass(frozen=True)
class ShortFirst(Sampler):
    """Two strata, cheap segments and dear ones, with half of the budget each."""

    def _draw(self, pool, n, draws, rng):
        cost = np.ones(len(pool)) if pool.cost is None else pool.cost
        dear = cost.argsort(kind="stable").argsort(kind="stable") >= len(pool) // 2
        sizes = np.array([(~dear).sum(), dear.sum()])
        first = int(np.clip(n // 2, n - sizes[1], sizes[0]))
        if n < 4 or first < 2:  # too few to tell two spreads: one stratum
            return SimpleRandom()._draw(pool, n, draws, rng)
        counts = np.array([first, n - first])
        key = rng.random((draws, len(pool))) + dear
        order = key.argsort(axis=-1)
        rows = np.concatenate([order[:, :first], order[:, sizes[0] : sizes[0] + n - first]], -1)
        stratum = np.broadcast_to(np.repeat([0, 1], counts), rows.shape)
        weights, inclusion = sizes / len(pool) / counts, counts / sizes
        return rows, Design("stratified", len(pool), weights[stratum], inclusion[stratum], stratum)


@dataclass(frozen=True)
class HalfSlope(Estimator):
    """A control variate that trusts the first metric half as much as the ratings suggest."""

    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()

    def estimate(self, ratings):
        z = ratings.sample.standardised()[..., 0, :]
        y, x = np.moveaxis(ratings.sample.design.scatter(np.stack([ratings.scores, z], -2)), -2, 0)
        force = (x * x).sum(-1)
        beta = 0.5 * (x * y).sum(-1) / np.where(force > 0, force, 1.0) * (ratings.n > 3)
        rest = ratings.scores - beta[..., None] * z
        return LinearEstimate(0 * beta, rest, ratings, self.bound, "half-slope", tuned=True)


@dataclass(frozen=True)
class Chebyshev(Bound):
    """Value plus or minus se / √(1 − confidence): wide, but right for any shape, given the se."""

    name: ClassVar[str] = "chebyshev"
    kind: ClassVar[str] = "approximate"

    def interval(self, estimate, confidence):
        half = estimate.se / np.sqrt(1 - confidence)
        return Interval(estimate.value - half, estimate.value + half)


if __name__ == "__main__":
    check_sampler(ShortFirst())
    check_estimator(HalfSlope())
    check_bound(Chebyshev())
    print("the sampler, the estimator and the bound pass all checks")
