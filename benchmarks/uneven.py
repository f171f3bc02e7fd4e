"""Uneven chances from a judge's probability of a pass, compared with glide-py's active sampler.

    python benchmarks/uneven.py [--draws 500]

There are N = 2000 outputs and n = 150 ratings of 0 or 1. A judge says how probable a pass is. It is
sharp with correct probabilities, middling, or overconfident (its log odds are three times what they
should be). The figure is the root mean squared error of the estimated share of passes; "relative"
divides it by that of `docs-balanced+ridge` for the same judge. glide-py needs Python 3.12 or newer;
without it its rows are left out. For docs/evidence.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import numpy as np
from _common import arguments as common
from _common import read, table

from fewgold import Pool
from fewgold.common.arrays import FloatArray
from fewgold.estimators import Ridge
from fewgold.samplers import Balanced, Chances, Sampler, spread_of_probability

SIZE, RATINGS = 2000, 150


def judges(rng: np.random.Generator) -> dict[str, tuple[FloatArray, FloatArray]]:
    """True chances of a pass, and what the judge says."""
    sharp, middling, fair = (rng.beta(a, a, SIZE) for a in (0.14, 0.62, 0.7))
    odds = np.clip(np.log(fair / (1 - fair)), -30, 30)
    return {
        "sharp": (sharp, sharp),
        "middling": (middling, middling),
        "overconfident": (fair, 1 / (1 + np.exp(-3 * odds))),
    }


def ours(sampler: Sampler) -> Callable[[FloatArray, FloatArray, int], float]:
    def estimate(q: FloatArray, y: FloatArray, seed: int) -> float:
        pool = Pool(np.arange(SIZE), {"judge": q}, spread=spread_of_probability(q))
        sample = sampler.draw(pool, RATINGS, rng=seed)
        return float(Ridge().estimate(sample.rate(y[sample.indices])).value)

    return estimate


def glide(uniform: float) -> Callable[[FloatArray, FloatArray, int], float]:
    from glide.estimators import ASIMeanEstimator  # type: ignore[import-not-found]
    from glide.samplers import ActiveSampler  # type: ignore[import-not-found]

    def estimate(q: FloatArray, y: FloatArray, seed: int) -> float:
        spread = np.maximum(spread_of_probability(q), 1e-3)
        mixed = uniform * spread.mean() + (1 - uniform) * spread
        # Its own search for chances below 1 takes a minute a draw: they are capped beforehand.
        from fewgold.samplers.chances import capped

        chance = np.minimum(capped(mixed, RATINGS), 1 - 1e-9)
        pi, xi = ActiveSampler().sample(chance, RATINGS, random_seed=seed)
        labels = np.where(xi == 1, y, np.nan)
        made = ASIMeanEstimator().estimate(labels, q, pi)
        return float(made.mean)

    return estimate


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--draws", type=int, default=500)
    return parser


def main() -> None:
    options = read(arguments(), draws=40)
    methods = {
        "fewgold, `docs-balanced+ridge`": ours(Balanced()),
        "fewgold, `docs-uneven+ridge`": ours(Balanced(chances=Chances())),
        "the same, half uniform": ours(Balanced(chances=Chances(uniform=0.5))),
    }
    try:
        methods |= {"glide-py, active": glide(0.0), "glide-py, half uniform": glide(0.5)}
    except ImportError:
        print("glide-py is not installed: left out.", file=sys.stderr)
    errors: dict[tuple[str, str], list[float]] = {}
    for draw in range(options.draws):
        rng = np.random.default_rng([1, draw])
        for judge, (truth, said) in judges(rng).items():
            y = (rng.random(SIZE) < truth).astype(np.float64)
            for name, method in methods.items():
                errors.setdefault((name, judge), []).append(method(said, y, draw) - y.mean())
    kinds = list(judges(np.random.default_rng(0)))
    error = {key: float(np.sqrt(np.mean(np.square(e)))) for key, e in errors.items()}
    base = next(iter(methods))
    heads = ["", *(f"{kind} {what}" for kind in kinds for what in ("RMSE", "relative"))]
    rows = []
    for name in methods:
        cells = [(error[name, kind], error[name, kind] / error[base, kind]) for kind in kinds]
        rows.append([name, *(f for rmse, part in cells for f in (f"{rmse:.4f}", f"{part:.2f}"))])
    table(heads, rows)


if __name__ == "__main__":
    main()
