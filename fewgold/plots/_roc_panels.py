"""ROC curves: a panel a metric, a curve a system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold.errors import FewgoldError
from fewgold.plots._frames import check_columns
from fewgold.plots._roc import PANEL, roc_curves
from fewgold.plots._style import LARGE, NORMAL, settings, shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


def roc_panels(
    frame: pd.DataFrame,
    points: pd.DataFrame | None = None,
    *,
    across: int | None = None,
    title: str | None = None,
) -> Figure:
    """A panel for each metric, of `roc_curves`, in one figure.

    ``frame`` and ``points`` are as there, with a column ``metric``; the metrics come in the order
    of their rows, ``across`` of them side by side (by default up to 3).
    """
    check_columns(frame, ("metric", "system", "fpr", "tpr", "auc"))
    metrics = list(dict.fromkeys(frame["metric"]))
    systems = list(dict.fromkeys(frame["system"]))
    if across is None:
        across = 2 if len(metrics) in (2, 4) else min(3, len(metrics))
    if across < 1:
        raise FewgoldError(f"across must be 1 or more panels; got {across!r}.")
    down = -(-len(metrics) // across)
    with settings():
        from matplotlib.figure import Figure

        size = across * PANEL + 0.25, down * (PANEL + 0.2) + (0.4 if title else 0.1)
        figure = Figure(figsize=size, dpi=100, layout="constrained")
        for k, metric in enumerate(metrics):
            ax = figure.add_subplot(down, across, k + 1)
            marked = None if points is None else points[points["metric"] == metric]
            if marked is not None and marked.empty:
                marked = None
            roc_curves(
                frame[frame["metric"] == metric], marked, ax, systems=systems,
                title=shorten(str(metric)),
            )  # fmt: skip
            ax.title.set_fontsize(NORMAL + 0.5)
            if k % across:
                ax.set_ylabel("")
            if k + across < len(metrics):
                ax.set_xlabel("")
        if title:
            figure.suptitle(title, x=0.01, ha="left", fontsize=LARGE, fontweight="bold")
    return figure
