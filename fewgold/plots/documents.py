"""Figures by number of documents: how stable scores and rankings are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names
from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_SPREADS = {"relative_sd": "standard deviation ÷ mean", "sd": "standard deviation"}
_BANDS = 3  # up to this many systems, bands are drawn


@style.styled
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
    """Standard deviation of a score by number of documents, one line per system.

    Parameters
    ----------
    frame : DataFrame
        One row per system and number of documents: system, documents, the ``value``, and ``least``
        and ``most``, its range over orders of the documents, for bands of up to three systems.
    fits : DataFrame, optional
        Power laws to draw as thin lines: system, a, b.
    log : bool
        Both axes logarithmic, so that a power law is a straight line.
    """
    from matplotlib.lines import Line2D

    style.check_columns(frame, ("system", "documents", value))
    ax = style.axes_for(ax, height=4.3)
    labels = style.Labels(ax)
    parts = _by_system(frame, systems)
    faint = min(0.13, 0.35 / len(parts))
    banded = False
    for k, (name, part) in enumerate(parts.items()):
        colour, dash, _ = style.line_style(k)
        x, y = style.numbers(part, "documents", value)
        if {"least", "most"} <= set(part.columns) and len(parts) <= _BANDS:
            low, high = style.numbers(part, "least", "most")
            if np.nanmax(high - low, initial=0.0) > 0:
                ax.fill_between(x, low, high, color=colour, alpha=faint, linewidth=0)
                banded = True
        law = _power_law(fits, name)
        _line(ax, labels, k, name, x, y, linestyle="none" if law is not None else dash)
        if law is not None:
            fine = np.geomspace(x[0], x[-1], 200)
            ax.plot(fine, law[0] * fine ** -law[1], color=colour, linewidth=1.2, ls=dash)
    if log and (frame[value] > 0).any():
        _log_axes(ax)
    else:
        ax.set_ylim(bottom=0)
    entries: dict[str, Any] = {}
    if fits is not None:
        entries["bootstrap"] = Line2D([], [], color=style.SOFT, marker="o", markersize=3.6, ls="")
        entries["power law"] = Line2D([], [], color=style.SOFT, linewidth=1.2)
    if banded:
        entries["range over orders"] = style.band_patch()
    style.legend(ax, entries, "upper right", handlelength=1.6)
    if value == "relative_sd":
        style.percent_axis(ax.yaxis)
    _documents_axis(ax)
    style.name_axes(ax, "documents", _SPREADS.get(value, value), title)
    return ax


def _documents_axis(ax: Axes) -> None:
    if ax.get_xscale() == "linear":
        style.whole_ticks(ax.xaxis)


def _by_system(frame: pd.DataFrame, systems: Sequence[str] | None) -> dict[str, pd.DataFrame]:
    """The rows of each system, by number of documents."""
    names = frame["system"].astype(str)
    known = list(dict.fromkeys(names))
    if systems is not None:
        systems = as_names(systems)
        style.check_names("system", systems, known)
        known = list(dict.fromkeys(systems))
    return {name: frame[names == name].sort_values("documents") for name in known}


def _line(
    ax: Axes, labels: style.Labels, k: int, name: str, x: FloatArray, y: FloatArray,
    ends: tuple[float, float] | None = None, **other: Any,
) -> None:  # fmt: skip
    """Draw the line of the k-th system, named at its end; ``other`` changes the usual style.

    ``ends`` is where the line is continued to, if it is.
    """
    colour, dash, marker = style.line_style(k)
    look = {"color": colour, "linestyle": dash, "linewidth": 1.4, "marker": marker} | other
    (line,) = ax.plot(x, y, markersize=3.2, **look)
    line.set(label=name, gid=f"line-{k}")
    seen = y[np.isfinite(y)]
    end = ends or (float(x[-1]), float(seen[-1]) if seen.size else 0.0)
    labels.add(name, *end, colour)


def _power_law(fits: pd.DataFrame | None, name: str) -> tuple[float, float] | None:
    """a and b of a system, if they are known."""
    if fits is None:
        return None
    found = fits.loc[fits["system"].astype(str) == name, ["a", "b"]].to_numpy(dtype=float)
    return (found[0, 0], found[0, 1]) if len(found) and np.isfinite(found[0]).all() else None


def _log_axes(ax: Axes) -> None:
    ax.set(xscale="log", yscale="log")
    style.log_ticks(ax.xaxis)
    style.log_ticks(ax.yaxis)


@style.styled
def mean_by_documents(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    systems: Sequence[str] | None = None,
    ylabel: str = "score",
    title: str | None = None,
) -> Axes:
    """The score by number of documents with its intervals, one line per system.

    ``frame`` has system, documents, mean, low and high.
    """
    style.check_columns(frame, ("system", "documents", "mean", "low", "high"))
    ax = style.axes_for(ax, height=4.3)
    labels = style.Labels(ax)
    parts = _by_system(frame, systems)
    faint = min(0.15, 0.4 / len(parts))
    for k, (name, part) in enumerate(parts.items()):
        x, y, low, high = style.numbers(part, "documents", "mean", "low", "high")
        ax.fill_between(x, low, high, color=style.line_style(k)[0], alpha=faint, linewidth=0)
        _line(ax, labels, k, name, x, y)
    _documents_axis(ax)
    style.name_axes(ax, "documents", ylabel, title)
    return ax


@style.styled
def documents_for_half_width(
    frame: pd.DataFrame,
    needed: pd.DataFrame,
    ax: Axes | None = None,
    *,
    target: float,
    systems: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Half-width by number of documents, and where it meets the target.

    ``frame`` has system, documents and half_width; ``needed`` system and documents.
    """
    style.check_columns(frame, ("system", "documents", "half_width"))
    style.check_columns(needed, ("system", "documents"))
    ax = style.axes_for(ax, height=4.3)
    labels = style.Labels(ax)
    enough = dict(zip(needed["system"].astype(str), needed["documents"], strict=True))
    ax.axhline(target, color=style.SOFT, linewidth=1, linestyle=style.DOTTED, zorder=1.8)
    right = np.nanmax([frame["documents"].max(), *enough.values()])
    labels.add(f"±{target:g}", float(right), target, style.SOFT)
    for k, (name, part) in enumerate(_by_system(frame, systems).items()):
        colour, _, marker = style.line_style(k)
        x, y = style.numbers(part, "documents", "half_width")
        d = float(enough.get(name, np.nan))
        beyond = np.isfinite(d) and d > x[-1]  # a forecast: the line is continued in dots
        _line(ax, labels, k, name, x, y, marker="", ends=(d, target) if beyond else None)
        if beyond:
            ax.plot([x[-1], d], [y[-1], target], color=colour, linewidth=1.2, ls=style.DOTTED)
        if np.isfinite(d):
            ax.plot([d], [target], color=colour, marker=marker, markersize=5, zorder=4)
    if (frame["half_width"] > 0).all():
        _log_axes(ax)
    _documents_axis(ax)
    style.name_axes(ax, "documents", "half-width of the interval", title)
    return ax


