"""The effect of choosing the threshold on the same ratings; for docs/binary-metrics.md.

    python benchmarks/thresholds.py [--draws 3000]

Random samples are drawn from test sets in which people rated everything. For each sample, a
threshold is chosen on the sample by either rule, or the threshold with the largest K over all items
is assumed to be known. Then the share of adequate items in the test set is estimated. Shows how
often 95% intervals contain it, the mean claimed sd divided by the sd of the estimates (below 1 the
claim is too precise), and the sd of the estimates divided by that with human ratings alone. Needs
the real data of FRANK and WMT20.
"""

from __future__ import annotations

import argparse

import numpy as np
from _common import arguments as common
from _common import need, read, table

from fewgold.bayes import Counts, PoolPosterior, choose_cut, choose_cuts
from fewgold.common.arrays import BoolArray, FloatArray
from fewgold.cut import Cut
from fewgold.datasets import real_frame

SIZES = (50, 100, 200)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    return parser


def main() -> None:
    asked = read(arguments(), draws=100)
    need("frank", "wmt20_ende")
    frank, wmt = real_frame("frank"), real_frame("wmt20_ende")
    wmt = wmt[wmt["system"] == "OPPO.1535"]
    sets = {
        "FRANK, BertScore_P_Art": (frank["factual_binary"], Cut("==", 1), frank["BertScore_P_Art"]),
        "WMT20 en–de, OPPO, MQM = 0, COMET": (wmt["mqm"], Cut("<=", 0), wmt["COMET"]),
        "WMT20 en–de, OPPO, MQM ≤ 1, COMET": (wmt["mqm"], Cut("<=", 1), wmt["COMET"]),
    }
    rows, cuts = [], []
    for name, (human, adequate, metric) in sets.items():
        labels, scores = adequate(human), metric.to_numpy(dtype=np.float64)
        for rule in ("equal", "information"):
            cut = choose_cut(labels, scores, rule)
            k = np.corrcoef(labels, cut(scores))[0, 1] ** 2
            share = f"{labels.mean():.3f}"
            cuts.append([name, f"`{rule}`", str(cut), f"{k:.3f}", labels.size, share])
        rows += [[name, n, *one(labels, scores, n, asked.draws, asked.seed)] for n in SIZES]
    print("Thresholds over all items\n")
    table(["data", "rule", "cut", "K", "items", "adequate"], cuts, left=3)
    print("Coverage of 95 % intervals, claimed over true sd, sd over that of humans alone\n")
    heads = ["`equal`", "`information`", "best threshold known", "no metric"]
    table(["data", "rated", *heads], rows)


def one(labels: BoolArray, scores: FloatArray, n: int, draws: int, seed: int) -> list[str]:
    """A cell for each way to get the threshold, on the same samples."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random((draws, labels.size)), axis=-1)
    rated = order[:, :n]
    alone = PoolPosterior(Counts.from_labels(human=labels[rated]), unrated=labels.size - n)
    spread, truth = float(alone.mean.std()), float(labels.mean())
    known = choose_cut(labels, scores, "information").at
    cells = []
    for rule in ("equal", "information", "known"):
        if rule == "known":
            at = np.full(draws, known)
        else:
            at = choose_cuts(labels[rated], scores[rated], rule)
        can = ~np.isnan(at)  # both classes in the sample
        ones = scores[order[can]] >= at[can, None]
        counts = Counts.from_labels(paired=(labels[rated[can]], ones[:, :n]), metric=ones[:, n:])
        cells.append(cell(PoolPosterior(counts), truth, spread))
    return [*cells, cell(alone, truth, spread)]


def cell(posterior: PoolPosterior, truth: float, human: float) -> str:
    low, high = posterior.interval(0.95)
    covers = float(((low <= truth) & (truth <= high)).mean())
    spread = float(posterior.mean.std())
    claimed = float(posterior.sd.mean()) / spread
    return f"{covers:.1%}, {claimed:.2f}, {spread / human:.2f}"


if __name__ == "__main__":
    main()
