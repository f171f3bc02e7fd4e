"""The half-width of a mean over whole documents, and the fewest documents for a given one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from fewgold._arrays import FloatArray

MOST = 10**9  # documents; beyond that the answer is "never"


def half_width_of(
    between: FloatArray, documents: Any, confidence: float, population: int | None
) -> FloatArray:
    """Student's quantile times the standard error of the mean over d documents."""
    left = 1.0 if population is None else 1 - documents / population
    quantile = stdtrit(documents - 1, (1 + confidence) / 2)
    return np.asarray(quantile * between * np.sqrt(left / documents))


def fewest_documents(
    between: float, target: float, confidence: float, population: int | None
) -> float:
    """The fewest documents whose half-width is at most the target: it only falls with d."""

    def wide(d: int) -> bool:
        return float(half_width_of(np.asarray(between), d, confidence, population)) > target

    low, high = 1, MOST if population is None else population  # too few, enough
    if wide(high):
        return float("nan")
    while high - low > 1:
        middle = (low + high) // 2
        if middle > 1 and not wide(middle):
            high = middle
        else:
            low = middle
    return float(max(high, 2))
