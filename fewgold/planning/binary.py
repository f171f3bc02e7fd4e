"""How many human ratings a success rate takes, without a metric and with one beside them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from fewgold.bayes import Counts, PoolPosterior, Priors
from fewgold.common.statistics import smallest_enough
from fewgold.errors import FewgoldError
from fewgold.planning.difference import (
    fewest,
    measurable_difference,
    ratings_needed,
    standard_errors,
)
from fewgold.planning.goal import Goal, Plan, with_curve
from fewgold.planning.setting import check_rate


def _reached(goal: Goal, human: int, *, size: int | None, **study: Any) -> float:
    """The half-width, or the difference, that ``human`` ratings achieve."""
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


def _fewest(goal: Goal, *, size: int | None, **study: Any) -> int:
    """Fewest ratings for the goal; all of a test set where none fewer do."""
    level = 1 - goal.confidence
    if size is not None:
        return smallest_enough(
            lambda k: _reached(goal, k, size=size, **study) <= goal.size, 1, size
        )
    if goal.difference is not None:
        return ratings_needed(goal.difference, power=goal.power, level=level, **study)
    return fewest(float(np.sqrt(2) * goal.size), level=level, **study)


def plan_binary(
    goal: Goal,
    *,
    alpha: float,
    rho: float | None = None,
    eta: float | None = None,
    metric: int = 0,
    known: bool = False,
    size: int | None = None,
    cost: float = 1.0,
) -> Plan:
    """How many adequate/inadequate ratings a goal takes, without a metric and with one.

    Parameters
    ----------
    goal
        A half-width of the success rate, or a difference between two systems with a power; then
        the ratings are those of each of the two, rated independently.
    alpha
        Success rate that is expected; 0.5 is the worst case.
    rho, eta
        True positive and true negative rate of the metric, if there is one.
    metric
        Items that only the metric rates, beside those that people rate too.
    known
        The rates are known; otherwise the human ratings, on items that the metric rates too, tell
        them.
    size
        Plan for the share in a test set of so many items, all of which the metric rates, instead
        of for the success rate of the system that made them.
    cost
        Of one human rating.

    Examples
    --------
    >>> goal = Goal(difference=0.1, power=0.8)
    >>> found = plan_binary(goal, alpha=0.6, rho=0.9, eta=0.9, metric=10_000)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('people alone', 375), ('with the metric', 151)]
    >>> found = plan_binary(Goal(half_width=0.05), alpha=0.6, rho=0.9, eta=0.9, size=500)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('people alone', 211), ('with the metric', 117)]
    """
    if (rho is None) != (eta is None):
        raise FewgoldError("rho and eta go together: give both rates of the metric, or neither.")
    if rho is None and metric:
        raise FewgoldError(f"{metric} ratings of a metric need its rates: give rho and eta.")
    if size is not None and metric:
        raise FewgoldError(
            f"in a test set of {size} items the metric rates all that people do not: leave out "
            f"metric={metric}."
        )
    if rho is not None and not metric and size is None:
        raise FewgoldError(
            "with rho and eta say how many items only the metric rates (metric=, "
            "--metric-ratings), or the size of the test set (size=, --size)."
        )
    for name, rate in {"alpha": alpha, "rho": rho, "eta": eta}.items():
        if rate is not None:
            check_rate(name, rate)
    study: dict[str, Any] = {"alpha": alpha, "size": size}
    settings: dict[str, dict[str, Any]] = {"people alone": study}
    if rho is not None:
        more = {} if size is not None else {"metric": metric}
        settings["with the metric"] = study | more | {"rho": rho, "eta": eta, "known": known}
    needs = []
    for name, options in settings.items():
        n = _fewest(goal, **options)
        note = f"and {metric} ratings of the metric alone" if options.get("metric") else ""
        needs.append(with_curve(name, n, size, partial(_reached, goal, **options), note))
    told = f"success rate {alpha:g}"
    if rho is not None:
        told += f", ρ {rho:g}, η {eta:g}" + (" (known)" if known else "")
    notes = ("for each of the two systems",) if goal.difference is not None else ()
    return Plan(goal, tuple(needs), size, cost, f"from {told}", notes)
