"""Coverage of slices, shrunk slices, quantiles, ratios and other weights; for docs/coverage.md.

Draws samples from data in which every score is known, estimates, and counts how often the 95 %
interval contains the truth. Slices are formed from whole documents, by length (within documents)
and at random.

    python benchmarks/slices.py                   # data that come with fewgold
    python benchmarks/slices.py --data wmt20_zhen # real ratings, if you have them
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import _common
import numpy as np
from _common import need, read, table

from fewgold.datasets import load_demo
from fewgold.estimate import Estimate
from fewgold.pool import Pool
from fewgold.quantities import quantile, ratio, weighted_mean
from fewgold.registry import strategy
from fewgold.slices import slices

STRATEGIES = (
    "random+mean", "random+ridge", "docs-prop+mean", "docs-balanced+ridge",
    "docs-uneven-rank+ridge",
)  # fmt: skip


def arguments() -> argparse.ArgumentParser:
    parser = _common.arguments(__doc__)
    parser.add_argument("--data", default="ende", help="ende, zhen, or a real set")
    parser.add_argument("--draws", type=int, default=200, help="studies per row")
    parser.add_argument("--n", type=int, default=250, help="ratings per study")
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    return parser


def main() -> None:
    options = read(arguments(), draws=10, strategies="random+mean,docs-balanced+ridge")
    pool, gold = _data(options.data)
    words = next((pool.metrics[m] for m in ("words", "source_words") if m in pool.metrics), None)
    length = pool.composite() if words is None else words
    omega = length - min(float(length.min()), 0.0) + 1.0
    kinds = {
        "documents": pool.codes % 4,
        "length": np.digitize(length, np.quantile(length, [0.25, 0.5, 0.75])),
        "random": np.random.default_rng(0).integers(4, size=len(pool)),
    }
    print(f"{options.data}, {len(pool)} segments, {options.n} ratings, {options.draws} draws.\n")
    rows, others = [], []
    for name in options.strategies.split(","):
        made = strategy(name, pool)
        sample = made.select(pool, options.n, draws=options.draws, rng=7)
        hits: dict[str, list[bool]] = defaultdict(list)
        z: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
        for k in range(options.draws):
            drawn = sample.draw(k)
            ratings = drawn.rate(gold[drawn.indices])
            for kind, labels in kinds.items():
                found = slices(ratings, made, labels, shrink=True)
                for row in found.to_frame().to_dict("records"):
                    part = labels == int(row["slice"])
                    truth = gold[part].mean()
                    if row["n"] >= 30:
                        hits[kind].append(row["low"] <= truth <= row["high"])
                        z[kind].append((row["value"] - truth, row["se"], int(row["slice"])))
                    hits[f"{kind} shrunk"].append(row["shrunk_low"] <= truth <= row["shrunk_high"])
            asked: dict[str, tuple[Estimate, float]] = {
                "median": (quantile(ratings, made, 0.5), _quantile(gold, 0.5)),
                "90 % quantile": (quantile(ratings, made, 0.9), _quantile(gold, 0.9)),
                "weights": (weighted_mean(ratings, made, omega), float(gold @ omega / omega.sum())),
                "ratio": (ratio(ratings, made, omega), float(gold.sum() / omega.sum())),
            }  # fmt: skip
            for what, (estimate, truth) in asked.items():
                low, high = estimate.interval()
                hits[what].append(bool(low <= truth <= high))
        rows.append([
            f"`{name}`",
            *(f"{_percent(hits[k])} {_calibration(z[k])}" for k in kinds),
            *(_percent(hits[f"{k} shrunk"]) for k in kinds),
        ])  # fmt: skip
        others.append([f"`{name}`", *(_percent(hits[k]) for k in asked)])
    print("Slices with 30 ratings or more: coverage of the 95 % interval in %, se/spread; shrunk:")
    print("coverage over all slices.\n")
    table(["", *kinds, *(f"{k}, shrunk" for k in kinds)], rows)
    print("Other answers: coverage of the 95 % interval in %.\n")
    table(["", "median", "90 % quantile", "weights", "ratio"], others)


def _data(name: str) -> tuple[Pool, np.ndarray]:
    if name in ("ende", "zhen"):
        return load_demo(name)
    need(name)
    from fewgold.datasets import load_real

    return load_real(name)


def _quantile(gold: np.ndarray, p: float) -> float:
    return float(np.quantile(gold, p, method="inverted_cdf"))


def _percent(hits: list[bool]) -> str:
    return f"{100 * np.mean(hits):.1f}" if hits else "–"


def _calibration(found: list[tuple[float, float, int]]) -> str:
    """Root mean square of the standard error over that of the error, within slices."""
    if not found:
        return ""
    error, se, _ = np.array(found).T
    return f"{np.sqrt(np.mean(se**2) / np.mean(error**2)):.2f}"


if __name__ == "__main__":
    main()
