"""Strategies in order, with how far the simulation can tell them from the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold._validate import as_names
from fewgold.plots.style import (
    GREY,
    INK,
    PALETTE,
    SMALL,
    SOFT,
    axes_for,
    check_columns,
    check_names,
    name_axes,
    percent_axis,
    settings,
    shorten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_EDGE = -1.0  # a reduction of −100 %: twice the error of the baseline


def ranking(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    baseline: str | None = None,
    highlight: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Error reduction of each strategy as a dot with whiskers of two Monte-Carlo errors.

    ``frame`` has strategy, reduction, reduction_mc and, for the small print at the right, win. Its
    first row is on top. Dots are filled where the whiskers leave out zero, the error of the
    baseline. ``highlight`` sets names in bold. Errors of more than twice the baseline's are put at
    the edge, with their figure: the others could not be told apart otherwise.
    """
    check_columns(frame, ("strategy", "reduction", "reduction_mc"))
    names = [str(name) for name in frame["strategy"]]
    highlight = as_names(highlight or ())
    check_names("strategy", [*highlight, *([baseline] if baseline else [])], names)
    value = frame["reduction"].to_numpy(dtype=float)
    half = 2 * np.nan_to_num(frame["reduction_mc"].to_numpy(dtype=float))
    rows = np.arange(len(names))
    sure = (np.abs(value) > half) & frame["reduction_mc"].notna().to_numpy()
    far = value < _EDGE
    with settings():
        ax = axes_for(ax, height=1.1 + 0.245 * len(names))
        ax.grid(False, axis="y")
        ax.axvline(0, color=INK, linewidth=1, zorder=1.5)
        better, worse = sure & (value > 0), sure & (value < 0) & ~far
        for at, colour in (
            (better, PALETTE[0]),
            (worse, PALETTE[1]),
            (~sure & np.isfinite(value) & ~far, SOFT),
        ):
            low = np.maximum(value - half, _EDGE)
            ax.hlines(rows[at], low[at], (value + half)[at], color=colour, linewidth=1.5)
            face = "white" if colour == SOFT else colour
            ax.scatter(value[at], rows[at], s=26, color=face, edgecolor=colour, zorder=3)
        _far_off(ax, value, rows, far)
        ax.set_yticks(rows, [shorten(name, 42) for name in names])
        for name, tick in zip(names, ax.get_yticklabels(), strict=True):
            tick.set(parse_math=False, color=INK, fontsize=SMALL)
            if name in highlight:
                tick.set_fontweight("bold")
        ax.tick_params(axis="y", length=0, pad=6)
        ax.spines["left"].set_visible(False)
        ax.set_ylim(len(names) - 0.4, -0.6)
        _wins(ax, frame, rows)
        percent_axis(ax.xaxis)
        zero = f" (0 is {shorten(baseline)})" if baseline else ""
        name_axes(ax, f"error reduction{zero}, ± 2 Monte-Carlo errors", "", title)
    return ax


def _far_off(ax: Axes, value: FloatArray, rows: IntArray, far: BoolArray) -> None:
    """Arrows at the left edge for what lies beyond it."""
    if not far.any():
        return
    ax.scatter(np.full(far.sum(), _EDGE), rows[far], s=30, color=PALETTE[1], marker="<", zorder=3)
    for row in rows[far]:
        ax.annotate(
            f"{100 * value[row]:.0f}%".replace("-", "−"), (_EDGE, row), (8, 0), va="center",
            textcoords="offset points", fontsize=SMALL, color=PALETTE[1],
        )  # fmt: skip


def _wins(ax: Axes, frame: pd.DataFrame, rows: np.ndarray) -> None:
    """How often each strategy beats the baseline, in a column at the right."""
    for row in rows[rows % 2 == 1]:
        ax.axhspan(row - 0.5, row + 0.5, color=GREY, alpha=0.13, linewidth=0, zorder=0)
    if "win" not in frame:
        return
    across = ax.get_yaxis_transform()
    texts = ["–" if np.isnan(w) else f"{w:.0%}" for w in frame["win"].to_numpy(dtype=float)]
    for row, text in zip([-1, *rows], ["wins", *texts], strict=True):
        ax.text(
            1.075, row, text, transform=across, ha="right", va="center", fontsize=SMALL, color=SOFT
        )
