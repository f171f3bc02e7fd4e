"""Tables of the page on a simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.simulation import _summary

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.simulation._simulation import Simulation


# Figures that tables show, in their order, and what they are called there.
_NAMES = {
    "abs_error": "error",
    "abs_error_sd": "sdev",
    "win": "win",
    "reduction": "reduction",
    "ess_ratio": "worth",
    "bias": "bias",
    "coverage": "covers",
    "half_width": "half-width",
    "slack": "slack",
}
_SHARES = ("win", "reduction", "coverage")


def table_of(title: str, frame: pd.DataFrame, caption: str, without: tuple[str, ...] = ()) -> Any:
    """Figures with their Monte-Carlo errors; what tells cells apart comes first."""
    figures = {name: shown for name, shown in _NAMES.items() if name not in without}
    facts = [c for c in ("strategy", "budget", "n", "cells") if c in frame and c not in without]
    return report.Table(
        title,
        frame[[*facts, *figures, *(f"{name}_mc" for name in figures)]],
        caption,
        formats=dict.fromkeys(_SHARES, "%") | {c: ".0f" for c in ("n", "cells") if c in facts},
        errors={name: f"{name}_mc" for name in figures},
        names=figures,
    )


def with_budget(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(budget=[_summary.shown(b) for b in frame["budget"]])


def reductions(simulation: Simulation) -> pd.DataFrame:
    import pandas as pd

    table = simulation.by_pool()
    wide = table.pivot(index="strategy", columns="pool", values="reduction")
    wide = wide.reindex(index=simulation.ranking()["strategy"], columns=simulation.pools)
    # A pool may be called "strategy", too.
    wide.columns = pd.Index([f"pool {p}" if p == "strategy" else p for p in simulation.pools])
    return wide.rename_axis("strategy").reset_index()


def bounds_table(simulation: Simulation) -> pd.DataFrame:
    frame = with_budget(simulation.by_bound())
    columns = {"coverage": "cal", "half_width": "t", "slack": "slack"}
    return frame[["strategy", "budget", "bound", *columns]].rename(columns=columns)
