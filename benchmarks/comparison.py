"""How much shared segments and metrics help to compare systems; for docs/comparing.md.

Uses the real ratings of both WMT20 pairs. It shows how much the variance of a difference grows on
different segments. It also shows the squared error and coverage of differences from simple random
samples with three kinds of control: none, one slope per metric for all pairs (as `compare` does),
and a ridge regression for each pair. Controls use two metrics, or all that every system has.

    python benchmarks/comparison.py [--draws 400] [--n 100] [--time]

Needs the real WMT20 files. ``--time`` adds the seconds per draw, for all pairs.
"""

from __future__ import annotations

import argparse
from itertools import combinations
from time import perf_counter

import numpy as np
from _common import arguments as common_arguments
from _common import need, read, table

from fewgold.bounds import Student
from fewgold.bounds.approximate import student_quantile
from fewgold.comparison.pairs import shared_pairs
from fewgold.datasets import load_real, real_systems
from fewgold.estimators import Ridge
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample
from fewgold.samplers import SimpleRandom

SETS = ("wmt20_ende", "wmt20_zhen")
# Metrics that are the same for every system, or only the length of the source.
LEAVE_OUT = ("source_chars",)


def load(name: str) -> tuple[np.ndarray, np.ndarray, list[str], dict[str, int]]:
    """Scores (S, N), metrics (p, S, N) that all systems have, their names and orientation."""
    loaded = [load_real(name, system=system) for system in real_systems(name)]
    pools = [pool for pool, _ in loaded]
    names = [m for m in pools[0].metrics if all(m in p.metrics for p in pools)]
    names = [m for m in names if m not in LEAVE_OUT]
    scores = np.stack([gold for _, gold in loaded])
    metrics = np.stack([[pool.metrics[m] for pool in pools] for m in names])
    metrics = metrics - metrics.mean(-1, keepdims=True)
    return scores, metrics / metrics.std((1, 2), keepdims=True), names, dict(pools[0].orientation)


def study(name: str, n: int, draws: int, few: bool, timed: bool) -> list[list[str]]:
    scores, metrics, names, signs = load(name)
    if few:
        kept = [names.index(m) for m in ("COMET", "chrF")]
        names, metrics = [names[k] for k in kept], metrics[kept]
    systems, size = scores.shape
    above = list(combinations(range(systems), 2))
    sample = SimpleRandom().draw(Pool(ids=np.arange(size)), n, draws=draws, rng=1)
    y = np.moveaxis(scores[:, sample.indices], 1, 0)
    z = np.moveaxis(metrics[:, :, sample.indices], 2, 0)
    truth = scores.mean(-1)[:, None] - scores.mean(-1)[None, :]
    plain = shared_pairs(sample.design, y)
    start = perf_counter()
    common = shared_pairs(sample.design, y, z)
    spent = perf_counter() - start
    found = {}
    for label, pairs in (("none", plain), ("one slope for all", common)):
        off = np.abs(pairs.value - truth)
        half = student_quantile(pairs.df, 0.95) * pairs.se
        found[label] = (
            np.array([np.square(off[:, i, j]).mean() for i, j in above]),
            np.array([(off[:, i, j] <= half[:, i, j]).mean() for i, j in above]),
        )
    error, hit = [], []
    start = perf_counter()
    for i, j in above:
        apart = {m: row[i] - row[j] for m, row in zip(names, metrics, strict=True)}
        pool = Pool(
            ids=np.arange(size), metrics=apart, orientation={m: signs.get(m, 0) for m in names}
        )
        ratings = Ratings(Sample(pool, sample.indices, sample.design), y[:, i] - y[:, j])
        made = Ridge(bound=Student()).estimate(ratings)
        low, high = made.interval(0.95)
        error.append(np.square(made.value - truth[i, j]).mean())
        hit.append(((low <= truth[i, j]) & (truth[i, j] <= high)).mean())
    found["a ridge for each pair"] = np.array(error), np.array(hit)
    other = perf_counter() - start
    rows = []
    took = ("", f"{spent / draws:.4f}", f"{other / draws:.4f}")
    used = ("", f"{(common.gain > 0).mean():.0%}", "")
    for (label, (square, inside)), share, seconds in zip(found.items(), used, took, strict=True):
        left = square.mean() / found["none"][0].mean()
        row = [name, label, str(n), str(len(names)), f"{left:.3f}", f"{inside.mean():.3f}", share]
        rows.append([*row, seconds] if timed else row)
    return rows


def arguments() -> argparse.ArgumentParser:
    parser = common_arguments(__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--n", type=int, nargs="+", default=[100])
    parser.add_argument("--time", action="store_true", help="also show seconds per draw")
    return parser


def main() -> None:
    options = read(arguments(), draws=20)
    need(*SETS)
    rows, factors = [], []
    for name in SETS:
        scores = load(name)[0]
        factor = [
            (scores[i].var() + scores[j].var()) / (scores[i] - scores[j]).var()
            for i, j in combinations(range(len(scores)), 2)
        ]
        ends = f"{np.min(factor):.1f}", f"{np.mean(factor):.1f}", f"{np.max(factor):.1f}"
        factors.append([name, *ends])
        for n in options.n:
            for few in (True, False):
                rows += study(name, n, options.draws, few, options.time)
    print("Variance of a difference on different segments over that on the same ones, all pairs\n")
    table(["", "least", "mean", "most"], factors)
    print(f"Squared error over that without a control, and coverage; {options.draws} draws\n")
    heads = ["", "control", "ratings", "metrics", "squared error", "coverage", "used in"]
    table([*heads, "seconds"] if options.time else heads, rows, left=2)


if __name__ == "__main__":
    main()
