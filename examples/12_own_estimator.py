"""Write an estimator of your own: it returns the residuals, and the design does the rest."""

from dataclasses import dataclass

import numpy as np

from fewgold.bounds import Bound, Student
from fewgold.datasets import load_demo
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import Mean
from fewgold.samplers import Sampler, SimpleRandom, Stratified
from fewgold.testing import check_estimator


@dataclass(frozen=True)
class HalfSlope(Estimator):
    """A control variate that trusts the first metric half as much as the ratings suggest."""

    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()

    def estimate(self, ratings):
        z = ratings.sample.standardised()[..., 0, :]
        y, x = np.moveaxis(ratings.sample.design.scatter(np.stack([ratings.scores, z], -2)), -2, 0)
        spread = (x * x).sum(-1)
        beta = 0.5 * (x * y).sum(-1) / np.where(spread > 0, spread, 1.0) * (ratings.n > 3)
        rest = ratings.scores - beta[..., None] * z
        return LinearEstimate(0 * beta, rest, ratings, self.bound, "half-slope", tuned=True)


if __name__ == "__main__":
    check_estimator(HalfSlope())
    print("HalfSlope passes all checks")
    pool, gold = load_demo()
    sample = Stratified().draw(pool, 100, rng=3)  # it works with every sampler
    ratings = sample.rate(gold[sample.indices])
    for estimator in (Mean(), HalfSlope()):
        estimate = estimator.estimate(ratings)
        low, high = estimate.interval()
        bar = " " * round(30 * (low - 1)) + "█" * round(30 * (high - low))
        print(f"{estimator.name:10s} {estimate.value:.3f} ± {estimate.se:.3f} {bar}")
    print(f"truth      {gold.mean():.3f}        {' ' * round(30 * (gold.mean() - 1))}|")
