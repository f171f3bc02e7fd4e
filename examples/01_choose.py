"""Choose which segments to have rated, with a budget of 100 ratings.

The sample is spread over the documents, and its metric averages are close to those of the pool.
"""

from collections import Counter

from fewgold.datasets import load_demo
from fewgold.estimators import Ridge
from fewgold.samplers import Balanced

pool, _ = load_demo()
print(pool)

estimator = Ridge(sampler=Balanced(), higher_is_better=False)  # the scores are penalties
sample = estimator.select(pool, budget=100, rng=7)

# How many segments come from one document?
spread = Counter(Counter(pool.documents[sample.indices].tolist()).values())
print(f"{sample.n} segments to rate, the first three: {', '.join(sample.ids[:3])}")
for ratings, documents in sorted(spread.items()):
    print(f"  {ratings} per document: {documents} documents")

# The metrics have nearly the same mean in the sample as in the pool.
print("\nmean of each metric:      pool   sample")
for name, scores in pool.metrics.items():
    inside = (sample.design.weights * scores[sample.indices]).sum()
    print(f"  {name:18s} {scores.mean():9.3f} {inside:8.3f}")
