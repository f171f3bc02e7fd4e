"""Fully rated pools from a table, one for each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import tables
from fewgold._validate import as_names
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool
from fewgold.roles import MOST_GAPS
from fewgold.simulation._studies import Study, study_of

if TYPE_CHECKING:
    import pandas as pd


def studies_from_table(
    table: pd.DataFrame,
    *,
    human: str | Sequence[str],
    by: Iterable[str] = (),
    rated_only: bool = False,
    **columns: Any,
) -> tuple[dict[str, Study], list[str]]:
    """Studies from a table in which people rated every segment, and notes on what was left out.

    Parameters
    ----------
    table
        One row a segment, or a segment and system, or a segment, system and rater.
    human
        The column with the human scores; of several, one for each rater, the mean is taken.
    by
        Columns whose values part the table into studies, such as the system and the rater.
    rated_only
        Leave out rows without a score; otherwise they are an error.
    **columns
        As in `Pool.from_table`. In each part of the table, gaps in a metric are filled with its
        mean there; a metric with many gaps, or the same everywhere, is left out.
    """
    by = list(as_names(by))
    humans = list(as_names(human))
    for name in (*humans, *by):
        if name not in table.columns:
            raise UnknownNameError("column", name, map(str, table.columns))
    notes: list[str] = []
    human = humans[0]
    if len(humans) > 1:
        human = f"mean of {', '.join(humans)}"
        table = table.assign(**{human: _mean_of(table, humans)})
        notes.append(f"the human score is the {human}")
    empty = np.array([tables.is_gap(v) for v in table[human]], dtype=bool)
    gaps = int(empty.sum())
    if gaps and rated_only:
        notes.append(f"{gaps} of {len(table)} rows have no {human} and were left out")
        table = table[~empty]
    elif gaps:
        raise DataError(
            f"{gaps} of {len(table)} rows have no {human}. A simulation replays what people "
            "rated: fill the gaps, or leave those rows out (rated_only=True, --rated-only)."
        )
    if table.empty:
        raise DataError(f"no row has a score in column {human!r}.")
    parts = {"all": table} if not by else _split(table, by)
    studies = {name: _from_part(name, p, human, columns, notes) for name, p in parts.items()}
    return studies, notes


def _mean_of(table: pd.DataFrame, humans: list[str]) -> pd.Series[float]:
    """The mean of the raters who gave a score, row by row."""
    rows = [str(k + 1) for k in range(len(table))]
    known = table[humans].map(lambda v: not tables.is_gap(v))
    for name in humans:
        rated = known[name].tolist()
        ids = [row for row, has in zip(rows, rated, strict=True) if has]
        tables.scores_of(name, ids, table.loc[known[name], name].tolist(), "")
    mean: pd.Series[float] = tables.as_numbers(table[humans], humans).mean(axis=1)
    return mean


def _split(table: pd.DataFrame, by: list[str]) -> dict[str, pd.DataFrame]:
    gaps = sum(any(tables.is_empty(v) for v in row) for row in table[by].to_numpy().tolist())
    if gaps:
        raise DataError(f"{gaps} rows have no {' or '.join(by)} to part the table by.")
    found: dict[str, pd.DataFrame] = {}
    for values, part in table.groupby(by, sort=False, observed=True):
        name = " / ".join(map(str, values))
        if name in found:
            raise DataError(f"two parts of the table are called {name!r}. Rename some values.")
        found[name] = part
    return found


def _from_part(
    name: str, part: pd.DataFrame, human: str, columns: dict[str, Any], notes: list[str]
) -> Study:
    wanted = columns.get("metrics") or ()
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [m for m in wanted if m not in part.columns]
    if unknown:
        raise UnknownNameError("column", unknown[0], map(str, part.columns))
    kept = [m for m in wanted if _usable(part[m])]
    if len(kept) < len(wanted):
        lost = ", ".join(m for m in wanted if m not in kept)
        notes.append(f"{name}: without {lost} (too many gaps, or the same everywhere)")
    part = tables.filled(part, kept)
    signs = {m: v for m, v in (columns.get("orientation") or {}).items() if m in kept}
    try:
        pool = Pool.from_table(part, **{**columns, "metrics": kept, "orientation": signs})
        hint = "Every row needs a human score."
        gold = tables.scores_of(human, pool.ids.astype(str).tolist(), part[human].tolist(), hint)
    except DataError as error:
        raise DataError(f"{name}: {error}") from None
    return study_of(pool, gold)


def _usable(column: pd.Series[Any]) -> bool:
    """False for a metric with many gaps or without any spread in this part of the table."""
    values = [v for v in column.tolist() if not tables.is_gap(v)]
    return len(values) >= (1 - MOST_GAPS) * len(column) and len(set(map(str, values))) > 1
