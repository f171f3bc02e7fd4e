"""Bins and preferences on made-up items, where the truth is known: for docs/beyond-binary.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/cells_simulated.py [--samples 600]

What bins keep of a score; the error of the posterior mean with bins under each prior, as a share of
that of the plain mean; bins on their own; and how often intervals of preferences hold the net
preference, by prior.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bayes import CellPosterior, Pooled, PreferencePosterior, Separate, Trend, bins, tally

_APART = 1.478  # d', at which a threshold explains 0.29 of the variance
_SIZE = 1000

Maker = Callable[[np.random.Generator], tuple[FloatArray, BoolArray]]


def binormal(alpha: float) -> Maker:
    def make(rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
        adequate = rng.random(_SIZE) < alpha
        return rng.normal(size=_SIZE) + _APART * adequate, adequate

    return make


def silent(rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    return rng.normal(size=_SIZE), rng.random(_SIZE) < 0.5


def middling(rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
    score = rng.normal(size=_SIZE)
    return score, rng.random(_SIZE) < expit(2 - 3 * np.abs(score))


def explained() -> None:
    """Share of the variance of a binormal rating, half adequate, that a score and its bins keep."""
    x = np.linspace(-8, 10, 200_001)
    one, zero = norm.pdf(x - _APART), norm.pdf(x)
    density, rate = 0.5 * (one + zero), one / (one + zero)
    step = x[1] - x[0]
    upto = np.cumsum(density) * step

    def kept(labels: FloatArray) -> float:
        mass = np.bincount(labels, density) * step
        mean = np.bincount(labels, density * rate) * step / mass
        return float((mass * (mean - 0.5) ** 2).sum() / 0.25)

    cuts = np.searchsorted(x, np.linspace(-1, 3, 401))
    threshold = max(kept((np.arange(x.size) >= k).astype(np.int64)) for k in cuts)
    figures = [threshold]
    for count in (4, 8, 16):
        figures.append(kept(np.minimum((upto * count).astype(np.int64), count - 1)))
    figures.append(float((density * (rate - 0.5) ** 2).sum() * step / 0.25))
    for name, figure in zip(("threshold", "4 bins", "8", "16", "score"), figures, strict=True):
        print(f"{name:10s} {figure:.3f}")


def errors(make: Maker, n: int, samples: int, priors: dict[str, tuple[int, object]]) -> None:
    """Root mean square errors as a share of that of the plain mean, and coverage of ± 1.96 sd."""
    rng = np.random.default_rng(7)
    plain, found = [], {name: [] for name in priors}  # type: ignore[var-annotated]
    for _ in range(samples // 20):  # a new pool for every 20 samples
        score, adequate = make(rng)
        rows = np.argsort(rng.random((20, _SIZE)), axis=1)[:, :n]
        truth = adequate.mean()
        plain.append(adequate[rows].mean(-1) - truth)
        for name, (count, prior) in priors.items():
            cells = tally(bins(score, count), rows, adequate[rows].astype(int))
            made = CellPosterior(*cells, prior=prior)  # type: ignore[arg-type]
            found[name].append(np.stack([made.mean - truth, made.sd]))
    base = np.sqrt(np.mean(np.square(plain)))
    for name, parts in found.items():
        off, sd = np.concatenate(parts, axis=-1)
        held = np.mean(np.abs(off) <= 1.96 * sd)
        print(f"  {n:4d} {name:18s} {np.sqrt(np.mean(off**2)) / base:.3f}  held {held:.3f}")


def preferences(chances: tuple[float, float, float], samples: int) -> None:
    """Coverage of 95 % intervals of wins − losses: 30 of 600 pairs rated, a metric right in 0.7."""
    rng = np.random.default_rng(7)
    held = dict.fromkeys((1.0, 1 / 2, 1 / 3, 1 / 5), 0)
    for _ in range(samples):
        truth = rng.choice(3, 600, p=chances)
        metric = np.where(rng.random(600) < 0.7, truth, rng.integers(0, 3, 600))
        rows = rng.permutation(600)[:30]
        rated, unrated = tally(metric, rows, truth[rows], classes=3, count=3)
        net = (truth == 2).mean() - (truth == 0).mean()
        for prior in held:
            low, high = PreferencePosterior(rated, unrated, prior=prior).interval()
            held[prior] += bool(low <= net <= high)
    print("  ", {round(prior, 2): round(count / samples, 3) for prior, count in held.items()})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=600)
    samples = parser.parse_args().samples
    print("variance explained, binormal, half adequate")
    explained()
    both: dict[str, tuple[int, object]] = {
        "8 bins, Pooled": (8, Pooled()),
        "8 bins, Trend": (8, Trend()),
    }
    more = both | {"16 bins, Trend": (16, Trend())}
    alone: dict[str, tuple[int, object]] = {"Separate": (8, Separate())}
    for title, make, sizes, priors in (
        ("binormal, half adequate", binormal(0.5), (25, 60, 150), more),
        ("binormal, 0.9 adequate", binormal(0.9), (25, 60), both),
        ("says nothing", silent, (25, 150), both),
        ("best in its middle", middling, (25, 150), both),
        ("0.9 adequate, each bin by itself", binormal(0.9), (25,), alone),
    ):
        print(f"error over that of the plain mean: {title}")
        for n in sizes:
            errors(make, n, samples, priors)
    for title, chances in (("nine wins of ten", (0.05, 0.05, 0.9)), ("even", (0.4, 0.2, 0.4))):
        print(f"preferences, 30 rated, {title}: coverage by prior")
        preferences(chances, samples // 2)


if __name__ == "__main__":
    main()