@style.styled
def rank_stability(
    frame: pd.DataFrame, ax: Axes | None = None, *, title: str | None = None
) -> Axes:
    """How well rankings by the first documents agree with that by all of them.

    ``frame`` has score, documents, pairs (share of pairs of systems in the order of the full set,
    with resampling) and settled (without); one colour per score, ``settled`` dashed.
    """
    from matplotlib.lines import Line2D

    style.check_columns(frame, ("score", "documents", "pairs", "settled"))
    ax = style.axes_for(ax, height=4.0)
    labels = style.Labels(ax)
    scores = list(dict.fromkeys(map(str, frame["score"])))
    kinds = {"pairs": ("resampled", style.SOLID), "settled": ("as they are", style.DASHED)}
    for k, score in enumerate(scores):
        part = frame[frame["score"].astype(str) == score].sort_values("documents")
        colour, _, marker = style.line_style(k)
        for name, (said, dash) in kinds.items():
            x, y = style.numbers(part, "documents", name)
            dots = marker if name == "pairs" else ""
            (line,) = ax.plot(x, y, color=colour, linestyle=dash, marker=dots, markersize=3.6)
            line.set(label=f"{score}, {said}", gid=f"{name}-{k}", linewidth=1.4)
            if len(scores) == 1 or name == "pairs":
                label = said if len(scores) == 1 else score
                labels.add(label, float(x[-1]), float(y[-1]), colour)
    ax.axhline(0.5, color=style.SOFT, linewidth=0.9, linestyle=style.DOTTED, zorder=1.8)
    ax.annotate(
        "coin toss", (0, 0.5), xycoords=("axes fraction", "data"), xytext=(5, -4),
        textcoords="offset points", va="top", fontsize=style.SMALL, color=style.SOFT,
    )  # fmt: skip
    if len(scores) > 1:
        entries = {
            said: Line2D([], [], color=style.SOFT, linestyle=dash, linewidth=1.4)
            for said, dash in kinds.values()
        }
        style.legend(ax, entries, "lower right", bbox_to_anchor=(1, 0.12))
    _documents_axis(ax)
    seen = frame[["pairs", "settled"]].to_numpy(dtype=float)
    ax.set_ylim(min(0.45, float(np.nanmin(seen)) - 0.05), 1.02)
    style.percent_axis(ax.yaxis)
    style.name_axes(ax, "documents", "pairs of systems in the final order", title)
    return ax


