"""Tables of raters' labels, checked and counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.bayes._answers import Answers
from fewgold.errors import DataError


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
