"""What a number of adequate/inadequate ratings reaches, and the fewest that reach a goal."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold.bayes import Counts, PoolPosterior, Priors
from fewgold.planning._difference import measurable_difference, standard_errors
from fewgold.planning._goal import Goal
from fewgold.planning._needed import fewest, ratings_needed
from fewgold.planning._search import least_enough


def reached(goal: Goal, human: int, *, size: int | None, **study: Any) -> float:
    """The half-width, or the difference, that ``human`` ratings reach."""
    level = 1 - goal.confidence
    power = None if goal.difference is None else goal.power
    if size is None:
        found = float(measurable_difference(human=human, level=level, power=power, **study))
    else:
        found = float(standard_errors(level, power)) * _pool_sd(human, size, **study)
    return found / (np.sqrt(2) if goal.difference is None else 1.0)


def _pool_sd(
    human: int,
    size: int,
    *,
    alpha: float,
    rho: float | None = None,
    eta: float | None = None,
    known: bool = False,
) -> float:
    """Posterior sd of the share in a test set, at expected counts."""
    if human >= size:
        return 0.0
    yes = round(human * alpha)
    if rho is None or eta is None:
        counts = Counts(human_ones=yes, human_total=human)
        return float(PoolPosterior(counts, unrated=size - human).sd)
    tp, tn = round(yes * rho), round((human - yes) * eta)
    said = round((size - human) * (alpha * rho + (1 - alpha) * (1 - eta)))
    counts = Counts(
        tp=tp, fn=yes - tp, tn=tn, fp=human - yes - tn, metric_ones=said,
        metric_total=size - human,
    )  # fmt: skip
    return float(PoolPosterior(counts, Priors(rho=rho, eta=eta) if known else None).sd)


def least(goal: Goal, study: dict[str, Any]) -> int:
    """Fewest ratings; all of a test set where none fewer do."""
    size, level = study["size"], 1 - goal.confidence
    if size is None:
        options = {k: v for k, v in study.items() if k != "size"}
        if goal.difference is not None:
            return ratings_needed(goal.difference, power=goal.power, level=level, **options)
        return fewest(float(np.sqrt(2) * goal.size), level=level, **options)
    return least_enough(lambda k: reached(goal, k, **study) <= goal.size, 1, int(size))
