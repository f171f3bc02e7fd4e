"""Do standard errors and intervals tell the truth? On the embedded data, for docs/coverage.md.

    python benchmarks/calibration.py [--draws 2000] [--kind ende] [--noise] [--n-jobs 2]

For each strategy and budget: how often the 95 % interval holds the true score, the root mean square
of the standard error over the real spread of the estimates (1 is right, more is cautious), the
bias in units of that spread, and the error over that of ``random+mean``. ``--noise`` replaces the
metrics by random numbers.
"""

from __future__ import annotations

import argparse
from collections.abc import Hashable

import numpy as np
from _common import arguments as common
from _common import read, table

from fewgold import Pool, simulate
from fewgold.datasets import load_demo

STRATEGIES = [
    "random+mean", "random+cv-mean", "random+cv-multi", "random+ridge", "docs-prop+mean",
    "docs-opt+mean", "metrics-prop+mean", "docs-sys+mean", "docs-sys+ridge", "docs-balanced+mean",
    "docs-balanced+ridge", "docs-chunks3+ridge", "docs-whole+ridge",
]  # fmt: skip


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--kind", default="ende")
    parser.add_argument("--budgets", default="5,10,20,50", help="percentages")
    parser.add_argument("--noise", action="store_true", help="metrics are random numbers")
    parser.add_argument("--n-jobs", type=int, default=1)
    return parser


def main() -> None:
    options = read(arguments(), draws=20)
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


def figures(cell: dict[Hashable, float]) -> str:
    return (
        f"{100 * cell['coverage']:.1f} {cell['se_ratio']:.2f} {cell['bias'] / cell['sd']:+.2f} "
        f"{1 - cell['reduction']:.2f}"
    )


if __name__ == "__main__":
    main()
