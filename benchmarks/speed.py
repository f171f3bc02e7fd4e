"""Speed as ratios: each pair runs in one process, on the same data; for docs/speed.md.

    OPENBLAS_NUM_THREADS=1 python benchmarks/speed.py [--repeats 9]
    OPENBLAS_NUM_THREADS=1 python benchmarks/speed.py --balanced
    OPENBLAS_NUM_THREADS=1 python benchmarks/speed.py --scaling     # writes docs/scaling.svg

A simulation of 100 draws of 100 out of 1000 segments with 7 metrics is compared with a loop over
the draws as you would write it with numpy, scipy and scikit-learn. Both compute an estimate, its
standard error and a 95 % interval, unless the title says otherwise. Each time is the best of
several, taken in turns. "first" is the first estimator on new samples. "next" is a further
estimator on the same samples, as in a simulation that compares several. "bare numpy" is the same
arithmetic for all draws at once without checks or objects, as a lower limit. Whatever belongs to
the pool, such as standardised metrics and ranks of neighbours, is computed beforehand in both.
Times are processor time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from _common import arguments as common
from _common import read, table
from scipy import stats
from scipy.special import stdtrit
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor

from fewgold import Estimator, Pool, Ratings, Sampler
from fewgold.bounds import Student
from fewgold.common.arrays import FloatArray
from fewgold.estimators import KNN, ControlVariates, CrossFit, Learned, Mean, Ridge
from fewgold.estimators.ridge import STRENGTHS
from fewgold.samplers import Balanced, SimpleRandom, Stratified, Systematic

Work = Callable[[], object]
Result = list[tuple[float, float, tuple[float, float]]]
SVG = Path(__file__).parent.parent / "docs" / "scaling.svg"


def make_pool(size: int, p: int = 7) -> tuple[Pool, FloatArray]:
    rng = np.random.default_rng(0)
    metrics = {f"m{k}": rng.normal(size=size) for k in range(p)}
    gold = sum(metrics.values()) + 2 * rng.normal(size=size)
    return Pool(np.arange(size), metrics, np.arange(size) // 10), np.asarray(gold)


@dataclass
class Study:
    """A pool, its true scores, and samples of it."""

    pool: Pool
    gold: FloatArray
    ratings: Ratings

    @classmethod
    def make(cls, size: int = 1000, n: int = 100, draws: int = 100) -> Study:
        pool, gold = make_pool(size)
        sample = SimpleRandom().draw(pool, n, draws=draws, rng=0)
        return cls(pool, gold, sample.rate(gold[sample.indices]))

    def draws(self) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Rows and scores, draw by draw."""
        yield from zip(self.ratings.sample.indices, self.ratings.scores, strict=True)

    def fresh(self) -> Ratings:
        """The same ratings, with nothing computed yet."""
        n, draws = self.ratings.n, len(self.ratings.scores)
        sample = SimpleRandom().draw(self.pool, n, draws=draws, rng=0)
        return sample.rate(self.gold[sample.indices])


# What a competent person would write ----------------------------------------------------------


def interval(value: float, variance: float, n: int, size: int, df: int) -> Result:
    se = np.sqrt(variance / n * (1 - n / size))
    return [(value, se, stats.t.interval(0.95, df, value, se))]


def mean_loop(study: Study) -> Result:
    size, out = len(study.pool), []
    for _, x in study.draws():
        out += interval(x.mean(), x.std(ddof=1) ** 2, x.size, size, x.size - 1)
    return out


def draw_and_mean_loop(study: Study) -> Result:
    rng, size, out = np.random.default_rng(0), len(study.pool), []
    for _ in study.ratings.scores:
        x = study.gold[rng.choice(size, study.ratings.n, replace=False)]
        out += interval(x.mean(), x.std(ddof=1) ** 2, x.size, size, x.size - 1)
    return out


