"""Test bins and preferences on simulated items with known truth; for docs/beyond-binary.md.

    python benchmarks/cells_simulated.py [explained|errors|preferences] [--samples 600]

``explained`` shows how much of a score's information bins keep. ``errors`` shows the error of the
posterior mean with bins under each prior, divided by that of the plain mean. ``preferences`` shows
how often intervals of preferences contain the net preference, by prior.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from _common import arguments as common
from _common import read, table
from scipy.special import expit
from scipy.stats import norm

from fewgold.bayes import CellPosterior, Pooled, PreferencePosterior, Separate, Trend, bins, tally
from fewgold.common.arrays import BoolArray, FloatArray, IntArray

_APART = 1.478  # d', at which a threshold explains 0.29 of the variance
_SIZE = 1000

PRIORS: dict[str, tuple[int, object]] = {
    "8 bins, `Pooled`": (8, Pooled()),
    "8 bins, `Trend`": (8, Trend()),
    "16 bins, `Trend`": (16, Trend()),
    "8 bins, `Separate`": (8, Separate()),
}

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

    def kept(labels: IntArray) -> float:
        mass = np.bincount(labels, density) * step
        mean = np.bincount(labels, density * rate) * step / mass
        return float((mass * (mean - 0.5) ** 2).sum() / 0.25)

    cuts = np.searchsorted(x, np.linspace(-1, 3, 401))
    threshold = max(kept((np.arange(x.size) >= k).astype(np.int64)) for k in cuts)
    figures = [threshold]
    for count in (4, 8, 16):
        figures.append(kept(np.minimum((upto * count).astype(np.int64), count - 1)))
    figures.append(float((density * (rate - 0.5) ** 2).sum() * step / 0.25))
    heads = ("threshold", "4 bins", "8 bins", "16 bins", "the score itself")
    table(heads, [[f"{figure:.3f}" for figure in figures]], left=0)


def errors(make: Maker, n: int, samples: int) -> dict[str, tuple[float, float]]:
    """Root mean square errors as a share of that of the plain mean, and coverage of ± 1.96 sd."""
    rng = np.random.default_rng(7)
    plain, found = [], {name: [] for name in PRIORS}  # type: ignore[var-annotated]
    for _ in range(samples // 20):  # a new pool for every 20 samples
        score, adequate = make(rng)
        rows = np.argsort(rng.random((20, _SIZE)), axis=1)[:, :n]
        truth = adequate.mean()
        plain.append(adequate[rows].mean(-1) - truth)
        for name, (count, prior) in PRIORS.items():
            cells = tally(bins(score, count), rows, adequate[rows].astype(int))
            made = CellPosterior(*cells, prior=prior)  # type: ignore[arg-type]
            found[name].append(np.stack([made.mean - truth, made.sd]))
    base = np.sqrt(np.mean(np.square(plain)))
    out = {}
    for name, parts in found.items():
        off, sd = np.concatenate(parts, axis=-1)
        held = np.mean(np.abs(off) <= 1.96 * sd)
        out[name] = float(np.sqrt(np.mean(off**2)) / base), float(held)
    return out


def preferences(chances: tuple[float, float, float], samples: int) -> list[str]:
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
    return [f"{count / samples:.3f}" for count in held.values()]


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("what", nargs="?", choices=["explained", "errors", "preferences"])
    parser.add_argument("--samples", type=int, default=600)
    return parser


def main() -> None:
    options = read(arguments(), samples=40)
    samples, what = options.samples, options.what
    if what in (None, "explained"):
        print("Share of the variance explained, binormal, half adequate\n")
        explained()
    if what in (None, "errors"):
        print("Error over that of the plain mean, and how often ± 1.96 sd held the truth\n")
        rows = []
        for title, make, sizes in (
            ("binormal, half adequate", binormal(0.5), (25, 60, 150)),
            ("the same, 0.9 adequate", binormal(0.9), (25, 60)),
            ("says nothing", silent, (25, 150)),
            ("best in its middle", middling, (25, 150)),
        ):
            for n in sizes:
                found = errors(make, n, samples).values()
                rows.append([title, n, *(f"{error:.3f}, {held:.1%}" for error, held in found)])
        table(["metric", "rated", *PRIORS], rows)
    if what in (None, "preferences"):
        print("How often 95 % intervals of the net preference hold it, by prior; 30 pairs rated\n")
        shapes = {"nine wins of ten": (0.05, 0.05, 0.9), "even": (0.4, 0.2, 0.4)}
        lines = [[name, *preferences(chances, samples // 2)] for name, chances in shapes.items()]
        table(["", "1", "1/2", "1/3", "1/5"], lines)


if __name__ == "__main__":
    main()
