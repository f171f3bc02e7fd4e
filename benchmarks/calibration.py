"""Check standard errors and count how often intervals contain the truth; for docs/coverage.md.

    python benchmarks/calibration.py [--draws 2000] [--kind ende] [--noise] [--n-jobs 2]
    python benchmarks/calibration.py --real [--draws 400] [--systems 4] [--data wmt20_ende,frank]

For each strategy and budget: how often the 95 % interval contains the true score; the root mean
square of the standard error divided by the real spread of the estimates (1 is right, more is
cautious); the bias in units of that spread; and the error divided by that of ``random+mean``.
``--noise`` replaces the metrics by random numbers.

``--real`` is about designs that spread documents or have uneven chances, on some systems of every
real set. "history" means the ratings of all other systems. Each cell has the coverage; the root
mean square of the standard error divided by that of the error; and half the width of the interval
divided by 1.96 times the root mean square error, which is 1 for a normal estimate with a known
error. The last figure is the same ratio after all intervals of a system were scaled by one factor
so that they contain the true score in exactly 95 % of the draws. In practice nobody knows that
factor; it shows the smallest width that intervals of this shape need.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Hashable, Iterator, Sequence

import numpy as np
from _common import arguments as common
from _common import need, read, table
from wmt20 import load

from fewgold import History, Pool, Sampler, registry, simulate
from fewgold.common.arrays import FloatArray
from fewgold.datasets import load_demo
from fewgold.estimate import LinearEstimate
from fewgold.samplers import Chances, RankSpread, Systematic

STRATEGIES = [
    "random+mean", "random+cv-mean", "random+cv-multi", "random+ridge", "docs-prop+mean",
    "docs-opt+mean", "metrics-prop+mean", "docs-sys+mean", "docs-sys+ridge", "docs-balanced+mean",
    "docs-balanced+ridge", "docs-chunks3+ridge", "docs-whole+ridge",
]  # fmt: skip
# Sets, and the column of human scores if it is not the usual one.
REAL = {
    "wmt20_ende": (None, (0.0, 25.0)), "wmt20_zhen": (None, (0.0, 25.0)),
    "wmt21_ende": (None, (0.0, 25.0)), "wmt21_zhen": (None, (0.0, 25.0)),
    "ted_ende": (None, (0.0, 25.0)), "frank": (None, (0.0, 1.0)),
    "frank factuality": ("factuality", (0.0, 1.0)), "topicalchat": (None, (1.0, 5.0)),
}  # fmt: skip
FEWEST = 8  # ratings below which a cell is left empty
# Samplers, the estimators to use with them, and whether the pool gets a history.
BY_RANK = Systematic(chances=Chances(RankSpread(), uniform=0.5))
SPREAD: list[tuple[str, Sampler, tuple[str, ...], bool]] = [
    *((name, registry.sampler(name), ("mean", "cv-mean", "ridge"), False)
      for name in ("docs-sys", "docs-balanced", "docs-chunks3", "docs-whole")),
    ("docs-uneven-rank", registry.sampler("docs-uneven-rank"), ("mean", "ridge"), False),
    ("docs-sys-uneven-rank", BY_RANK, ("mean", "ridge"), False),
    *((name, registry.sampler(name), ("mean", "ridge"), True)
      for name in ("random-uneven", "docs-sys-uneven", "docs-uneven")),
]  # fmt: skip


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int)
    parser.add_argument("--real", action="store_true", help="use the real sets")
    parser.add_argument("--data", default=",".join(REAL), help="with --real: names of the sets")
    parser.add_argument(
        "--systems", type=int, default=4, help="with --real: number of systems per set"
    )
    parser.add_argument("--only", default="", help="with --real: samplers with this in their name")
    parser.add_argument("--kind", default="ende")
    parser.add_argument("--budgets", help="percentages")
    parser.add_argument("--noise", action="store_true", help="metrics are random numbers")
    parser.add_argument("--n-jobs", type=int, default=1)
    return parser


def main() -> None:
    options = read(arguments(), draws=20, systems=1)
    if options.real:
        real(options)
        return
    options.draws = options.draws or 2000
    options.budgets = options.budgets or "5,10,20,50"
    pool, gold = load_demo(options.kind)
    if options.noise:
        rng = np.random.default_rng(0)
        noise = {m: rng.normal(size=len(pool)) for m in pool.metrics}
        pool = Pool(pool.ids, noise, pool.documents)
    shares = [float(b) / 100 for b in options.budgets.split(",")]
    result = simulate(
        *(pool, gold, STRATEGIES, shares), draws=options.draws, rng=1, n_jobs=options.n_jobs
    )
    frame = result.to_frame()
    print(f"{options.kind}, {len(pool)} segments, {options.draws} draws, 95 % intervals (`auto`).")
    print("In each cell: coverage in %, se/spread, bias/spread, error/error of `random+mean`.\n")
    rows = []
    for name in STRATEGIES:
        cells = frame[frame["strategy"] == name].to_dict("records")
        rows.append([f"`{name}`", *(figures(c) for c in cells)])
    table(["", *(f"{s:.0%}" for s in shares)], rows)


def real(options: argparse.Namespace) -> None:
    """The table of the real sets, and the worst of each strategy."""
    names = [name for name in REAL if name in options.data.split(",")]
    need(*{name.split(maxsplit=1)[0] for name in names})
    shares = [float(b) / 100 for b in (options.budgets or "5,10,20,40").split(",")]
    draws = options.draws or 400
    print(f"{options.systems} systems of each set, {draws} draws of each, 95 % intervals (`auto`).")
    print("In each cell: n, coverage in %, se/error, half-width/(1.96 error), least for 95 %.\n")
    samplers = [line for line in SPREAD if options.only in line[0]]
    rows: list[list[str]] = []
    worst: dict[tuple[str, str], list[tuple[float, float, float]]] = {}
    for name in names:
        pools = list(systems_of(name, options.systems, any(line[-1] for line in samplers)))
        for label, sampler, estimators, told in samplers:
            cells: dict[str, list[str]] = {}
            for share in shares:
                n = round(share * len(pools[0][0]))
                found = [
                    honesty(sampler, estimators, pool, gold, share, draws, seed, REAL[name][1])
                    for seed, (plain, informed, gold) in enumerate(pools, start=1)
                    for pool in (informed if told else plain,)
                    if n >= FEWEST
                ]
                for k, estimator in enumerate(estimators):
                    title = f"`{label}+{estimator}`" + (", history" if told else "")
                    if not found:
                        cells.setdefault(title, []).append("")
                        continue
                    cover, se, half, least = np.mean([each[k] for each in found], 0)
                    cells.setdefault(title, []).append(
                        f"{n} {100 * cover:.1f} {se:.2f} {half:.2f} {least:.2f}"
                    )
                    size = "n ≥ 100" if n >= 100 else "30 ≤ n < 100" if n >= 30 else ""
                    worst.setdefault((title, size), []).append((100 * cover, half, least))
            rows += [[name, title, *line] for title, line in cells.items()]
            print(name, label, file=sys.stderr)
    table(["", "", *(f"{s:.0%}" for s in shares)], rows, left=2)
    print(
        "Over all sets: least and most coverage, mean and most half-width/(1.96 error), mean and "
        "most of the least for 95 %.\n"
    )
    sizes = ("30 ≤ n < 100", "n ≥ 100")
    lines = []
    for title in dict.fromkeys(title for title, _ in worst):
        some = [np.array(worst.get((title, size), [(np.nan,) * 3])) for size in sizes]
        lines.append([
            title,
            *(f"{a[:, 0].min():.1f}–{a[:, 0].max():.1f} {a[:, 1].mean():.2f} {a[:, 1].max():.2f} "
              f"{a[:, 2].mean():.2f} {a[:, 2].max():.2f}" for a in some),
        ])  # fmt: skip
    table(["", *sizes], lines)


def systems_of(name: str, most: int, told: bool) -> Iterator[tuple[Pool, Pool, FloatArray]]:
    """Pools and scores of some systems of a set; each pool also with a history, if ``told``."""
    kind, human = name.split(maxsplit=1)[0], REAL[name][0]
    studies = list(load(kind, human).values())
    for k in np.linspace(0, len(studies) - 1, min(most, len(studies))).astype(int):
        pool, gold = studies[k]
        informed = History([*studies[:k], *studies[k + 1 :]]).inform(pool) if told else pool
        yield pool, informed, gold


def honesty(
    sampler: Sampler,
    estimators: Sequence[str],
    pool: Pool,
    gold: FloatArray,
    share: float,
    draws: int,
    seed: int,
    limits: tuple[float, float],
) -> list[tuple[float, float, float, float]]:
    """Coverage, se/error, half-width/(1.96 error) and its least of a system, by each estimator."""
    sample = sampler.draw(pool, share, draws=draws, rng=seed)
    ratings, truth, found = sample.rate(gold[sample.indices], limits=limits), gold.mean(), []
    for name in estimators:
        made = registry.estimator(name, pool).estimate(ratings)
        assert isinstance(made, LinearEstimate)
        low, high = made.interval(0.95)
        error = np.sqrt(np.mean((made.value - truth) ** 2))
        held = np.mean((low <= truth) & (truth <= high))
        se = np.sqrt(np.mean(np.square(made.se[np.isfinite(made.se)])))
        half = np.mean(high - low) / 2 / 1.96 / error
        # Distance of the truth from the estimate, in lengths of the interval's arm on that side.
        arm = np.where(truth < made.value, made.value - low, high - made.value)
        out = np.abs(made.value - truth) / np.maximum(arm, 1e-12)
        least = half * np.quantile(out, 0.95)
        found.append((float(held), float(se / error), float(half), float(least)))
    return found


def figures(cell: dict[Hashable, float]) -> str:
    return (
        f"{100 * cell['coverage']:.1f} {cell['se_ratio']:.2f} {cell['bias'] / cell['sd']:+.2f} "
        f"{1 - cell['reduction']:.2f}"
    )


if __name__ == "__main__":
    main()
