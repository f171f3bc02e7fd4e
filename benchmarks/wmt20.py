"""Error reduction over random + mean on the real WMT20 ratings, both language pairs.

    python benchmarks/wmt20.py [--draws 400] [--budgets 5,10,20,50] [--all]

For each system the mean absolute error of every strategy is divided by that of random + mean with
as many ratings, and one less that ratio is averaged over systems. ``oracle`` is the regression on
all metrics with the slope that only all N scores could tell. Needs the files that
`fewgold.datasets.data_folder` finds.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from fewgold import Estimator, Pool, Ratings, Sampler, registry
from fewgold._arrays import FloatArray
from fewgold.datasets import data_folder, load_real, real_systems
from fewgold.estimators import ControlVariates
from fewgold.samplers import Balanced, Systematic

Errors = dict[str, FloatArray]
Result = dict[tuple[str, float], list[float]]

# One column of each family that is complete for every system, the strongest among them.
METRICS = {
    "wmt20_ende": ["COMET", "UA-COMET-QE", "TER", "chrF", "YiSi-2", "bleurt-combi"],
    "wmt20_zhen": ["COMET", "TER", "chrF", "YiSi-2", "SWSS+METEOR", "parbleu", "BAQ_dyn", "EQ_dyn"],
}
SHORT = ["docs-sys+mean", "docs-sys+cv-mean", "docs-sys+ridge-free", "docs-sys+ridge",
         "docs-balanced+mean", "docs-balanced+ridge"]  # fmt: skip
LONG = [
    "docs-prop+mean", "docs-opt+mean", "metrics-prop+mean", "random+cv-COMET", "random+cv-mean",
    "random+cv-multi", "random+cv-multi-printed", "random+cv-knn", "random+cv-knn-printed",
    "docs-prop+cv-knn", "docs-prop-printed+cv-knn-printed", "metrics-prop+cv-knn",
    "docs-incr-human+mean", "docs-incr-metrics+mean",
]  # fmt: skip


def oracle(pool: Pool, gold: FloatArray, sampler: Sampler) -> ControlVariates:
    slopes = np.linalg.lstsq(pool.standardised().T, gold - gold.mean(), rcond=None)[0]
    return ControlVariates(slopes=dict(zip(pool.metrics, slopes, strict=True)), sampler=sampler)


def baseline(gold: FloatArray, n: int, rng: np.random.Generator) -> float:
    errors = [gold[rng.permutation(gold.size)[:n]].mean() - gold.mean() for _ in range(20_000)]
    return float(np.abs(errors).mean())


def measure(
    pool: Pool, gold: FloatArray, n: int, draws: int, seed: list[int], names: list[str]
) -> Errors:
    """Errors of all strategies; those with the same sampler share their samples."""
    made: dict[str, Estimator] = {s: registry.strategy(s, pool) for s in names}
    made["docs-sys+oracle"] = oracle(pool, gold, Systematic())
    made["docs-balanced+oracle"] = oracle(pool, gold, Balanced())
    shared: dict[Sampler, Ratings] = {}
    errors: Errors = {}
    for name, estimator in made.items():
        sampler = estimator.sampler
        if sampler not in shared:
            shared[sampler] = estimator.collect(
                pool, lambda s: gold[s.indices], n, draws=draws, rng=np.random.default_rng(seed)
            )
        errors[name] = estimator.estimate(shared[sampler]).value - gold.mean()
    return errors


def run(name: str, shares: list[float], draws: int, names: list[str]) -> Result:
    result: Result = {}
    metrics = [*METRICS[name], "target_length"]
    for k, system in enumerate(real_systems(name)):
        whole, gold = load_real(name, system=system)
        pool = Pool(
            whole.ids, {m: whole.metrics[m] for m in metrics}, whole.documents,
            orientation={m: v for m, v in whole.orientation.items() if m in metrics},
        )  # fmt: skip
        for share in shares:
            n = round(share * len(pool))
            base = baseline(gold, n, np.random.default_rng([k, n]))
            for strategy, error in measure(pool, gold, n, draws, [1, k, n], names).items():
                result.setdefault((strategy, share), []).append(1 - np.abs(error).mean() / base)
                result.setdefault((strategy, -share), []).append(error.mean() / base)
            print(name, system, share, file=sys.stderr)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--budgets", default="5,10,20,50", help="percentages")
    parser.add_argument("--all", action="store_true", help="kNN and incremental ones too")
    parser.add_argument("--data", default="wmt20_ende,wmt20_zhen")
    options = parser.parse_args()
    if data_folder() is None:
        sys.exit("The real data are not here. Set FEWGOLD_DATA to their folder.")
    shares = [float(b) / 100 for b in options.budgets.split(",")]
    for name in options.data.split(","):
        result = run(name, shares, options.draws, (LONG if options.all else []) + SHORT)
        print(f"\n{name}: error reduction over random+mean in %, {options.draws} draws a system")
        print(f"{'':36}" + "".join(f"{s:>8.0%}" for s in shares) + "    mean   of oracle      bias")
        print("(of oracle: share of docs-sys+oracle's reduction, mean and worst budget; bias in")
        print("units of the error of random+mean)")
        top = np.array([100 * np.mean(result["docs-sys+oracle", s]) for s in shares])
        for strategy in dict.fromkeys(k for k, _ in result):
            cells = [100 * np.mean(result[strategy, s]) for s in shares]
            bias = np.mean([np.mean(result[strategy, -s]) for s in shares])
            print(
                f"{strategy:36}" + "".join(f"{c:8.1f}" for c in cells)
                + f"{np.mean(cells):8.1f}{np.mean(cells) / top.mean():7.0%}"
                + f"{(cells / top).min():6.0%} {bias:+8.3f}"
            )  # fmt: skip


if __name__ == "__main__":
    main()
