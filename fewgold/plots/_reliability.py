"""How much a score would vary, against the number of documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.plots._documents import SPREADS, by_system, column, log_axes, power_law
from fewgold.plots._frames import check_columns
from fewgold.plots._labels import Labels
from fewgold.plots._lines import line_style
from fewgold.plots._style import SMALL, SOFT, axes_for, name_axes, percent_axis, settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_BANDS = 3  # systems whose bands can be told apart


def reliability_curves(
    frame: pd.DataFrame,
    fits: pd.DataFrame | None = None,
    ax: Axes | None = None,
    *,
    value: str = "relative_sd",
    systems: Sequence[str] | None = None,
    log: bool = True,
    title: str | None = None,
) -> Axes:
    """Standard deviation of a score against the number of documents, a line a system.

    Parameters
    ----------
    frame : DataFrame
        One row a system and number of documents: system, documents, the ``value``, and ``least``
        and ``most``, its ends over orders of the documents, for bands of up to three systems.
    fits : DataFrame, optional
        Power laws to draw as thin lines: system, a, b.
    log : bool
        Both axes logarithmic, so that a power law is a straight line.
    """
    check_columns(frame, ("system", "documents", value))
    with settings():
        ax = axes_for(ax, height=4.3)
        labels = Labels(ax)
        parts = by_system(frame, systems)
        faint = min(0.13, 0.35 / len(parts))
        for k, (name, part) in enumerate(parts.items()):
            colour, dash, marker = line_style(k)
            x, y = column(part, "documents"), column(part, value)
            if {"least", "most"} <= set(part.columns) and len(parts) <= _BANDS:
                low, high = column(part, "least"), column(part, "most")
                if np.nanmax(high - low, initial=0.0) > 0:
                    ax.fill_between(x, low, high, color=colour, alpha=faint, linewidth=0)
            curve = power_law(fits, name)
            style = {"linestyle": "none"} if curve is not None else {"linestyle": dash}
            (line,) = ax.plot(x, y, color=colour, marker=marker, markersize=3.2, **style)
            line.set(label=name, gid=f"line-{k}", linewidth=1.4)
            end = float(y[np.isfinite(y)][-1]) if np.isfinite(y).any() else 0.0
            if curve is not None:
                fine = np.geomspace(x[0], x[-1], 200)
                ax.plot(fine, curve[0] * fine ** -curve[1], color=colour, linewidth=1.2, ls=dash)
            labels.add(name, float(x[-1]), end, colour)
        if log and (frame[value] > 0).any():
            log_axes(ax)
        else:
            ax.set_ylim(bottom=0)
        _notes(ax, fits is not None, faint if _banded(parts) else 0.0)
        if value == "relative_sd":
            percent_axis(ax.yaxis)
        name_axes(ax, "documents", SPREADS.get(value, value), title)
    return ax


def _banded(parts: dict[str, pd.DataFrame]) -> bool:
    return len(parts) <= _BANDS and any(
        {"least", "most"} <= set(p.columns) and (p["most"] > p["least"]).any()
        for p in parts.values()
    )


def _notes(ax: Axes, fitted: bool, band: float) -> None:
    """Say what dots, lines and bands are; the systems are named at the lines."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries: dict[str, Any] = {}
    if fitted:
        entries["bootstrap"] = Line2D([], [], color=SOFT, marker="o", markersize=3.6, ls="")
        entries["power law"] = Line2D([], [], color=SOFT, linewidth=1.2)
    if band:
        entries["range over orders"] = Patch(color=SOFT, alpha=0.2, linewidth=0)
    if entries:
        ax.legend(
            list(entries.values()), list(entries), loc="upper right", frameon=False,
            fontsize=SMALL, labelcolor=SOFT, handlelength=1.6,
        )  # fmt: skip
