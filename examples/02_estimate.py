"""Estimate the score of the whole test set from 200 ratings and the metrics.

The same data are estimated in four ways, and each interval is drawn beside the true score.
"""

from fewgold.bounds import STaR
from fewgold.datasets import load_demo
from fewgold.errors import DataError
from fewgold.estimators import Mean, Ridge
from fewgold.samplers import Balanced, SimpleRandom

pool, gold = load_demo()
human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))  # what raters would say

# One plain random sample, estimated in three ways.
sample = SimpleRandom().draw(pool, 200, rng=7)
ratings = sample.rate({i: human[i] for i in sample.ids.tolist()}, limits="mqm")
made = {
    "without metrics": Mean().estimate(ratings),
    "with metrics": Ridge(higher_is_better=False).estimate(ratings),
    "guaranteed": Mean(bound=STaR()).estimate(ratings),
}

# Better still: use the metrics to choose the sample, too.
estimator = Ridge(sampler=Balanced(), higher_is_better=False)
sample = estimator.select(pool, budget=200, rng=7)
ratings = sample.rate({i: human[i] for i in sample.ids.tolist()}, limits="mqm")
made["recommended"] = estimator.estimate(ratings)
print(made["recommended"].summary())

try:  # a missing rating is an error, because leaving segments out would bias the estimate
    sample.rate({i: human[i] for i in sample.ids[3:].tolist()})
except DataError as error:
    print(f"\n{error}")

print(f"\n{'':16} score ± error    95% interval    | is the true score, {gold.mean():.3f}")
for name, estimate in made.items():
    low, high = estimate.interval()
    row = [" "] * 40
    row[round(12 * low) : round(12 * high)] = "█" * (round(12 * high) - round(12 * low))
    row[round(12 * gold.mean())] = "|"
    said = f"{estimate.value:.2f} ± {estimate.se:.2f}    {low:.2f} to {high:.2f}"
    print(f"{name:16} {said} {''.join(row)}")
