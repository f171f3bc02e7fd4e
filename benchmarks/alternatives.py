"""What people do now against fewgold: error, width and coverage at the same budget.

    python benchmarks/alternatives.py [--draws 2000] [--budget 5] [--python python3.13]

On the embedded data, where all scores are known, a study is made again and again. Its segments
are drawn at random for everybody but the last line, which chooses them. Every method gets the
same ratings and the same metrics: prediction-powered inference (ppi-python, glide-py) takes one,
the one that follows people best in the pool, and for ppi-python, which clips its slope to [0, 1],
brought to the ratings' own direction and spread; glide's MultiPPI takes all metrics.
``ratings for the same error`` is how many random ratings with a plain mean err as little. The
environment with the other packages is that of ``peers.py``.
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

Answer = tuple[float, float, float]
Z = 1.959963984540054


def methods(metrics: dict[str, Any], best: str) -> dict[str, Callable[[Any, Any], Answer]]:
    """Ways from (rows, scores) to (value, low, high) that fewgold has no part in."""
    import numpy as np

    table = np.stack(list(metrics.values()), axis=-1)
    size = len(table)

    def plain(rows: Any, scores: Any) -> Answer:
        value, half = scores.mean(), Z * scores.std(ddof=1) / np.sqrt(len(scores))
        return value, value - half, value + half

    found: dict[str, Callable[[Any, Any], Answer]] = {"mean ± 1.96 standard errors": plain}

    try:
        import ppi_py  # type: ignore[import-not-found]
    except ImportError:
        print("ppi-python is not here.")
    else:

        def ppi(rows: Any, scores: Any) -> Answer:
            z, rest = metrics[best], np.setdiff1d(np.arange(size), rows)
            sign = np.sign(np.corrcoef(z[rows], scores)[0, 1])
            z = sign * z * scores.std() / z[rows].std()
            value = ppi_py.ppi_mean_pointestimate(scores, z[rows], z[rest])
            low, high = ppi_py.ppi_mean_ci(scores, z[rows], z[rest], alpha=0.05)
            return tuple(float(np.ravel(v)[0]) for v in (value, low, high))  # type: ignore[return-value]

        found[f"PPI++ (ppi-python), {best}"] = ppi
    try:
        from glide.estimators import (  # type: ignore[import-not-found]
            MultiPPIMeanEstimator,
            PPIMeanEstimator,
        )
    except ImportError:
        print("glide-py is not here.")
        return found

    def glide(estimator: Any, z: Any) -> Callable[[Any, Any], Answer]:
        def run(rows: Any, scores: Any) -> Answer:
            known = np.full(size, np.nan)
            known[rows] = scores
            made = estimator.estimate(known, z)
            ends = made.confidence_interval
            return float(made.mean), float(ends.lower_bound), float(ends.upper_bound)

        return run

    found[f"PPI++ (glide-py), {best}"] = glide(PPIMeanEstimator(), metrics[best])
    found["MultiPPI (glide-py), all metrics"] = glide(MultiPPIMeanEstimator(), table)
    return found


def measure(kind: str, share: float, draws: int) -> None:
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
        results[f"fewgold, {name}"] = np.array([made.value, *made.interval(0.95)])

    print(f"\n{kind}: {n} of {size} segments rated, {draws} studies")
    print(f"{'':34}{'typical':>8}{'ratings for the':>17}{'half of the':>13}{'holds the':>11}")
    print(f"{'':34}{'error':>8}{'same error':>17}{'95% interval':>13}{'truth':>11}")
    spread = gold.var(ddof=1)
    for name, (value, low, high) in results.items():
        mse = np.mean((value - truth) ** 2)
        worth = 1 / (mse / spread + 1 / size)
        print(
            f"{name:34}{np.abs(value - truth).mean():8.3f}{worth:17.0f}"
            f"{(high - low).mean() / 2:13.2f}"
            f"{np.mean((low <= truth) & (truth <= high)):11.1%}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--budget", type=float, default=5, help="per cent of the segments")
    parser.add_argument("--python", help="the Python to make the environment with")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        warnings.simplefilter("ignore")
        for kind in ("ende", "zhen"):
            measure(kind, options.budget / 100, options.draws)
        return
    python = peers.set_up(options.python or peers.newest())
    command = [str(python), __file__, "--inside", "--draws", str(options.draws)]
    command += ["--budget", str(options.budget)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    sys.exit(subprocess.run(command, env=environment, check=False).returncode)


if __name__ == "__main__":
    main()
