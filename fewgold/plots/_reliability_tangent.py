"""How the least and the largest sensible number of documents are read off power laws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.plots._documents import SPREADS, by_system, column, power_law
from fewgold.plots._frames import check_columns
from fewgold.plots._lines import line_style
from fewgold.plots._style import INK, SMALL, axes_for, name_axes, percent_axis, settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def tangent(
    frame: pd.DataFrame,
    fits: pd.DataFrame,
    ax: Axes | None = None,
    *,
    value: str = "relative_sd",
    x_i: float = 1.0,
    epsilon: float = 1e-4,
    systems: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """How x_min and x_max are read off power laws (Figure 11 of Estrella et al. 2007).

    x_min is where the tangent at ``x_i`` meets the x axis, x_max where the slope is −``epsilon``.
    ``frame`` has system, documents and the ``value``; ``fits`` system, a and b. Without
    ``systems``, the first and the last are drawn. Where x_max is far away, the tangent is drawn in
    a window of its own.
    """
    check_columns(frame, ("system", "documents", value))
    check_columns(fits, ("system", "a", "b"))
    with settings():
        ax = axes_for(ax, height=4.3)
        if systems is None:
            known = list(dict.fromkeys(map(str, frame["system"])))
            systems = [*known[:1], *known[1:][-1:]]
        parts = by_system(frame, systems)
        laws = {name: power_law(fits, name) for name in parts}
        known_laws = [law for law in laws.values() if law is not None and law[1] > 0]
        near = max((x_i * (1 + 1 / b) for _, b in known_laws), default=1.0)
        far = max([_flat(*law, epsilon) for law in known_laws] + [float(frame["documents"].max())])
        # The tangent is as steep as the axis itself in a figure that goes on to x_max.
        zoom = ax.inset_axes((0.36, 0.4, 0.6, 0.56)) if far > 6 * near else ax
        if zoom is not ax:
            axes_for(zoom, height=0)
            ax.grid(False)  # it would show between the numbers of the window
        for k, (name, part) in enumerate(parts.items()):
            colour, _, marker = line_style(k)
            law = laws[name]
            if law is None or not law[1] > 0:
                continue
            a, b = law
            x, y = column(part, "documents"), column(part, value)
            x_min, x_max = x_i * (1 + 1 / b), _flat(a, b, epsilon)
            fine = np.geomspace(min(x_i, x[0]), max(float(x[-1]), 1.1 * x_max), 400)
            for where in dict.fromkeys((ax, zoom)):
                inside = slice(None) if where is ax else x <= 2.2 * near
                dots: dict[str, Any] = {
                    "color": colour,
                    "marker": marker,
                    "markersize": 3.4,
                    "ls": "",
                }
                where.plot(x[inside], y[inside], label=name, gid=f"line-{k}", zorder=3, **dots)
                where.plot(fine, a * fine**-b, color=colour, linewidth=1.2, zorder=2.5)
            zoom.plot([x_i, x_min], [a * x_i**-b, 0], color=colour, linewidth=1.1, ls=(0, (4, 1.6)))
            below = sum(other[0] > a for other in known_laws)  # curves above this one
            away = (20.0, 26.0) if below == 0 else (16.0, -22.0 - 14 * below)
            _mark(zoom, x_min, a * x_min**-b, f"x_min {x_min:.2f}", colour, away)
            _mark(ax, x_max, a * x_max**-b, f"x_max {x_max:.0f}", colour, (-14, 34 - 13 * below))
        heights = [a * x_i**-b for a, b in known_laws]
        heights += [float(np.nanmax(column(part, value))) for part in parts.values()]
        top = max((h for h in heights if h > 0), default=1.0)
        for where, right in {zoom: 2.2 * near, ax: 1.12 * far}.items():
            where.set(xlim=(0, right), ylim=(0, 1.08 * top))
            if value == "relative_sd":
                percent_axis(where.yaxis)
        if known_laws:
            zoom.legend(frameon=False, fontsize=SMALL, labelcolor=INK, loc="upper right")
        name_axes(ax, "documents", SPREADS.get(value, value), title)
    return ax


def _flat(a: float, b: float, epsilon: float) -> float:
    """Where a power law has the slope −ε."""
    return float((a * b / epsilon) ** (1 / (b + 1)))


def _mark(ax: Axes, x: float, y: float, text: str, colour: str, away: tuple[float, float]) -> None:
    """A place on the x axis, led up to the curve and named above it."""
    ax.plot([x, x], [0, y], color=colour, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=2)
    ax.plot([x], [0], color=colour, marker="|", markersize=9, clip_on=False, zorder=4)
    ax.plot([x], [y], color="white", marker="o", markersize=5, mec=colour, zorder=4)
    ax.annotate(
        text, (x, y), xytext=away, textcoords="offset points", fontsize=SMALL, color=colour,
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkB": 3},
    )  # fmt: skip
