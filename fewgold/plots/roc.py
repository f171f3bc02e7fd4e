"""ROC curves of one metric, one curve per system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.checks import as_names
from fewgold.common.text import shorter
from fewgold.errors import FewgoldError
from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANEL = 3.55  # inches
_LINES = 12  # largest number of names that fit into the lower right half


@style.styled
def roc_curves(
    frame: pd.DataFrame,
    points: pd.DataFrame | None = None,
    ax: Axes | None = None,
    *,
    systems: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """ROC curves of one metric, one curve per system.

    Parameters
    ----------
    frame : DataFrame
        The corners of the curves, in order: system, fpr, tpr, and auc (the same in all rows of a
        system), which determines the order of names.
    points : DataFrame, optional
        Points to mark, at most one per system: system, fpr, tpr.
    ax : Axes, optional
        Where to draw; without it, on a new figure.
    systems : sequence of str, optional
        All systems of a set of panels, so that each keeps its colour.
    """
    style.check_columns(frame, ("system", "fpr", "tpr", "auc"))
    shown = frame["system"] if systems is None else as_names(systems)
    names = list(dict.fromkeys(map(str, shown)))
    styles = {name: style.line_style(k) for k, name in enumerate(names)}
    ax = style.axes_for(ax, height=PANEL + 1.2)
    ax.set_aspect("equal")
    ax.plot([0, 1], [0, 1], color=style.GREY, linewidth=1)
    ax.plot([0, 1], [1, 0], color=style.GREY, linewidth=1, linestyle=style.DOTTED)
    aucs = {}
    for k, (name, part) in enumerate(frame.groupby("system", sort=False)):
        colour, dash, _ = styles[str(name)]
        aucs[str(name)] = float(part["auc"].iloc[0])
        (line,) = ax.plot(
            part["fpr"], part["tpr"], color=colour, linestyle=dash, linewidth=1.3, alpha=0.85
        )
        line.set_gid(f"roc-{k}")
        line.set_label(f"{name}, AUC {aucs[str(name)]:.3f}")
    if points is not None:
        style.check_columns(points, ("system", "fpr", "tpr"))
        for name, x, y in zip(points["system"], points["fpr"], points["tpr"], strict=True):
            if str(name) in styles:
                colour, dash, marker = styles[str(name)]
                ax.plot(
                    x, y, marker=marker, markersize=5.5, linestyle="none", zorder=4, clip_on=False,
                    color=colour, markerfacecolor=colour if dash == style.SOLID else "white",
                )  # fmt: skip
    _name(ax, aucs, styles)
    ax.set(xlim=(-0.015, 1.015), ylim=(-0.015, 1.015))
    ax.set_xticks(np.linspace(0, 1, 6))
    ax.set_yticks(np.linspace(0, 1, 6))
    style.name_axes(ax, "1 − η, inadequate judged adequate", "ρ, adequate judged adequate", title)
    return ax


def _name(ax: Axes, aucs: dict[str, float], styles: dict[str, tuple[str, Any, str]]) -> None:
    """Write names and areas in the lower right half, where there are few curves."""
    from matplotlib.lines import Line2D

    order = sorted(aucs, key=lambda name: -aucs[name])
    shown = order
    if len(order) > _LINES:
        half = (_LINES - 1) // 2
        shown = [*order[:half], "", *order[-half:]]
    handles, labels = [], []
    for name in shown:
        colour, dash, marker = styles[name] if name else (style.SOFT, style.SOLID, "")
        face = colour if dash == style.SOLID else "white"
        handles.append(
            Line2D(
                [], [], color=colour, linestyle=dash, linewidth=1.3 if name else 0, marker=marker,
                markersize=4, markerfacecolor=face,
            )
        )  # fmt: skip
        labels.append(f"{aucs[name]:.2f}  {style.plain(name, 24)}" if name else "…")
    legend = ax.legend(
        handles, labels, loc="lower right", fontsize=style.SMALL - 2, frameon=True, framealpha=0.8,
        edgecolor="none", facecolor="white", labelcolor=style.INK, title="AUC", borderpad=0.3,
        title_fontsize=style.SMALL - 2, handlelength=2.2, labelspacing=0.28, alignment="left",
    )  # fmt: skip
    legend.get_title().set_color(style.SOFT)


@style.styled
def roc_panels(
    frame: pd.DataFrame,
    points: pd.DataFrame | None = None,
    *,
    across: int | None = None,
    title: str | None = None,
) -> Figure:
    """One panel of `roc_curves` per metric, in one figure.

    ``frame`` and ``points`` are as in `roc_curves`, with a column ``metric``; the metrics come in
    the order of their rows, ``across`` of them side by side (by default up to 3).
    """
    style.check_columns(frame, ("metric", "system", "fpr", "tpr", "auc"))
    metrics = list(dict.fromkeys(frame["metric"]))
    systems = list(dict.fromkeys(frame["system"]))
    if across is None:
        across = 2 if len(metrics) in (2, 4) else min(3, len(metrics))
    if across < 1:
        raise FewgoldError(f"across must be 1 or more panels; got {across!r}.")
    down = -(-len(metrics) // across)
    from matplotlib.figure import Figure

    size = across * PANEL + 0.25, down * (PANEL + 0.2) + (0.4 if title else 0.1)
    figure = Figure(figsize=size, dpi=100)
    figure.set_layout_engine("constrained", h_pad=0.1)  # between a title and the ticks above it
    for k, metric in enumerate(metrics):
        ax = figure.add_subplot(down, across, k + 1)
        marked = None if points is None else points[points["metric"] == metric]
        if marked is not None and marked.empty:
            marked = None
        roc_curves(
            frame[frame["metric"] == metric], marked, ax, systems=systems,
            title=shorter(str(metric), 34),
        )  # fmt: skip
        ax.title.set_fontsize(style.NORMAL + 0.5)
        if k % across:
            ax.set_ylabel("")
        if k + across < len(metrics):
            ax.set_xlabel("")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=style.LARGE, fontweight="bold")
    return figure
