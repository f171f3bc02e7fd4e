"""Do standard errors and intervals tell the truth? On the embedded data, by simulation.

    python benchmarks/calibration.py [--draws 2000] [--kind ende] [--noise] [--n-jobs 2]

For each strategy and budget: how often the 95 % interval holds the true score, the root mean square
of the standard error over the real spread of the estimates (1 is right, more is cautious), the
bias in units of that spread, and the error over that of ``random+mean``. ``--noise`` replaces the
metrics by random numbers.
"""

from __future__ import annotations

import argparse

import numpy as np

from fewgold import Pool, simulate
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
    parser.add_argument("--n-jobs", type=int, default=1)
    options = parser.parse_args()
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
    print(f"{options.kind}, {len(pool)} segments, {options.draws} draws, 95% intervals (auto)")
    print("each cell: coverage %, se/spread, bias/spread, error/error of random+mean\n")
    print(f"{'':22}" + "".join(f"{s:>26.0%}" for s in shares))
    for name in STRATEGIES:
        cells = frame[frame["strategy"] == name].to_dict("records")
        print(
            f"{name:22}"
            + "".join(
                f"{100 * c['coverage']:11.1f} {c['se_ratio']:4.2f} {c['bias'] / c['sd']:+5.2f} "
                f"{1 - c['reduction']:4.2f}"
                for c in cells
            )
        )


if __name__ == "__main__":
    main()
