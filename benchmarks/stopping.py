"""What stopping at a tolerance costs on the real WMT20 ratings, and how long working it out takes.

    python benchmarks/stopping.py [--draws 200] [--data wmt20_ende,wmt20_zhen] [--whole] [--speed]

Each system's segments are rated in random order until the rule says stop. ``rated`` is the share of
the pool that was rated by then, over systems and draws; ``saved`` the rest; ``held`` how often the
interval held the true mean when it said stop; ``within`` how often its middle was within the
tolerance of the mean. Half of the documents are the pool, as in a study of one
rater's share, or all of them with ``--whole``. Needs the files that `fewgold.datasets.data_folder`
finds; ``--speed`` alone needs none.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from fewgold import Pool
from fewgold._arrays import FloatArray
from fewgold.bounds import sequence
from fewgold.bounds._betting import CAP, PRIOR, WEIGHT
from fewgold.bounds.sequence._rules import Rule
from fewgold.datasets import data_folder, load_demo, load_real, real_systems
from fewgold.samplers import SimpleRandom

TOLERANCES = {"wmt20_ende": (0.3, 0.5), "wmt20_zhen": (0.5, 1.0)}
SPAN = 25.0
CASES = {
    "guaranteed": ("kelly", False),
    "guaranteed, COMET": ("kelly", True),
    "hall": ("hall", False),
    "hall, COMET": ("hall", True),
}


def ends_at(
    rule: Rule, scores: FloatArray, stops: FloatArray, metric: tuple[FloatArray, FloatArray] | None
) -> tuple[FloatArray, FloatArray]:
    """The interval of each draw when it stopped."""
    size = scores.shape[-1]
    ends = []
    for k, n in enumerate(stops):
        control = None if metric is None else (metric[0], metric[1][k : k + 1, :n])
        low, high = rule.last(scores[k : k + 1, :n], size, control)  # type: ignore[arg-type]
        ends.append((low[0], high[0]))
    found = np.array(ends)
    return found[:, 0], found[:, 1]


def study(name: str, draws: int, whole: bool) -> None:
    rng = np.random.default_rng(1)
    rows: dict[tuple[float, str], list[tuple[float, float, float]]] = {}
    for system in real_systems(name):
        pool, gold = load_real(name, system=system)
        chosen = rng.permutation(int(pool.codes.max()) + 1)[:: 1 if whole else 2]
        keep = np.isin(pool.codes, chosen)
        y, z = gold[keep] / SPAN, pool.metrics["COMET"][keep]
        order = np.stack([rng.permutation(y.size) for _ in range(draws)])
        for tolerance in TOLERANCES[name]:
            for case, (rule_name, with_metric) in CASES.items():
                rule = sequence.RULES[rule_name](tolerance / SPAN)
                metric = (z, order) if with_metric else None
                stops = np.minimum(rule.stops(y[order], y.size, metric), y.size)
                low, high = ends_at(rule, y[order], stops, metric)  # type: ignore[arg-type]
                held = (low <= y.mean() + 1e-12) & (y.mean() <= high + 1e-12)
                within = np.abs((low + high) / 2 - y.mean()) <= tolerance / SPAN
                cell = (float(stops.mean() / y.size), float(held.mean()), float(within.mean()))
                rows.setdefault((tolerance, case), []).append(cell)
        print(name, system, file=sys.stderr)
    print(f"\n{name}: {'all' if whole else 'half of the'} documents, 95 %, {draws} draws a system")
    head = f"{'tolerance':>9}  {'rule':20}{'rated':>8}{'saved':>8}{'worst':>8}"
    print(f"{head}{'held':>8}{'worst':>8}{'within':>8}")
    for (tolerance, case), cells in rows.items():
        rated, held, within = np.array(cells).T
        print(
            f"{tolerance:9g}  {case:20}{rated.mean():8.1%}{1 - rated.mean():8.1%}"
            f"{1 - rated.max():8.1%}{held.mean():8.1%}{held.min():8.1%}{within.mean():8.1%}"
        )


def scan(scores: FloatArray, tolerance: float, means: int = 1000) -> tuple[FloatArray, FloatArray]:
    """The path by a grid of means, as one would write it with numpy: rating by rating."""
    size = scores.size
    grid = np.linspace(0, 1, means)
    sides = []
    for x in (scores, 1 - scores):
        capital, refused = np.ones(means), np.zeros(means, dtype=bool)
        found = np.empty(size)
        seen = total = 0.0
        squares = WEIGHT * PRIOR
        for t in range(size):
            mean = (size * grid - seen) / (size - t)
            refused |= mean < -1e-9
            mean = np.clip(mean, 0, 1)
            off = tolerance * size / (size - t)
            bet = off / (squares / (WEIGHT + t) + off * off)
            bets = np.minimum(bet, CAP / np.maximum(mean, 1e-9))
            capital = np.where(refused, capital, capital * (1 + bets * (x[t] - mean)))
            refused |= capital >= 40
            seen += x[t]
            total += x[t]
            squares += (x[t] - total / (t + 1)) ** 2
            found[t] = max(grid[max(int(np.argmin(refused)) - 1, 0)], seen / size)
        sides.append(np.maximum.accumulate(found))
    return sides[0], 1 - sides[1]


def best_of(call: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def speed(kind: str, rater: str | None) -> None:
    """Ratios to a scan of 1,000 means, side by side in one run, the best of several each."""
    pool, gold = load_demo(kind, rater=rater)
    size, tolerance = gold.size, 0.5 / SPAN
    rng = np.random.default_rng(0)
    order = np.stack([rng.permutation(size) for _ in range(100)])
    x = gold[order] / SPAN
    sample = SimpleRandom().draw(Pool(pool.ids), size, rng=0)
    ratings = sample.rate(gold[order[0]], limits="mqm")
    rule = sequence.RULES["kelly"](tolerance)
    slow = best_of(lambda: scan(x[0], tolerance), 5)
    taken = {
        "interval after every rating": best_of(lambda: sequence.path(ratings, 0.5), 15),
        "interval after the last one": best_of(lambda: rule.last(x[:1], size, None), 15),
        "when to stop, of 100 draws at once, each": best_of(lambda: rule.stops(x, size, None), 5)
        / 100,
    }
    made, (low, high) = sequence.path(ratings, 0.5), scan(x[0], tolerance)
    apart = max(np.abs(made.low / SPAN - low).max(), np.abs(made.high / SPAN - high).max())
    print(f"\n{size} segments, both ends; the scan of 1,000 means takes {slow * 1e3:.0f} ms")
    for what, took in taken.items():
        print(f"  {what:42}{took * 1e3:8.2f} ms  {slow / took:6.0f} times as fast")
    print(f"  largest difference from the scan: {apart * 999:.2f} of its steps")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--data", default="wmt20_ende,wmt20_zhen")
    parser.add_argument("--whole", action="store_true", help="all documents are the pool")
    parser.add_argument("--speed", action="store_true", help="only the speed")
    options = parser.parse_args()
    speed("ende", "rater3")
    speed("zhen", None)
    if options.speed:
        return
    if data_folder() is None:
        sys.exit("The real data are not here. Set FEWGOLD_DATA to their folder.")
    for name in options.data.split(","):
        study(name, options.draws, options.whole)


if __name__ == "__main__":
    main()
