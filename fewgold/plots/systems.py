"""What figures with a row a system share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fewgold.errors import DataError
from fewgold.plots.style import (
    INK,
    PALETTE,
    SMALL,
    SOFT,
    axes_for,
    check_columns,
    name_axes,
    settings,
    shorten,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

ROW = 0.3  # inches


def systems_axis(ax: Axes, names: list[str]) -> None:
    """Systems from top to bottom, named at the left."""
    ax.set_yticks(range(len(names)), [shorten(name, 30) for name in names])
    for tick in ax.get_yticklabels():
        tick.set(parse_math=False, color=INK, fontsize=SMALL)
    ax.tick_params(axis="y", length=0, pad=6)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(names) - 0.4, -0.6)


def between_groups(ax: Axes, frame: pd.DataFrame) -> None:
    """A line where every system above is better than every one below."""
    if "group" not in frame:
        return
    groups = frame["group"].to_numpy()
    for row in np.flatnonzero(np.diff(groups)):
        ax.axhline(row + 0.5, color=SOFT, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)


def decimals(values: np.ndarray) -> int:
    """Digits after the point that show a range of values to about three digits."""
    spread = float(np.ptp(values)) if values.size else 0.0
    return 2 if spread <= 0 else int(min(max(2 - np.floor(np.log10(spread)), 0), 6))


# Systems from best to worst, with their scores.


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
        ax = axes_for(ax, height=1.0 + ROW * len(names))
        ax.grid(False, axis="y")
        ends = np.stack([low, high])
        seen = np.isfinite(ends).all(0)
        ax.hlines(rows[seen], low[seen], high[seen], color=PALETTE[0], linewidth=1.8)
        ax.scatter(score, rows, s=30, color=PALETTE[0], zorder=3)
        between_groups(ax, frame)
        digits = decimals(np.concatenate([score, ends[:, seen].ravel()]))
        for row in rows:
            interval = (
                f"  [{low[row]:.{digits}f}, {high[row]:.{digits}f}]" if seen[row] else "  [unknown]"
            )
            ax.annotate(
                (f"{score[row]:.{digits}f}" + interval).replace("-", "−"),
                (1.02, row), xycoords=("axes fraction", "data"), va="center", fontsize=SMALL,
                color=INK, annotation_clip=False,
            )  # fmt: skip
        systems_axis(ax, names)
        name_axes(ax, f"{label}, {100 * confidence:.10g}% intervals", "", title)
    return ax


# Systems from best to worst, with the ranks that they may have.


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

        ax = axes_for(ax, height=1.15 + ROW * size)
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
        between_groups(ax, frame)
        systems_axis(ax, names)
        ax.set_xlim(0.45, size + 0.55)
        ax.set_xticks(range(1, size + 1))
        shade = "; shade: its probability" if chances is not None else ""
        sure = f"frames: {100 * confidence:.10g}% confidence, all at once"
        name_axes(ax, f"rank ({sure}{shade})", "", title)
    return ax


# Which systems differ, as a matrix of coloured cells.


_CELL = 0.62  # inches


def significance_matrix(
    probability: pd.DataFrame,
    reached: ArrayLike,
    ax: Axes | None = None,
    *,
    levels: Sequence[float],
    means: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    said: str = "P(row better)",
    note: str = "",
    title: str | None = None,
) -> Axes:
    """A cell a pair: P(row better than column), coloured where the two differ.

    Parameters
    ----------
    probability : DataFrame
        P(row > column), systems as rows and columns.
    reached : array (k, k)
        How many of the levels each pair reaches; 0 stays white, more is darker. Blue where the
        row is better, orange where the column is.
    levels : sequence of float
        In descending order.
    means : array (k,), optional
        Estimates of the systems, shown with their names.
    cells, said : array (k, k) of str, optional, and str
        What to write into the cells instead of the probability, and what to call it.
    """
    check_columns(probability, ())
    table = probability.to_numpy(dtype=float)
    depth = np.asarray(reached)
    if table.shape[0] != table.shape[1] or depth.shape != table.shape:
        raise DataError(
            f"expected a square matrix and as many marks; got {table.shape} and {depth.shape}."
        )
    size = len(table)
    with settings():
        from matplotlib.colors import to_rgba
        from matplotlib.patches import Patch

        ax = axes_for(ax, height=1.3 + _CELL * 0.62 * size)
        ax.grid(False)
        strength = np.linspace(0.22, 0.9, len(levels)) if len(levels) > 1 else np.array([0.6])
        image = np.ones((size, size, 4))
        for i, j in zip(*np.nonzero(depth), strict=True):
            colour = PALETTE[0 if table[i, j] > 0.5 else 1]
            share = strength[depth[i, j] - 1]
            image[i, j] = share * np.array(to_rgba(colour)) + (1 - share)
        image[np.arange(size), np.arange(size)] = to_rgba("#f1f3f5")
        ax.imshow(image, aspect="auto", interpolation="nearest")
        small = SMALL if size <= 10 else max(SMALL - 0.35 * (size - 10), 4.5)
        for i in range(size):
            for j in range(size):
                if i != j:
                    dark = depth[i, j] and strength[depth[i, j] - 1] > 0.7
                    text = _chance(table[i, j]) if cells is None else str(np.asarray(cells)[i, j])
                    ax.text(
                        j, i, text, ha="center", va="center", fontsize=small,
                        color="white" if dark else INK if depth[i, j] else SOFT,
                    )  # fmt: skip
        names = [str(name) for name in probability.columns]
        heads = [shorten(n, 28) for n in names]
        if means is not None:
            values = np.asarray(means, dtype=float)
            heads = [f"{h}  {m:.2f}" for h, m in zip(heads, values, strict=True)]
        wide = size > 5 or max(map(len, names)) > 10
        ax.set_yticks(range(size), heads)
        ax.set_xticks(
            range(size), [shorten(n, 20) for n in names], rotation=40 if wide else 0,
            ha="left" if wide else "center", rotation_mode="anchor",
        )  # fmt: skip
        ax.xaxis.tick_top()
        ax.tick_params(length=0, pad=5)
        for tick in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            tick.set(parse_math=False, color=INK, fontsize=SMALL)
        ax.set_xticks(np.arange(size + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(size + 1) - 0.5, minor=True)
        ax.tick_params(which="minor", length=0)
        ax.grid(True, which="minor", color="white", linewidth=1.5)
        ax.set_axisbelow(False)
        for spine in ax.spines.values():
            spine.set_visible(False)
        keys = [
            Patch(facecolor=(*to_rgba(PALETTE[0])[:3], share), label=f"{level:g}")
            for level, share in zip(levels, strength, strict=True)
        ]
        keys += [Patch(facecolor=PALETTE[1], label="the column is better")]
        legend = ax.legend(
            handles=keys, loc="upper left", bbox_to_anchor=(0, -0.02), ncols=len(keys),
            frameon=False, fontsize=SMALL - 1, labelcolor=SOFT, handlelength=1.1,
            title=", ".join([f"{said}; the two differ at level", *([note] if note else [])]),
            title_fontsize=SMALL - 1, alignment="left", borderaxespad=0.2, columnspacing=1.4,
        )  # fmt: skip
        legend.get_title().set_color(SOFT)
        name_axes(ax, "", "", title)
    return ax


def _chance(value: float) -> str:
    """Three digits, and no 1 or 0 for what is only near."""
    if value >= 0.9995:
        return "> .999"
    return "< .001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
