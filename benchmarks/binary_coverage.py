"""Count how often intervals of the binary model contain the truth; for docs/coverage.md.

    python benchmarks/binary_coverage.py            # at fixed rates; needs no data
    python benchmarks/binary_coverage.py --real     # samples of real test sets
    python benchmarks/binary_coverage.py --designs  # the same drawn by every sampler

Each cell has the share of 95 % intervals that contain the truth, and that of 90 % intervals in
brackets. "exact sums" are over all outcomes; the others are simulated. ``--real`` needs the real
files of FRANK and WMT20. A given cut is the metric's median over the pool; the other two are
chosen on the same ratings. With ``--designs`` a cell has three figures: the share of 95 % intervals
of `BinaryPosterior` that contain the truth, in %; their mean width divided by that of the estimator
`mean` on the same samples; and the root mean square error divided by that of `mean`.
tests/theory/test_binary.py and test_binary_real.py check these figures for any seed.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Iterator

import numpy as np
from _common import arguments as common
from _common import need, read, table
from scipy import stats

from fewgold import registry
from fewgold.bayes import (
    AlphaPosterior,
    BinaryPosterior,
    Counts,
    PoolPosterior,
    Priors,
    choose_cuts,
)
from fewgold.common.arrays import BoolArray, FloatArray
from fewgold.datasets import load_real, real_systems
from fewgold.estimators import Mean
from fewgold.pool import Pool

RATES = (0.01, 0.1, 0.5, 0.9, 0.99)
LEVELS = (0.95, 0.9)
CELLS = Priors(alpha=(2, 2))
METRIC = {"frank": "BertScore_P_Art", "wmt20_ende": "COMET", "wmt20_zhen": "COMET"}
WAYS = {
    "humans": "humans alone",
    "given": "given cut",
    "cells": "given cut, `CELLS`",
    "equal": "cut of least abs(ρ − η), `CELLS`",
    "information": "cut of most information, `CELLS`",
}


def held(posterior: AlphaPosterior | PoolPosterior, truth: float) -> FloatArray:
    """Whether the intervals of both levels contain the truth: (2, *batch)."""
    ends = [posterior.interval(level) for level in LEVELS]
    return np.array([(low <= truth + 1e-9) & (truth - 1e-9 <= high) for low, high in ends], float)


def humans(alpha: float) -> FloatArray:
    """Exact, n = 100 to 200: (sizes, 2)."""
    found = []
    for n in range(100, 201):
        k = np.arange(n + 1)
        inside = held(AlphaPosterior(Counts(human_ones=k, human_total=n)), alpha)
        found.append(inside @ stats.binom.pmf(k, n, alpha))
    return np.array(found)


def known_rates(alpha: float, n: int = 100, rate: float = 0.8) -> FloatArray:
    """Exact sums over the counts of 100 people and of a metric that is right in 80 %."""
    found = []
    for metric in (100, 150, 200):
        k, m = np.arange(n + 1), np.arange(metric + 1)
        human = stats.binom.pmf(k, n, alpha)
        auto = stats.binom.pmf(m, metric, alpha * rate + (1 - alpha) * (1 - rate))
        k, m = k[human > 1e-8], m[auto > 1e-8]
        counts = Counts(human_ones=k[:, None], human_total=n, metric_ones=m, metric_total=metric)
        inside = held(AlphaPosterior(counts, Priors(rho=rate, eta=rate)), alpha)
        found.append((inside * np.outer(human[k], auto[m])).sum((1, 2)))
    return np.array(found)


def estimated_rates(alpha: float, draws: int, rate: float = 0.8, metric: int = 500) -> FloatArray:
    rng = np.random.default_rng(7)
    found = []
    for paired in range(100, 201, 10):
        adequate = rng.binomial(paired, alpha, draws)
        tp, tn = rng.binomial(adequate, rate), rng.binomial(paired - adequate, rate)
        ones = rng.binomial(metric, alpha * rate + (1 - alpha) * (1 - rate), draws)
        counts = Counts(
            tp=tp, fn=adequate - tp, tn=tn, fp=paired - adequate - tn,
            metric_ones=ones, metric_total=metric,
        )  # fmt: skip
        found.append(held(AlphaPosterior(counts), alpha).mean(1))
    return np.array(found)


def pool_of_humans(share: float, size: int = 1000) -> FloatArray:
    found = []
    for n in range(100, 201, 5):
        k = np.arange(n + 1)
        pool = PoolPosterior(Counts(human_ones=k, human_total=n), unrated=size - n)
        found.append(held(pool, share) @ stats.hypergeom.pmf(k, size, round(share * size), n))
    return np.array(found)


def pool_with_metric(share: float, priors: Priors, draws: int, size: int = 1000) -> FloatArray:
    """Samples of 1000 items; the metric is right in 80 %."""
    rng = np.random.default_rng(7)
    adequate = round(share * size)
    right, passed = round(0.8 * adequate), round(0.8 * (size - adequate))
    cells = [right, adequate - right, size - adequate - passed, passed]
    found = []
    for n in range(100, 201, 10):
        tp, fn, fp, tn = rng.multivariate_hypergeometric(cells, n, draws).T
        ones = cells[0] + cells[2] - tp - fp
        counts = Counts(tp=tp, fn=fn, fp=fp, tn=tn, metric_ones=ones, metric_total=size - n)
        found.append(held(PoolPosterior(counts, priors), share).mean(1))
    return np.array(found)


def cell(found: FloatArray) -> str:
    mean = found.mean(0)
    return f"{mean[0]:.3f} ({mean[1]:.3f})"


def fixed(draws: int) -> None:
    alone = [humans(rate) for rate in RATES]
    some = draws // 2
    rows: dict[str, list[str]] = {
        "humans alone, mean over n = 100…200, exact sums": [cell(f) for f in alone],
        "the same, lowest and highest single n, 95 %": [
            f"{f[:, 0].min():.3f}–{f[:, 0].max():.3f}" for f in alone
        ],
        "100 humans, 100–200 by a metric with known rates 0.8, exact sums": [
            cell(known_rates(rate)) for rate in RATES
        ],
        f"100–200 paired, 500 metric, rates estimated, {11 * draws:,} draws": [
            cell(estimated_rates(rate, draws)) for rate in RATES
        ],
        "pool of 1000, humans alone, n = 100…200, exact sums": [
            cell(pool_of_humans(rate)) for rate in RATES
        ],
        f"pool of 1000, with a metric, uniform α, ρ, η (default), {11 * some:,} draws": [
            cell(pool_with_metric(rate, Priors(), some)) for rate in RATES
        ],
        "the same, uniform cells (`CELLS`), α ~ Beta(2, 2)": [
            cell(pool_with_metric(rate, CELLS, some)) for rate in RATES
        ],
    }
    table(["rate", *map(str, RATES)], [[title, *cells] for title, cells in rows.items()])


def outputs(name: str) -> Iterator[tuple[BoolArray, FloatArray]]:
    """Adequate or not, and the metric, of each system's outputs."""
    for system in real_systems(name):
        pool, score = load_real(name, system=system)
        adequate = score >= 0.5 if name == "frank" else score <= 0  # no MQM error at all
        yield adequate, np.asarray(pool.metrics[METRIC[name]], dtype=np.float64)


