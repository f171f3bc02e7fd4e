"""How many ratings a goal takes, strategy by strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._validate import Limits, as_limits
from fewgold.errors import FewgoldError
from fewgold.planning._goal import Goal
from fewgold.planning._outlook import Outlook

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BASELINE = "random+mean"


@dataclass(frozen=True)
class Need:
    """What one strategy needs: ratings, what they reach, and how far the goal is from reach."""

    strategy: str
    n: int
    reached: float
    curve: Mapping[int, float]
    note: str = ""


@dataclass(frozen=True, eq=False)
class Plan:
    """Ratings that a goal takes. Made by `plan`, `plan_worst_case` and `plan_from_history`."""

    goal: Goal
    needs: tuple[Need, ...]
    size: int | None
    cost: float
    source: str
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        each = ", ".join(f"{need.strategy} {need.n}" for need in self.needs)
        return f"Plan({self.goal}: {each})"

    def __getitem__(self, strategy: str) -> Need:
        found = {need.strategy: need for need in self.needs}
        if strategy not in found:
            raise FewgoldError(f"the plan has {', '.join(found)}; not {strategy!r}.")
        return found[strategy]

    def to_frame(self) -> pd.DataFrame:
        """One row a strategy.

        ``n`` ratings, their ``share`` of the pool and ``cost``, the half-width or difference that
        they reach, and the ratings ``saved`` against the first strategy, also as a share.
        """
        import pandas as pd

        base = self.needs[0].n
        rows = []
        for need in self.needs:
            rows.append(
                {
                    "strategy": need.strategy,
                    "n": need.n,
                    "share": np.nan if self.size is None else need.n / self.size,
                    "cost": need.n * self.cost,
                    "reached": need.reached,
                    "saved": base - need.n,
                    "saved_share": (base - need.n) / base,
                    "note": need.note,
                }
            )
        return pd.DataFrame(rows)

    def curves(self) -> pd.DataFrame:
        """What other numbers of ratings would reach: strategy, n, reached."""
        import pandas as pd

        rows = [(need.strategy, n, x) for need in self.needs for n, x in need.curve.items()]
        return pd.DataFrame(rows, columns=["strategy", "n", "reached"])

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values, for JSON."""
        from dataclasses import asdict

        return {
            "goal": asdict(self.goal) | {"text": str(self.goal)},
            "source": self.source,
            "size": self.size,
            "strategies": self.to_frame().to_dict("records"),
            "notes": list(self.notes),
        }

    def summary(self) -> str:
        """A table for people."""
        of = "" if self.size is None else f" of {self.size} segments"
        lines = [f"For {self.goal}, {self.source}:", ""]
        wide = max(len("strategy"), *(len(need.strategy) for need in self.needs))
        priced = self.cost != 1
        head = f"{'strategy':{wide}s}  {'ratings':>8s}  {'share':>6s}  {'saved':>6s}"
        lines.append(head + (f"  {'cost':>10s}" if priced else ""))
        for row in self.to_frame().to_dict("records"):
            share = "–" if self.size is None else f"{row['share']:.1%}"
            saved = f"{row['saved_share']:.0%}".replace("-", "−")
            saved = "–" if row["strategy"] == self.needs[0].strategy else saved
            line = f"{row['strategy']:{wide}s}  {row['n']:8d}  {share:>6s}  {saved:>6s}"
            lines.append(line + (f"  {row['cost']:10.6g}" if priced else ""))
        lines += ["", f"ratings{of}; saved: against {self.needs[0].strategy}."]
        lines += [f"{need.strategy}: {need.note}" for need in self.needs if need.note]
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])

    def plot(self, ax: Axes | None = None) -> Axes:
        """What each number of ratings reaches, a curve a strategy, with the plan marked."""
        from fewgold.plots import budget_curves

        marks = {need.strategy: (need.n, need.reached) for need in self.needs}
        label = "half-width" if self.goal.tolerance is None else "error"
        if self.goal.difference is not None:
            label = "difference that is found"
        return budget_curves(self.curves(), marks, self.goal.size, label, ax)


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
    names = list(strategies or outlook.told)
    names = list(dict.fromkeys([BASELINE, *names]))
    needs = []
    for name in names:
        n = outlook.ratings(name, goal)
        curve = {k: outlook.reached(name, k, goal) for k in around(n, outlook.size)}
        whole = "all of them: nothing less reaches the goal" if n == outlook.size else ""
        needs.append(Need(name, n, outlook.reached(name, n, goal), curve, whole))
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
        n = _hoeffding(goal, width, size)
        curve = {k: _reach(k, goal, width, size) for k in around(n, size)}
        needs.append(Need("hoeffding", n, _reach(n, goal, width, size), curve))
    n = sd.ratings(BASELINE, goal)
    curve = {k: sd.reached(BASELINE, k, goal) for k in around(n, size)}
    needs.append(Need("worst sd", n, sd.reached(BASELINE, n, goal), curve))
    source = f"knowing only that scores lie between {ends[0]:g} and {ends[1]:g}"
    notes = ("real scores need far fewer: plan again with an sd, a pilot or last year's ratings",)
    return Plan(goal, tuple(needs), size, cost, source, notes)


def _reach(n: int, goal: Goal, width: float, size: int | None) -> float:
    """Half-width of Hoeffding–Serfling."""
    if n == size:
        return 0.0
    kept = 1.0 if size is None else 1 - (n - 1) / size
    return float(width * np.sqrt(kept * np.log(2 / (1 - goal.confidence)) / (2 * n)))


def _hoeffding(goal: Goal, width: float, size: int | None) -> int:
    low, high = 1, size if size is not None else 2**40
    while low < high:
        middle = (low + high) // 2
        if _reach(middle, goal, width, size) <= goal.size:
            high = middle
        else:
            low = middle + 1
    return low


def around(n: int, size: int | None) -> list[int]:
    """Sizes from a fifth to three times as many, for a curve."""
    top = 3 * n if size is None else min(3 * n, size)
    points = np.unique(np.geomspace(max(n / 5, 4), max(top, 5), 25).round().astype(int))
    return sorted({*(int(k) for k in points if size is None or k <= size), n})
