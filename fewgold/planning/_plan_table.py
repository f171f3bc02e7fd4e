"""The ratings that a goal takes, strategy by strategy: frames, text and a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.errors import FewgoldError
from fewgold.planning._goal import Goal
from fewgold.planning._need import Need

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
