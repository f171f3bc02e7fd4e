"""Compare five systems, rated on the same few segments."""

import numpy as np

from fewgold.comparison import compare, joint_pool
from fewgold.datasets import demo_frame
from fewgold.registry import sampler

RATERS = [f"rater{k}" for k in range(1, 7)]
METRICS = ["comet", "bleurt", "chrf", "ter"]

# The table has one row per segment and system, with metrics in every row.
table = demo_frame("zhen")
pool = joint_pool(table, id="segment", system="system", document="document", metrics=METRICS)

# Draw the same segments for all systems, balanced on the metrics averaged over systems.
sample = sampler("docs-balanced").draw(pool, 120, rng=7)
print(sample)

# People rate every system on these segments. Here we look up what they said: three of six raters
# saw each output.
table[RATERS] = table[RATERS].where(table["segment"].isin(sample.ids))

result = compare(
    table, human=RATERS, system="system", id="segment", document="document", metrics=METRICS,
    sample=sample, limits="mqm",
)  # fmt: skip
print(result.summary())

print("\ndifferences")
shown = ["first", "second", "difference", "low", "high", "p_better", "p_adjusted"]
print(result.differences()[shown].round(3).to_string(index=False))

print("\nprobability of each rank")
print(result.rank_probabilities().round(2).to_string())

print("\nraters")
print(result.raters().round(2).to_string(index=False))

# If each system had its own segments, the same number of ratings would tell us less.
lot = np.random.default_rng(1).permutation(np.asarray(table["segment"].unique()))
own = {name: set(lot[120 * k : 120 * k + 120]) for k, name in enumerate(result.systems)}
apart = demo_frame("zhen")
pairs = zip(apart["segment"], apart["system"], strict=True)
rated = [segment in own[name] for segment, name in pairs]
apart.loc[~np.array(rated), RATERS] = np.nan
other = compare(apart, human=RATERS, system="system", id="segment", metrics=METRICS, limits="mqm")
ratio = (other.differences()["se"].mean() / result.differences()["se"].mean()) ** 2
print(f"\nwith different segments, differences have {ratio:.1f} times the variance")

# result.save("results") writes all tables and plots; result.plot("ranks") draws one plot.
