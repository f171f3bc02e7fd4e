"""Figures over all cells of a simulation, with Monte-Carlo errors that know of common draws."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Figure:
    """A number, and by how much each draw of each cell moves it (delta method): (cells, draws).

    Draw k of two strategies in a cell may share their sample; cells are independent.
    """

    value: float
    influence: FloatArray

    @property
    def mc(self) -> float:
        """Monte-Carlo standard error."""
        draws = self.influence.shape[-1]
        return float(np.sqrt((self.influence.var(-1, ddof=1) / draws).sum()))

    def __truediv__(self, other: Figure) -> Figure:
        ratio = self.value / other.value
        return Figure(ratio, (self.influence - ratio * other.influence) / other.value)

    def __sub__(self, other: Figure) -> Figure:
        return Figure(self.value - other.value, self.influence - other.influence)


def mean_of(values: FloatArray) -> Figure:
    """Mean over all cells of values (cells, draws)."""
    return Figure(float(values.mean()), (values - values.mean(-1, keepdims=True)) / len(values))


def spread_of(values: FloatArray) -> Figure:
    """Standard deviation within a cell, averaged over cells."""
    sd = values.std(-1, ddof=1, keepdims=True)
    squares = (values - values.mean(-1, keepdims=True)) ** 2
    moved = (squares - squares.mean(-1, keepdims=True)) / (2 * np.where(sd > 0, sd, 1.0))
    return Figure(float(sd.mean()), moved / len(values))


def abs_error(
    simulation: Simulation, strategy: str, budgets: Iterable[float] | None = None
) -> Figure:
    """Mean of |estimate − truth| over all cells, or over those of some budgets."""
    return mean_of(np.abs(_errors(simulation, strategy, budgets or simulation.budgets)))


def sdev(simulation: Simulation, strategy: str) -> Figure:
    """Standard deviation of |estimate − truth| in a cell, averaged over cells."""
    return spread_of(np.abs(_errors(simulation, strategy, simulation.budgets)))


def share_within(
    simulation: Simulation, strategy: str, budget: float, t: float
) -> tuple[float, float]:
    """Share of draws with an error of at most ``t``, and its Monte-Carlo error.

    Two hits and two misses are added for the latter, so that 100 of 100 has one too.
    """
    hits = np.abs(_errors(simulation, strategy, [budget])) <= t
    n, count = hits.size, float(hits.sum())
    p = (count + 2) / (n + 4)
    return count / n, float(np.sqrt(p * (1 - p) / (n + 4)))


def _errors(simulation: Simulation, strategy: str, budgets: Iterable[float]) -> FloatArray:
    """Errors of all draws: (pools × budgets, draws)."""
    pools = simulation.pools
    return np.stack([simulation.errors(p, strategy, b) for p in pools for b in budgets])
