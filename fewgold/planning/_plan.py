"""How many ratings a goal takes, by formula."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from fewgold._validate import Limits, as_limits, as_names
from fewgold.planning._goal import Goal
from fewgold.planning._need import ALL_OF_THEM, with_curve
from fewgold.planning._outlook import Outlook
from fewgold.planning._plan_table import Plan
from fewgold.planning._search import least_enough

BASELINE = "random+mean"


def plan(goal: Goal, outlook: Outlook, strategies: Sequence[str] | None = None) -> Plan:
    """How many ratings a goal takes, by formula, from a guess or a pilot.

    Parameters
    ----------
    goal
        A half-width, a tolerance, or a difference with a power.
    outlook
        A guess of sd, correlation, documents and sizes, or `Outlook.from_pilot`.
    strategies
        By default those that the outlook tells about. Others are planned for by simulation:
        `plan_from_history`.

    Examples
    --------
    >>> found = plan(Goal(half_width=0.3), Outlook(sd=2.4, correlation=0.5, icc=0.15, size=1418))
    >>> print(found.summary())
    For ±0.3 at 95% confidence, from sd 2.4, correlation 0.5, icc 0.15:
    <BLANKLINE>
    strategy            ratings   share   saved
    random+mean             212   15.0%       –
    random+ridge            166   11.7%     22%
    docs-chunks3+mean       267   18.8%    −26%
    <BLANKLINE>
    ratings of 1418 segments; saved: against random+mean.
    """
    names = list(as_names(strategies or outlook.told))
    names = list(dict.fromkeys([BASELINE, *names]))
    needs = []
    for name in names:
        n = outlook.ratings(name, goal)
        reached = partial(outlook.reached, name, goal=goal)
        whole = ALL_OF_THEM if n == outlook.size else ""
        needs.append(with_curve(name, n, outlook.size, reached, whole))
    told = [f"sd {outlook.sd:.4g}"]
    if outlook.correlation:
        told.append(f"correlation {abs(outlook.correlation):.3g}")
    if outlook.icc is not None:
        told.append(f"icc {outlook.icc:.3g}")
    return Plan(goal, tuple(needs), outlook.size, outlook.cost, f"from {', '.join(told)}")


def plan_worst_case(goal: Goal, limits: Limits, size: int | None = None, cost: float = 1.0) -> Plan:
    """How many ratings a goal takes when nothing is known but the ends of the scale.

    ``hoeffding`` is guaranteed whatever the scores (Hoeffding–Serfling, of Saldías et al. 2022);
    ``worst sd`` takes half of the scale for the sd, the largest that there is, and a normal
    distribution of the mean. Real scores need far fewer: have a pilot rated.

    Examples
    --------
    >>> found = plan_worst_case(Goal(half_width=1), (0, 25), size=1418)
    >>> [(need.strategy, need.n) for need in found.needs]
    [('hoeffding', 637), ('worst sd', 424)]
    """
    ends = as_limits(limits)
    assert ends is not None
    width = ends[1] - ends[0]
    if goal.difference is not None:
        width *= 2  # a difference of two scores spans twice the scale
    sd = Outlook(sd=width / 2, size=size, cost=cost)
    needs = []
    if goal.difference is None:
        reached = partial(_hoeffding, goal=goal, width=width, size=size)
        most = size if size is not None else 2**40
        n = least_enough(lambda k: reached(k) <= goal.size, 1, most)
        needs.append(with_curve("hoeffding", n, size, reached))
    n = sd.ratings(BASELINE, goal)
    needs.append(with_curve("worst sd", n, size, partial(sd.reached, BASELINE, goal=goal)))
    source = f"knowing only that scores lie between {ends[0]:g} and {ends[1]:g}"
    notes = ("real scores need far fewer: plan again with an sd, a pilot or last year's ratings",)
    return Plan(goal, tuple(needs), size, cost, source, notes)


def _hoeffding(n: int, goal: Goal, width: float, size: int | None) -> float:
    """Half-width of Hoeffding–Serfling."""
    if n == size:
        return 0.0
    kept = 1.0 if size is None else 1 - (n - 1) / size
    return float(width * np.sqrt(kept * np.log(2 / (1 - goal.confidence)) / (2 * n)))
