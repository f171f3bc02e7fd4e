"""Write a bound of your own, which makes intervals, and count how often these hold."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold.bounds import Bound, Student
from fewgold.datasets import load_demo
from fewgold.estimate import Interval
from fewgold.estimators import Ridge
from fewgold.testing import check_bound


@dataclass(frozen=True)
class Chebyshev(Bound):
    """Value ± se / √(1 − confidence): wide, but right for any distribution with this se."""

    name: ClassVar[str] = "chebyshev"
    kind: ClassVar[str] = "approximate"

    def interval(self, estimate, confidence):
        half = estimate.se / np.sqrt(1 - confidence)
        return Interval(estimate.value - half, estimate.value + half)


if __name__ == "__main__":
    check_bound(Chebyshev())
    print("Chebyshev passes all checks")
    pool, gold = load_demo()
    estimate = Ridge().run(pool, lambda s: gold[s.indices], 100, draws=500, rng=0)
    for bound in (Student(), Chebyshev()):
        low, high = estimate.interval(0.95, bound)
        covered = np.mean((low <= gold.mean()) & (gold.mean() <= high))
        width = np.mean(high - low)
        print(
            f"{bound.name:10s} covers {covered:6.1%}, width {width:.2f} {'█' * round(20 * width)}"
        )
