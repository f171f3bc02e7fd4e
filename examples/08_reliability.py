"""Find out how many documents make scores and rankings reliable."""

from fewgold.datasets import demo_frame
from fewgold.reliability import documents_needed, reliability

# Five systems on the same segments; three raters saw each.
frame = demo_frame("zhen")
frame["human"] = frame.filter(like="rater").mean(axis=1)
columns = {"document": "document", "system": "system", "segment": "segment"}

# The bootstrap of Estrella et al. (2007), for ten random orders of the documents.
found = reliability(
    frame, score=["human", "comet"], orders=10, draws=300, at=[1, 2, 3, 5, 8, 12, 20, 40, 80, 155],
    rng=1, **columns,
)  # fmt: skip
print(found.summary())

# How many documents does it take until the systems are in their final order?
print("\ndocuments   pairs in the final order, by people and by COMET")
ranks = found.ranks().pivot(index="documents", columns="score", values="pairs")
for documents, row in ranks.iterrows():
    bar = "█" * round(60 * (row["human"] - 0.5))
    print(f"{documents:9d}   {row['human']:4.0%}  {row['comet']:4.0%}  {bar}")

# How many documents do we need for a score within ±0.5, and for a difference within ±0.5?
plan = documents_needed(frame, score="human", half_width=0.5, **columns)
print("\n" + plan.summary())
pairs = documents_needed(frame, score="human", half_width=0.5, against="alpha", **columns)
print("\n" + pairs.summary())
for documents in (10, 40, 160):
    print(f"{documents:4d} documents: ±{plan.at(documents).max():.2f} at most")

# found.plot("ranks") and found.plot("tangent", score="human") draw the results.
