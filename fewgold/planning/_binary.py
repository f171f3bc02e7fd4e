"""How many human ratings tell two success rates apart, with a metric beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold.errors import FewgoldError
from fewgold.planning._difference import measurable_difference
from fewgold.planning._goal import Goal
from fewgold.planning._needed import ratings_needed
from fewgold.planning._plan import Need, Plan, around


def plan_binary(
    goal: Goal,
    *,
    alpha: float,
    rho: float | None = None,
    eta: float | None = None,
    metric: int = 0,
    known: bool = False,
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
        Items that the metric rates besides.
    known
        The rates are known; otherwise the human ratings, on items that the metric rates too, tell
        them.
    cost
        Of one human rating.

    Examples
    --------
    >>> goal = Goal(difference=0.1, power=0.8)
    >>> found = plan_binary(goal, alpha=0.6, rho=0.9, eta=0.9, metric=10_000)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('people alone', 375), ('with the metric', 151)]
    """
    if (rho is None) != (eta is None):
        raise FewgoldError("rho and eta go together: give both rates of the metric, or neither.")
    if rho is None and metric:
        raise FewgoldError(f"{metric} ratings of a metric need its rates: give rho and eta.")
    if rho is not None and not metric:
        raise FewgoldError("with rho and eta say how many items the metric rates: metric=.")
    settings: dict[str, dict[str, Any]] = {"people alone": {"metric": 0}}
    if rho is not None:
        settings["with the metric"] = {"metric": metric, "rho": rho, "eta": eta, "known": known}
    needs = []
    for name, options in settings.items():
        n = _least(goal, alpha, options)
        curve = {k: reached(goal, alpha, k, options) for k in around(n, None)}
        note = f"and {metric} ratings of the metric" if options["metric"] else ""
        needs.append(Need(name, n, reached(goal, alpha, n, options), curve, note))
    told = f"success rate {alpha:g}"
    if rho is not None:
        told += f", ρ {rho:g}, η {eta:g}" + (" (known)" if known else "")
    notes = ("for each of the two systems",) if goal.difference is not None else ()
    return Plan(goal, tuple(needs), None, cost, f"from {told}", notes)


def reached(goal: Goal, alpha: float, human: int, options: dict[str, Any]) -> float:
    """The half-width, or the difference, that ``human`` ratings reach."""
    level = 1 - goal.confidence
    power = None if goal.difference is None else goal.power
    found = measurable_difference(alpha=alpha, human=human, level=level, power=power, **options)
    return float(found) / (np.sqrt(2) if goal.difference is None else 1.0)


def _least(goal: Goal, alpha: float, options: dict[str, Any]) -> int:
    level = 1 - goal.confidence
    if goal.difference is not None:
        return ratings_needed(
            goal.difference, alpha=alpha, power=goal.power, level=level, **options
        )
    return ratings_needed(np.sqrt(2) * goal.size, alpha=alpha, level=level, **options)
