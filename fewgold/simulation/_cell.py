"""What a simulation says of one strategy on one pool at one budget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.errors import FewgoldError
from fewgold.samplers import Budget, Cost
from fewgold.simulation._scores import Score

#: The estimator's own interval, beside the extra bounds.
OWN = ""


class Cover(NamedTuple):
    """How an interval did: share that hold the truth, half-width t, and t − |error|."""

    coverage: Score
    half_width: Score
    slack: Score


@dataclass(frozen=True)
class Cell:
    """What came of one strategy on one pool at one budget.

    ``errors`` holds estimate − truth of every draw; it is empty where the strategy failed, and
    ``failure`` says why.
    """

    pool: str
    strategy: str
    budget: int | float | str
    n: int
    size: int
    truth: float
    spread: float
    errors: FloatArray
    se: Score | None = None
    se_ratio: Score | None = None
    cost: Score | None = None
    covers: Mapping[str, Cover] = field(default_factory=dict)
    refusals: Mapping[str, str] = field(default_factory=dict)
    failure: str | None = None


def budget_label(budget: Budget) -> int | float | str:
    """The budget as the ``budget`` column shows it."""
    if isinstance(budget, int | np.integer):
        return int(budget)
    if isinstance(budget, float | np.floating):
        return float(budget)
    risk = "" if budget.risk == Cost.risk else f" at risk {budget.risk:g}"
    return f"cost {budget.limit:g}{risk}"


def reason(error: Exception) -> str:
    """Why something failed, in a line."""
    text = " ".join(str(error).split())
    return text if isinstance(error, FewgoldError) else f"{type(error).__name__}: {text}"


def spread_of(gold: FloatArray) -> float:
    """Standard deviation of the scores with divisor N − 1, also for scores of 1e200."""
    unit = float(np.abs(gold).max())
    if gold.size < 2 or unit == 0:
        return 0.0
    return float((gold / unit).std(ddof=1)) * unit
