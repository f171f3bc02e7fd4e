"""Speed of the binary model, compared with the grid of the papers; for docs/speed.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/binary.py [--repeats 5]

von Däniken et al. (2022, appendix) sum over a grid of 2000 values of α, 1000 of ρ and 1000 of η.
Here a few slices of α are summed with numpy in logarithms, and their time is scaled up, since the
cost of a slice does not depend on α. The study has 527 paired ratings and 1000 by the
metric alone, with ρ = η = 0.7 and α = 0.6. Times are the best of several, taken in turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
from _common import arguments as common
from _common import best_of, read
from _common import table as markdown

from fewgold.bayes import (
    AlphaPosterior,
    Counts,
    PoolPosterior,
    Priors,
    moments,
    probability_greater,
)
from fewgold.bayes.quadrature import _by_quadrature
from fewgold.common.arrays import FloatArray

SLICES = 4
CASE = Counts(tp=221, fn=95, fp=63, tn=148, metric_ones=540, metric_total=1000)


def grid_slices(alphas: FloatArray, size: int = 1000) -> FloatArray:
    """Unnormalised posterior of α at a few values, summed over the grid of ρ and η."""
    counts = CASE
    x = (np.arange(size) + 0.5) / size
    log_rho = counts.tp * np.log(x) + counts.fn * np.log1p(-x)
    log_eta = counts.tn * np.log(x) + counts.fp * np.log1p(-x)
    prior = log_rho[:, None] + log_eta
    out = np.empty(alphas.size)
    for at, alpha in enumerate(alphas):
        p = alpha * x[:, None] + (1 - alpha) * (1 - x)
        log_like = counts.metric_ones * np.log(p) + counts._metric_zeros * np.log1p(-p)
        out[at] = np.exp(prior + log_like + 1500).sum()
    return out


def batch(
    studies: int = 1000,
    paired: int = 527,
    metric: int = 1000,
    rate: float = 0.6,
    accuracy: float = 0.7,
) -> Counts:
    """Random studies, by default with the rates and sizes of the module's study."""
    rng = np.random.default_rng(0)
    adequate = rng.binomial(paired, rate, studies)
    tp, tn = rng.binomial(adequate, accuracy), rng.binomial(paired - adequate, accuracy)
    p = rate * accuracy + (1 - rate) * (1 - accuracy)
    return Counts(
        tp=tp,
        fn=adequate - tp,
        tn=tn,
        fp=paired - adequate - tn,
        metric_ones=rng.binomial(metric, p, studies),
        metric_total=metric,
    )


def quadrature(counts: Counts) -> object:
    """Mean and sd by quadrature, without its cache."""
    _by_quadrature.cache_clear()
    return moments(counts, method="quadrature")


def compared(counts: Counts) -> FloatArray:
    """Each study against the next."""
    posterior = AlphaPosterior(counts)
    return np.asarray(probability_greater(posterior, posterior.draw(np.roll(np.arange(1000), 1))))


def table() -> Counts:
    """The 8 × 7 studies of Table 11 of the paper."""
    paired = np.array([0, 100, 250, 500, 1000, 2500, 5000, 10_000])[:, None]
    metric = np.array([0, 1000, 2500, 5000, 10_000, 50_000, 100_000])
    adequate = np.rint(0.6 * paired)
    tp, tn = np.rint(0.7 * adequate), np.rint(0.7 * (paired - adequate))
    return Counts(
        tp=tp,
        fn=adequate - tp,
        tn=tn,
        fp=paired - adequate - tn,
        metric_ones=np.rint(0.54 * metric),
        metric_total=metric,
    )


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="number of runs; the fastest counts")
    return parser


def main() -> None:
    repeats = read(arguments(), repeats=1).repeats
    one, many, cells = CASE, batch(), table()
    alphas = np.linspace(0.56, 0.64, SLICES)
    slices = grid_slices(alphas)
    exact = AlphaPosterior(one).pdf(alphas)
    # The same posterior: the ratio of slices to density, α's own factor put in, is constant.
    factor = slices * alphas**one._adequate * (1 - alphas) ** one._inadequate / exact
    print(f"Grid and density agree to {np.ptp(factor) / factor.mean():.1e}.\n")
    grid = best_of(repeats, lambda: grid_slices(alphas)) * 2000 / SLICES
    pools = PoolPosterior(many)
    large = batch(paired=100, metric=10_000, rate=0.9, accuracy=0.8)
    known = Priors(rho=0.7, eta=0.7)
    rows: list[tuple[str, Callable[[], object], int]] = [
        ("mean and sd, mixture", lambda: moments(one, method="mixture"), 1),
        ("mean and sd, reverse", lambda: moments(one, method="reverse"), 1),
        ("mean and sd, quadrature", lambda: quadrature(one), 1),
        ("mean, sd, 95 % interval", lambda: AlphaPosterior(one).to_dict(), 1),
        ("mean and sd, each of 1000 in a batch", lambda: moments(many), 1000),
        ("the same with intervals", lambda: AlphaPosterior(many).to_dict(), 1000),
        ("the same, 100 paired, 10,000 metric", lambda: AlphaPosterior(large).to_dict(), 1000),
        ("the same, known rates", lambda: AlphaPosterior(many, known).to_dict(), 1000),
        ("test set: with intervals, each of 1000", lambda: pools.draw(...).to_dict(), 1000),
        ("P(α1 > α2), each of 1000 pairs", lambda: compared(many), 1000),
        ("mean and sd, each of an 8 × 7 table", lambda: moments(cells), 56),
    ]
    found = [(f"grid, {SLICES} of 2000 slices, multiplied up", f"{1e3 * grid:.0f}", "1")]
    for title, work, size in rows:
        seconds = best_of(repeats, work) / size
        found.append((title, f"{1e3 * seconds:.3f}", f"{grid / seconds:,.0f}"))
    markdown(["", "ms", "times faster than the grid"], found)
    print(f"The whole 8 × 7 table: {best_of(repeats, lambda: moments(cells)):.3f} s.")


if __name__ == "__main__":
    main()