@style.styled
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
    ``systems``, the first and the last are drawn. If x_max is far away, the tangent is drawn in an
    inset.
    """
    style.check_columns(frame, ("system", "documents", value))
    style.check_columns(fits, ("system", "a", "b"))
    ax = style.axes_for(ax, height=4.3)
    if systems is None:
        known = list(dict.fromkeys(map(str, frame["system"])))
        systems = [*known[:1], *known[1:][-1:]]
    parts = _by_system(frame, systems)
    laws = {name: _power_law(fits, name) for name in parts}
    known_laws = [law for law in laws.values() if law is not None and law[1] > 0]
    near = max((x_i * (1 + 1 / b) for _, b in known_laws), default=1.0)
    far = max([_flat(*law, epsilon) for law in known_laws] + [float(frame["documents"].max())])
    heights = [a * x_i**-b for a, b in known_laws]
    heights += [float(np.nanmax(style.numbers(part, value))) for part in parts.values()]
    top = max((h for h in heights if h > 0), default=1.0)
    # In a figure that extends to x_max, the tangent is as steep as the axis itself.
    zoom = ax.inset_axes((0.36, 0.4, 0.6, 0.56)) if far > 6 * near else ax
    if zoom is not ax:
        style.axes_for(zoom, height=0)
        ax.grid(False)  # it would show between the numbers of the inset
    for k, (name, part) in enumerate(parts.items()):
        colour, _, marker = style.line_style(k)
        law = laws[name]
        if law is None or not law[1] > 0:
            continue
        a, b = law
        x, y = style.numbers(part, "documents", value)
        x_min, x_max = x_i * (1 + 1 / b), _flat(a, b, epsilon)
        fine = np.geomspace(min(x_i, x[0]), max(float(x[-1]), 1.1 * x_max), 400)
        for where in dict.fromkeys((ax, zoom)):
            inside = slice(None) if where is ax else x <= 2.2 * near
            where.plot(
                x[inside], y[inside], color=colour, marker=marker, markersize=3.4, ls="",
                label=style.plain(name), gid=f"line-{k}", zorder=3,
            )  # fmt: skip
            where.plot(fine, a * fine**-b, color=colour, linewidth=1.2, zorder=2.5)
        zoom.plot([x_i, x_min], [a * x_i**-b, 0], color=colour, linewidth=1.1, ls=style.DASHED)
        below = sum(other[0] > a for other in known_laws)  # curves above this one
        away = (20.0, 26.0) if below == 0 else (16.0, -22.0 - 14 * below)
        if a * x_min**-b < 0.25 * top:  # no room for it above the axis
            away = (24.0, 12.0)
        _mark(zoom, x_min, a * x_min**-b, f"x_min {x_min:.2f}", colour, away)
        _mark(ax, x_max, a * x_max**-b, f"x_max {x_max:.0f}", colour, (-14, 34 - 13 * below))
    for where, right in {zoom: 2.2 * near, ax: 1.12 * far}.items():
        where.set(xlim=(0, right), ylim=(0, 1.08 * top))
        if value == "relative_sd":
            style.percent_axis(where.yaxis)
    if known_laws:
        zoom.legend(frameon=False, fontsize=style.SMALL, labelcolor=style.INK, loc="upper right")
    style.name_axes(ax, "documents", _SPREADS.get(value, value), title)
    return ax


def _flat(a: float, b: float, epsilon: float) -> float:
    """The point where a power law has the slope −ε."""
    return float((a * b / epsilon) ** (1 / (b + 1)))


def _mark(ax: Axes, x: float, y: float, text: str, colour: str, away: tuple[float, float]) -> None:
    """Mark a point on the x axis, with a line up to the curve and a name above it."""
    ax.plot([x, x], [0, y], color=colour, linewidth=0.8, linestyle=(0, (1, 1.5)), zorder=2)
    ax.plot([x], [0], color=colour, marker="|", markersize=9, clip_on=False, zorder=4)
    ax.plot([x], [y], color="white", marker="o", markersize=5, mec=colour, zorder=4)
    ax.annotate(
        text, (x, y), xytext=away, textcoords="offset points", fontsize=style.SMALL, color=colour,
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.7, "shrinkB": 3},
    )  # fmt: skip
