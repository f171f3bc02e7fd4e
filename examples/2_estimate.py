"""From 100 ratings and the metrics to the score of the whole test set."""

from fewgold.bounds import Hoeffding
from fewgold.datasets import load_demo
from fewgold.errors import DataError
from fewgold.estimators import Mean, Ridge
from fewgold.samplers import Balanced, Stratified

pool, gold = load_demo()
human = dict(zip(pool.ids.tolist(), gold.tolist(), strict=True))  # what raters would answer

estimator = Ridge(sampler=Balanced(), higher_is_better=False)
sample = estimator.select(pool, budget=100, rng=7)
ratings = sample.rate({i: human[i] for i in sample.ids.tolist()}, limits=(0, 25))

print("with metrics\n" + estimator.estimate(ratings).summary())
print("\nwithout metrics, from the same ratings\n" + Mean().estimate(ratings).summary())

# A bound that holds whatever the scores, on a design that its proof covers.
careful = Mean(sampler=Stratified(), bound=Hoeffding())
drawn = careful.select(pool, budget=400, rng=7)
low, high = Mean(bound=Hoeffding(printed=True)).estimate(
    drawn.rate(gold[drawn.indices], limits=(0, 25))
).interval()  # fmt: skip
print(f"\nHoeffding, as printed, from 400 ratings: {low:.2f} to {high:.2f}")
print(f"true score {gold.mean():.4f}")

try:  # a gap is an error, because leaving segments out would bias the estimate
    sample.rate({i: human[i] for i in sample.ids[3:].tolist()})
except DataError as error:
    print(f"\n{error}")
