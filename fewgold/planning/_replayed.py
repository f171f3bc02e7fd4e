"""What studies that were replayed say of other numbers of ratings.

What is left at n ratings, times the root of n and freed of the finite pool, is nearly constant: it
is interpolated between the sizes that were replayed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.planning._goal import Goal
from fewgold.planning._need import ALL_OF_THEM, Need, with_curve
from fewgold.planning._search import least_enough
from fewgold.simulation import Simulation, simulate
from fewgold.simulation._cell import OWN, Cell

LEAST = 10  # ratings that a replayed study has


def constants_of(done: Simulation, goal: Goal) -> dict[str, tuple[FloatArray, FloatArray]]:
    """For each strategy the sizes and what is left at each, freed of ratings and of the pool."""
    found = {}
    for name in done.strategies:
        mine = [cell for cell in done.cells if cell.strategy == name and cell.failure is None]
        sizes = sorted({cell.n for cell in mine})
        means = {float(n): _left([c for c in mine if c.n == n], goal) for n in sizes}
        if means and np.isfinite(list(means.values())).all():
            found[str(name)] = np.array(list(means)), np.array(list(means.values()))
    return found


def _left(cells: Sequence[Cell], goal: Goal) -> float:
    """What is left times √n, of pools without end, on average over the pools."""
    found = []
    for cell in cells:
        if goal.tolerance is not None:
            wide = float(np.quantile(np.abs(cell.errors), goal.confidence))
        elif goal.difference is None:
            wide = cell.covers[OWN].half_width.mean if OWN in cell.covers else np.nan
        else:
            assert cell.se is not None
            wide = cell.se.mean * goal.widths(cell.n - 1)
        found.append(wide / np.sqrt(1 / cell.n - 1 / cell.size))
    return float(np.mean(found))


def need_of(
    name: str,
    goal: Goal,
    spread: tuple[FloatArray, FloatArray],
    studies: Mapping[str, Any],
    size: int,
    options: Mapping[str, Any],
) -> Need:
    """Ratings by interpolation, replayed once and corrected by what came of it."""
    wanted = goal.size
    at, constants = spread

    def reach(n: int, correction: float = 1.0) -> float:
        constant = float(np.interp(np.log(n), np.log(at), constants)) * correction
        return constant * float(np.sqrt(max(1 / n - 1 / size, 0.0)))

    n = least_enough(lambda k: reach(k) <= wanted, 2, size)
    correction = 1.0
    smallest = min(len(study.pool) for study in studies.values())
    if LEAST <= n < min(smallest, size):
        again = simulate(studies, None, [name], [n], **options)
        true = _left([cell for cell in again.cells if cell.strategy == name], goal)
        correction = true * float(np.sqrt(1 / n - 1 / size)) / reach(n)
        n = least_enough(lambda k: reach(k, correction) <= wanted, 2, size)
    note = ""
    if n == size:
        note = ALL_OF_THEM
    elif n < at[0] or n > at[-1]:
        note = f"beyond the sizes that were replayed ({at[0]:.0f} to {at[-1]:.0f}), so less sure"
    return with_curve(name, n, size, lambda k: reach(k, correction), note)
