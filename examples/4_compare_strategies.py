"""Which strategy would have worked best on data that are rated already?"""

import numpy as np

from fewgold import registry
from fewgold.datasets import load_demo

pool, gold = load_demo("zhen")
draws, budget = 400, 0.10

print(f"{len(pool)} segments, {budget:.0%} rated, {draws} repetitions\n")
print("strategy                  typical error  covers  worth as many random ratings")
for name in ["random+mean", "docs-prop+mean", "metrics-prop+mean", "random+cv-mean",
             "random+cv-multi", "docs-sys+ridge", "docs-balanced+ridge"]:  # fmt: skip
    estimator = registry.strategy(name, pool)
    estimate = estimator.run(pool, lambda s: gold[s.indices], budget, draws=draws, rng=0)
    error = estimate.value - gold.mean()
    low, high = estimate.interval()
    covered = np.mean((low <= gold.mean()) & (gold.mean() <= high))
    n = round(budget * len(pool))
    # Invert σ²/n (1 − n/N): the random sample that would have had this variance.
    spread = gold.var(ddof=1)
    worth = spread / (error.var() + spread / len(pool))
    print(f"{name:25s} {np.abs(error).mean():9.3f} {covered:10.1%} {worth:14.0f} instead of {n}")
