"""The methods of the paper, as printed and corrected, and which table each is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.bounds import Bernstein, Bound, Hoeffding, Student
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import KNN, Learned, Mean
from fewgold.pool import Pool
from fewgold.reproduce._printed import ORACLE_RANGE, TRUE_RANGE
from fewgold.sample import Ratings
from fewgold.samplers import ByMetric, Sampler, SimpleRandom, Stratified

BASE = "random+mean"
BEST = "docs-prop-printed+cv-knn-printed"
OURS = "docs-balanced+ridge"


@dataclass(frozen=True)
class ByVariance:
    """Eq. 2 in the words of the paper: proportional to a bin's size and *variance*.

    The variance is that of the averaged metrics. Neyman's allocation takes its root.
    """

    def __call__(self, pool: Pool, strata: IntArray) -> FloatArray:
        values, sizes = pool.composite(), np.bincount(strata)
        mean = np.bincount(strata, values) / sizes
        return np.asarray(np.bincount(strata, (values - mean[strata]) ** 2))


@dataclass(frozen=True)
class CentredControls(Estimator):
    """Eq. 4 with the covariance of footnote 1, Σ (X − X̄)(Z − Z̄)/n, for all metrics."""

    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()

    @property
    def name(self) -> str:
        return "cv-multi-footnote"

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        everywhere = sample.pool.standardised()
        z = np.moveaxis(everywhere[:, sample.indices], 0, -2)
        gram = everywhere @ everywhere.T / len(sample.pool)
        centred = (z - z.mean(-1, keepdims=True)) * (y - y.mean(-1, keepdims=True))[..., None, :]
        beta = centred.mean(-1) @ np.linalg.pinv(gram, hermitian=True)
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self.bound,
            method=self.name,
            tuned=True,
        )


class Line(NamedTuple):
    """A line of a table: the paper's name, the strategy here, and what it stands for.

    ``kind`` is ``printed`` (the paper's own), ``reading`` (another reading of the paper),
    ``corrected`` (without its errata) or ``ours``.
    """

    method: str
    strategy: str
    kind: str


def lines(table: str, single: str) -> list[Line]:
    """The lines of a table; ``single`` is the metric that stands for the paper's BLEURT."""
    sampled = "metrics-prop-printed"
    found = {
        "table1": [
            Line("docs-prop", "docs-prop-printed+mean", "printed"),
            Line("docs-opt", "docs-opt-variance+mean", "printed"),
            Line("metrics-prop", f"{sampled}+mean", "printed"),
            Line("docs-opt", "docs-opt-printed+mean", "reading"),
            Line("docs-prop", "docs-prop+mean", "corrected"),
            Line("docs-opt", "docs-opt+mean", "corrected"),
            Line("metrics-prop", "metrics-prop+mean", "corrected"),
        ],
        "table2": [
            Line("docs-incr-metrics", "docs-incr-metrics-printed+mean", "printed"),
            Line("docs-incr-human", "docs-incr-human-printed+mean", "printed"),
            Line("docs-incr-metrics", "docs-incr-metrics+mean", "reading"),
            Line("docs-incr-human", "docs-incr-human+mean", "reading"),
        ],
        "table3": [
            Line("cv-bleurt", f"random+cv-{single}-printed", "printed"),
            Line("cv-mean", "random+cv-mean-printed", "printed"),
            Line("cv-multi", "random+cv-multi-printed", "printed"),
            Line("cv-knn", "random+cv-knn-printed", "printed"),
            Line("cv-multi", "random+cv-multi-footnote", "reading"),
            Line("cv-bleurt", f"random+cv-{single}", "corrected"),
            Line("cv-mean", "random+cv-mean", "corrected"),
            Line("cv-multi", "random+cv-multi", "corrected"),
            Line("cv-knn", "random+cv-knn", "corrected"),
        ],
        "table4": [
            Line("docs-prop", "docs-prop-printed+mean", "printed"),
            Line("cv-knn", "random+cv-knn-printed", "printed"),
            Line("docs-prop+cv-knn", BEST, "printed"),
            Line("metrics-prop+cv-knn", f"{sampled}+cv-knn-printed", "printed"),
            Line("docs-prop+cv-knn", "docs-prop+cv-knn", "corrected"),
            Line("metrics-prop+cv-knn", "metrics-prop+cv-knn", "corrected"),
        ],
        "table6": [
            Line("docs-prop+cv-knn", BEST, "printed"),
            Line("docs-prop+cv-knn", "docs-prop+cv-knn", "corrected"),
        ],
    }[table]
    return [Line("baseline", BASE, "printed"), *found, Line("", OURS, "ours")]


def made(name: str) -> Estimator | str:
    """The strategy of that name: those that the registry does not have are made here."""
    by_metric = Stratified(ByMetric(), rounding="printed")
    own: dict[str, Estimator] = {
        "docs-opt-variance+mean": Mean(Stratified(allocation=ByVariance(), rounding="printed")),
        "metrics-prop-printed+mean": Mean(by_metric),
        "metrics-prop-printed+cv-knn-printed": Learned(
            KNN(folds=None), slope="printed", sampler=by_metric
        ),
        "random+cv-multi-footnote": CentredControls(),
    }
    return own.get(name, name)


def bounds(pair: str) -> dict[str, Bound]:
    """The bounds of Table 5, with the paper's oracle range and with the true one."""
    oracle, true = ORACLE_RANGE[pair], TRUE_RANGE
    return {
        "hoeffding-oracle": Hoeffding(printed=True, score_range=oracle),
        "hoeffding": Hoeffding(printed=True, score_range=true),
        "bernstein": Bernstein(printed=True, score_range=true),
    }


def strategies(tables: list[str], single: str) -> dict[str, Any]:
    """All that some tables need, by name."""
    names = dict.fromkeys(line.strategy for table in tables for line in lines(table, single))
    return {name: made(name) for name in names}
