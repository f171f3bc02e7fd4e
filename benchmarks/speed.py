"""Speed as ratios: each pair runs in one process on the same data, so the machine cancels out.

python benchmarks/speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor

from fewgold import Estimator, Sampler
from fewgold.datasets import load_demo
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Ridge
from fewgold.samplers import Balanced, Stratified, Systematic

Work = Callable[[], object]


def seconds(work: Work, repeat: int = 3) -> float:
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    pool, gold = load_demo()
    n, draws = 142, 200
    frame = pd.DataFrame({"document": pool.documents})

    def batch(sampler: Sampler) -> object:
        return sampler.draw(pool, n, draws=draws, rng=0)

    def singly(sampler: Sampler) -> object:
        return [sampler.draw(pool, n, rng=k) for k in range(draws)]

    def by_pandas() -> object:
        by = frame.groupby("document")
        return [by.sample(frac=0.1, random_state=k) for k in range(draws)]

    sample = Stratified().draw(pool, n, draws=draws, rng=0)
    ratings = sample.rate(gold[sample.indices])

    def estimates(estimator: Estimator) -> object:
        return estimator.estimate(ratings)

    def estimates_singly(estimator: Estimator) -> object:
        return [estimator.estimate(ratings.draw(k)) for k in range(draws)]

    pairs: list[tuple[str, Work, Work]] = []
    samplers = {"docs-prop": Stratified(), "docs-sys": Systematic(), "docs-balanced": Balanced()}
    for name, sampler in samplers.items():
        title = f"{name}: {draws} draws in a batch / one by one"
        pairs.append((title, partial(batch, sampler), partial(singly, sampler)))
    title = f"docs-prop: {draws} draws in a batch / pandas groupby().sample()"
    pairs.append((title, partial(batch, Stratified()), by_pandas))
    for made in (ControlVariates(), Ridge()):
        title = f"{made.name}: {draws} estimates in a batch / one by one"
        pairs.append((title, partial(estimates, made), partial(estimates_singly, made)))
    one = ratings.draw(0)
    ours, theirs = Learned(KNN(25)), Learned(CrossFit(KNeighborsRegressor(25)))
    title = "cv-knn: ours / the same with scikit-learn's KNeighborsRegressor"
    pairs.append((title, partial(ours.estimate, one), partial(theirs.estimate, one)))
    print(f"{'':66}{'times faster':>14}")
    for title, quick, slow in pairs:
        print(f"{title:66}{seconds(slow) / seconds(quick):14.1f}")


if __name__ == "__main__":
    main()
