"""Compare patterns and bins with one threshold and with humans alone; for docs/beyond-binary.md.

    python benchmarks/cells.py [--draws 300] [--ratings 100] [--wide] [--speed]

Uses simple random samples of real test sets with labels adequate or not. It shows the error of the
posterior mean, and how often the 95% interval contains the share of the whole set. The
thresholds are the best possible ones: they explain the most of *all* human labels, which nobody has
in practice. Missing data sets are left out. ``--wide`` adds bias, posterior sd and further methods,
and ``--speed`` shows the time.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator

import numpy as np
from _common import arguments as common
from _common import read, table

from fewgold.bayes.cells import CellPosterior, bins, tally
from fewgold.bayes.counts import patterns
from fewgold.bayes.priors import CellPrior, Pooled, Separate, Trend
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.datasets import data_folder, load_demo, load_real
from fewgold.pool import Pool

CHOSEN = {
    "demo, MQM = 0": ("comet", "bleurt", "chrf"),
    "wmt20_ende, MQM = 0": ("COMET", "chrF", "YiSi-2"),
    "wmt20_zhen, MQM = 0": ("COMET", "chrF", "YiSi-2"),
    "frank": ("BertScore_P_Art", "FactCC", "QAGS"),
}


def sets() -> Iterator[tuple[str, Pool, BoolArray, tuple[str, ...]]]:
    """Test sets with their labels and three metrics each."""
    name = "demo, MQM = 0"
    pool, gold = load_demo()
    yield name, pool, gold == 0, CHOSEN[name]
    if data_folder() is None:
        print("No real data were found: see docs/evidence.md.", file=sys.stderr)
        return
    for name in ("wmt20_ende, MQM = 0", "wmt20_zhen, MQM = 0"):
        pool, gold = load_real(name.split(",")[0])
        yield name, pool, gold == 0, CHOSEN[name]
    for system in ("bus", "pgn", "s2s"):
        pool, gold = load_real("frank", system=system)
        yield f"frank {system}", pool, gold == 1, CHOSEN["frank"]


def best_cut(scores: FloatArray, labels: BoolArray) -> BoolArray:
    """Cut where the squared correlation with all labels is largest."""
    cuts = [scores > at for at in np.quantile(scores, np.linspace(0.02, 0.98, 97))]
    kept = [cut for cut in cuts if 0 < cut.mean() < 1]
    return max(kept, key=lambda cut: abs(float(np.corrcoef(cut, labels)[0, 1])))


def compare(
    pool: Pool, labels: BoolArray, metrics: tuple[str, ...], n: int, draws: int
) -> dict[str, tuple[float, float, float, float]]:
    """For each method: rms error, posterior sd and bias in thousandths, and coverage."""
    rng = np.random.default_rng(0)
    size = len(labels)
    rows = np.array([rng.permutation(size)[:n] for _ in range(draws)])
    scores = {name: np.asarray(pool.metrics[name], dtype=np.float64) for name in metrics}
    cuts = {name: best_cut(values, labels) for name, values in scores.items()}
    lead = max(cuts, key=lambda name: abs(float(np.corrcoef(cuts[name], labels)[0, 1])))
    three, _ = patterns(np.array(list(cuts.values())))
    ways: list[tuple[str, IntArray, CellPrior]] = [
        ("humans alone", np.zeros(size, dtype=np.int64), Pooled()),
        (f"{lead}, best threshold", cuts[lead].astype(np.int64), Separate()),
        (f"{lead}, best threshold, pooled prior", cuts[lead].astype(np.int64), Pooled()),
        (f"{lead}, 8 bins, pooled prior", bins(scores[lead]), Pooled()),
        (f"{lead}, 8 bins, trend", bins(scores[lead]), Trend()),
        ("three metrics, patterns, each cell apart", three, Separate()),
        ("three metrics, patterns, pooled prior", three, Pooled()),
    ]
    truth = labels.mean()
    found: dict[str, tuple[float, float, float, float]] = {}
    for title, codes, prior in ways:
        posterior = CellPosterior(*tally(codes, rows, labels[rows].astype(int)), prior=prior)
        low, high = posterior.interval()
        error = posterior.mean - truth
        covered = float(((low <= truth + 1e-9) & (truth <= high + 1e-9)).mean())
        size_of = 1e3 * float(np.sqrt((error**2).mean()))
        found[title] = size_of, 1e3 * float(posterior.sd.mean()), 1e3 * float(error.mean()), covered
    return found


def speed() -> None:
    rng = np.random.default_rng(0)
    lines = []
    print("Milliseconds for each of a batch of 100; 100 of 1000 items rated\n")
    for count, prior, target in (
        (8, Pooled(), "pool"),
        (8, Trend(), "pool"),
        (8, Trend(), "process"),
        (32, Pooled(), "pool"),
    ):
        codes = np.arange(1000) * count // 1000
        labels = rng.random((100, 1000)) < (codes + 0.5) / count
        rows = np.array([rng.permutation(1000)[:100] for _ in range(100)])
        ones = np.take_along_axis(labels, rows, -1).astype(int)
        posterior = CellPosterior(*tally(codes, rows, ones), target, prior)
        start = time.process_time()
        posterior.mean.sum()
        middle = time.process_time()
        posterior.interval()
        end = time.process_time()
        name = f"{count} categories, {type(prior).__name__}, {target}"
        lines.append([name, f"{10 * (middle - start):.2f}", f"{10 * (end - middle):.2f}"])
    table(["", "mean and sd", "interval"], lines)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--ratings", type=int, default=100)
    parser.add_argument("--wide", action="store_true", help="all methods, with sd and bias")
    parser.add_argument("--speed", action="store_true", help="only the time")
    return parser


SHOWN = {
    "humans alone": "humans alone",
    "threshold": "best threshold",
    "8 bins, `Trend`": "8 bins, trend",
    "three metrics, `Separate`": "each cell apart",
    "three metrics, `Pooled`": "patterns, pooled prior",
}


def main() -> None:
    told = read(arguments(), draws=10)
    if told.speed:
        speed()
        return
    found = [
        (name, labels, compare(pool, labels, metrics, told.ratings, told.draws))
        for name, pool, labels, metrics in sets()
    ]
    if told.wide:
        print(f"{told.ratings} ratings, {told.draws} samples; in thousandths but for coverage\n")
        for name, labels, ways in found:
            print(f"{name}: {len(labels)} items, {labels.mean():.3f} adequate\n")
            rows = [
                [title, f"{rmse:.1f}", f"{sd:.1f}", f"{bias:+.1f}", f"{covered:.3f}"]
                for title, (rmse, sd, bias, covered) in ways.items()
            ]
            table(["", "error", "sd", "bias", "covers"], rows)
        return
    lines = []
    for name, labels, ways in found:
        cells = [next(v for k, v in ways.items() if k.endswith(end)) for end in SHOWN.values()]
        lines.append([name, f"{labels.mean():.3f}", *(f"{c[0]:.1f}, {c[3]:.2f}" for c in cells)])
    table(["test set", "adequate", *SHOWN], lines)


if __name__ == "__main__":
    main()
