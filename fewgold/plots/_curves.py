"""A figure against the budget, one line a strategy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._validate import as_names
from fewgold.plots._frames import budget_axis, check_names, wide
from fewgold.plots._labels import Labels
from fewgold.plots._lines import log_ticks
from fewgold.plots._style import (
    GREY,
    INK,
    MARKERS,
    PALETTE,
    SMALL,
    SOFT,
    axes_for,
    name_axes,
    percent_axis,
    settings,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

HIGHLIGHTS = 4  # lines in colour if the caller does not name them
_DASHES = ("-", "--", ":")  # once round the palette each


def curves(
    frame: pd.DataFrame,
    value: str,
    ax: Axes | None = None,
    *,
    by: str = "strategy",
    spread: str | None = None,
    times: float = 2.0,
    within: tuple[float, float] = (-np.inf, np.inf),
    baseline: str | None = None,
    highlight: Sequence[str] | None = None,
    reference: tuple[float, str] | None = None,
    ylabel: str = "",
    note: str = "",
    title: str | None = None,
    percent: bool = False,
    log: bool = False,
) -> Axes:
    """Draw a column against the budget, a line for each name in the column ``by``.

    Parameters
    ----------
    frame : DataFrame
        One row a line and budget. Values that are missing or infinite leave a gap.
    value : str
        The column to draw.
    spread : str, optional
        A column of standard errors or deviations: bands of ``times`` that, kept ``within`` limits.
    baseline : str, optional
        The line in black dashes.
    highlight : sequence of str, optional
        The lines in colour, with their names at their ends; the others are grey. Without it, all
        lines if there are few, else the four that are lowest on average.
    reference : (float, str), optional
        A horizontal line and its name.
    note : str
        What the legend says about the bands.
    percent, log : bool
        The y axis in per cent, or logarithmic.
    """
    with settings():
        table = wide(frame, value, by)
        names = [str(name) for name in table.columns]
        table.columns = names
        bands = None if spread is None else wide(frame, spread, by).set_axis(names, axis=1) * times
        check_names(by, [baseline] if baseline is not None else [], names)
        if highlight is None:
            highlight = lowest(table, baseline)
        highlight = as_names(highlight)
        check_names(by, highlight, names)
        bright = [name for name in dict.fromkeys(highlight) if name != baseline]
        x, xlabel, shares = budget_axis(frame, table.index.tolist())
        order = np.argsort(x, kind="stable")
        x, table = x[order], table.iloc[order]
        bands = None if bands is None else bands.iloc[order]

        ax = axes_for(ax, height=4.3)
        labels = Labels(ax)
        if reference is not None:
            ax.axhline(reference[0], color=SOFT, linewidth=1, zorder=1.8, label="_reference")
            labels.add(reference[1], x[-1], reference[0], SOFT)
        rest = [name for name in names if name != baseline and name not in bright]
        for i, name in enumerate(rest):
            line = ax.plot(x, table[name], color=GREY, linewidth=0.9, marker=_dot(x), zorder=1.9)[0]
            line.set(label=name, gid=f"other-{i}", markersize=2)
        for i, name in enumerate([*bright, baseline] if baseline is not None else bright):
            y = table[name].to_numpy(dtype=float)
            if name == baseline:
                colour, dash, marker, over = INK, "--", "", 2.5
            else:
                colour = PALETTE[i % len(PALETTE)]
                dash = _DASHES[i // len(PALETTE) % len(_DASHES)]
                marker, over = MARKERS[i % len(MARKERS)], 3 + (len(bright) - i) / len(bright)
            if bands is not None:
                half = bands[name].to_numpy(dtype=float)
                faint = min(0.15, 0.4 / (len(bright) + 1))  # so that many do not add up to a wall
                _band(ax, x, np.clip(y - half, *within), np.clip(y + half, *within), colour, faint)
            line = ax.plot(x, y, color=colour, linewidth=1.6, linestyle=dash, zorder=over)[0]
            line.set(label=name, gid=f"line-{i}", marker=marker, markersize=4)
            seen = np.flatnonzero(np.isfinite(y))
            if seen.size:
                labels.add(name, x[seen[-1]], y[seen[-1]], colour)
        _legend(ax, len(rest), note if bands is not None else "")
        if shares:
            percent_axis(ax.xaxis)
        if log:
            _log_axis(ax)
        if percent:
            percent_axis(ax.yaxis)
        name_axes(ax, xlabel, ylabel or value, title)
    return ax


def lowest(table: pd.DataFrame, baseline: str | None) -> list[str]:
    """The lines that are lowest on average, each budget counting the same, best first.

    All of them if the palette has a colour for each.
    """
    scale = table[baseline] if baseline is not None else table.median(axis=1)
    mean = table.div(scale.where(scale != 0), axis=0).mean().sort_values(kind="stable")
    names = [str(name) for name in mean.index if name != baseline]
    return names if len(names) <= len(PALETTE) else names[:HIGHLIGHTS]


def _band(
    ax: Axes, x: FloatArray, low: FloatArray, high: FloatArray, colour: str, alpha: float
) -> None:
    if x.size == 1:  # a band over one budget has no width
        ax.vlines(x, low, high, color=colour, linewidth=1.2, zorder=2.1)
    else:
        face, edge = (colour, alpha), (colour, 0.35)
        ax.fill_between(x, low, high, facecolor=face, edgecolor=edge, linewidth=0.5, zorder=1.85)


def _legend(ax: Axes, others: int, note: str) -> None:
    """Say what is grey and what the bands are; the rest is named at the lines."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: dict[str, Line2D | Patch] = {}
    if others:
        entries["1 other" if others == 1 else f"{others} others"] = Line2D(
            [], [], color=GREY, linewidth=0.9
        )
    if note:
        entries[note] = Patch(color=SOFT, alpha=0.2, linewidth=0)
    if entries:
        ax.legend(
            list(entries.values()), list(entries), loc="best", frameon=False, fontsize=SMALL,
            labelcolor=SOFT, handlelength=1.6,
        )  # fmt: skip


def _dot(x: FloatArray) -> str:
    return "o" if x.size == 1 else ""


def _log_axis(ax: Axes) -> None:
    ax.set_yscale("log", nonpositive="clip")
    log_ticks(ax.yaxis)
