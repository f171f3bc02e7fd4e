"""What ratings of people and of a metric cost, and how many of them a budget buys."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold.errors import BudgetError, FewgoldError
from fewgold.planning._asymptotic import best_ratio, break_even, information


class Costs(NamedTuple):
    """What ratings cost, and how many of them the budget buys."""

    budget: float
    human: float
    metric: float
    items: int | None
    known: bool

    @property
    def pair(self) -> float:
        """Cost of an item that people rate, where the metric is used."""
        return self.human if self.known else self.human + self.metric

    @property
    def humans_alone(self) -> int:
        return self._at_most(self.budget / self.human)

    @property
    def most_human(self) -> int:
        return self._at_most(self.budget / self.pair)

    def _at_most(self, n: float) -> int:
        whole = int(np.floor(n * (1 + 1e-12)))  # 1000/0.01 may come out a hair below 100,000
        return whole if self.items is None else min(whole, self.items)

    def mix(self, human: int) -> tuple[int, int]:
        """So many by people, and what the rest of the money buys of the metric."""
        left = max(self.budget - human * self.pair, 0.0)
        if self.metric == 0:
            return human, int(self.items or 0) - human
        most = int(np.floor(left / self.metric * (1 + 1e-12)))
        return human, most if self.items is None else min(most, self.items - human)

    def of(self, human: int, metric: int) -> float:
        return human * (self.pair if metric else self.human) + metric * self.metric


def check_costs(
    budget: float, human_cost: float, metric_cost: float, items: int | None
) -> tuple[float, float, float]:
    for name, value in (("budget", budget), ("human_cost", human_cost)):
        if not 0 < value < np.inf:
            raise FewgoldError(f"{name} must be a positive number; got {value!r}.")
    if not 0 <= metric_cost < np.inf:
        raise FewgoldError(f"metric_cost must be 0 or more; got {metric_cost!r}.")
    if items is not None and not (items >= 1 and int(items) == items):
        raise FewgoldError(f"items must be a whole number of at least 1; got {items!r}.")
    if metric_cost == 0 and items is None:
        raise BudgetError(
            "a metric that costs nothing would rate without end: expected items=, the number of "
            "items there are."
        )
    if budget < human_cost:
        raise BudgetError(
            f"the budget of {budget:g} does not buy one human rating at {human_cost:g}."
        )
    return float(budget), float(human_cost), float(metric_cost)


def formula_mix(costs: Costs, alpha: float, rho: float, eta: float) -> tuple[int, int]:
    """The mix that the large-sample formula chooses."""
    ratio = costs.metric / costs.human
    if costs.known:
        pays = information(alpha, rho, eta) > ratio
        return costs.mix(0) if pays else (costs.humans_alone, 0)
    if ratio >= break_even(alpha, rho, eta):
        return costs.humans_alone, 0
    share = best_ratio(alpha, rho, eta, ratio)
    whole = costs.budget / (costs.human + costs.metric / share) if share else 0.0
    return costs.mix(min(round(whole), costs.most_human))
