"""Add fifty ratings at a time, and estimate from all of them after each wave."""

from fewgold.datasets import load_demo
from fewgold.estimators import Ridge
from fewgold.samplers import Balanced

pool, gold = load_demo()
estimator = Ridge(sampler=Balanced(), higher_is_better=False)


def bar(low: float, high: float) -> str:
    row = [" "] * 48
    row[round(12 * low) : round(12 * high)] = "█" * (round(12 * high) - round(12 * low))
    row[round(12 * gold.mean())] = "|"
    return "".join(row)


sample = estimator.select(pool, budget=50, rng=1)
ratings = sample.rate(gold[sample.indices])
print(f"ratings   score     95% interval     | is the true score, {gold.mean():.3f}")
for seed in range(2, 7):
    estimate = estimator.estimate(ratings)
    low, high = estimate.interval()
    print(f"{ratings.n:7d} {estimate.value:7.3f}   {low:.3f} to {high:.3f} {bar(low, high)}")
    sample = estimator.select(pool, budget=50, given=ratings, rng=seed)  # 50 new segments
    ratings = sample.rate(gold[sample.indices])  # all ratings so far, with the right weights
