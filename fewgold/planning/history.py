"""How many ratings a goal takes on data that are rated already, by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names
from fewgold.common.statistics import smallest_enough
from fewgold.errors import FewgoldError
from fewgold.planning.goal import ALL_OF_THEM, Goal, Need, Plan, with_curve
from fewgold.planning.scores import BASELINE
from fewgold.simulation import simulate
from fewgold.simulation.cells import OWN, Cell
from fewgold.simulation.studies import Study, as_studies


def difference_studies(studies: Mapping[str, Any]) -> dict[str, Any]:
    """Differences of all pairs of systems that were rated on the same segments, as studies.

    Scores and metrics are those of one system less those of the other; a metric that then is the
    same everywhere is left out. With a single system, or none on the same segments, an error.
    """
    found = {}
    for (a, one), (b, two) in combinations(studies.items(), 2):
        ids = [str(i) for i in two.pool.ids.tolist()]
        place = {i: k for k, i in enumerate(ids)}
        mine = [str(i) for i in one.pool.ids.tolist()]
        if set(mine) != set(ids):
            continue
        order = np.array([place[i] for i in mine])
        metrics = {
            name: values - two.pool.metrics[name][order]
            for name, values in one.pool.metrics.items()
            if name in two.pool.metrics and np.ptp(values - two.pool.metrics[name][order]) > 0
        }
        signs = {m: s for m, s in one.pool.orientation.items() if m in metrics}
        pool = replace(one.pool, metrics=metrics, orientation=signs, system=None)
        found[f"{a} − {b}"] = Study(pool, one.gold - two.gold[order])
    if not found:
        raise FewgoldError(
            "a difference is planned for by differences of two systems on the same segments, and "
            f"the history has none: {', '.join(studies)}. Give a table with several systems whose "
            "segment ids agree, or the sd of differences (--sd)."
        )
    return found


_SHARES = (0.03, 0.06, 0.12, 0.25, 0.5)
_LEAST = 10  # ratings of a replayed study


def _scaled_width(cells: Sequence[Cell], goal: Goal) -> float:
    """Width over √(1/n − 1/N), averaged over the pools: nearly the same for all n."""
    found = []
    for cell in cells:
        if goal.tolerance is not None:
            wide = float(np.quantile(np.abs(cell.errors), goal.confidence))
        elif goal.difference is None:
            wide = cell.covers[OWN].half_width.mean if OWN in cell.covers else np.nan
        else:
            assert cell.se is not None
            wide = cell.se.mean * goal._standard_errors(cell.n - 1)
        found.append(wide / np.sqrt(1 / cell.n - 1 / cell.size))
    return float(np.mean(found))


def _need(
    name: str,
    goal: Goal,
    at: FloatArray,
    scaled: FloatArray,
    studies: Mapping[str, Study],
    size: int,
    options: Mapping[str, Any],
) -> Need:
    """Ratings by interpolating the scaled widths at the sizes ``at``, replayed and corrected."""

    def width(n: int, correction: float = 1.0) -> float:
        here = float(np.interp(np.log(n), np.log(at), scaled)) * correction
        return here * float(np.sqrt(max(1 / n - 1 / size, 0.0)))

    n = smallest_enough(lambda k: width(k) <= goal.size, 2, size)
    correction = 1.0
    smallest = min(len(study.pool) for study in studies.values())
    if _LEAST <= n < min(smallest, size):
        check = simulate(studies, None, [name], [n], **options)
        true = _scaled_width([cell for cell in check.cells if cell.strategy == name], goal)
        correction = true * float(np.sqrt(1 / n - 1 / size)) / width(n)
        n = smallest_enough(lambda k: width(k, correction) <= goal.size, 2, size)
    note = ""
    if n == size:
        note = ALL_OF_THEM
    elif n < at[0] or n > at[-1]:
        note = f"beyond the sizes that were replayed ({at[0]:.0f} to {at[-1]:.0f}), so less sure"
    return with_curve(name, n, size, lambda k: width(k, correction), note)


def plan_from_history(
    goal: Goal,
    data: Any,
    gold: Any = None,
    strategies: Sequence[str] = ("random+mean", "random+ridge", "docs-balanced+ridge"),
    *,
    size: int | None = None,
    draws: int = 200,
    rng: int = 0,
    limits: Any = None,
    progress: Callable[[int, int], None] | None = None,
    n_jobs: int | None = None,
) -> Plan:
    """How many ratings would have met the goal last year, for any strategy.

    Studies are replayed at several sizes; the width at each, times the root of the ratings, is
    nearly constant and is interpolated. The plan is then replayed itself and corrected once.

    Parameters
    ----------
    goal
        A half-width of the strategy's own interval; a tolerance, which looks at the errors
        themselves; or a difference with a power: then ``gold`` holds per-segment differences.
    data, gold
        As for `simulate`: a rated pool, (pool, gold), or a mapping from names to (pool, gold). Of
        several pools the mean is planned for.
    strategies
        Names; the plain ``random+mean`` is always among them.
    size
        Segments of the pool to plan for, if it is not as large as last year's.
    draws, rng, limits, progress, n_jobs
        As for `simulate`.

    Examples
    --------
    >>> from fewgold.datasets import load_demo
    >>> goal = Goal(half_width=0.4)
    >>> found = plan_from_history(goal, *load_demo("zhen"), ["random+ridge"], draws=20)
    >>> found["random+ridge"].n < found["random+mean"].n
    True
    """
    studies = as_studies(data, gold)
    names = list(dict.fromkeys([BASELINE, *as_names(strategies)]))
    sizes = [len(study.pool) for study in studies.values()]
    options: dict[str, Any] = {
        "draws": draws, "rng": rng, "limits": limits, "confidence": goal.confidence,
        "n_jobs": n_jobs,
    }  # fmt: skip
    grid = sorted({max(round(share * min(sizes)), _LEAST) for share in _SHARES})
    grid = [n for n in grid if n < min(sizes)]
    if len(grid) < 2:
        raise FewgoldError(
            f"last year's pools are too small to replay studies on: the smallest has {min(sizes)} "
            "segments."
        )
    first = simulate(studies, None, names, grid, progress=progress, **options)
    target = size if size is not None else round(float(np.mean(sizes)))
    needs, notes = [], []
    for name in names:
        worked = [cell for cell in first.cells if cell.strategy == name and cell.failure is None]
        at = np.array(sorted({cell.n for cell in worked}), dtype=np.float64)
        scaled = np.array([_scaled_width([c for c in worked if c.n == n], goal) for n in at])
        if at.size and np.isfinite(scaled).all():
            needs.append(_need(name, goal, at, scaled, studies, target, options))
        else:
            why = first.failures.loc[first.failures["strategy"] == name, "reason"]
            notes.append(f"{name} was left out: {why.iloc[0] if len(why) else 'it failed'}")
    source = f"replayed {draws} times on " + (
        "last year's ratings" if len(sizes) == 1 else f"{len(sizes)} rated pools"
    )
    prices = [study.pool.cost for study in studies.values()]
    cost = 1.0
    if all(price is not None for price in prices):
        cost = float(np.concatenate([price for price in prices if price is not None]).mean())
    return Plan(goal, tuple(needs), target, cost, source, tuple(notes))
