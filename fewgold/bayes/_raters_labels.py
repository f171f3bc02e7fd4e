"""Answers of several raters as counts of patterns: items with the same answers are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.bayes._priors import Beta, _pair
from fewgold.errors import DataError


@dataclass(frozen=True)
class RaterPriors:
    """Beta priors of the success rate and of the hit rates of raters.

    Parameters
    ----------
    alpha
        (a, b) of the Beta prior of α, the share of adequate items; uniform.
    rho, eta
        (a, b) for every human rater: ρ = P(says 1 | adequate) and η = P(says 0 | inadequate). They
        lean to raters who are right, four times of five before any answer is seen: without gold
        nothing else tells adequate from inadequate.
    metric_rho, metric_eta
        (a, b) for a metric that is taken in as one more rater; uniform.

    Examples
    --------
    >>> RaterPriors(rho=(2, 1), eta=(2, 1)).rho
    (2.0, 1.0)
    """

    alpha: Beta = (1.0, 1.0)
    rho: Beta = (4.0, 1.0)
    eta: Beta = (4.0, 1.0)
    metric_rho: Beta = (1.0, 1.0)
    metric_eta: Beta = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name in ("alpha", "rho", "eta", "metric_rho", "metric_eta"):
            object.__setattr__(self, name, _pair(name, getattr(self, name)))

    def shapes(self, humans: int, metrics: int) -> tuple[FloatArray, FloatArray]:
        """Shapes a and b of α, then ρ of each rater, then η of each: (1 + 2R,) each."""
        rho = [self.rho] * humans + [self.metric_rho] * metrics
        eta = [self.eta] * humans + [self.metric_eta] * metrics
        a, b = np.array([self.alpha, *rho, *eta]).T
        return a, b


@dataclass(frozen=True, eq=False)
class Answers:
    """What was answered, sorted into patterns.

    Parameters
    ----------
    names
        The raters, the metric last.
    humans
        How many of them are human.
    patterns
        (P, R) distinct rows of answers to items of unknown class; NaN where there is none.
    counts
        (P,) how many items have each.
    which
        (n,) pattern of each item; −1 for gold items and −2 for items without any answer.
    gold
        (n,) class of the gold items, NaN for the others.
    cells
        (4, R) answers to gold items: hits and misses of the adequate, hits and misses of the
        inadequate.
    answered
        (R,) answers of each rater, gold included.
    """

    names: tuple[str, ...]
    humans: int
    patterns: FloatArray
    counts: IntArray
    which: IntArray
    gold: FloatArray
    cells: IntArray
    answered: IntArray

    @property
    def gold_ones(self) -> int:
        return int((self.gold == 1).sum())

    @property
    def gold_zeros(self) -> int:
        return int((self.gold == 0).sum())

    @property
    def unanswered(self) -> int:
        """Items that are not gold and that nobody rated."""
        return int((self.which == -2).sum())

    @property
    def most(self) -> int:
        """The largest number of answers to one item of unknown class."""
        if not self.counts.size:
            return 0
        return int(np.isfinite(self.patterns).sum(-1).max())


def read_answers(labels: Any, gold: ArrayLike | None, metric: ArrayLike | None) -> Answers:
    """Check the labels and count them."""
    names: tuple[str, ...] | None = None
    if isinstance(labels, pd.DataFrame):
        names = tuple(str(name) for name in labels.columns)
    table = _numbers("labels", labels)
    if table.ndim != 2:
        raise DataError(
            f"labels must be a table of items × raters; got an array of shape {table.shape}. Put "
            "the answers of each rater into a column, NaN where there is none."
        )
    n, humans = table.shape
    names = names or tuple(f"rater {k + 1}" for k in range(humans))
    if metric is not None:
        table = np.column_stack([table, _column("metric", metric, n)])
        names = (*names, "metric")
    if not table.shape[1]:
        raise DataError("labels has no column; give a column for each rater.")
    known = np.full(n, np.nan) if gold is None else _column("gold", gold, n)
    expert, answers = np.isfinite(known), np.isfinite(table)
    if not answers.any() and not expert.any():
        raise DataError("labels hold no answer at all; give 0 or 1 where a rater answered.")
    open_ = ~expert & answers.any(-1)
    which = np.where(expert, -1, -2)
    patterns, inverse, counts = np.unique(
        np.where(answers, table, -1.0)[open_], axis=0, return_inverse=True, return_counts=True
    )
    which[open_] = inverse.reshape(-1)
    return Answers(
        names=names,
        humans=humans,
        patterns=np.where(patterns < 0, np.nan, patterns),
        counts=counts,
        which=which,
        gold=known,
        cells=np.stack([_tally(table, known, c, y) for c, y in ((1, 1), (1, 0), (0, 0), (0, 1))]),
        answered=answers.sum(0),
    )


def _tally(table: FloatArray, known: FloatArray, kind: int, answer: int) -> IntArray:
    """How often each rater gave ``answer`` to gold items of class ``kind``."""
    rows: BoolArray = known == kind
    return np.asarray((table[rows] == answer).sum(0))


def _numbers(name: str, values: Any) -> FloatArray:
    """0, 1 and NaN."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"{name} must be 0, 1, or NaN where there is no answer; got something else, such as "
            "words or rows of unequal lengths."
        ) from None
    bad = ~(np.isnan(array) | (array == 0) | (array == 1))
    if bad.any():
        raise DataError(
            f"{name} must be 0, 1, or NaN where there is no answer; got {array[bad].flat[0]:g}. "
            "Cut scores at a threshold first."
        )
    return array


def _column(name: str, values: ArrayLike, n: int) -> FloatArray:
    column = _numbers(name, values)
    if column.shape != (n,):
        raise DataError(
            f"{name} must have one label for each of the {n} items of labels, NaN where there is "
            f"none; got shape {column.shape}."
        )
    return column
