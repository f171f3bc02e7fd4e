"""Compare RaterPosterior with crowd-kit's aggregators; for docs/raters.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/raters.py [--studies 40]

Answers are simulated: each item is adequate with probability α, and each rater is right with a
probability of their own. The task is to find the share of adequate items among those rated, and the
class of each item. The aggregators give only classes or probabilities, and no interval. Their share
is that of the items they call adequate, or the mean of the probabilities. Without crowd-kit
(pip install crowd-kit; not a dependency of fewgold) only majority votes are compared.

"shared difficulty" violates the model: a fifth of the items are so hard that every rater guesses.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import arguments as common
from _common import read, table

from fewgold.bayes import RaterPosterior
from fewgold.common.arrays import FloatArray

Chances = Callable[[FloatArray], FloatArray]


class Setting(NamedTuple):
    """Items, share of adequate ones, rates ρ and η of the raters, answers to each item."""

    items: int
    alpha: float
    rho: tuple[float, ...]
    eta: tuple[float, ...]
    each: int
    hard: float = 0.0


SETTINGS = {
    "three raters, α = 0.5": Setting(300, 0.5, (0.9, 0.8, 0.75), (0.9, 0.8, 0.75), 3),
    "three raters, α = 0.9": Setting(300, 0.9, (0.9, 0.8, 0.75), (0.9, 0.8, 0.75), 3),
    "three lenient raters, α = 0.7": Setting(300, 0.7, (0.95, 0.95, 0.9), (0.7, 0.6, 0.75), 3),
    "ten raters, 3 each, α = 0.8": Setting(
        300, 0.8, tuple(np.linspace(0.65, 0.95, 10)), tuple(np.linspace(0.95, 0.65, 10)), 3
    ),
    "shared difficulty, α = 0.8": Setting(300, 0.8, (0.9, 0.85, 0.85), (0.9, 0.85, 0.85), 3, 0.2),
}


def simulate(setting: Setting, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Classes (items,), and answers (items, raters) with NaN where there is none."""
    adequate = rng.random(setting.items) < setting.alpha
    chance = np.where(adequate[:, None], setting.rho, 1 - np.array(setting.eta))
    chance = np.where(rng.random((setting.items, 1)) < setting.hard, 0.5, chance)
    labels = (rng.random(chance.shape) < chance).astype(np.float64)
    order = rng.permuted(np.tile(np.arange(chance.shape[1]), (setting.items, 1)), axis=1)
    return adequate.astype(np.float64), np.where(order < setting.each, labels, np.nan)


def majority(labels: FloatArray) -> FloatArray:
    """1 or 0, and ½ in a tie."""
    share = np.nanmean(labels, axis=1)
    return np.where(share == 0.5, 0.5, share > 0.5)


def crowd_kit() -> dict[str, Chances]:
    """Probability that each item is adequate, by crowd-kit's aggregators if it is installed."""
    if find_spec("crowdkit") is None:
        print("crowd-kit is not installed: only majority votes are compared.", file=sys.stderr)
        return {}
    import crowdkit.aggregation as peers  # type: ignore[import-not-found,unused-ignore]

    def with_(make: Callable[[], Any], votes: bool = False) -> Chances:
        def chances(labels: FloatArray) -> FloatArray:
            task, worker = np.nonzero(np.isfinite(labels))
            answers = labels[task, worker].astype(int)
            told = make()
            told.fit(pd.DataFrame({"task": task, "worker": worker, "label": answers}))
            table = told.probas_.reindex(columns=[0, 1]).fillna(0.0)
            chance = np.asarray(table.loc[np.arange(len(labels)), 1], dtype=np.float64)
            if votes:  # shares of votes, not probabilities
                chance = np.asarray(told.labels_.loc[np.arange(len(labels))], dtype=np.float64)
            return chance

        return chances

    return {
        "crowd-kit MajorityVote": with_(peers.MajorityVote, votes=True),
        "crowd-kit OneCoinDawidSkene": with_(lambda: peers.OneCoinDawidSkene(n_iter=100)),
        "crowd-kit DawidSkene": with_(lambda: peers.DawidSkene(n_iter=100)),
        "crowd-kit GLAD": with_(lambda: peers.GLAD(n_iter=100, silent=True)),
    }


class Result(NamedTuple):
    """The result of one study: error of the share, share of right classes, seconds."""

    gap: float
    right: float
    seconds: float


def judge(chance: FloatArray, adequate: FloatArray, seconds: float, share: float) -> Result:
    called = np.where(chance == 0.5, 0.5, chance > 0.5)
    return Result(share - adequate.mean(), float(1 - np.abs(called - adequate).mean()), seconds)


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--studies", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--time", action="store_true", help="also show seconds per study")
    return parser


def main() -> None:
    args = read(arguments(), studies=2)
    rows = []
    logging.disable(logging.WARNING)
    ways = {"majority": majority, **crowd_kit()}
    for name, setting in SETTINGS.items():
        rng = np.random.default_rng(args.seed)
        found: dict[str, list[Result]] = {}
        held = []
        for _ in range(args.studies):
            adequate, labels = simulate(setting, rng)
            for way, chances in ways.items():
                start = time.perf_counter()
                chance = chances(labels)
                took = time.perf_counter() - start
                found.setdefault(way, []).append(
                    judge(chance, adequate, took, float(chance.mean()))
                )
            start = time.perf_counter()
            ours = RaterPosterior(labels, target="pool", effective=1000)
            low, high = ours.interval()
            took = time.perf_counter() - start
            held.append(low <= adequate.mean() <= high)
            found.setdefault("RaterPosterior", []).append(
                judge(ours.adequate, adequate, took, float(ours.value))
            )
        for way, results in found.items():
            gap, right, seconds = np.array(results).T
            rmse = np.sqrt((gap**2).mean())
            inside = f"{np.sum(held)} of {len(held)}" if way == "RaterPosterior" else ""
            row = [name, way, f"{gap.mean():+.3f}", f"{rmse:.3f}", f"{right.mean():.3f}", inside]
            rows.append([*row, f"{seconds.mean():.2f}"] if args.time else row)
    heads = ["", "way", "bias", "rmse", "classes right", "95 % intervals that held"]
    print(f"{args.studies} studies of 300 items, three answers each\n")
    table([*heads, "seconds"] if args.time else heads, rows, left=2)


if __name__ == "__main__":
    main()
