"""Plan how many ratings you need, from a guess and from last year's ratings."""

from fewgold.datasets import load_demo
from fewgold.planning import Goal, Outlook, plan, plan_from_history

# From a guess of the standard deviation, the correlation with the metrics, and so on.
goal = Goal(half_width=0.5)  # the score to ± 0.5 points, with 95 % confidence
guess = Outlook(sd=3.5, correlation=0.5, icc=0.15, per_document=14, size=1418)
print(plan(goal, guess).summary())

# From last year's system, of which every segment was rated: replay strategies on it.
names = ["random+ridge", "docs-chunks3+ridge", "docs-balanced+ridge"]
history = plan_from_history(goal, *load_demo(), names, draws=50, rng=1)
print("\n" + history.summary())

# How narrow does the interval become with more ratings? Again from the guess.
print("\nratings   ± with a plain random sample")
for n in (25, 50, 100, 200, 400, 800):
    half = 1.96 * guess.sd * (1 / n - 1 / guess.size) ** 0.5
    print(f"{n:7d}   {half:4.2f}  {'█' * round(40 * half)}")

# For two systems on the same segments, plan with the standard deviation of their differences.
_, alpha = load_demo(system="alpha")
_, beta = load_demo(system="beta")
spread = float((alpha - beta).std(ddof=1))
needed = plan(Goal(difference=0.5, power=0.8), Outlook(sd=spread, size=1418))
print("\n" + needed.summary())
