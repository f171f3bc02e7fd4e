"""Speed as ratios: each pair runs in one process on the same data, so the machine cancels out.

python benchmarks/speed.py
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsRegressor

from fewgold.datasets import load_demo
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Ridge
from fewgold.samplers import Balanced, Stratified, Systematic


def seconds(work: Callable[[], object], repeat: int = 3) -> float:
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
    pairs: list[tuple[str, Callable[[], object], Callable[[], object]]] = []

    def loop(work: Callable[[int], object]) -> Callable[[], object]:
        return lambda: [work(k) for k in range(draws)]

    samplers = {"docs-prop": Stratified(), "docs-sys": Systematic(), "docs-balanced": Balanced()}
    for name, sampler in samplers.items():
        pairs.append((
            f"{name}: {draws} draws in a batch / one by one",
            lambda s=sampler: s.draw(pool, n, draws=draws, rng=0),
            loop(lambda k, s=sampler: s.draw(pool, n, rng=k)),
        ))  # fmt: skip
    pairs.append((
        f"docs-prop: {draws} draws in a batch / pandas groupby().sample()",
        lambda: Stratified().draw(pool, n, draws=draws, rng=0),
        loop(lambda k: frame.groupby("document").sample(frac=0.1, random_state=k)),
    ))  # fmt: skip
    sample = Stratified().draw(pool, n, draws=draws, rng=0)
    ratings = sample.rate(gold[sample.indices])
    for name, made in (("cv-multi", ControlVariates()), ("ridge", Ridge())):
        pairs.append((
            f"{name}: {draws} estimates in a batch / one by one",
            lambda e=made: e.estimate(ratings),
            loop(lambda k, e=made: e.estimate(ratings.draw(k))),
        ))  # fmt: skip
    few = sample.pool, sample.draw(0).rate(gold[sample.indices[0]])
    pairs.append((
        "cv-knn: ours / the same with scikit-learn's KNeighborsRegressor",
        lambda: Learned(KNN(25)).estimate(few[1]),
        lambda: Learned(CrossFit(KNeighborsRegressor(25))).estimate(few[1]),
    ))  # fmt: skip
    print(f"{'':66}{'times faster':>14}")
    for name, ours, theirs in pairs:
        print(f"{name:66}{seconds(theirs) / seconds(ours):14.1f}")


if __name__ == "__main__":
    main()
