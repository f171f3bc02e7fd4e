"""Ratings against a metric, and whether the sample is like the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.plots._style import (
    GREY,
    PALETTE,
    SMALL,
    SOFT,
    name_axes,
    phone_axes,
    settings,
    shorten,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 24


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
    """Rated segments as dots, with a line of intercept and slope ``line``."""
    with settings():
        ax = phone_axes(ax)
        ax.scatter(x, y, s=14, color=PALETTE[0], alpha=0.55, linewidth=0, zorder=2)
        ends = np.array([np.min(x), np.max(x)])
        ax.plot(ends, line[0] + line[1] * ends, color=PALETTE[1], linewidth=1.8, zorder=3)
        name_axes(ax, shorten(xlabel, 40), shorten(ylabel, 36), title)
        ax.xaxis.label.set_parse_math(False)
    return ax


def two_distributions(
    pool: FloatArray,
    sample: FloatArray,
    weights: FloatArray,
    ax: Axes | None = None,
    *,
    label: str = "metric",
    title: str | None = None,
) -> Axes:
    """Shares of the pool, as an area, and of the weighted sample, as a line, over the same bins."""
    with settings():
        ax = phone_axes(ax)
        edges = np.histogram_bin_edges(pool, min(_BINS, max(5, round(1.3 * np.sqrt(sample.size)))))
        whole = np.histogram(pool, edges)[0] / pool.size
        part = np.histogram(sample, edges, weights=weights / weights.sum())[0]
        ax.stairs(whole, edges, fill=True, color=GREY, alpha=0.75, label=f"pool ({pool.size})")
        ax.stairs(part, edges, color=PALETTE[0], linewidth=1.6, label=f"sample ({sample.size})")
        ax.set_ylim(0, 1.25 * max(whole.max(), part.max()))
        ax.legend(loc="upper left", frameon=False, fontsize=SMALL, labelcolor=SOFT, ncols=2)
        name_axes(ax, shorten(label, 40), "share of segments", title)
        ax.xaxis.label.set_parse_math(False)
    return ax
