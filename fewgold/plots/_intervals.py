"""Intervals of a study: side by side, and as the ratings came in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots._frames import check_columns
from fewgold.plots._style import (
    INK,
    NORMAL,
    PALETTE,
    SOFT,
    name_axes,
    phone_axes,
    settings,
    shorten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def interval_rows(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    title: str | None = None,
) -> Axes:
    """Estimates with their intervals, each named above its line; the first row is the chosen one.

    ``frame`` has name, value, low and high. An end that is not known is not drawn.
    """
    check_columns(frame, ("name", "value", "low", "high"))
    with settings():
        ax = phone_axes(ax, 0.75 + 0.55 * len(frame))
        ax.grid(False, axis="y")
        rows = zip(frame["name"], frame["value"], frame["low"], frame["high"], strict=True)
        for row, (name, value, low, high) in enumerate(rows):
            colour = PALETTE[0] if row == 0 else SOFT
            if np.isfinite(low) and np.isfinite(high):
                ax.hlines(row, low, high, color=colour, linewidth=2.2)
                ax.vlines([low, high], row - 0.09, row + 0.09, color=colour, linewidth=1.4)
            ax.scatter([value], [row], s=34, color=colour, zorder=3)
            ax.annotate(
                shorten(str(name), 40), (0.0, row - 0.27), xycoords=("axes fraction", "data"),
                va="center", fontsize=NORMAL, color=INK if row == 0 else SOFT, parse_math=False,
            )  # fmt: skip
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.set_ylim(len(frame) - 0.6, -0.55)
        name_axes(ax, label, "", title)
    return ax


def interval_path(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    title: str | None = None,
) -> Axes:
    """The estimate and its interval after so many ratings: ``frame`` has n, value, low and high."""
    check_columns(frame, ("n", "value", "low", "high"))
    n, value, low, high = (frame[c].to_numpy(dtype=float) for c in ("n", "value", "low", "high"))
    with settings():
        ax = phone_axes(ax)
        seen = np.isfinite(low) & np.isfinite(high)
        ax.vlines(n[seen], low[seen], high[seen], color=PALETTE[0], linewidth=1.6, alpha=0.7)
        ax.plot(n, value, color=PALETTE[0], linewidth=1.2, marker="o", markersize=4)
        ax.axhline(value[-1], color=SOFT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
        name_axes(ax, "ratings", shorten(label, 36), title)
    return ax
