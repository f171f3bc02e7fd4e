"""Systems from best to worst: their scores, and the ranks that they may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots._frames import check_columns
from fewgold.plots._style import (
    INK,
    PALETTE,
    SMALL,
    SOFT,
    axes_for,
    name_axes,
    settings,
    shorten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.3  # inches


def forest(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    confidence: float = 0.95,
    title: str | None = None,
) -> Axes:
    """Scores as dots with intervals, the first row on top, figures at the right.

    ``frame`` has system, score, low and high; with a column ``group`` a line parts the groups of
    systems that can be told apart.
    """
    check_columns(frame, ("system", "score", "low", "high"))
    names = [str(name) for name in frame["system"]]
    score, low, high = (frame[c].to_numpy(dtype=float) for c in ("score", "low", "high"))
    rows = np.arange(len(names))
    with settings():
        ax = axes_for(ax, height=1.0 + _ROW * len(names))
        ax.grid(False, axis="y")
        ends = np.stack([low, high])
        seen = np.isfinite(ends).all(0)
        ax.hlines(rows[seen], low[seen], high[seen], color=PALETTE[0], linewidth=1.8)
        ax.scatter(score, rows, s=30, color=PALETTE[0], zorder=3)
        _between_groups(ax, frame)
        digits = _digits(np.concatenate([score, ends[:, seen].ravel()]))
        for row in rows:
            interval = (
                f"  [{low[row]:.{digits}f}, {high[row]:.{digits}f}]" if seen[row] else "  [unknown]"
            )
            ax.annotate(
                (f"{score[row]:.{digits}f}" + interval).replace("-", "−"),
                (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL,
                color=INK, annotation_clip=False,
            )  # fmt: skip
        _systems_axis(ax, names)
        name_axes(ax, f"{label}, {100 * confidence:.10g}% intervals", "", title)
    return ax


def rank_intervals(
    frame: pd.DataFrame,
    chances: pd.DataFrame | None = None,
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    title: str | None = None,
) -> Axes:
    """The ranks that each system may have as a bar, how probable each is as a shade and a figure.

    ``frame`` has system, rank_low and rank_high; ``chances`` systems as rows and ranks as columns.
    """
    check_columns(frame, ("system", "rank_low", "rank_high"))
    names = [str(name) for name in frame["system"]]
    size = len(names)
    with settings():
        from matplotlib.patches import FancyBboxPatch, Rectangle

        ax = axes_for(ax, height=1.15 + _ROW * size)
        ax.grid(False)
        if chances is not None:
            table = chances.to_numpy(dtype=float)
            small = SMALL if size <= 12 else max(SMALL - 0.3 * (size - 12), 4.5)
            for row in range(size):
                for k in range(size):
                    share = table[row, k]
                    if share < 0.0005:
                        continue
                    ax.add_patch(
                        Rectangle((k + 0.5, row - 0.42), 1, 0.84, color=PALETTE[0], linewidth=0,
                                  alpha=0.06 + 0.8 * share)
                    )  # fmt: skip
                    if share >= 0.005:
                        ax.text(
                            k + 1, row, f"{share:.2f}".removeprefix("0"), ha="center", va="center",
                            fontsize=small, color="white" if share > 0.6 else INK,
                        )  # fmt: skip
        for row, (low, high) in enumerate(zip(frame["rank_low"], frame["rank_high"], strict=True)):
            ax.add_patch(
                FancyBboxPatch(
                    (float(low) - 0.46, row - 0.38), float(high) - float(low) + 0.92, 0.76,
                    boxstyle="round,pad=0,rounding_size=0.14", facecolor="none",
                    edgecolor=INK, linewidth=1.1, zorder=3,
                )
            )  # fmt: skip
        _between_groups(ax, frame)
        _systems_axis(ax, names)
        ax.set_xlim(0.45, size + 0.55)
        ax.set_xticks(range(1, size + 1))
        shade = "; shade: its probability" if chances is not None else ""
        sure = f"frames: {100 * confidence:.10g}% confidence, all at once"
        name_axes(ax, f"rank ({sure}{shade})", "", title)
    return ax


def _systems_axis(ax: Axes, names: list[str]) -> None:
    ax.set_yticks(range(len(names)), [shorten(name, 30) for name in names])
    for tick in ax.get_yticklabels():
        tick.set(parse_math=False, color=INK, fontsize=SMALL)
    ax.tick_params(axis="y", length=0, pad=6)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(names) - 0.4, -0.6)


def _between_groups(ax: Axes, frame: pd.DataFrame) -> None:
    """A line where every system above is better than every one below."""
    if "group" not in frame:
        return
    groups = frame["group"].to_numpy()
    for row in np.flatnonzero(np.diff(groups)):
        ax.axhline(row + 0.5, color=SOFT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)


def _digits(values: np.ndarray) -> int:
    """Digits after the point that show a range of values to about three digits."""
    spread = float(np.ptp(values)) if values.size else 0.0
    return 2 if spread <= 0 else int(min(max(2 - np.floor(np.log10(spread)), 0), 6))
