"""The interval against the number of ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.errors import FewgoldError
from fewgold.plots._style import INK, PALETTE, SMALL, SOFT, axes_for, name_axes, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fewgold.bounds.sequence._path import Path


def draw(path: Path, ax: Axes | None = None) -> Axes:
    """Draw one path: the interval as a band, the mean of the ratings, and where one may stop."""
    if path.low.ndim > 1:
        raise FewgoldError("this is a batch of paths; plot one of them: path(ratings.draw(k), …).")
    with settings():
        ax = axes_for(ax, 3.6)
        count = np.arange(1, path.ratings.n + 1)
        ax.fill_between(
            count, path.low, path.high, facecolor=(PALETTE[0], 0.15), edgecolor=PALETTE[0],
            linewidth=1.0, label=f"{100 * path.rule.confidence:.6g}% interval, {path.rule.kind}",
        )  # fmt: skip
        ax.plot(count, path.mean, color=INK, linewidth=1.2, label="mean of the ratings")
        if path.stopped:
            at = path.stopped
            ax.axvline(at, color=PALETTE[1], linewidth=1.2, linestyle="--")
            ax.annotate(
                f" stop after {at}", (at, 1), xycoords=("data", "axes fraction"), va="top",
                color=PALETTE[1], fontsize=SMALL,
            )  # fmt: skip
        # The first intervals are as wide as the scale and would hide the rest.
        seen = slice(min(len(count) - 1, len(count) // 20), None)
        low, high = path.low[seen].min(), path.high[seen].max()
        room = 0.05 * (high - low) or 1.0
        ax.set_ylim(low - room, high + room)
        ax.legend(loc="lower right", frameon=False, fontsize=SMALL, labelcolor=SOFT)
        name_axes(ax, f"ratings (of {len(path.ratings.sample.pool)} segments)", "score", None)
    return ax
