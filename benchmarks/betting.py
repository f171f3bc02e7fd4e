"""Speed of betting and STaR intervals, compared with a scan of 1,000 means; for docs/speed.md.

    python benchmarks/betting.py

Such intervals are usually found by a scan over a grid of means, which updates one capital per mean
with every rating. If the two do not agree to the grid's resolution, this ends with an error. The
figures are ratios of times measured in one run, the best of several.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from _common import arguments as common
from _common import best_of, read, table

from fewgold import Pool
from fewgold.bounds.betting import (
    AIM,
    CAP,
    EAGER,
    PRIOR,
    STAR_CAP,
    WEIGHT,
    Betting,
    OrderedBound,
    STaR,
)
from fewgold.common.arrays import FloatArray
from fewgold.estimate import LinearEstimate
from fewgold.estimators import Mean
from fewgold.samplers import SimpleRandom

POINTS = 1000
LIMITS = (0.0, 25.0)
CONFIDENCE = 0.95

Rule = Callable[[FloatArray, FloatArray, FloatArray, int, int, int, float], FloatArray]


def by_size(
    mean: FloatArray,
    capital: FloatArray,
    spread: FloatArray,
    t: int,
    n: int,
    size: int,
    miss: float,
) -> FloatArray:
    """Bets of `Betting` against all means of the grid."""
    weights = (size - n) / (size - np.arange(1.0, n + 1))
    bet = weights[t] * np.sqrt(2 * np.log(1 / miss) / (spread * np.square(weights).sum()))
    return np.asarray(np.minimum(bet, CAP / np.maximum(mean, 1e-12)))


def by_what_is_missing(
    mean: FloatArray,
    capital: FloatArray,
    spread: FloatArray,
    t: int,
    n: int,
    size: int,
    miss: float,
) -> FloatArray:
    """Bets of `STaR` against all means of the grid."""
    weights = np.square((size - n) / (size - np.arange(1.0, n + 1)))
    missing = np.maximum(np.log(AIM / (miss * np.maximum(capital, 1e-300))), 0.0)
    bet = EAGER * np.sqrt(2 * missing * weights[t] / (weights[t:].sum() * spread))
    return np.asarray(np.minimum(bet, STAR_CAP / np.maximum(mean, 1e-12)))


def lowest(unit: FloatArray, size: int, miss: float, star: bool) -> float:
    """The last mean of the grid that is rejected, from below."""
    n, grid = len(unit), np.linspace(0.0, 1.0, POINTS + 1)
    capital, refused = np.ones(grid.shape), np.zeros(grid.shape, dtype=bool)
    total = squares = 0.0
    rule: Rule = by_what_is_missing if star else by_size
    for t, x in enumerate(unit):
        mean = (size * grid - total) / (size - t)
        refused |= mean < -1e-9
        mean = np.maximum(mean, 0.0)
        spread = np.full(grid.shape, (WEIGHT * PRIOR + squares) / (WEIGHT + t))
        if star and t:
            spread += np.maximum(total / t - mean, 0.0) ** 2 * t / (t + WEIGHT)
        capital *= 1 + rule(mean, capital, spread, t, n, size, miss) * (x - mean)
        refused |= capital >= 1 / miss
        total += x
        squares += (x - total / (t + 1)) ** 2
    first = int(np.argmin(refused))
    return max(float(grid[max(first - 1, 0)]), total / size)


def scan(scores: FloatArray, size: int, star: bool) -> tuple[float, float]:
    """The interval of one study by the scan."""
    low, high = LIMITS
    unit, miss = (scores - low) / (high - low), (1 - CONFIDENCE) / 2
    ends = lowest(unit, size, miss, star), lowest(1 - unit, size, miss, star)
    return low + (high - low) * ends[0], high - (high - low) * ends[1]


def study(size: int, n: int, draws: int | None) -> LinearEstimate:
    gold = np.minimum(np.random.default_rng(0).exponential(2.0, size).round(1), LIMITS[1])
    sample = SimpleRandom().draw(Pool(np.arange(size)), n, draws=draws, rng=1)
    return Mean().estimate(sample.rate(gold[sample.indices], limits=LIMITS))


def compare(bound: OrderedBound, size: int, n: int, draws: int | None, repeats: int) -> float:
    """How many times faster the bound is than the scan, after checking that both agree."""
    made, star = study(size, n, draws), isinstance(bound, STaR)
    scores = made.ratings.scores.reshape(-1, n)
    ends = np.array([scan(row, size, star) for row in scores[:10]])
    found = np.stack(bound.interval(made, CONFIDENCE), -1).reshape(-1, 2)[:10]
    # A scan stops up to one step early. STaR gives a hundredth of its misses away, and cells of
    # means share their bets: that is worth another step and 2 % of the width.
    room = (LIMITS[1] - LIMITS[0]) / POINTS * (2 if star else 1.05)
    room += 0.02 * np.ptp(ends, axis=-1).max() if star else 0.0
    worst = float(np.abs(found - ends).max())
    if worst > room:
        raise SystemExit(f"{bound.name} differs from the scan by {worst:.4f}, over {room:.4f}.")
    slow = best_of(2, lambda: [scan(row, size, star) for row in scores[:10]]) / len(scores[:10])
    fast = best_of(repeats, lambda: bound.interval(made, CONFIDENCE))
    return slow * len(scores) / fast


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="number of runs; the fastest counts")
    parser.add_argument("--draws", type=int, default=100, help="studies in a batch")
    return parser


def main() -> None:
    options = read(arguments(), repeats=1, draws=5)
    rows = []
    for bound in (Betting(), STaR()):
        for size, n in ((1418, 142), (1418, 709)):
            for draws in (None, options.draws):
                ratio = compare(bound, size, n, draws, options.repeats)
                rows.append([f"`{bound.name}`", size, n, draws or 1, f"{ratio:.0f}"])
    table(["bound", "N", "n", "studies", "times faster than a scan of 1,000 means"], rows)


if __name__ == "__main__":
    main()
