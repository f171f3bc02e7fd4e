"""Systems from best to worst, with their scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots._frames import check_columns
from fewgold.plots._style import INK, PALETTE, SMALL, axes_for, name_axes, settings
from fewgold.plots._systems import ROW, between_groups, decimals, systems_axis

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def forest(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    confidence: float = 0.95,
    title: str | None = None,
) -> Axes:
    """Scores as dots with intervals, the first row on top, figures at the right.

    ``frame`` has system, score, low and high; with a column ``group`` a line parts the groups of
    systems that can be told apart.
    """
    check_columns(frame, ("system", "score", "low", "high"))
    names = [str(name) for name in frame["system"]]
    score, low, high = (frame[c].to_numpy(dtype=float) for c in ("score", "low", "high"))
    rows = np.arange(len(names))
    with settings():
        ax = axes_for(ax, height=1.0 + ROW * len(names))
        ax.grid(False, axis="y")
        ends = np.stack([low, high])
        seen = np.isfinite(ends).all(0)
        ax.hlines(rows[seen], low[seen], high[seen], color=PALETTE[0], linewidth=1.8)
        ax.scatter(score, rows, s=30, color=PALETTE[0], zorder=3)
        between_groups(ax, frame)
        digits = decimals(np.concatenate([score, ends[:, seen].ravel()]))
        for row in rows:
            interval = (
                f"  [{low[row]:.{digits}f}, {high[row]:.{digits}f}]" if seen[row] else "  [unknown]"
            )
            ax.annotate(
                (f"{score[row]:.{digits}f}" + interval).replace("-", "−"),
                (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL,
                color=INK, annotation_clip=False,
            )  # fmt: skip
        systems_axis(ax, names)
        name_axes(ax, f"{label}, {100 * confidence:.10g}% intervals", "", title)
    return ax