def sampled(
    rng: np.random.Generator, adequate: BoolArray, metric: FloatArray, n: int, way: str, draws: int
) -> PoolPosterior:
    """Of simple random samples."""
    size = adequate.size
    rows = rng.permuted(np.tile(np.arange(size), (draws, 1)), axis=1)[:, :n]
    human = adequate[rows]
    if way == "humans":
        counts = Counts(human_ones=human.sum(-1), human_total=n)
        return PoolPosterior(counts, unrated=size - n)
    if way in ("given", "cells"):
        at = np.full(draws, np.median(metric))
    else:
        at = choose_cuts(human, metric[rows], rule=way)
        at = np.where(np.isnan(at), np.median(metric), at)  # ratings of one class tell no cut
    ones = metric >= at[:, None]
    told = np.take_along_axis(ones, rows, -1)
    tp, fp = (human & told).sum(-1), (~human & told).sum(-1)
    counts = Counts(
        tp=tp, fn=human.sum(-1) - tp, fp=fp, tn=(~human).sum(-1) - fp,
        metric_ones=ones.sum(-1) - tp - fp, metric_total=size - n,
    )  # fmt: skip
    return PoolPosterior(counts, Priors() if way == "given" else CELLS)


def real(draws: int) -> None:
    rows = []
    for name, metric in METRIC.items():
        systems = list(outputs(name))
        for way, title in WAYS.items():
            rng = np.random.default_rng(7)
            line = [name, title if way == "humans" else f"{metric}, {title}"]
            for n in (50, 100, 200, 400):
                if name == "frank" and n == 400:  # its systems have some 250 outputs
                    line.append("")
                    continue
                found = [
                    held(sampled(rng, adequate, scores, n, way, draws), adequate.mean()).mean(1)
                    for adequate, scores in systems
                ]
                line.append(cell(np.array(found)))
            rows.append(line)
    table(["", "", "n = 50", "100", "200", "400"], rows, left=2)


