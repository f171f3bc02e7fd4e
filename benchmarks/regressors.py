"""Compare regressors as learned controls with ridge: error, coverage and time.

    python benchmarks/regressors.py [--draws 200] [--ratings 50 200]

For docs/evidence.md. Errors are root mean squared errors of the estimated mean on simple
random samples, divided by that of the plain mean on the same samples: 0.90 saves about 19 % of the
ratings. ``covers`` is the share of 95 % intervals that contain the true mean, over all data sets,
and ``ms`` is the time of one estimate. The real data are one system's segments of WMT20, TED talks
(WMT21) and summaries of FRANK, with all their metrics.
"""

from __future__ import annotations

import argparse
import sys
from time import perf_counter

import numpy as np
from _common import arguments as common
from _common import need, read, table

from fewgold import registry
from fewgold.datasets import load_real
from fewgold.estimators import regressor_names
from fewgold.samplers import SimpleRandom

DATA = {
    "WMT20 en–de": "wmt20_ende", "WMT20 zh–en": "wmt20_zhen", "TED en–de": "ted_ende",
    "FRANK": "frank",
}  # fmt: skip


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--ratings", type=int, nargs="+", default=[50, 200])
    return parser


def main() -> None:
    options = read(arguments(), draws=3, ratings=[50])
    need(*DATA.values())
    names = ["ridge", "cv-knn", *(f"cv-sklearn:{name}" for name in regressor_names())]
    for n in options.ratings:
        print(f"{n} ratings\n")
        found: dict[str, list[float]] = {name: [] for name in names}
        held: dict[str, list[float]] = {name: [] for name in names}
        seconds = dict.fromkeys(names, 0.0)
        for data in DATA.values():
            pool, gold = load_real(data)
            sample = SimpleRandom().draw(pool, n, draws=options.draws, rng=7)
            ratings = sample.rate(gold[sample.indices])
            truth = gold.mean()
            plain = np.square(ratings.scores.mean(-1) - truth).mean()
            for name in names:
                start = perf_counter()
                made = registry.estimator(name, pool).estimate(ratings)
                seconds[name] += perf_counter() - start
                found[name].append(float(np.sqrt(np.square(made.value - truth).mean() / plain)))
                low, high = made.interval(0.95)
                held[name].append(float(((low <= truth) & (truth <= high)).mean()))
                print(n, data, name, file=sys.stderr)
        rows = [
            [name, *(f"{x:.2f}" for x in found[name]), f"{np.mean(found[name]):.2f}",
             f"{100 * np.mean(held[name]):.1f}",
             f"{1000 * seconds[name] / options.draws / len(DATA):.0f}"]
            for name in names
        ]  # fmt: skip
        table(["estimator", *DATA, "mean", "covers", "ms"], rows)


if __name__ == "__main__":
    main()
