"""Checks of the frames, and what their budgets mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


def check_columns(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """All the columns, and at least one row."""
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        have = ", ".join(map(str, frame.columns)) or "none"
        raise DataError(f"the frame lacks the columns {', '.join(missing)}; it has {have}.")
    if frame.empty:
        raise DataError("the frame has no rows, so there is nothing to draw.")


def check_names(kind: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Every name is one of the known."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known)


def wide(frame: pd.DataFrame, value: str, by: str) -> pd.DataFrame:
    """One column a line, one row a budget; infinite values become gaps."""
    check_columns(frame, (by, "budget", value))
    twice = frame.duplicated([by, "budget"])
    if twice.any():
        name, budget = frame.loc[twice, [by, "budget"]].iloc[0]
        raise DataError(
            f"{by} {name!r} has several rows for the budget {budget}; expected one. "
            "Average over pools first."
        )
    table = frame.pivot(index="budget", columns=by, values=value).astype(float)
    return table.where(np.isfinite(table))[list(dict.fromkeys(frame[by]))]


def budget_axis(frame: pd.DataFrame, budgets: list[float]) -> tuple[FloatArray, str, bool]:
    """Where each budget lies on the x axis, the name of that axis, and whether it is in per cent.

    Shares and counts in one frame have the number of ratings in common, so that is used for them.
    """
    values = np.asarray(budgets, dtype=float)
    shares = values < 1 if np.any(values > 1) else values <= 1  # 1 among counts is a count
    if shares.all():
        return values, "share of the pool rated", True
    if not shares.any():
        return values, "ratings", False
    check_columns(frame, ["n"])
    counts = frame.groupby("budget")["n"].mean().reindex(budgets)
    return counts.to_numpy(dtype=float), "ratings", False
