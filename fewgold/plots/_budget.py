"""What a number of ratings reaches, a curve a strategy, and where it meets the goal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from fewgold.plots._style import GREY, INK, PALETTE, SMALL, axes_for, name_axes, settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def budget_curves(
    frame: pd.DataFrame,
    marks: Mapping[str, tuple[int, float]],
    goal: float,
    label: str = "half-width",
    ax: Axes | None = None,
) -> Axes:
    """Draw what ratings reach.

    Parameters
    ----------
    frame : DataFrame
        Columns ``strategy``, ``n`` and ``reached``.
    marks : mapping
        For each strategy the planned number of ratings and what it reaches.
    goal : float
        What is wanted: a horizontal line.
    label : str
        What is reached.
    """
    with settings():
        axes = axes_for(ax, 3.6)
        for k, (name, part) in enumerate(frame.groupby("strategy", sort=False)):
            color = PALETTE[k % len(PALETTE)]
            axes.plot(part["n"], part["reached"], color=color, zorder=2)
            n, reached = marks[str(name)]
            axes.plot([n], [reached], "o", color=color, zorder=3, label=f"{name}: {n}")
        axes.axhline(goal, color=GREY, linewidth=1, linestyle="--", zorder=1)
        axes.annotate(
            f"goal {goal:g}", (1, goal), xycoords=("axes fraction", "data"), ha="right",
            va="bottom", fontsize=SMALL, color=INK,
        )  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.set_xlim(left=0)
        axes.legend(frameon=False, fontsize=SMALL, title="ratings needed")
        name_axes(axes, "ratings", label, None)
        return axes