def regression_loop(study: Study, names: list[str] | None = None) -> Result:
    metrics, out = study.pool.matrix(names).T, []
    size, p = metrics.shape
    centred = metrics - metrics.mean(0)
    for rows, x in study.draws():
        design = np.column_stack([np.ones(x.size), centred[rows]])
        beta = np.linalg.lstsq(design, x, rcond=None)[0]
        left = x - design @ beta
        out += interval(beta[0], left @ left / (x.size - 1 - p), x.size, size, x.size - 1 - p)
    return out


def bare_regression(study: Study, names: list[str] | None = None) -> Work:
    """The arithmetic of control variates for all draws at once, without any check: a floor.

    Gather, products, slopes, g-weights, standard errors and intervals in plain numpy.
    """
    ratings, metrics = study.fresh(), study.pool.standardised(names)
    rows, y = ratings.sample.indices, ratings.scores
    (p, size), n = metrics.shape, y.shape[-1]
    pool = np.ascontiguousarray(np.vstack([np.ones(size), metrics]).T)

    def work() -> FloatArray:
        z = np.take(pool, rows, axis=0, mode="clip")
        turned = np.swapaxes(z, -1, -2)
        right = np.zeros((len(y), 1 + p, 2))
        right[:, 0, 1] = n
        np.matmul(turned, y[..., None], out=right[..., :1])
        solved = np.linalg.solve(turned @ z, right)  # slopes, and what makes g-weights
        fitted = z @ solved
        left = (y - fitted[..., 0]) * fitted[..., 1]
        se = np.sqrt(np.vecdot(left, left) / n / (n - 1 - p) * (1 - n / size))
        half, value = stdtrit(n - 1 - p, 0.975) * se, solved[:, 0, 0]
        return np.stack([value - half, value, value + half])

    return work


def ridge_loop(study: Study) -> list[float]:
    """Without standard errors and intervals, which the regression does not come with."""
    metrics, out = study.pool.standardised().T, []
    for rows, x in study.draws():
        fit = RidgeCV(alphas=[s * x.size for s in STRENGTHS]).fit(metrics[rows], x)
        out.append(float(x.mean() - fit.coef_ @ metrics[rows].mean(0)))
    return out


def knn_loop(study: Study, k: int = 25, folds: int = 5) -> Result:
    metrics, out = study.pool.standardised().T, []
    size = len(metrics)
    for rows, x in study.draws():
        label = np.arange(x.size) % folds
        gap = np.empty(x.size)
        for fold in range(folds):
            held = label == fold
            model = KNeighborsRegressor(k).fit(metrics[rows[~held]], x[~held])
            everywhere = model.predict(metrics)
            gap[held] = everywhere[rows[held]] - everywhere.mean()
        slope = np.cov(x, gap)[0, 1] / gap.var(ddof=1)
        left = x - slope * gap
        out += interval(left.mean(), left.var(ddof=1), x.size, size, x.size - 2)
    return out


# Pairs ----------------------------------------------------------------------------------------


@dataclass
class Pair:
    """Two ways to compute the same, and how many times faster the fast one should be."""

    title: str
    quick: Callable[[], Work]  # prepares, and returns what is timed
    slow: Work
    goal: float | None = None
    twice: bool = False  # whether a second time differs from the first

    def ratios(self, repeats: int) -> tuple[float, float, float]:
        """How many times faster at first and next time, and milliseconds at first."""
        first = next_ = slow = np.inf
        for _ in range(repeats):  # in turns: a busy moment of the machine then hits all
            slow = min(slow, seconds(self.slow))
            for _ in range(3):
                work = self.quick()
                first = min(first, seconds(work))
                next_ = min(next_, seconds(work)) if self.twice else np.nan
        return slow / first, slow / next_, 1000 * first


def seconds(work: Work) -> float:
    """Processor time, because a busy machine interrupts long jobs more often than short ones."""
    start = time.process_time()
    work()
    return time.process_time() - start


def finish(estimator: Estimator, ratings: Ratings) -> object:
    made = estimator.estimate(ratings)
    return made.value, made.se, made.interval(0.95)


