"""Count how often intervals of κ, AC1, F1 and calibration error hold; for docs/coverage.md.

    python benchmarks/judge.py [--draws 2000] [--ratings 100 200]

Samples are drawn from pools in which people rated everything, so the true value over the pool is
known. The real data are FRANK (summaries, factual or not), WMT20 en–de and zh–en (one system's
segments, without any MQM error or not, with COMET; 8 % have none) and TopicalChat (answers on a
scale of 1 to 5). A judge's verdicts are metrics cut so that as many pass as with people;
probabilities are metrics through a logistic curve, or their ranks; levels are metrics cut at
quantiles. The simulated data have documents that matter, a sharp judge, one whose probabilities are
right, and one that is overconfident. Cells are shares of 95 % intervals that contain the true
value, from the lowest to the highest of five samplers; ``--each`` lists the samplers one by one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from _common import arguments as common
from _common import need, read, table

from fewgold import Pool
from fewgold.common.arrays import FloatArray
from fewgold.datasets import load_real, real_frame
from fewgold.design import simple_design
from fewgold.judge import figures
from fewgold.registry import sampler

SAMPLERS = ("random", "docs-prop", "docs-sys", "docs-balanced", "docs-whole")
SHOWN = ("kappa", "ac1", "f1", "accuracy", "sensitivity", "specificity", "precision", "auc", "ece",
         "kappa_linear", "kappa_quadratic", "ac2", "spearman", "kendall")  # fmt: skip


PROMISED = ("kappa", "ac1", "f1", "auc", "ece", "kappa_quadratic", "ac2")


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


class Study(NamedTuple):
    """A pool in which everything is known."""

    name: str
    pool: Pool
    human: FloatArray
    judge: FloatArray


def _made(name: str, metric: Any, documents: Any, human: Any, judge: Any) -> Study:
    metric = np.asarray(metric, dtype=np.float64)
    pool = Pool(np.arange(metric.size), {"metric": metric}, np.asarray(documents).astype(str))
    return Study(name, pool, np.asarray(human, float), np.asarray(judge, float))


def _verdicts(metric: FloatArray, human: FloatArray) -> FloatArray:
    return np.where(metric >= np.quantile(metric, 1 - human.mean()), 1.0, 0.0)


def _logistic(metric: FloatArray, slope: float, level: float) -> FloatArray:
    odds = slope * (metric - metric.mean()) / metric.std() + level
    return np.asarray(1 / (1 + np.exp(-odds)))


def _levels(metric: FloatArray) -> FloatArray:
    cuts = np.quantile(metric, [0.1, 0.25, 0.5, 0.75])
    return np.asarray(1.0 + np.searchsorted(cuts, metric))


def real() -> Iterator[Study]:
    """Real ratings; needs the folder with the data."""
    frame = real_frame("frank")
    frame = frame[frame["is_human"] == 0].dropna(subset=["BertScore_P_Art", "FactCC"])
    metric = frame["BertScore_P_Art"].to_numpy(dtype=np.float64)
    human = frame["factual_binary"].to_numpy(dtype=np.float64)
    documents = frame["doc_id"]
    fact = (frame["FactCC"].to_numpy() >= 0.5) * 1.0
    yield _made("FRANK, BERTScore", metric, documents, human, _verdicts(metric, human))
    yield _made("FRANK, FactCC", metric, documents, human, fact)
    yield _made("FRANK, probability", metric, documents, human, _logistic(metric, 1.2, -0.8))
    ranks = metric.argsort().argsort() / metric.size
    yield _made("FRANK, ranks", metric, documents, human, ranks)
    for name, told in (("wmt20_ende", "WMT20 en–de"), ("wmt20_zhen", "WMT20 zh–en")):
        pool, score = load_real(name)
        metric, human = np.asarray(pool.metrics["COMET"]), np.where(score <= 0, 1.0, 0.0)
        yield _made(f"{told}, COMET", metric, pool.documents, human, _verdicts(metric, human))
        chance = _logistic(metric, 1.0, -2.8)
        yield _made(f"{told}, probability", metric, pool.documents, human, chance)
    frame = real_frame("topicalchat")
    metric = frame["UniEval_overall"].to_numpy(dtype=np.float64)
    stars = np.clip(frame["human_overall"].round(), 1, 5)
    yield _made("TopicalChat, UniEval", metric, frame["doc_id"], stars, _levels(metric))


def simulated(size: int = 2000, seed: int = 5) -> Iterator[Study]:
    """Made-up ratings of documents of ten segments."""
    rng = np.random.default_rng(seed)
    documents = np.arange(size) // 10
    human = (rng.random(size) < 0.85) * 1.0
    judge = np.where(rng.random(size) < 0.95, human, 1 - human)
    yield _made("sharp judge", judge + 0.1 * rng.normal(size=size), documents, human, judge)
    level = rng.normal(size=size // 10)[documents]
    human = (level + rng.normal(size=size) > -1) * 1.0
    judge = (1.4 * human - 0.7 + 0.5 * level + rng.normal(size=size) > -0.7) * 1.0
    yield _made("documents matter", judge + 0.1 * rng.normal(size=size), documents, human, judge)
    chance = rng.random(size)
    human = (rng.random(size) < chance) * 1.0
    yield _made("right probability", chance, documents, human, chance)
    over = 1 / (1 + ((1 - chance) / chance) ** 3)
    yield _made("overconfident", over, documents, human, over)
    skill = rng.normal(size=size)
    stars = np.clip(np.round(3.4 + skill), 1, 5)
    judge = np.clip(np.round(3.8 + 0.8 * skill + 0.5 * rng.normal(size=size)), 1, 5)
    yield _made("five stars", judge + 0.1 * rng.normal(size=size), documents, stars, judge)


def coverage(study: Study, name: str, n: int, draws: int, seed: int = 3) -> dict[str, float]:
    """Share of the intervals of each measure that contain the true value."""
    size = len(study.pool)
    sample = sampler(name).draw(study.pool, n, draws=draws, rng=seed)
    bins = int(np.clip(n // 20, 2, 10))
    found = figures(
        study.human[sample.indices], study.judge[sample.indices], sample.design, study.judge,
        bins=bins,
    )  # fmt: skip
    truth = figures(study.human, study.judge, simple_design(size, size), study.judge, bins=bins)
    held = {}
    probable = "ece" in found  # verdicts are in separate studies
    for key, made in found.items():
        if probable and key not in ("auc", "ece"):
            continue
        true = float(truth[key].value)
        inside = (made.low <= true + 1e-12) & (true - 1e-12 <= made.high)
        held[key] = float(inside[np.isfinite(made.value)].mean())
    return held


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--ratings", type=int, nargs="+", default=[100, 200])
    parser.add_argument("--simulated", action="store_true", help="only the simulated data")
    parser.add_argument("--each", action="store_true", help="one row per sampler")
    return parser


def main() -> None:
    options = read(arguments(), draws=40, ratings=[100])
    studies = list(simulated())
    if not options.simulated:
        need("frank", "wmt20_ende", "wmt20_zhen", "topicalchat")
        studies = [*real(), *studies]
    seen: dict[str, list[float]] = {}
    for n in options.ratings:
        print(f"{n} ratings\n")
        rows = []
        for study in studies:
            held = {name: coverage(study, name, n, options.draws) for name in SAMPLERS}
            shares = {
                key: [h[key] for h in held.values()] for key in SHOWN if key in held["random"]
            }
            for key, found in shares.items():
                seen.setdefault(key, []).extend(found)
            if options.each:
                rows += [
                    [study.name, name, *(_percent(found.get(key)) for key in SHOWN)]
                    for name, found in held.items()
                ]
            else:
                cells = (
                    f"{_percent(min(shares[k]))}–{_percent(max(shares[k]))}" if k in shares else ""
                    for k in PROMISED
                )
                rows.append([study.name, *cells])
            print(study.name, n, file=sys.stderr)
        heads = ["data", "sampler", *SHOWN] if options.each else ["data", *PROMISED]
        table(heads, rows, left=1 + options.each)
    print("over all of these\n")
    rows = [
        [key, str(len(v)), *(_percent(float(x)) for x in (np.mean(v), min(v), max(v))),
         f"{100 * np.mean([0.93 <= x <= 0.97 for x in v]):.0f}"]
        for key, v in seen.items()
    ]  # fmt: skip
    table(["measure", "cells", "mean", "lowest", "highest", "% within 93–97"], rows)


if __name__ == "__main__":
    main()
