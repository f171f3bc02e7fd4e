"""Do standard errors and intervals tell the truth? On the embedded data, by simulation.

    python benchmarks/coverage.py [--draws 2000] [--kind ende] [--noise]

For each strategy and budget: how often the 95 % interval holds the true score, the root mean square
of the standard error over the real spread of the estimates (1 is right, more is cautious), and the
bias in units of that spread. ``--noise`` replaces the metrics by random numbers.
"""

from __future__ import annotations

import argparse

import numpy as np

from fewgold import Pool, registry
from fewgold.datasets import load_demo

STRATEGIES = [
    "random+mean", "random+cv-mean", "random+cv-multi", "random+ridge", "docs-prop+mean",
    "docs-opt+mean", "metrics-prop+mean", "docs-sys+mean", "docs-sys+ridge", "docs-balanced+mean",
    "docs-balanced+ridge", "docs-chunks3+ridge", "docs-whole+ridge",
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--kind", default="ende")
    parser.add_argument("--budgets", default="5,10,20,50", help="percentages")
    parser.add_argument("--noise", action="store_true")
    options = parser.parse_args()
    pool, gold = load_demo(options.kind)
    if options.noise:
        rng = np.random.default_rng(0)
        noise = {m: rng.normal(size=len(pool)) for m in pool.metrics}
        pool = Pool(pool.ids, noise, pool.documents)
    truth = gold.mean()
    shares = [float(b) / 100 for b in options.budgets.split(",")]
    print(f"{options.kind}, {len(pool)} segments, {options.draws} draws, 95% Student intervals")
    print("each cell: coverage %, se/spread, bias/spread, error/error of random+mean\n")
    print(f"{'':22}" + "".join(f"{s:>26.0%}" for s in shares))
    base: dict[float, float] = {}
    for name in STRATEGIES:
        cells = []
        for share in shares:
            made = registry.strategy(name, pool).run(
                pool, lambda s: gold[s.indices], share, draws=options.draws, rng=1
            )
            error = made.value - truth
            low, high = made.interval(0.95)
            covered = 100 * np.mean((low <= truth) & (truth <= high))
            ratio = np.sqrt(np.mean(np.square(made.se))) / error.std()
            size = base.setdefault(share, float(np.abs(error).mean()))
            cells.append(
                f"{covered:9.1f} {ratio:4.2f} {error.mean() / error.std():+5.2f} "
                f"{np.abs(error).mean() / size:4.2f}"
            )
        print(f"{name:22}" + "".join(f"{c:>26}" for c in cells), flush=True)


if __name__ == "__main__":
    main()
