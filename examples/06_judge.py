"""An LLM judge passes or fails every answer, people rate some: what is the true success rate?"""

from fewgold import Pool
from fewgold.bayes import BinaryPosterior, significance, success_rates
from fewgold.datasets import judged_frame

frame = judged_frame()
truth = frame.groupby("system", sort=False)["truth"].mean()


def bar(low: float, high: float) -> str:
    return " " * round(60 * (low - 0.4)) + "█" * max(1, round(60 * (high - low)))


# The judge at face value, and corrected by the 150 answers of each assistant that people rated.
rates = success_rates(frame, human="passed", metric="judge", system="system")
print("assistant   judge says   corrected       truth")
for row in rates.to_frame().to_dict("records"):
    name, low, high = row["system"], row["low"], row["high"]
    found = f"{row['mean']:12.2f} ± {row['sd']:.2f}"
    print(f"{name:10s} {row['naive']:8.2f} {found} {truth[name]:9.2f}")
    print(f"           {bar(low, high)}  {low:.2f} to {high:.2f}")

print("\n" + significance(rates.posteriors, correction="holm").summary())

# The same for one assistant as a study: choose, have rated, estimate. Its confidence in bins tells
# more than its verdict.
one = frame[frame["system"] == "chatty"]
pool = Pool.from_table(one, id="item", metrics=["judge", "confidence"])
answers = dict(zip(one["item"], one["truth"], strict=True))
for judge in (
    BinaryPosterior(()),
    BinaryPosterior("judge"),
    BinaryPosterior("confidence", threshold="bins"),
):
    ratings = judge.select(pool, 200, rng=4).rate(answers)
    found = judge.estimate(ratings)
    print(f"\n{judge.name}: {found.value:.3f} ± {found.se:.3f}")
