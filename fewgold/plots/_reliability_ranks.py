"""How soon a ranking settles as documents are added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.plots._documents import column
from fewgold.plots._frames import check_columns
from fewgold.plots._labels import Labels
from fewgold.plots._lines import line_style
from fewgold.plots._style import SMALL, SOFT, axes_for, name_axes, percent_axis, settings

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def rank_stability(
    frame: pd.DataFrame, ax: Axes | None = None, *, title: str | None = None
) -> Axes:
    """How well rankings by the first documents agree with that by all of them.

    ``frame`` has score, documents, pairs (share of pairs of systems in the order of the full set,
    with resampling) and settled (without); a colour a score, ``settled`` dashed.
    """
    check_columns(frame, ("score", "documents", "pairs", "settled"))
    with settings():
        ax = axes_for(ax, height=4.0)
        labels = Labels(ax)
        scores = list(dict.fromkeys(map(str, frame["score"])))
        for k, score in enumerate(scores):
            part = frame[frame["score"].astype(str) == score].sort_values("documents")
            colour, _, marker = line_style(k)
            x = column(part, "documents")
            for name, dash, dots, said in (
                ("pairs", "-", marker, "resampled"),
                ("settled", (0, (4, 1.6)), "", "as they are"),
            ):
                y = column(part, name)
                (line,) = ax.plot(x, y, color=colour, linestyle=dash, marker=dots, markersize=3.6)
                line.set(label=f"{score}, {said}", gid=f"{name}-{k}", linewidth=1.4)
                if len(scores) == 1 or name == "pairs":
                    label = said if len(scores) == 1 else score
                    labels.add(label, float(x[-1]), float(y[-1]), colour)
        ax.axhline(0.5, color=SOFT, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1.8)
        ax.annotate(
            "coin toss", (0, 0.5), xycoords=("axes fraction", "data"), xytext=(5, -4),
            textcoords="offset points", va="top", fontsize=SMALL, color=SOFT,
        )  # fmt: skip
        if len(scores) > 1:
            _legend_styles(ax)
        seen = frame[["pairs", "settled"]].to_numpy(dtype=float)
        ax.set_ylim(min(0.45, float(np.nanmin(seen)) - 0.05), 1.02)
        percent_axis(ax.yaxis)
        name_axes(ax, "documents", "pairs of systems in the final order", title)
    return ax


def _legend_styles(ax: Axes) -> None:
    from matplotlib.lines import Line2D

    shown: dict[str, Any] = {"resampled": "-", "as they are": (0, (4, 1.6))}
    ax.legend(
        [Line2D([], [], color=SOFT, linestyle=dash, linewidth=1.4) for dash in shown.values()],
        list(shown), loc="lower right", bbox_to_anchor=(1, 0.12), frameon=False, fontsize=SMALL,
        labelcolor=SOFT,
    )  # fmt: skip
