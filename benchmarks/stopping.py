"""How many ratings stopping early saves, on the real WMT20 ratings; for docs/stopping.md.

    python benchmarks/stopping.py [--draws 200] [--data wmt20_ende,wmt20_zhen] [--whole] [--speed]

Each system's segments are rated in random order until the rule says stop. ``rated`` is the share of
the pool that was rated by then, over systems and draws, and ``saved`` is the rest. ``held`` is how
often the interval contained the true mean when the rule said stop, and ``within`` is how often its
middle was within the tolerance of the mean. Half of the documents are the pool, as if one rater had
that share, or all of them with ``--whole``. Needs the real WMT20 files. ``--speed`` measures the
computing time, and needs no files.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from _common import arguments as common
from _common import best_of, need, read, table

from fewgold import Pool
from fewgold.bounds import sequence
from fewgold.bounds.betting import CAP, PRIOR, WEIGHT
from fewgold.bounds.sequence.rules import Rule
from fewgold.common.arrays import FloatArray
from fewgold.datasets import load_demo, load_real, real_systems
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


def study(name: str, systems: list[str], draws: int, whole: bool) -> list[list[str]]:
    rng = np.random.default_rng(1)
    rows: dict[tuple[float, str], list[tuple[float, float, float]]] = {}
    for system in systems:
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
    lines = []
    for (tolerance, case), cells in rows.items():
        rated, held, within = np.array(cells).T
        shares = rated.mean(), 1 - rated.mean(), 1 - rated.max(), held.mean(), held.min()
        digits = (f"{100 * share:.1f} %" for share in (*shares, within.mean()))
        lines.append([name, case, f"± {tolerance:g}", *digits])
    return lines


def scan(scores: FloatArray, tolerance: float, means: int = 1000) -> tuple[FloatArray, FloatArray]:
    """The path by a grid of means, rating by rating, as you would write it with numpy."""
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


def speed(kind: str, rater: str | None, repeats: int) -> list[list[str]]:
    """Ratios to a scan of 1,000 means, side by side in one run, the best of several each."""
    pool, gold = load_demo(kind, rater=rater)
    size, tolerance = gold.size, 0.5 / SPAN
    rng = np.random.default_rng(0)
    order = np.stack([rng.permutation(size) for _ in range(100)])
    x = gold[order] / SPAN
    sample = SimpleRandom().draw(Pool(pool.ids), size, rng=0)
    ratings = sample.rate(gold[order[0]], limits="mqm")
    rule = sequence.RULES["kelly"](tolerance)
    slow = best_of(repeats, lambda: scan(x[0], tolerance))
    taken = {
        "after every rating": best_of(3 * repeats, lambda: sequence.path(ratings, 0.5)),
        "after the last one": best_of(3 * repeats, lambda: rule.last(x[:1], size, None)),
        "when to stop, each of 100": best_of(repeats, lambda: rule.stops(x, size, None)) / 100,
    }
    made, (low, high) = sequence.path(ratings, 0.5), scan(x[0], tolerance)
    apart = max(np.abs(made.low / SPAN - low).max(), np.abs(made.high / SPAN - high).max())
    if apart * 999 > 1.01:
        raise SystemExit(f"The paths differ from the scan by {apart * 999:.2f} of its steps.")
    return [
        [f"{what}, {size} segments", f"{took * 1e3:.2f}", f"{slow / took:.0f}"]
        for what, took in taken.items()
    ]


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--data", default="wmt20_ende,wmt20_zhen")
    parser.add_argument("--systems", type=int, help="only the first systems of each")
    parser.add_argument("--whole", action="store_true", help="all documents are the pool")
    parser.add_argument("--speed", action="store_true", help="only the speed")
    parser.add_argument("--repeats", type=int, default=5, help="number of runs for --speed")
    return parser


def main() -> None:
    options = read(arguments(), draws=5, systems=1, repeats=1)
    if options.speed:
        rows = speed("ende", "rater3", options.repeats) + speed("zhen", None, options.repeats)
        table(["interval", "ms", "times faster than a scan of 1,000 means"], rows)
        return
    sets = options.data.split(",")
    need(*sets)
    lines = []
    for name in sets:
        systems = real_systems(name)[: options.systems]
        lines += study(name, systems, options.draws, options.whole)
    part = "all" if options.whole else "half of the"
    print(f"The pool is {part} documents, 95 %, {options.draws} draws per system\n")
    heads = ["rated", "saved", "saved, worst", "held", "held, worst", "within"]
    table(["", "rule", "tolerance", *heads], lines, left=2)


if __name__ == "__main__":
    main()
