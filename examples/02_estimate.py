"""From 200 ratings and the metrics to the score of the whole test set."""

from fewgold.bounds import STaR
from fewgold.datasets import load_demo
from fewgold.errors import DataError
from fewgold.estimators import Mean, Ridge
from fewgold.samplers import Balanced, SimpleRandom

pool, gold = load_demo()
human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))  # what raters would answer

# One plain random sample, three ways to look at it.
sample = SimpleRandom().draw(pool, 200, rng=7)
ratings = sample.rate({i: human[i] for i in sample.ids.tolist()}, limits="mqm")
print("without metrics\n" + Mean().estimate(ratings).summary())
print("\nwith metrics\n" + Ridge(higher_is_better=False).estimate(ratings).summary())
print("\nguaranteed whatever the scores\n" + Mean(bound=STaR()).estimate(ratings).summary())

# Better still: let the metrics choose the sample, too. Then the plain mean is nearly as good, as
# the metrics of the sample average as those of the pool already.
estimator = Ridge(sampler=Balanced(), higher_is_better=False)
sample = estimator.select(pool, budget=200, rng=7)
ratings = sample.rate({i: human[i] for i in sample.ids.tolist()}, limits="mqm")
print("\nwith a balanced sample, as we recommend\n" + estimator.estimate(ratings).summary())
print(f"\ntrue score {gold.mean():.4f}")

try:  # a gap is an error, because leaving segments out would bias the estimate
    sample.rate({i: human[i] for i in sample.ids[3:].tolist()})
except DataError as error:
    print(f"\n{error}")