SHARES = (0.05, 0.1, 0.2, 0.5)
SETS = {**METRIC, "ted_ende": "sb_chrF"}
HOW = ("cut", "bins", "humans")


def labelled(name: str) -> Iterator[tuple[Pool, FloatArray]]:
    """The pool of each system, and which of its outputs are adequate."""
    for system in real_systems(name):
        pool, score = load_real(name, system=system)
        if SETS[name] in pool.metrics:
            yield pool, (score >= 0.5 if name == "frank" else score <= 0).astype(float)


def drawn(
    sampler: str, pool: Pool, gold: FloatArray, metric: str, share: float, how: str, draws: int
) -> list[float]:
    """Coverage, width and error of the binary model; the latter two relative to the mean."""
    cut = "bins" if how == "bins" else f">= {np.median(pool.metrics[metric]):.17g}"
    model = BinaryPosterior(() if how == "humans" else metric, None if how == "humans" else cut)
    seed = zlib.crc32(f"{sampler} {pool.system} {share}".encode())
    ratings = Mean(sampler=registry.sampler(sampler)).collect(
        pool, lambda sample: gold[sample.indices], share, draws=draws, limits=(0, 1), rng=seed
    )
    truth = gold.mean()
    ours, plain = model.estimate(ratings), Mean().estimate(ratings)
    (low, high), ends = ours.interval(), plain.interval()
    width = ends.high - ends.low
    usual = np.isfinite(width) & (width > 0)
    narrower = (high - low)[usual].mean() / width[usual].mean() if usual.any() else np.nan
    errors = [np.sqrt(np.mean((x.value - truth) ** 2)) for x in (ours, plain)]
    inside = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    return [inside.mean(), narrower, errors[0] / errors[1] if errors[1] > 0 else np.nan]


def designs(draws: int, how: str, only: list[str], sets: list[str]) -> None:
    """A table for each test set: samplers by share rated, over all systems."""
    for name in sets:
        metric, systems = SETS[name], list(labelled(name))
        rows = []
        for sampler in only or registry.sampler_names():
            # Samplers that choose one rating at a time are slow.
            some = max(draws // 5, 10) if "-incr-" in sampler else draws
            line = [f"`{sampler}`"]
            for share in SHARES:
                found = [drawn(sampler, *one, metric, share, how, some) for one in systems]
                holds, width, error = (x[~np.isnan(x)] for x in np.array(found).T)
                ratios = (f"{x.mean():.2f}" if x.size else "–" for x in (width, error))
                line.append(", ".join([f"{100 * holds.mean():.1f}", *ratios]))
            rows.append(line)
        print(f"{name}, {metric}, {how}, {len(systems)} systems of {len(systems[0][0])} outputs\n")
        table(["", *(f"{100 * share:g} % rated" for share in SHARES)], rows)
        print(flush=True)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--real", action="store_true", help="samples of real test sets")
    parser.add_argument("--designs", action="store_true", help="every sampler on real test sets")
    parser.add_argument(
        "--how", choices=HOW, default="cut", help="how to use the metric, with --designs"
    )
    parser.add_argument(
        "--sets", nargs="*", choices=SETS, default=list(SETS), help="test sets of --designs"
    )
    parser.add_argument("--samplers", nargs="*", default=[], help="only these, with --designs")
    parser.add_argument(
        "--draws", type=int, help="default: 600; 500 with --real, 150 per system with --designs"
    )
    return parser


def main() -> None:
    options = read(arguments(), draws=10)
    if options.designs:
        need(*options.sets)
        designs(options.draws or 150, options.how, options.samplers, options.sets)
    elif options.real:
        need(*METRIC)
        real(options.draws or 500)
    else:
        fixed(options.draws or 600)


if __name__ == "__main__":
    main()
