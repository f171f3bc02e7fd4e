"""Rate in random order, look as often as you like, and stop when the interval is narrow enough."""

from fewgold.bounds import sequence
from fewgold.datasets import load_demo
from fewgold.samplers import SimpleRandom

pool, gold = load_demo("zhen")
TOLERANCE = 0.5  # MQM points, to either side

# Before: how many ratings will it take? Scores of last year's system give an idea.
_, last_year = load_demo("zhen", system="beta")
print(sequence.expected(last_year, [0.3, TOLERANCE, 1.0], limits="mqm", draws=50).summary(), "\n")

# During: rate the segments in random order, twenty at a time, until the monitor says stop.
order = SimpleRandom().draw(pool, 1.0, rng=7)
monitor = sequence.Monitor(pool, limits="mqm", tolerance=TOLERANCE, metric="comet")
while not monitor.stop:
    chosen = order.indices[monitor.n : monitor.n + 20]
    monitor = monitor.add(gold[chosen], id=pool.ids[chosen])  # here people would rate
    if monitor.n % 80 == 0:
        low, high = monitor.interval
        bar = " " * round(6 * low) + "█" * max(1, round(6 * (high - low)))
        print(f"{monitor.n:5d}  {low:5.2f} to {high:5.2f}  {bar}")

# After: the guarantee holds although we looked all the time.
print(f"\n{monitor.summary()}\ntrue mean of all {len(pool)}: {gold.mean():.3f}")
