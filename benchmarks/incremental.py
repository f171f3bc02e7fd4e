"""Readings of incremental sampling (Saldías et al. 2022), for docs/reproduction.md.

The paper (Table 2) does not say how sampling starts, whether spreads are variances or their roots,
how each further rating is allocated, or what happens to documents without ratings. This shows which
of these readings lose to random sampling, as the paper's docs-incr-metrics does.

    python benchmarks/incremental.py --draws 40

One path of ratings per draw gives all sizes from 5 % to 50 %. Figures are errors divided by that of
the mean of a random sample, averaged over sizes and systems, ± the standard error over systems.
Needs the real WMT20 files.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from _common import arguments as common
from _common import need, read, table

from fewgold.common.arrays import FloatArray, IntArray, group_sum, spread_out
from fewgold.common.neighbours import Neighbours
from fewgold.reproduce.saldias_methods import is_human, load, ten_metrics

SIZES = np.arange(1, 11) / 20
PRINTED = {"wmt20_ende": 0.183 / 0.171, "wmt20_zhen": 0.346 / 0.290}
K = 25


@dataclass(frozen=True)
class Reading:
    """One way to read the paper."""

    rule: str = "shortfall"
    power: int = 1
    half: bool = False
    machines: bool = False
    start: str = "by size"

    def __str__(self) -> str:
        parts = [self.rule, {1: "standard deviation", 2: "variance"}[self.power]]
        parts += ["half of the documents"] * self.half + ["no human systems"] * self.machines
        return ", ".join(parts + ["random start"] * (self.start == "random"))


READINGS = [
    *(Reading(power=p) for p in (1, 2)),
    *(Reading(power=p, half=True) for p in (1, 2)),
    *(Reading(power=p, machines=True) for p in (1, 2)),
    *(Reading(power=p, start="random") for p in (1, 2)),
    *(Reading("largest share", power=p) for p in (1, 2)),
    *(Reading("at random by share", power=p) for p in (1, 2)),
]


@dataclass(frozen=True, eq=False)
class Data:
    """One system: standardised metrics (p, N), scores and documents (N,)."""

    points: FloatArray
    gold: FloatArray
    codes: IntArray


def systems(name: str, reading: Reading) -> Iterator[Data]:
    rated = ten_metrics(name, load(name))
    for system, study in rated.studies.items():
        if reading.machines and is_human(system):
            continue
        points, gold, codes = study.pool.standardised(), study.gold, study.pool.codes
        if reading.half:
            chosen = np.random.default_rng(0).permutation(codes.max() + 1)[: codes.max() // 2]
            kept = np.isin(codes, chosen)
            points, gold = points[:, kept], gold[kept]
            points = (points - points.mean(-1, keepdims=True)) / points.std(-1, keepdims=True)
            codes = np.unique(codes[kept], return_inverse=True)[1]
        yield Data(points, gold, codes)


def estimates(data: Data, reading: Reading, draws: int, rng: np.random.Generator) -> FloatArray:
    """Estimates (3 ways with empty documents, sizes, draws)."""
    size = np.bincount(data.codes).astype(np.float64)
    h, total, each = size.size, data.gold.size, np.arange(draws)
    free, model = np.ones((draws, total), dtype=bool), Neighbours(data.points, K, draws)
    taken, sums = np.zeros((draws, h)), np.zeros((draws, h))
    stops = [round(s * total) for s in SIZES]
    found = []
    for t in range(stops[-1]):
        spread = np.ones((draws, h))
        if t > K:
            spread = _spread(model.predictions(), free, data.codes, h) ** reading.power
        if t <= K and reading.start == "random":
            allowed = free
        else:
            stratum = _rule(reading.rule if t > K else "shortfall")(spread, size, taken, rng)
            allowed = free & (data.codes == stratum[:, None])
        row = np.where(allowed, rng.random(free.shape), 2.0).argmin(-1)
        scores = data.gold[row]
        free[each, row] = False
        taken[each, data.codes[row]] += 1
        sums[each, data.codes[row]] += scores
        model.add(row, scores)
        if t + 1 in stops:
            found.append(_means(sums, taken, size, model.predictions(), data.codes))
    return np.stack(found, axis=1)


def _spread(predicted: FloatArray, free: FloatArray, codes: IntArray, h: int) -> FloatArray:
    count = np.maximum(group_sum(free, codes, h), 1)
    mean = group_sum(np.where(free, predicted, 0.0), codes, h) / count
    gaps = np.where(free, predicted - spread_out(mean, codes), 0.0)
    return np.asarray(np.sqrt(group_sum(gaps**2, codes, h) / count))


def _rule(name: str) -> Callable[..., IntArray]:
    """Which document the next rating goes to in each draw."""

    def shares(spread: FloatArray, size: FloatArray, left: FloatArray) -> FloatArray:
        mass = np.where(left > 0, size * spread, 0.0)
        flat = mass.sum(-1) <= 0
        mass[flat] = left[flat]
        return np.asarray(mass / mass.sum(-1, keepdims=True))

    def shortfall(
        spread: FloatArray, size: FloatArray, taken: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        share = shares(spread, size, size - taken)
        goal = (taken.sum(-1, keepdims=True) + 1) * share - taken
        goal = np.where(share > 0, goal, -np.inf) + 1e-9 * rng.random(goal.shape)
        return np.asarray(goal.argmax(-1))

    def largest(
        spread: FloatArray, size: FloatArray, taken: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        # Eq. 2 with n = 1 for the unrated segments, rounded: all of it to the largest share.
        share = shares(spread, size - taken, size - taken)
        return np.asarray((share + 1e-9 * rng.random(share.shape)).argmax(-1))

    def by_chance(
        spread: FloatArray, size: FloatArray, taken: FloatArray, rng: np.random.Generator
    ) -> IntArray:
        along = shares(spread, size - taken, size - taken).cumsum(-1)
        return np.asarray((along < rng.random((len(along), 1)) * along[:, -1:]).sum(-1))

    return {"shortfall": shortfall, "largest share": largest, "at random by share": by_chance}[name]


def _means(
    sums: FloatArray, taken: FloatArray, size: FloatArray, predicted: FloatArray, codes: IntArray
) -> FloatArray:
    """Stratified means: empty documents left out, at the overall mean, at the model's mean."""
    used, mean = taken > 0, sums / np.maximum(taken, 1)
    overall = (sums.sum(-1) / taken.sum(-1))[:, None]
    model = group_sum(predicted, codes, size.size) / size
    left_out = (mean * size * used).sum(-1) / (size * used).sum(-1)
    filled = [
        (np.where(used, mean, other) * size).sum(-1) / size.sum() for other in (overall, model)
    ]
    return np.stack([left_out, *filled])