def against_loops(study: Study) -> list[Pair]:
    def ours(estimator: Estimator) -> Callable[[], Work]:
        def prepare() -> Work:
            ratings = study.fresh()
            return lambda: finish(estimator, ratings)

        return prepare

    def draw_and_mean() -> object:
        return finish(mean, study.fresh())

    # With Student's interval, like the loops.
    mean, knn = Mean(bound=Student()), Learned(KNN(), bound=Student())
    one, several = (ControlVariates(metrics=m, bound=Student()) for m in (("m0",), None))
    ridge = Ridge(bound=Student())
    return [
        Pair("mean, samples given", ours(mean), lambda: mean_loop(study), 50, True),
        Pair("mean, drawing included", lambda: draw_and_mean, lambda: draw_and_mean_loop(study)),
        Pair("cv with one metric", ours(one), lambda: regression_loop(study, ["m0"]), 50, True),
        Pair("cv-multi", ours(several), lambda: regression_loop(study), 50, True),
        Pair(
            "cv with one metric: bare numpy",
            lambda: bare_regression(study, ["m0"]),
            lambda: regression_loop(study, ["m0"]),
        ),
        Pair(
            "cv-multi: bare numpy",
            lambda: bare_regression(study),
            lambda: regression_loop(study),
        ),
        Pair("ridge (loop: no interval)", ours(ridge), lambda: ridge_loop(study), 30, True),
        Pair("cv-knn", ours(knn), lambda: knn_loop(study), 10, True),
    ]


def against_ourselves(study: Study) -> list[Pair]:
    pool, n, draws = study.pool, study.ratings.n, len(study.ratings.scores)
    frame = pd.DataFrame({"document": pool.documents})

    def batch(sampler: Sampler) -> Work:
        return lambda: sampler.draw(pool, n, draws=draws, rng=0)

    def singly(sampler: Sampler) -> Work:
        return lambda: [sampler.draw(pool, n, rng=k) for k in range(draws)]

    def by_pandas() -> object:
        by = frame.groupby("document")
        return [by.sample(frac=0.1, random_state=k) for k in range(draws)]

    pairs = [
        Pair(f"{s.name}: in a batch / one by one", lambda s=s: batch(s), singly(s))  # type: ignore[misc]
        for s in (Stratified(), Systematic(), Balanced())
    ]
    title = "docs-prop: in a batch / pandas groupby().sample()"
    pairs.append(Pair(title, lambda: batch(Stratified()), by_pandas))
    one = study.ratings.draw(0)
    ours, theirs = Learned(KNN(25)), Learned(CrossFit(KNeighborsRegressor(25)))
    title = "cv-knn, one study: ours / CrossFit(KNeighborsRegressor)"
    pairs.append(Pair(title, lambda: lambda: ours.estimate(one), lambda: theirs.estimate(one)))
    return pairs


def ratios(repeats: int) -> None:
    study, rows = Study.make(), []
    for pair in against_loops(study) + against_ourselves(study):
        first, again, ms = pair.ratios(repeats if pair.goal else min(repeats, 3))
        next_ = "" if np.isnan(again) else f"{again:.1f}"
        goal = "" if pair.goal is None else f"{pair.goal:.0f}"
        rows.append([pair.title, f"{first:.1f}", next_, goal, f"{ms:.2f}"])
    table(["times faster", "first", "next", "goal", "ms"], rows)


