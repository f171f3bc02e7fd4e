"""Systems or strategies from best to worst, one per row, named at the left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.checks import as_names
from fewgold.common.text import shorter
from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.3  # inches
_EDGE = -1.0  # a reduction of −100 %: twice the error of the baseline


@style.styled
def forest(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "score",
    confidence: float = 0.95,
    title: str | None = None,
) -> Axes:
    """Scores as dots with intervals, the first row on top, numbers at the right.

    ``frame`` has system, score, low and high; with a column ``group``, lines separate groups of
    systems that can be told apart.
    """
    style.check_columns(frame, ("system", "score", "low", "high"))
    names = [str(name) for name in frame["system"]]
    score, low, high = style.numbers(frame, "score", "low", "high")
    rows = np.arange(len(names))
    ax = style.axes_for(ax, height=1.0 + _ROW * len(names))
    ax.grid(False, axis="y")
    ends = np.stack([low, high])
    seen = np.isfinite(low) & np.isfinite(high)
    ax.hlines(rows[seen], low[seen], high[seen], color=style.PALETTE[0], linewidth=1.8)
    ax.scatter(score, rows, s=30, color=style.PALETTE[0], zorder=3)
    _between_groups(ax, frame)
    # Decimals that show the range of the values to about three digits.
    spread = float(np.ptp(np.concatenate([score, ends[:, seen].ravel()])))
    digits = 2 if spread <= 0 else int(min(max(2 - np.floor(np.log10(spread)), 0), 6))
    for row in rows:
        interval = (
            f"  [{low[row]:.{digits}f}, {high[row]:.{digits}f}]" if seen[row] else "  [unknown]"
        )
        ax.annotate(
            (f"{score[row]:.{digits}f}" + interval).replace("-", "−"),
            (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=style.SMALL,
            color=style.INK, annotation_clip=False,
        )  # fmt: skip
    style.name_rows(ax, names)
    style.name_axes(ax, f"{label}, {100 * confidence:.10g}% intervals", "", title)
    return ax


@style.styled
def corrected_forest(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    label: str = "success rate",
    confidence: float = 0.95,
    title: str | None = None,
) -> Axes:
    """`forest`, with a ring where the metric or judge alone would put each row (``naive``)."""
    ax = forest(frame, ax, label=label, confidence=confidence, title=title)
    if "naive" in frame and frame["naive"].notna().any():
        (naive,) = style.numbers(frame, "naive")
        look: Any = {"facecolors": "none", "edgecolors": style.PALETTE[1], "linewidths": 1.4}
        rings = ax.scatter(naive, np.arange(len(frame)), s=36, zorder=4, **look)
        style.legend(
            ax, {"corrected": ax.collections[1], "at face value": rings}, "lower right",
            bbox_to_anchor=(1.0, 1.0), ncols=2, borderaxespad=0.2,
        )  # fmt: skip
    return ax


def _between_groups(ax: Axes, frame: pd.DataFrame) -> None:
    """Draw a line if every system above it is better than every one below."""
    if "group" not in frame:
        return
    groups = frame["group"].to_numpy()
    for row in np.flatnonzero(np.diff(groups)):
        ax.axhline(row + 0.5, color=style.SOFT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)


@style.styled
def rank_intervals(
    frame: pd.DataFrame,
    chances: pd.DataFrame | None = None,
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    title: str | None = None,
) -> Axes:
    """Possible ranks of each system as a bar, with their probabilities as shades and numbers.

    ``frame`` has system, rank_low and rank_high; ``chances`` has systems as rows and ranks as
    columns.
    """
    style.check_columns(frame, ("system", "rank_low", "rank_high"))
    names = [str(name) for name in frame["system"]]
    size = len(names)
    from matplotlib.patches import FancyBboxPatch, Rectangle

    ax = style.axes_for(ax, height=1.15 + _ROW * size)
    ax.grid(False)
    if chances is not None:
        table = chances.to_numpy(dtype=float)
        small = style.SMALL if size <= 12 else max(style.SMALL - 0.3 * (size - 12), 4.5)
        for row in range(size):
            for k in range(size):
                share = table[row, k]
                if share < 0.0005:
                    continue
                ax.add_patch(
                    Rectangle((k + 0.5, row - 0.42), 1, 0.84, color=style.PALETTE[0], linewidth=0,
                              alpha=0.06 + 0.6 * share)  # light enough for the text on it
                )  # fmt: skip
                if share >= 0.005:
                    ax.text(
                        k + 1, row, f"{share:.2f}".removeprefix("0"), ha="center", va="center",
                        fontsize=small, color=style.INK,
                    )  # fmt: skip
    for row, (low, high) in enumerate(zip(frame["rank_low"], frame["rank_high"], strict=True)):
        ax.add_patch(
            FancyBboxPatch(
                (float(low) - 0.46, row - 0.38), float(high) - float(low) + 0.92, 0.76,
                boxstyle="round,pad=0,rounding_size=0.14", facecolor="none",
                edgecolor=style.INK, linewidth=1.1, zorder=3,
            )
        )  # fmt: skip
    _between_groups(ax, frame)
    style.name_rows(ax, names)
    ax.set_xlim(0.45, size + 0.55)
    ax.set_xticks(range(1, size + 1))
    shade = "; shade: its probability" if chances is not None else ""
    sure = f"frames: {100 * confidence:.10g}% confidence, jointly"
    style.name_axes(ax, f"rank ({sure}{shade})", "", title)
    return ax


@style.styled
def ranking(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    baseline: str | None = None,
    highlight: Sequence[str] | None = None,
    title: str | None = None,
) -> Axes:
    """Error reduction of each strategy as a dot with whiskers of two Monte-Carlo errors.

    ``frame`` has strategy, reduction, reduction_mc and, for the small text at the right, win. Its
    first row is on top. Dots are filled if the whiskers exclude zero, the error of the baseline.
    ``highlight`` sets names in bold. Errors of more than twice the baseline's are shown at the
    edge, with their value, so that the others stay distinguishable.
    """
    style.check_columns(frame, ("strategy", "reduction", "reduction_mc"))
    names = [str(name) for name in frame["strategy"]]
    highlight = as_names(highlight or ())
    style.check_names("strategy", [*highlight, *([baseline] if baseline else [])], names)
    value, error = style.numbers(frame, "reduction", "reduction_mc")
    half = 2 * np.nan_to_num(error)
    rows = np.arange(len(names))
    sure = (np.abs(value) > half) & ~np.isnan(error)
    far = value < _EDGE
    ax = style.axes_for(ax, height=1.1 + 0.245 * len(names))
    ax.grid(False, axis="y")
    ax.axvline(0, color=style.INK, linewidth=1, zorder=1.5)
    better, worse = sure & (value > 0), sure & (value < 0) & ~far
    for at, colour in (
        (better, style.PALETTE[0]),
        (worse, style.PALETTE[1]),
        (~sure & np.isfinite(value) & ~far, style.SOFT),
    ):
        low = np.maximum(value - half, _EDGE)
        ax.hlines(rows[at], low[at], (value + half)[at], color=colour, linewidth=1.5)
        face = "white" if colour == style.SOFT else colour
        ax.scatter(value[at], rows[at], s=26, color=face, edgecolor=colour, zorder=3)
    if far.any():  # arrows at the left edge for values beyond it
        edge = np.full(far.sum(), _EDGE)
        ax.scatter(edge, rows[far], s=30, color=style.PALETTE[1], marker="<", zorder=3)
    for row in rows[far]:
        ax.annotate(
            f"{100 * value[row]:.0f}%".replace("-", "−"), (_EDGE, row), (8, 0), va="center",
            textcoords="offset points", fontsize=style.SMALL, color=style.PALETTE[1],
        )  # fmt: skip
    style.name_rows(ax, names, 42, bold=highlight)
    for row in rows[rows % 2 == 1]:
        ax.axhspan(row - 0.5, row + 0.5, color=style.GREY, alpha=0.13, linewidth=0, zorder=0)
    if "win" in frame:
        texts = ["–" if np.isnan(w) else f"{w:.0%}" for w in frame["win"].to_numpy(dtype=float)]
        for row, text in zip([-1, *rows], ["wins", *texts], strict=True):
            ax.text(
                1.075, row, text, transform=ax.get_yaxis_transform(), ha="right", va="center",
                fontsize=style.SMALL, color=style.SOFT,
            )  # fmt: skip
    style.percent_axis(ax.xaxis)
    zero = f" (0 is {shorter(baseline, 34)})" if baseline else ""
    style.name_axes(ax, f"error reduction{zero}, ± 2 Monte-Carlo errors", "", title)
    return ax
