"""Error relative to random + mean, on the real WMT20 ratings; for docs/evidence.md and README.

    python benchmarks/wmt20.py [--draws 400] [--budgets 5,10,20,50] [--all] [--history] [--n-jobs 2]

For each system the mean absolute error of every strategy is divided by that of random + mean with
as many ratings. The reduction is one minus that ratio, averaged over systems. ``oracle`` is the
regression on all metrics with the slopes from all N scores, which nobody knows in practice. ± is
the Monte-Carlo error of the mean over budgets. "of oracle" compares the reduction with that of
``docs-sys+oracle``, on average and at the worst budget. bias is in units of the error of
``random+mean``. Needs the real files.

``--history`` adds uneven chances: by the rank of the metrics, learnt in two waves, and with the
ratings of all other systems as history, without and with ratings of the same segments.
``--columns 46 --ratings 20,66`` tests dozens of metrics with few ratings: noisy copies are added to
the metrics of a set until there are that many. ``--data`` accepts the other real sets as well
(wmt21_ende, ted_ende, …).
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
import pandas as pd
from _common import arguments as common
from _common import need, read, table

from fewgold import Estimator, History, Pool, Sampler, simulate
from fewgold.common.arrays import FloatArray
from fewgold.datasets import load_real, real_systems
from fewgold.estimators import ControlVariates
from fewgold.samplers import Balanced, Systematic

# The strongest column of each family that is complete for every system.
METRICS = {
    "wmt20_ende": ["COMET", "UA-COMET-QE", "TER", "chrF", "YiSi-2", "bleurt-combi"],
    "wmt20_zhen": ["COMET", "TER", "chrF", "YiSi-2", "SWSS+METEOR", "parbleu", "BAQ_dyn", "EQ_dyn"],
}
SHORT = ["docs-sys+mean", "docs-sys+cv-mean", "docs-sys+ridge-free", "docs-sys+ridge",
         "docs-balanced+mean", "docs-balanced+ridge"]  # fmt: skip
UNEVEN = ["docs-uneven-rank+ridge", "docs-two-wave+ridge"]
LONG = [
    "docs-prop+mean", "docs-opt+mean", "metrics-prop+mean", "random+cv-COMET", "random+cv-mean",
    "random+cv-multi", "random+cv-multi-printed", "random+cv-knn", "random+cv-knn-printed",
    "docs-prop+cv-knn", "docs-prop-printed+cv-knn-printed", "metrics-prop+cv-knn",
    "docs-incr-human+mean", "docs-incr-metrics+mean",
]  # fmt: skip


def oracle(pool: Pool, gold: FloatArray, sampler: Sampler) -> ControlVariates:
    slopes = np.linalg.lstsq(pool.standardised().T, gold - gold.mean(), rcond=None)[0]
    return ControlVariates(slopes=dict(zip(pool.metrics, slopes, strict=True)), sampler=sampler)


def load(name: str, human: str | None = None) -> dict[str, tuple[Pool, FloatArray]]:
    """All systems with the same metrics: those listed above, or those that all systems have.

    Systems that have no metric of quality, as the reference translation of ``ted_ende``, are left
    out where others have some.
    """
    whole = {system: load_real(name, system=system, human=human) for system in real_systems(name)}
    scored = {s: found for s, found in whole.items() if any(found[0].orientation.values())}
    whole = scored or whole
    pools = [pool for pool, _ in whole.values()]
    shared = [m for m in pools[0].metrics if all(m in pool.metrics for pool in pools)]
    metrics = [*METRICS[name], "target_length"] if name in METRICS else shared
    return {
        system: (
            Pool(
                pool.ids, {m: pool.metrics[m] for m in metrics}, pool.documents,
                orientation={m: v for m, v in pool.orientation.items() if m in metrics},
            ),
            gold,
        )
        for system, (pool, gold) in whole.items()
    }  # fmt: skip


def widen(pool: Pool, columns: int) -> Pool:
    """The pool with noisy copies of its metrics, as oriented as these, until it has so many."""
    rng = np.random.default_rng(1)
    names, metrics, orientation = list(pool.metrics), dict(pool.metrics), dict(pool.orientation)
    for k in range(columns - len(names)):
        name = names[k % len(names)]
        values = np.asarray(metrics[name])
        metrics[f"copy{k}"] = values + values.std() * rng.normal(size=len(pool))
        orientation[f"copy{k}"] = orientation.get(name, 0)
    return Pool(pool.ids, metrics, pool.documents, orientation=orientation)


def run(
    name: str,
    count: int | None,
    budgets: list[float] | list[int],
    draws: int,
    names: list[str],
    jobs: int,
    history: bool,
    columns: int,
) -> pd.DataFrame:
    """Cells of some systems. The oracle differs by system, so each is simulated by itself."""
    frames = []
    studies = {s: (widen(pool, columns), gold) for s, (pool, gold) in load(name).items()}
    for system, (pool, gold) in list(studies.items())[:count]:
        strategies: dict[str, Estimator | str] = {
            **{s: s for s in names},
            "docs-sys+oracle": oracle(pool, gold, Systematic()),
            "docs-balanced+oracle": oracle(pool, gold, Balanced()),
        }
        result = simulate(
            {system: (pool, gold)}, None, strategies, budgets, draws=draws, rng=1, n_jobs=jobs
        )
        frames.append(result.to_frame())
        for same in (False, True) if history else ():
            others = History([s for other, s in studies.items() if other != system], same)
            label = "docs-uneven+ridge, history" + (" and same segments" if same else "")
            told = simulate(
                {system: (others.inform(pool), gold)},
                None,
                {"random+mean": "random+mean", label: "docs-uneven+ridge"},
                budgets,
                draws=draws,
                rng=1,
                n_jobs=jobs,
            ).to_frame()
            frames.append(told[told.strategy == label])
        print(name, system, f"{result.seconds:.0f} s", file=sys.stderr)
    return pd.concat(frames)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--budgets", default="5,10,20,50", help="percentages")
    parser.add_argument("--ratings", help="numbers of ratings, instead of percentages")
    parser.add_argument(
        "--columns", type=int, default=0, help="number of metrics, filled up with noisy copies"
    )
    parser.add_argument("--all", action="store_true", help="also kNN and incremental strategies")
    parser.add_argument("--history", action="store_true", help="also uneven chances")
    parser.add_argument("--data", default="wmt20_ende,wmt20_zhen")
    parser.add_argument("--systems", type=int, help="only the first systems of each")
    parser.add_argument("--n-jobs", type=int, default=1)
    return parser


def show(cells: pd.DataFrame) -> None:
    base = cells[cells.strategy == "random+mean"].set_index(["pool", "budget"])["abs_error"]
    cells["bias"] /= base.loc[list(zip(cells.pool, cells.budget, strict=True))].to_numpy()
    gain = cells.pivot_table("reduction", "strategy", "budget", sort=False) * 100
    mc = cells.groupby("strategy")["reduction_mc"]
    noise = 100 * mc.agg(lambda m: float(np.sqrt((m**2).sum())) / m.size)
    top = gain.loc["docs-sys+oracle"]
    rows = []
    for strategy in map(str, gain.index):
        if strategy == "random+mean":
            continue
        row = gain.loc[strategy]
        bias = cells.loc[cells.strategy == strategy, "bias"].mean()
        rows.append([
            f"`{strategy}`", *(f"{c:.1f}" for c in row), f"{row.mean():.1f}",
            f"{noise[strategy]:.1f}", f"{row.mean() / top.mean():.0%}", f"{(row / top).min():.0%}",
            f"{bias:+.3f}",
        ])  # fmt: skip
    amounts = [float(str(s)) for s in gain.columns]
    sizes = [f"{s:.0%}" if s < 1 else f"n = {s:.0f}" for s in amounts]
    table(
        [
            "",
            *sizes,
            "mean",
            "±",
            "of oracle",
            "worst",
            "bias",
        ],
        rows,
    )


def main() -> None:
    options = read(arguments(), draws=10, budgets="5,20", systems=1)
    sets = options.data.split(",")
    need(*sets)
    budgets: list[float] | list[int] = [float(b) / 100 for b in options.budgets.split(",")]
    if options.ratings:
        budgets = [int(n) for n in options.ratings.split(",")]
    names = ["random+mean", *(LONG if options.all else []), *SHORT]
    names += UNEVEN if options.history else []
    for name in sets:
        cells = run(
            name, options.systems, budgets, options.draws, names, options.n_jobs, options.history,
            options.columns,
        )  # fmt: skip
        draws = f"{options.draws} draws per system"
        print(f"{name}: error reduction over `random+mean` in %, {draws}\n")
        show(cells)


if __name__ == "__main__":
    main()
