"""Which segments should be annotated, when only 100 ratings can be paid for?"""

from collections import Counter

from fewgold.datasets import load_demo
from fewgold.estimators import Ridge
from fewgold.samplers import Balanced

pool, _ = load_demo()
print(pool)

estimator = Ridge(sampler=Balanced(), higher_is_better=False)  # the scores are penalties
sample = estimator.select(pool, budget=100, rng=7)

spread = Counter(Counter(pool.documents[sample.indices].tolist()).values())
print(f"{sample.n} segments to annotate, the first three: {', '.join(sample.ids[:3])}")
for ratings, documents in sorted(spread.items()):
    print(f"  {documents:3d} documents with {ratings} of their segments")

print("\nmean of each metric:      pool   sample   (drawn so that they agree)")
for name, scores in pool.metrics.items():
    inside = (sample.design.weights * scores[sample.indices]).sum()
    print(f"  {name:18s} {scores.mean():9.3f} {inside:8.3f}")