def random_error(gold: FloatArray, rng: np.random.Generator, draws: int = 4000) -> FloatArray:
    """Error of the mean of a random sample at each size."""
    order = np.argsort(rng.random((draws, gold.size)), axis=-1)
    sums = gold[order].cumsum(-1)
    stops = [round(s * gold.size) for s in SIZES]
    return np.array([np.abs(sums[:, n - 1] / n - gold.mean()).mean() for n in stops])


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--systems", type=int, help="only the first systems of each")
    return parser


def main() -> None:
    options = read(arguments(), draws=1, systems=2)
    need(*PRINTED)
    for name, printed in PRINTED.items():
        print(f"{name}: the paper has {printed:.2f}\n")
        rows = []
        for reading in READINGS:
            ratios = []
            for k, data in enumerate(islice(systems(name, reading), options.systems)):
                rng = np.random.default_rng([1, k])
                base = random_error(data.gold, rng)
                found = np.abs(estimates(data, reading, options.draws, rng) - data.gold.mean())
                ratios.append((found.mean(-1) / base).mean(-1))
            mean, spread = np.mean(ratios, axis=0), np.std(ratios, axis=0, ddof=1)
            error = f"{mean[0]:.2f} ± {spread[0] / np.sqrt(len(ratios)):.2f}"
            rows.append([str(reading), error, f"{mean[1]:.2f}", f"{mean[2]:.2f}"])
        table(["empty documents", "left out", "mean", "model"], rows)


if __name__ == "__main__":
    main()
