"""Labels by people and scores by a metric of the same items, checked before they are compared."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import BoolArray, FloatArray
from fewgold.bayes._labels import as_labels
from fewgold.errors import DataError


def paired(human: ArrayLike, metric: ArrayLike) -> tuple[BoolArray, FloatArray]:
    """Labels as booleans and finite scores, one of each for every item."""
    labels = as_labels("human", human)
    try:
        scores = np.asarray(metric, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError("the scores of the metric must be numbers.") from None
    if scores.ndim == 0 or labels.shape[-1] != scores.shape[-1]:
        raise DataError(
            f"expected one label and one score for each item; got {labels.shape[-1]} labels and "
            f"{scores.shape[-1] if scores.ndim else 'no list of'} scores."
        )
    if not labels.shape[-1]:
        raise DataError("a threshold needs items that people and the metric rated; got none.")
    bad = ~np.isfinite(scores)
    if bad.any():
        raise DataError(
            f"the scores of the metric must be finite numbers; {int(bad.sum())} of {scores.size} "
            "are not. Leave those items out."
        )
    return labels, scores


def check_two_classes(labels: BoolArray) -> None:
    """Both adequate and inadequate items."""
    if labels.all() or not labels.any():
        word = "adequate" if labels.all() else "inadequate"
        raise DataError(
            f"all {labels.size} items are {word}: ρ and η need items of both classes. Rate more "
            "items, or give the threshold."
        )
