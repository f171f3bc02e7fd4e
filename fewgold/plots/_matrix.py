"""Which systems differ, as a matrix of coloured cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fewgold.errors import DataError
from fewgold.plots._frames import check_columns
from fewgold.plots._style import INK, PALETTE, SMALL, SOFT, axes_for, name_axes, settings, shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

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
