"""Compare fewgold with what people do now, at the same budget; for README.

    python benchmarks/alternatives.py [--draws 2000] [--budget 5] [--python python3.13]

A study is repeated many times on data that come with fewgold, where all scores are known. Its
segments are drawn at random, except in the last line, where fewgold chooses them. Every method
gets the same ratings and the same metrics. Prediction-powered inference (ppi-python, glide-py) uses
one metric, the one that follows people best in the pool. ppi-python clips its slope to [0, 1], so
the metric is first given the direction and spread of the ratings. glide's MultiPPI uses all.

error: mean distance from the truth; worth: number of random ratings whose plain mean has the same
error; ±: half the width of the 95 % interval; holds: share of intervals that contain the truth.
The environment with the other packages is that of peers.py.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import peers
from _common import arguments as common
from _common import read, table

Answer = tuple[float, float, float]
Z = 1.959963984540054


def methods(metrics: dict[str, Any], best: str) -> dict[str, Callable[[Any, Any], Answer]]:
    """Methods of others: functions from (rows, scores) to (value, low, high)."""
    import numpy as np

    table = np.stack(list(metrics.values()), axis=-1)
    size = len(table)

    def plain(rows: Any, scores: Any) -> Answer:
        value, half = scores.mean(), Z * scores.std(ddof=1) / np.sqrt(len(scores))
        return value, value - half, value + half

    found: dict[str, Callable[[Any, Any], Answer]] = {"plain mean ± 1.96 standard errors": plain}

    try:
        import ppi_py  # type: ignore[import-not-found]
    except ImportError:
        print("ppi-python is not installed: left out.", file=sys.stderr)
    else:

        def ppi(rows: Any, scores: Any) -> Answer:
            z, rest = metrics[best], np.setdiff1d(np.arange(size), rows)
            sign = np.sign(np.corrcoef(z[rows], scores)[0, 1])
            z = sign * z * scores.std() / z[rows].std()
            value = ppi_py.ppi_mean_pointestimate(scores, z[rows], z[rest])
            low, high = ppi_py.ppi_mean_ci(scores, z[rows], z[rest], alpha=0.05)
            return tuple(float(np.ravel(v)[0]) for v in (value, low, high))  # type: ignore[return-value]

        found["PPI++, best metric (ppi-python)"] = ppi
    try:
        from glide.estimators import (  # type: ignore[import-not-found]
            MultiPPIMeanEstimator,
            PPIMeanEstimator,
        )
    except ImportError:
        print("glide-py is not installed: left out.", file=sys.stderr)
        return found

    def glide(estimator: Any, z: Any) -> Callable[[Any, Any], Answer]:
        def run(rows: Any, scores: Any) -> Answer:
            known = np.full(size, np.nan)
            known[rows] = scores
            made = estimator.estimate(known, z)
            ends = made.confidence_interval
            return float(made.mean), float(ends.lower_bound), float(ends.upper_bound)

        return run

    found["PPI++, best metric (glide-py)"] = glide(PPIMeanEstimator(), metrics[best])
    found["MultiPPI, all metrics (glide-py)"] = glide(MultiPPIMeanEstimator(), table)
    return found


def measure(kind: str, share: float, draws: int) -> tuple[str, dict[str, list[str]]]:
    """Titles of the columns, and the figures of each method."""
    import numpy as np

    from fewgold import registry
    from fewgold.datasets import load_demo
    from fewgold.samplers import SimpleRandom

    pool, gold = load_demo(kind)
    metrics = {name: np.asarray(column, float) for name, column in pool.metrics.items()}
    best = max(metrics, key=lambda m: abs(np.corrcoef(metrics[m], gold)[0, 1]))
    n, size, truth = round(share * len(pool)), len(pool), gold.mean()
    sample = SimpleRandom().draw(pool, n, draws=draws, rng=1)
    results: dict[str, Any] = {}
    for name, method in methods(metrics, best).items():
        results[name] = np.array([method(rows, gold[rows]) for rows in sample.indices]).T
    for name in ("random+mean", "random+ridge", "docs-balanced+ridge"):
        strategy = registry.strategy(name, pool)
        drawn = strategy.select(pool, n, draws=draws, rng=1)
        made = strategy.estimate(drawn.rate(gold[drawn.indices], limits=(0, 25)))
        results[f"fewgold, `{name}`"] = np.array([made.value, *made.interval(0.95)])
    cells = {}
    for name, (value, low, high) in results.items():
        worth = 1 / (np.mean((value - truth) ** 2) / gold.var(ddof=1) + 1 / size)
        held = np.mean((low <= truth) & (truth <= high))
        cells[name] = [
            f"{np.abs(value - truth).mean():.3f}",
            f"{worth:.0f}",
            f"{(high - low).mean() / 2:.2f}",
            f"{100 * held:.1f} %",
        ]
    return f"{n} of {size}", cells


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument(
        "--budget", type=float, default=5, help="ratings in per cent of the segments"
    )
    parser.add_argument("--python", help="the Python to make the environment with")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    return parser


def main() -> None:
    options = read(arguments(), draws=20)
    if options.inside:
        warnings.simplefilter("ignore")
        made = [measure(kind, options.budget / 100, options.draws) for kind in ("ende", "zhen")]
        heads = [h for about, _ in made for h in (f"{about}: error", "worth", "±", "holds")]
        (_, first), (_, second) = made
        table(["", *heads], ([name, *first[name], *second[name]] for name in first))
        return
    python = peers.set_up(options.python or peers.newest())
    command = [str(python), __file__, "--inside", "--draws", str(options.draws)]
    command += ["--budget", str(options.budget)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
