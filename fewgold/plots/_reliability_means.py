"""Scores and the widths of their intervals, against the number of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots._documents import by_system, column, log_axes
from fewgold.plots._frames import check_columns
from fewgold.plots._labels import Labels
from fewgold.plots._lines import line_style
from fewgold.plots._style import SOFT, axes_for, name_axes, settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def mean_by_documents(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    systems: Sequence[str] | None = None,
    ylabel: str = "score",
    title: str | None = None,
) -> Axes:
    """The score against the number of documents with its intervals, a line a system.

    ``frame`` has system, documents, mean, low and high.
    """
    check_columns(frame, ("system", "documents", "mean", "low", "high"))
    with settings():
        ax = axes_for(ax, height=4.3)
        labels = Labels(ax)
        parts = by_system(frame, systems)
        faint = min(0.15, 0.4 / len(parts))
        for k, (name, part) in enumerate(parts.items()):
            colour, dash, marker = line_style(k)
            x, y = column(part, "documents"), column(part, "mean")
            ax.fill_between(
                x, column(part, "low"), column(part, "high"), color=colour, alpha=faint,
                linewidth=0,
            )  # fmt: skip
            (line,) = ax.plot(x, y, color=colour, linestyle=dash, marker=marker, markersize=3.2)
            line.set(label=name, gid=f"line-{k}", linewidth=1.4)
            labels.add(name, float(x[-1]), float(y[-1]), colour)
        name_axes(ax, "documents", ylabel, title)
    return ax


def documents_for_half_width(
    frame: pd.DataFrame,
    needed: pd.DataFrame,
    ax: Axes | None = None,
    *,
    target: float,
    systems: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Half-width against the number of documents, and where it meets the target.

    ``frame`` has system, documents and half_width; ``needed`` system and documents.
    """
    check_columns(frame, ("system", "documents", "half_width"))
    check_columns(needed, ("system", "documents"))
    with settings():
        ax = axes_for(ax, height=4.3)
        labels = Labels(ax)
        enough = dict(zip(needed["system"].astype(str), needed["documents"], strict=True))
        ax.axhline(target, color=SOFT, linewidth=1, linestyle=(0, (1, 2)), zorder=1.8)
        labels.add(f"±{target:g}", float(frame["documents"].max()), target, SOFT)
        for k, (name, part) in enumerate(by_system(frame, systems).items()):
            colour, dash, marker = line_style(k)
            x, y = column(part, "documents"), column(part, "half_width")
            (line,) = ax.plot(x, y, color=colour, linestyle=dash, linewidth=1.4)
            line.set(label=name, gid=f"line-{k}")
            labels.add(name, float(x[-1]), float(y[-1]), colour)
            d = float(enough.get(name, np.nan))
            if np.isfinite(d):
                ax.plot([d], [target], color=colour, marker=marker, markersize=5, zorder=4)
        if (frame["half_width"] > 0).all():
            log_axes(ax)
        name_axes(ax, "documents", "half-width of the interval", title)
    return ax
