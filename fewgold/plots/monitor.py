"""A score over time: the line, its bands, the score by metrics, and alarms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_TICKS = 10
_WIDE = 30  # up to this many batches, each has its own bar


@style.styled
def score_line(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    reference: float | None = None,
    reference_label: str = "reference",
    level: str = "95%",
    began: str | None = None,
    label: str = "score",
    title: str | None = None,
) -> Axes:
    """Scores of batches with two bands: for single batches, and for all batches together.

    ``frame`` has batch, value, low, high, low_all and high_all, one row per batch; judge (the
    metrics' score), alarm (marked) and baseline (shaded) are optional.
    """
    style.check_columns(frame, ("batch", "value", "low", "high", "low_all", "high_all"))
    ax = style.axes_for(ax, 3.4)
    columns = style.numbers(frame, "value", "low", "high", "low_all", "high_all")
    value, low, high, low_all, high_all = columns
    names = [str(b) for b in frame["batch"]]
    x, seen = np.arange(len(names)), np.isfinite(value)
    blue = style.PALETTE[0]
    if "baseline" in frame and frame["baseline"].any():
        last = int(np.flatnonzero(frame["baseline"].to_numpy())[-1])
        ax.axvspan(-0.5, last + 0.5, color=style.GRID, zorder=0)
        ax.annotate(
            "baseline", (0.0, 1.0), xycoords=("data", "axes fraction"), xytext=(-8, -3),
            textcoords="offset points", va="top", fontsize=style.SMALL, color=style.SOFT,
        )  # fmt: skip
    finite = seen & np.isfinite(low_all) & np.isfinite(high_all)
    ax.fill_between(  # over batches without ratings too, as the line does
        x[finite], low_all[finite], high_all[finite], color=blue, alpha=0.13, linewidth=0,
        label=f"{level}, all batches together",
    )  # fmt: skip
    own = seen & np.isfinite(low) & np.isfinite(high)
    if len(names) <= _WIDE:
        ax.vlines(x[own], low[own], high[own], color=blue, linewidth=1.8, alpha=0.75,
                  label=f"{level}, one batch")  # fmt: skip
    else:
        ax.fill_between(x, low, high, where=own, color=blue, alpha=0.25, linewidth=0,
                        label=f"{level}, one batch")  # fmt: skip
    ax.plot(x[seen], value[seen], color=blue, linewidth=1.2, marker="o", markersize=3.5,
            label="people, corrected by metrics")  # fmt: skip
    if "judge" in frame:
        (judge,) = style.numbers(frame, "judge")
        if np.isfinite(judge).any():
            ax.plot(x, judge, color=style.SOFT, linewidth=1.1, linestyle=style.DASHED,
                    label="metrics alone")  # fmt: skip
    if reference is not None and np.isfinite(reference):
        ax.axhline(reference, color=style.PALETTE[4], linewidth=1.1, linestyle=style.DOTTED,
                   label=reference_label)  # fmt: skip
    if "alarm" in frame and frame["alarm"].any():
        at = np.flatnonzero(frame["alarm"].to_numpy())
        ax.scatter(x[at], value[at], s=62, facecolors="none", edgecolors=style.PALETTE[1],
                   linewidths=1.8, zorder=4, label="alarm")  # fmt: skip
    if began is not None and began in names:
        ax.axvline(names.index(began) - 0.5, color=style.PALETTE[1], linewidth=1.1,
                   linestyle=style.DASHED, label="drop probably began")  # fmt: skip
    step = max(-(-len(names) // _TICKS), 1)
    ax.set_xticks(x[::step], [style.plain(n, 14) for n in names[::step]])
    if max(len(n) for n in names) > 6:
        for tick in ax.get_xticklabels():
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
    ax.set_xlim(-0.7, len(names) - 0.3)
    legend = ax.legend(
        fontsize=style.SMALL, frameon=False, ncols=3, loc="lower center",
        bbox_to_anchor=(0.5, 1.02), columnspacing=1.2, handlelength=1.6,
    )  # fmt: skip
    rows = -(-len(legend.get_texts()) // 3)
    style.name_axes(ax, "", label, title, pad=14 + 1.5 * style.SMALL * rows)
    return ax
