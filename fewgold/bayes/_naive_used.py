"""Which ratings a naive table uses, and where it cuts the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import BoolArray, RNGLike, as_rng
from fewgold._validate import check_count
from fewgold.bayes._binary_table import ALL, BinaryTable
from fewgold.bayes._thresholds import choose_cut
from fewgold.cut import Cut
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


def ratings_used(
    table: BinaryTable, frame: pd.DataFrame, rated: int | str | None, rng: RNGLike
) -> BoolArray:
    """Which human ratings may be used."""
    if rated is None:
        return table.rated
    seen = np.zeros(table.labels.size, dtype=bool)
    if isinstance(rated, str):
        if rated not in frame.columns:
            raise UnknownNameError("column", rated, map(str, frame.columns))
        flags = frame[rated].to_numpy()
        bad = ~np.isin(flags, [0, 1])
        if bad.any():
            raise DataError(f"column {rated!r} must hold 0 and 1; got {flags[bad][0]!r}.")
        return np.asarray(flags.astype(bool) & table.rated)
    check_count("rated", rated)
    generator = as_rng(rng)
    for name in table.systems or [ALL]:
        rows = np.flatnonzero(table.of(name) & table.rated)
        if rows.size < rated:
            raise DataError(
                f"rated asks for {rated} ratings of each system, and {name} has {rows.size}."
            )
        seen[generator.choice(rows, rated, replace=False)] = True
    return seen


def cut_of(
    table: BinaryTable,
    metric: str,
    system: str,
    seen: BoolArray,
    rule: str,
    given: Cut | str | None,
) -> Cut:
    """The cut of a metric, chosen on the rated items of a system or of all."""
    if given is not None:
        return Cut.parse(given)
    rows = seen & ~np.isnan(table.scores[metric]) & table.of(system)
    if not rows.any():
        raise DataError(f"no rated item of {system} has a score of {metric!r}.")
    return choose_cut(table.labels[rows], table.scores[metric][rows], rule, table.signs[metric])


def check_whole(table: BinaryTable, metric: str, system: str) -> None:
    """The metric must have scored all items of the system."""
    gaps = int(np.isnan(table.scores[metric][table.of(system)]).sum())
    if gaps:
        raise DataError(
            f"{metric!r} has no score for {gaps} items of {system}, so it tells nothing about "
            "them: target='pool' needs scores of all items."
        )
