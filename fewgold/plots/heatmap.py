"""A table of numbers as a heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import BoolArray, FloatArray
from fewgold.errors import DataError
from fewgold.plots.style import INK, PALETTE, SMALL, SOFT, axes_for, name_axes, settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

# From little (good) to much: light to the blue of the palette, so that figures print in grey too.
_RAMP = ("#f4f8fb", "#cfe2ef", "#93bfdb", "#4a93c0", "#0b5f94", "#063a5c")
_CELL = 0.33  # inches of height
_MIDDLE = 0.19  # luminance at which white and ink are equally readable


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
    """A cell for each number of a frame, darker for larger ones, with the number in it.

    Parameters
    ----------
    frame : DataFrame
        Numbers over two sizes, such as `fewgold.planning.difference_table` gives. Cells that are
        not finite stay white.
    ax : Axes, optional
        Where to draw; without it, on a new figure.
    fmt : str
        How numbers are written.
    target : float, optional
        Cells of at most this much are framed together: where a study is large enough.
    log : bool
        Shade by the logarithm, so that small numbers differ too.
    xlabel, ylabel : str, optional
        Names of the axes; those of the frame's columns and index by default.
    """
    if frame.empty or frame.ndim != 2:
        raise DataError("the frame has no cells, so there is nothing to draw.")
    try:
        values = frame.to_numpy(dtype=float)
    except (TypeError, ValueError):
        raise DataError("a heat map needs a frame of numbers; this one holds others.") from None
    finite = np.isfinite(values)
    if not finite.any():
        raise DataError("no cell of the frame has a finite number.")
    if log and values[finite].min() <= 0:
        raise DataError(
            f"log=True needs numbers above 0; got {values[finite].min():g}. Say log=False."
        )
    rows, columns = values.shape
    with settings():
        from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

        ax = axes_for(ax, height=1.0 + _CELL * rows)
        ax.grid(False)
        low, high = float(values[finite].min()), float(values[finite].max())
        high = high if high > low else low + 1e-9 + abs(low)
        norm = LogNorm(low, high) if log else Normalize(low, high)
        ramp = LinearSegmentedColormap.from_list("fewgold", _RAMP)
        shades = norm(np.where(finite, values, low))
        image = ramp(np.asarray(shades))
        image[~finite] = 1.0
        ax.imshow(image, aspect="auto", interpolation="nearest")
        for (i, j), value in np.ndenumerate(values):
            text = format(value, fmt) if finite[i, j] else "–"
            colour = "white" if _luminance(image[i, j]) < _MIDDLE else INK
            ax.text(j, i, text, ha="center", va="center", fontsize=SMALL, color=colour)
        ax.set_xticks(range(columns), [_label(x) for x in frame.columns])
        ax.set_yticks(range(rows), [_label(x) for x in frame.index])
        ax.tick_params(length=0, pad=4, labelcolor=INK)
        ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
        ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
        ax.tick_params(which="minor", length=0)
        ax.grid(True, which="minor", color="white", linewidth=1.2)
        ax.set_axisbelow(False)
        for spine in ax.spines.values():
            spine.set_visible(False)
        if target is not None:
            _frame_cells(ax, finite & (values <= target))
            ax.annotate(
                f"framed: at most {target:g}", (1, 1), (0, 4), xycoords="axes fraction",
                textcoords="offset points", ha="right", va="bottom", fontsize=SMALL, color=SOFT,
            )  # fmt: skip
        name_axes(ax, _name(xlabel, frame.columns.name), _name(ylabel, frame.index.name), title)
    return ax


def _frame_cells(ax: Axes, inside: BoolArray) -> None:
    """A line around the cells that are marked: on every edge between marked and unmarked."""
    padded = np.pad(inside, 1)
    style: dict[str, Any] = {"color": PALETTE[1], "linewidth": 2.0, "clip_on": False, "zorder": 4}
    style["solid_capstyle"] = "round"
    for i, j in np.argwhere(padded[:, 1:] != padded[:, :-1]):
        ax.plot([j - 0.5, j - 0.5], [i - 1.5, i - 0.5], **style)
    for i, j in np.argwhere(padded[1:, :] != padded[:-1, :]):
        ax.plot([j - 1.5, j - 0.5], [i - 0.5, i - 0.5], **style)


def _luminance(colour: FloatArray) -> float:
    """Relative luminance (WCAG) of red, green and blue from 0 to 1."""
    rgb = np.asarray(colour[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ np.array([0.2126, 0.7152, 0.0722]))


def _label(value: object) -> str:
    """Whole numbers with thousands apart."""
    if isinstance(value, int | np.integer):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _name(given: str | None, own: object) -> str:
    names = {"human": "human ratings", "metric": "ratings by the metric alone"}
    if given is not None:
        return given
    return "" if own is None else names.get(str(own), str(own))
