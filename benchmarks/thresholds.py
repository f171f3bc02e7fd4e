"""What choosing the threshold on the same ratings does to the estimate, on real data.

    python benchmarks/thresholds.py

Random samples are drawn from test sets that people rated in full. For each, a threshold is chosen
on the sample by either rule, or the threshold of largest K over all items is taken as known; then
the share of adequate items of the test set is estimated. Shown: how often 95% intervals hold it,
the mean claimed sd over the sd of the estimates (below 1: claims too much), and the sd of the
estimates over that with human ratings alone. The data are found as by
`fewgold.datasets.load_real`.
"""

from __future__ import annotations

import argparse

import numpy as np

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bayes import Counts, PoolPosterior, choose_cut, choose_cuts
from fewgold.cut import Cut
from fewgold.datasets import real_frame

SIZES = (50, 100, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    frank, wmt = real_frame("frank"), real_frame("wmt20_ende")
    wmt = wmt[wmt["system"] == "OPPO.1535"]
    sets = {
        "FRANK, BertScore_P_Art": (frank["factual_binary"], Cut("==", 1), frank["BertScore_P_Art"]),
        "WMT20 en-de, OPPO, MQM = 0, COMET": (wmt["mqm"], Cut("<=", 0), wmt["COMET"]),
        "WMT20 en-de, OPPO, MQM <= 1, COMET": (wmt["mqm"], Cut("<=", 1), wmt["COMET"]),
    }
    for name, (human, adequate, metric) in sets.items():
        labels, scores = adequate(human), metric.to_numpy(dtype=np.float64)
        print(f"\n{name}: {labels.size} items, {labels.mean():.3f} adequate")
        for rule in ("equal", "information"):
            cut = choose_cut(labels, scores, rule)
            k = np.corrcoef(labels, cut(scores))[0, 1] ** 2
            print(f"  {rule:12s} over all items: {cut}, K {k:.3f}")
        print("  rated  threshold     covers  claimed/true sd  sd/human")
        for n in SIZES:
            one(labels, scores, n, asked.draws, asked.seed)


def one(labels: BoolArray, scores: FloatArray, n: int, draws: int, seed: int) -> None:
    """A line for each way to get the threshold, on the same samples."""
    rng = np.random.default_rng(seed)
    order = np.argsort(rng.random((draws, labels.size)), axis=-1)
    rated = order[:, :n]
    alone = PoolPosterior(Counts.from_labels(human=labels[rated]), unrated=labels.size - n)
    spread = float(alone.mean.std())
    known = choose_cut(labels, scores, "information").at
    for rule in ("equal", "information", "known"):
        if rule == "known":
            at = np.full(draws, known)
        else:
            at = choose_cuts(labels[rated], scores[rated], rule)
        can = ~np.isnan(at)  # both classes in the sample
        ones = scores[order[can]] >= at[can, None]
        counts = Counts.from_labels(paired=(labels[rated[can]], ones[:, :n]), metric=ones[:, n:])
        report(rule, n, PoolPosterior(counts), float(labels.mean()), spread)
    report("no metric", n, alone, float(labels.mean()), spread)


def report(rule: str, n: int, posterior: PoolPosterior, truth: float, human: float) -> None:
    low, high = posterior.interval(0.95)
    covers = float(((low <= truth) & (truth <= high)).mean())
    spread = float(posterior.mean.std())
    claimed = float(posterior.sd.mean()) / spread
    print(f"  {n:5d}  {rule:12s}  {covers:6.1%}  {claimed:15.2f}  {spread / human:8.2f}")


if __name__ == "__main__":
    main()
