"""Figures of a judge: confusion matrix and reliability diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots import style
from fewgold.plots.heatmap import heat

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


@style.styled
def confusion_matrix(
    frame: pd.DataFrame, ax: Axes | None = None, *, title: str | None = None
) -> Axes:
    """Confusion matrix as shares of the pool: rows by people, columns by the judge."""
    ax = ax or style.phone_axes(None, 0.9 + 0.7 * len(frame))
    return heat(frame, ax, fmt=".3f", log=False, xlabel="judge", ylabel="people", title=title)


@style.styled
def reliability_diagram(
    frame: pd.DataFrame, ax: Axes | None = None, *, title: str | None = None
) -> Axes:
    """Reliability diagram: a judge's stated probability, and the share that people find good.

    ``frame`` has stated, observed, low and high, one row per bin; points on the diagonal are
    calibrated.
    """
    style.check_columns(frame, ("stated", "observed", "low", "high"))
    stated, observed, low, high = style.numbers(frame, "stated", "observed", "low", "high")
    ax = style.phone_axes(ax, 3.6)
    ax.plot([0, 1], [0, 1], color=style.GREY, linewidth=1, linestyle=style.DASHED)
    seen = np.isfinite(observed)
    ax.vlines(stated[seen], low[seen], high[seen], color=style.PALETTE[0], linewidth=1.6, alpha=0.7)
    ax.plot(stated[seen], observed[seen], color=style.PALETTE[0], marker="o", markersize=4.5)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    style.name_axes(ax, "probability stated by the judge", "share that people find good", title)
    return ax
