"""Systems from best to worst, with the ranks that they may have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold.plots._frames import check_columns
from fewgold.plots._style import INK, PALETTE, SMALL, axes_for, name_axes, settings
from fewgold.plots._systems import ROW, between_groups, systems_axis

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


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
