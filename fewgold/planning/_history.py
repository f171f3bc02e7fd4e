"""How many ratings a goal takes on data that are rated already, by simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fewgold._validate import as_names
from fewgold.errors import FewgoldError
from fewgold.planning._goal import Goal
from fewgold.planning._plan import BASELINE
from fewgold.planning._plan_table import Plan
from fewgold.planning._replayed import LEAST, constants_of, need_of
from fewgold.simulation import as_studies, simulate

_SHARES = (0.03, 0.06, 0.12, 0.25, 0.5)


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

    Studies are replayed at several sizes; what is left at each, times the root of the ratings, is
    nearly constant and is interpolated. The plan is then replayed itself and corrected once.

    Parameters
    ----------
    goal
        A half-width of the strategy's own interval; a tolerance, which goes by the errors that were
        made; or a difference with a power: then ``gold`` holds per-segment differences.
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
    grid = sorted({max(round(share * min(sizes)), LEAST) for share in _SHARES})
    grid = [n for n in grid if n < min(sizes)]
    if len(grid) < 2:
        raise FewgoldError(
            f"last year's pools are too small to replay studies on: the smallest has {min(sizes)} "
            "segments."
        )
    first = simulate(studies, None, names, grid, progress=progress, **options)
    spread = constants_of(first, goal)
    target = size if size is not None else round(float(np.mean(sizes)))
    needs, notes = [], []
    for name in names:
        if name not in spread:
            why = first.failures.loc[first.failures["strategy"] == name, "reason"]
            notes.append(f"{name} was left out: {why.iloc[0] if len(why) else 'it failed'}")
            continue
        needs.append(need_of(name, goal, spread[name], studies, target, options))
    source = f"replayed {draws} times on " + (
        "last year's ratings" if len(sizes) == 1 else f"{len(sizes)} rated pools"
    )
    prices = [study.pool.cost for study in studies.values()]
    cost = 1.0
    if all(price is not None for price in prices):
        cost = float(np.concatenate([price for price in prices if price is not None]).mean())
    return Plan(goal, tuple(needs), target, cost, source, tuple(notes))
