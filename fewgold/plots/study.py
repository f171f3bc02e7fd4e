"""Figures of one study: intervals, ratings against a metric, and the sample next to the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.text import shorter
from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
_BINS = 24
_TICKED = 11  # distinct values up to which each has a tick
_LARGEST = 220.0  # area of the largest dot, in square points
_ROOM = 140.0  # points, for all grades of an axis side by side
_ALONE = 20  # fewer dots than this seldom hide one another


@style.styled
def interval_rows(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    title: str | None = None,
) -> Axes:
    """Estimates with intervals, each named above its line; the first row is the chosen one.

    ``frame`` has name, value, low and high. Unknown ends are not drawn.
    """
    style.check_columns(frame, ("name", "value", "low", "high"))
    ax = style.phone_axes(ax, 0.75 + 0.55 * len(frame))
    ax.grid(False, axis="y")
    rows = zip(frame["name"], frame["value"], frame["low"], frame["high"], strict=True)
    for row, (name, value, low, high) in enumerate(rows):
        colour = style.PALETTE[0] if row == 0 else style.SOFT
        if np.isfinite(low) and np.isfinite(high):
            ax.hlines(row, low, high, color=colour, linewidth=2.2)
            ax.vlines([low, high], row - 0.09, row + 0.09, color=colour, linewidth=1.4)
        ax.scatter([value], [row], s=34, color=colour, zorder=3)
        ax.annotate(
            shorter(str(name), 40), (0.0, row - 0.27), xycoords=("axes fraction", "data"),
            va="center", fontsize=style.NORMAL, color=style.INK if row == 0 else style.SOFT,
            parse_math=False,
        )  # fmt: skip
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(frame) - 0.6, -0.55)
    style.name_axes(ax, label, "", title)
    return ax


@style.styled
def posterior_area(
    edges: FloatArray,
    density: FloatArray,
    mean: float,
    interval: tuple[FloatArray, FloatArray],
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    label: str = "success rate",
    title: str | None = None,
) -> Axes:
    """A posterior density over ``edges``, with the mean as a line and the interval in colour."""
    low, high = (float(end) for end in interval)
    ax = style.axes_for(ax, 3.2, 5.6)
    ax.stairs(density, edges, fill=True, color=style.GREY, alpha=0.6)
    middle = 0.5 * (edges[1:] + edges[:-1])
    inside = np.where((middle >= low) & (middle <= high), density, 0.0)
    ax.stairs(inside, edges, fill=True, color=style.PALETTE[0], alpha=0.55)
    ax.axvline(mean, color=style.INK, linewidth=1.2)
    said = f"{mean:.3f}\n{100 * confidence:g}%: {low:.3f} to {high:.3f}".replace("-", "−")
    right = mean < 0.5 * (edges[0] + edges[-1])  # the side with more room
    ax.annotate(
        said, (0.99 if right else 0.01, 0.97), xycoords="axes fraction",
        ha="right" if right else "left", va="top", fontsize=style.SMALL, color=style.INK,
    )  # fmt: skip
    ax.set_ylim(bottom=0)
    style.name_axes(ax, label, "posterior density", title)
    return ax


@style.styled
def interval_path(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    title: str | None = None,
) -> Axes:
    """The estimate and its interval by number of ratings: ``frame`` has n, value, low and high."""
    style.check_columns(frame, ("n", "value", "low", "high"))
    n, value, low, high = style.numbers(frame, "n", "value", "low", "high")
    ax = style.phone_axes(ax)
    seen = np.isfinite(low) & np.isfinite(high)
    ax.vlines(n[seen], low[seen], high[seen], color=style.PALETTE[0], linewidth=1.6, alpha=0.7)
    ax.plot(n, value, color=style.PALETTE[0], linewidth=1.2, marker="o", markersize=4)
    ax.axhline(value[-1], color=style.SOFT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    style.whole_ticks(ax.xaxis)
    style.name_axes(ax, "ratings", shorter(label, 36), title)
    return ax


@style.styled
def scatter_fit(
    x: FloatArray,
    y: FloatArray,
    line: tuple[float, float],
    ax: Axes | None = None,
    *,
    xlabel: str = "metric",
    ylabel: str = "human score",
    title: str | None = None,
) -> Axes:
    """Rated segments as dots, with a line of intercept and slope ``line``.

    Segments with the same values share a dot whose area shows how many they are. Grades against a
    continuous metric are spread out a little, so that no dot hides another.
    """
    ax = style.phone_axes(ax)
    dots, counts = np.unique(np.column_stack([x, y]), axis=0, return_counts=True)
    most = int(counts.max())
    levels = [_grades(values) for values in (x, y)]
    few = [found is not None and 2 <= found.size <= _TICKED for found in levels]
    spread = few.index(True) if sum(few) == 1 and x.size > _ALONE else None
    # Neighbours on a grid of grades hardly overlap, however many grades there are.
    wide = max((found.size for found in levels if found is not None), default=1)
    largest = float(np.clip((_ROOM / wide) ** 2, 20.0, _LARGEST))
    said = f"largest dot: {most} segments" if most > 2 else ""
    if spread is not None:
        step = float(np.diff(np.unique(dots[:, spread])).min())
        dots[:, spread] += 0.4 * step * (0.6180339887 * np.arange(len(dots)) % 1 - 0.5)
        said = "dots spread out within each grade" + (f"; {said}" if said else "")
    for count in np.unique(counts):  # SVG repeats a dot in few bytes if all have the same size
        size = max(count * min(14.0, largest / most), 4.0)
        across, up = dots[counts == count].T
        ax.scatter(across, up, s=size, color=style.PALETTE[0], alpha=0.55, linewidth=0, zorder=2)
    if said:
        ax.annotate(
            said, (1.0, 1.0), xycoords="axes fraction", xytext=(0, 3),
            textcoords="offset points", ha="right", fontsize=style.SMALL, color=style.SOFT,
        )  # fmt: skip
    for axis, values in ((ax.xaxis, x), (ax.yaxis, y)):
        _tick_values(axis, values)
    ends = np.array([np.min(x), np.max(x)])
    ax.plot(ends, line[0] + line[1] * ends, color=style.PALETTE[1], linewidth=1.8, zorder=3)
    style.name_axes(ax, shorter(xlabel, 40), shorter(ylabel, 36), title)
    ax.xaxis.label.set_parse_math(False)
    return ax


@style.styled
def two_distributions(
    pool: FloatArray,
    sample: FloatArray,
    weights: FloatArray,
    ax: Axes | None = None,
    *,
    label: str = "metric",
    title: str | None = None,
) -> Axes:
    """Distributions of the pool (area) and of the weighted sample (line) over the same bins."""
    ax = style.phone_axes(ax)
    edges = _edges(pool, min(_BINS, max(5, round(1.3 * np.sqrt(sample.size)))))
    whole = np.histogram(pool, edges)[0] / pool.size
    part = np.histogram(sample, edges, weights=weights / weights.sum())[0]
    ax.stairs(whole, edges, fill=True, color=style.GREY, alpha=0.75, label=f"pool ({pool.size:,})")
    ax.stairs(part, edges, color=style.PALETTE[0], linewidth=1.6, label=f"sample ({sample.size:,})")
    ax.set_ylim(0, 1.25 * max(whole.max(), part.max()))
    _tick_values(ax.xaxis, pool)
    ax.legend(loc="upper left", frameon=False, fontsize=style.SMALL, labelcolor=style.SOFT, ncols=2)
    style.name_axes(ax, shorter(label, 40), "share of segments", title)
    ax.xaxis.label.set_parse_math(False)
    return ax


def _edges(pool: FloatArray, bins: int) -> FloatArray:
    """Bins of equal width; for few evenly spaced values, such as grades, centred on each value."""
    grades = _grades(pool)
    if grades is None:
        return np.histogram_bin_edges(pool, bins)
    step = float(np.diff(grades).min()) if grades.size > 1 else 1.0
    count = round((grades[-1] - grades[0]) / step) + 1
    edges: FloatArray = grades[0] + step * (np.arange(count + 1) - 0.5)
    return edges


def _grades(values: FloatArray) -> FloatArray | None:
    """The distinct values if they are few and evenly spaced, apart from gaps; else None."""
    found = np.unique(values)
    if found.size == 1:
        return found
    if found.size > _BINS:
        return None
    places = (found - found[0]) / np.diff(found).min()
    even = places[-1] <= 2 * _BINS and np.allclose(places, np.round(places), atol=1e-6)
    return found if even else None


def _tick_values(axis: Axis, values: FloatArray) -> None:
    """One tick per grade if there are few, so that none is marked at halves."""
    found = _grades(values)
    if found is not None and found.size <= _TICKED:
        axis.set_ticks(found.tolist(), [f"{v:.4g}".replace("-", "\N{MINUS SIGN}") for v in found])
