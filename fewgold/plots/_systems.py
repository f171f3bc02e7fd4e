"""What figures with a row a system share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold.plots._style import INK, SMALL, SOFT, shorten

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
