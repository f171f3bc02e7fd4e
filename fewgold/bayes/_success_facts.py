"""What the rated rows say of a metric, and what they give reason to ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fewgold._arrays import BoolArray
from fewgold.bayes._binary_table import ALL, BinaryTable
from fewgold.bayes._coding import worse_than_chance

_SOME, _FEW = 10, 5  # rated items, before they give reason to ask


def facts_of(own: BoolArray, ours: Any) -> dict[str, Any]:
    """How many rows a system has, how many are rated, and their share of adequate ones."""
    share = float(ours.mean()) if ours.size else np.nan
    return {"items": int(own.sum()), "rated": int(ours.size), "human": share}


def cells_of(human: Any, labels: BoolArray, rows: BoolArray) -> dict[str, int]:
    """The 2 × 2 table of human and metric labels in some rows."""
    yes, said = human[rows] == 1, labels[rows]
    tables = {"tp": yes & said, "fn": yes & ~said, "fp": ~yes & said, "tn": ~yes & ~said}
    return {name: int(cell.sum()) for name, cell in tables.items()}


def hits_of(cells: Mapping[str, int]) -> dict[str, float]:
    """ρ and η as the 2 × 2 table has them; NaN where it has none."""
    yes, no = cells["tp"] + cells["fn"], cells["tn"] + cells["fp"]
    return {
        "rho": cells["tp"] / yes if yes else np.nan,
        "eta": cells["tn"] / no if no else np.nan,
    }


def doubts_about(name: str, cells: Mapping[str, int], metric: str) -> tuple[str, ...]:
    """What the 2 × 2 table gives reason to ask."""
    of = "" if name == ALL else f" of {name}"
    yes, no = cells["tp"] + cells["fn"], cells["tn"] + cells["fp"]
    said, denied = cells["tp"] + cells["fp"], cells["tn"] + cells["fn"]
    if yes + no >= _SOME and not (yes and no):
        what, other = ("adequate", "failures") if yes else ("inadequate", "passes")
        return (f"all {yes + no} rated items{of} are {what}: are {other} left empty?",)
    if yes + no >= _SOME and not (said and denied):
        return (
            f"{metric} says {int(denied == 0)} of all {yes + no} rated items{of}, so it tells "
            "nothing: is the threshold right?",
        )
    if min(yes, no) < _FEW or cells["tp"] / yes + cells["tn"] / no > 1:
        return ()
    return (worse_than_chance(metric + of, cells["tp"] / yes, cells["tn"] / no),)


def note_on_sharing(table: BinaryTable) -> tuple[str, ...]:
    """Said where the rated rows of all systems speak for each."""
    if len(table.systems) < 2:
        return ()
    return (
        "all systems share the errors of the metric as the rated rows show them; whether they do, "
        "fewgold roc tells",
    )
