"""Matrices of coloured cells: numbers by two sizes, and which systems differ."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fewgold.common.arrays import BoolArray, FloatArray
from fewgold.common.text import shorter
from fewgold.errors import DataError
from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# From small (good) to large: light to the blue of the palette, so that figures also work in grey.
_RAMP = ("#f4f8fb", "#cfe2ef", "#93bfdb", "#4a93c0", "#0b5f94", "#063a5c")
_CELL = 0.33  # inches of height
_LETTERS = 8  # per inch of width, for the heads of all columns together
_MIDDLE = 0.19  # luminance at which white and ink are equally readable


@style.styled
def heat(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    fmt: str = ".3f",
    target: float | None = None,
    log: bool = True,
    xlabel: str | None = None,
    ylabel: str | None = None,
    title: str | None = None,
) -> Axes:
    """A heat map of a dataframe: one cell per number, darker for larger ones.

    Parameters
    ----------
    frame : DataFrame
        Numbers by two sizes, such as from `fewgold.planning.difference_table`. Cells that are not
        finite stay white.
    ax : Axes, optional
        Where to draw; without it, on a new figure.
    fmt : str
        How numbers are written.
    target : float, optional
        Cells of at most this value are framed together: studies that are large enough.
    log : bool
        Shade by the logarithm, so that small numbers also differ.
    xlabel, ylabel : str, optional
        Names of the axes; those of the frame's columns and index by default.
    """
    if frame.empty or frame.ndim != 2:
        raise DataError("the dataframe has no cells, so there is nothing to draw.")
    try:
        values = frame.to_numpy(dtype=float)
    except (TypeError, ValueError):
        raise DataError(
            "a heat map needs a dataframe of numbers; this one has other values."
        ) from None
    finite = np.isfinite(values)
    if not finite.any():
        raise DataError("no cell of the dataframe has a finite number.")
    if log and values[finite].min() <= 0:
        raise DataError(
            f"log=True needs numbers above 0; got {values[finite].min():g}. Use log=False."
        )
    rows, columns = values.shape
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    ax = style.axes_for(ax, height=1.0 + _CELL * rows)
    ax.grid(False)
    low, high = float(values[finite].min()), float(values[finite].max())
    high = high if high > low else low + 1e-9 + abs(low)
    norm = LogNorm(low, high) if log else Normalize(low, high)
    ramp = LinearSegmentedColormap.from_list("fewgold", _RAMP)
    shades = norm(np.where(finite, values, low))
    image = ramp(np.asarray(shades))
    image[~finite] = 1.0
    _colour_cells(ax, image)
    for (i, j), value in np.ndenumerate(values):
        text = format(value, fmt) if finite[i, j] else "–"
        colour = "white" if _luminance(image[i, j]) < _MIDDLE else style.INK
        ax.text(j, i, text, ha="center", va="center", fontsize=style.SMALL, color=colour)
    heads = [_label(x) for x in frame.columns]
    ax.set_xticks(range(columns), heads)
    ax.set_yticks(range(rows), [_label(x) for x in frame.index])
    ax.tick_params(length=0, pad=4, labelcolor=style.INK)
    if max(map(len, heads)) * columns > _LETTERS * style.figure_of(ax).get_figwidth():
        for tick in ax.get_xticklabels():
            tick.set(rotation=30, ha="right", rotation_mode="anchor")
    style.part_cells(ax, rows, columns, linewidth=1.2)
    if target is not None:
        _frame_cells(ax, finite & (values <= target))
        ax.annotate(
            f"framed: at most {target:g}", (1, 1), (0, 4), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="bottom", fontsize=style.SMALL,
            color=style.SOFT,
        )  # fmt: skip
    own: dict[Any, str] = {
        None: "",
        "human": "human ratings",
        "metric": "metric-only ratings",
    }
    x, y = (str(own.get(name, name)) for name in (frame.columns.name, frame.index.name))
    style.name_axes(ax, x if xlabel is None else xlabel, y if ylabel is None else ylabel, title)
    return ax


def _frame_cells(ax: Axes, inside: BoolArray) -> None:
    """Draw a line around the marked cells, on every edge between marked and unmarked."""
    padded = np.pad(inside, 1)
    look: dict[str, Any] = {
        "color": style.PALETTE[1],
        "linewidth": 2.0,
        "clip_on": False,
        "zorder": 4,
    }
    look["solid_capstyle"] = "round"
    for i, j in np.argwhere(padded[:, 1:] != padded[:, :-1]):
        ax.plot([j - 0.5, j - 0.5], [i - 1.5, i - 0.5], **look)
    for i, j in np.argwhere(padded[1:, :] != padded[:-1, :]):
        ax.plot([j - 1.5, j - 0.5], [i - 0.5, i - 0.5], **look)


def _colour_cells(ax: Axes, colours: FloatArray) -> None:
    """Draw cells (rows, columns, RGBA) from the top down, as shapes.

    An image would become a bitmap in the SVG, which the security policy of our pages blocks.
    """
    rows, columns = colours.shape[:2]
    ax.pcolormesh(np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5, colours)
    ax.set(xlim=(-0.5, columns - 0.5), ylim=(rows - 0.5, -0.5))


def _luminance(colour: FloatArray) -> float:
    """Relative luminance (WCAG) of red, green and blue from 0 to 1."""
    rgb = np.asarray(colour[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _label(value: object) -> str:
    """Whole numbers with thousands separators."""
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else style.plain(str(value), 24)


@style.styled
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
    """One cell per pair: P(row better than column), coloured if the two differ.

    Parameters
    ----------
    probability : DataFrame
        P(row > column), systems as rows and columns.
    reached : array (k, k)
        How many of the levels each pair reaches; 0 stays white, more is darker. Blue if the row is
        better, orange if the column is.
    levels : sequence of float
        In descending order.
    means : array (k,), optional
        Estimates of the systems, shown with their names.
    cells, said : array (k, k) of str, optional, and str
        Text for the cells instead of the probability, and its name.
    """
    style.check_columns(probability, ())
    table = probability.to_numpy(dtype=float)
    depth = np.asarray(reached)
    if table.shape[0] != table.shape[1] or depth.shape != table.shape:
        raise DataError(
            f"expected a square matrix and as many marks; got {table.shape} and {depth.shape}."
        )
    size = len(table)
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    # Many systems need a wider figure, so that the numbers of neighbouring cells stay apart.
    ax = style.axes_for(ax, 1.3 + 0.62 * 0.62 * size, max(style.WIDTH, 2.8 + 0.55 * size))
    ax.grid(False)
    strength = np.linspace(0.22, 0.9, len(levels)) if len(levels) > 1 else np.array([0.6])
    image = np.ones((size, size, 4))
    for i, j in zip(*np.nonzero(depth), strict=True):
        colour = style.PALETTE[0 if table[i, j] > 0.5 else 1]
        share = strength[depth[i, j] - 1]
        image[i, j] = share * np.array(to_rgba(colour)) + (1 - share)
    image[np.arange(size), np.arange(size)] = to_rgba("#f1f3f5")
    _colour_cells(ax, image)
    small = style.SMALL if size <= 10 else max(style.SMALL - 0.35 * (size - 10), 4.5)
    for i in range(size):
        for j in range(size):
            if i != j:
                dark = depth[i, j] and strength[depth[i, j] - 1] > 0.7
                text = _chance(table[i, j]) if cells is None else str(np.asarray(cells)[i, j])
                ax.text(
                    j, i, text, ha="center", va="center", fontsize=small,
                    color="white" if dark else style.INK if depth[i, j] else style.SOFT,
                )  # fmt: skip
    names = [str(name) for name in probability.columns]
    heads = [shorter(n, 28) for n in names]
    if means is not None:
        values = np.asarray(means, dtype=float)
        heads = [f"{h}  {m:.2f}" for h, m in zip(heads, values, strict=True)]
    wide = size > 5 or max(map(len, names)) > 10
    ax.set_yticks(range(size), heads)
    ax.set_xticks(
        range(size), [shorter(n, 20) for n in names], rotation=40 if wide else 0,
        ha="left" if wide else "center", rotation_mode="anchor",
    )  # fmt: skip
    ax.xaxis.tick_top()
    ax.tick_params(length=0, pad=5)
    for tick in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        tick.set(parse_math=False, color=style.INK, fontsize=style.SMALL)
    style.part_cells(ax, size, size, linewidth=1.5)
    keys = [
        Patch(facecolor=(*to_rgba(style.PALETTE[0])[:3], share), label=f"{level:g}")
        for level, share in zip(levels, strength, strict=True)
    ]
    keys += [Patch(facecolor=style.PALETTE[1], label="the column is better")]
    legend = ax.legend(
        handles=keys, loc="upper left", bbox_to_anchor=(0, -0.02), ncols=len(keys),
        frameon=False, fontsize=style.SMALL - 1, labelcolor=style.SOFT, handlelength=1.1,
        title=", ".join([f"{said}; the two differ at level", *([note] if note else [])]),
        title_fontsize=style.SMALL - 1, alignment="left", borderaxespad=0.2, columnspacing=1.4,
    )  # fmt: skip
    legend.get_title().set_color(style.SOFT)
    style.name_axes(ax, "", "", title)
    return ax


def _chance(value: float) -> str:
    """Three digits, without rounding to 0 or 1."""
    if value >= 0.9995:
        return "> .999"
    return "< .001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