def balanced(repeats: int, quick: bool) -> None:
    """Processor time of a balanced draw, relative to a draw by document."""
    cases: list[tuple[int, int, int | None, float | None]] = [
        (1_000, 100, None, None), (1_000, 100, 100, 20), (10_000, 1_000, None, None),
        (1_000_000, 1_000, None, 15), (1_000_000, 100_000, None, 15),
    ]  # fmt: skip
    rows = []
    for size, n, draws, goal in cases[:3] if quick else cases:
        pool, _ = make_pool(size)
        times = [np.inf, np.inf]
        for _ in range(repeats):  # in turns, as above
            for k, sampler in enumerate((Stratified(), Balanced())):
                start = time.process_time()
                sampler.draw(pool, n, draws=draws, rng=0)
                times[k] = min(times[k], time.process_time() - start)
        rows.append([
            f"{n:,} of {size:,}", str(draws or 1), f"{1000 * times[0]:.2f}",
            f"{1000 * times[1]:.1f}", f"{times[1] / times[0]:.1f}",
            "" if goal is None else f"{goal}",
        ])  # fmt: skip
    header = ["segments", "draws", "docs-prop, ms", "docs-balanced, ms", "times as long", "at most"]
    table(header, rows)


# Scaling --------------------------------------------------------------------------------------

DRAWS = (25, 50, 100, 200, 400, 800, 1600)
SIZES = ((500, 50), (1000, 50), (1000, 100), (2000, 100), (4000, 200), (8000, 200), (16000, 400))


def best_of(study: Study, estimator: Estimator, repeats: int) -> float:
    times = []
    for _ in range(repeats):
        ratings = study.fresh()
        times.append(seconds(lambda r=ratings: finish(estimator, r)))  # type: ignore[misc]
    return min(times)


def by_draws(repeats: int) -> dict[str, list[float]]:
    made: list[Estimator] = [
        *(Mean(bound=Student()), ControlVariates(bound=Student())),
        *(Ridge(bound=Student()), Learned(KNN(), bound=Student())),
    ]
    return {e.name: [best_of(Study.make(draws=d), e, repeats) for d in DRAWS] for e in made}


def by_size(repeats: int) -> list[float]:
    """Seconds per draw of nearest neighbours, when the ranks of a small pool are known."""
    knn = Learned(KNN(), bound=Student())
    return [best_of(Study.make(size, n, 10), knn, repeats) / 10 for size, n in SIZES]


def slope(x: FloatArray, y: FloatArray) -> float:
    """Exponent of a power law."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def scaling(repeats: int, path: Path) -> None:
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "fewgold"  # the same figures, the same file
    mpl.rcParams["svg.fonttype"] = "none"
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    draws, rows = np.array(DRAWS, dtype=float), []
    for name, times in by_draws(repeats).items():
        values = np.array(times)
        rows.append([f"`{name}`", "draws, from 200 on", f"{slope(draws[-4:], values[-4:]):.2f}"])
        left.loglog(draws, 1e3 * values, "o-", label=name)
    left.set(xlabel="draws (N = 1000, n = 100)", ylabel="milliseconds")
    left.legend(frameon=False)
    cells = np.array([size * n for size, n in SIZES], dtype=float)
    values = np.array(by_size(repeats))
    rows.append(["`cv-knn`", "N·n, a draw", f"{slope(cells, values):.2f}"])
    table(["", "time grows with", "exponent"], rows, left=2)
    right.loglog(cells, 1e3 * values, "o", label="cv-knn, 10 draws at once")
    right.loglog(cells, 1e3 * values[-1] * cells / cells[-1], "--", color="grey", label="∝ N·n")
    right.set(xlabel="N·n", ylabel="milliseconds a draw")
    right.legend(frameon=False)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None, "Creator": None})


def arguments() -> argparse.ArgumentParser:
    parser = common(__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--balanced", action="store_true", help="time of balanced draws, by size")
    parser.add_argument("--scaling", action="store_true", help="time against draws and N·n")
    parser.add_argument("--plot", type=Path, default=SVG, help="where --scaling draws its figure")
    return parser


def main() -> None:
    options = read(arguments(), repeats=1)
    if options.scaling:
        scaling(min(options.repeats, 5), options.plot)
    elif options.balanced:
        balanced(min(options.repeats, 5), options.quick)
    else:
        ratios(options.repeats)


if __name__ == "__main__":
    main()
