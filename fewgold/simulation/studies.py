"""Fully rated pools: what a simulation replays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold import io
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names
from fewgold.common.text import counted, verb
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import MOST_GAPS
from fewgold.pool import Pool

if TYPE_CHECKING:
    import pandas as pd


class Study(NamedTuple):
    """A pool and the human score of every one of its segments."""

    pool: Pool
    gold: FloatArray


def as_studies(data: Any, gold: Any = None) -> dict[str, Study]:
    """One pool with its scores, or many: a mapping by name, or pairs in a sequence."""
    if gold is None and isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], Pool):
        data, gold = data  # as load_demo returns them
    if isinstance(data, Pool):
        if gold is None:
            raise DataError(
                "a simulation needs the human score of every segment. Use simulate(pool, gold)."
            )
        return {_own_name(data, 0): _study(data, gold)}
    if gold is not None:
        raise DataError(
            "gold works with a single pool only. For several give pairs: "
            "simulate({name: (pool, gold)})."
        )
    if not isinstance(data, Mapping):
        if isinstance(data, str) or not isinstance(data, Iterable):
            raise DataError(
                "expected a pool with its scores, (pool, gold), or several in a mapping or a "
                f"list; got {type(data).__name__}."
            )
        pairs = [_pair(item) for item in data]
        names = _distinct([_own_name(pair[0], k) for k, pair in enumerate(pairs)])
        data = dict(zip(names, pairs, strict=True))
    studies: dict[str, Study] = {}
    for name, pair in data.items():
        if str(name) in studies:
            raise DataError(f"two pools are called {str(name)!r}. Give each a different name.")
        studies[str(name)] = _study(*_pair(pair))
    if not studies:
        raise DataError("expected at least one pool to simulate on; got none. Give (pool, gold).")
    return studies


def _pair(item: Any) -> tuple[Any, Any]:
    if isinstance(item, Sequence) and len(item) == 2 and isinstance(item[0], Pool):
        return item[0], item[1]
    came = type(item).__name__
    if isinstance(item, tuple | list):
        kinds = ", ".join(type(part).__name__ for part in item[:3])
        came += f" of {len(item)} ({kinds}{', …' if len(item) > 3 else ''})"
    raise DataError(
        f"expected pairs (pool, gold), a Pool and its scores; got {came}. For a table, see "
        "studies_from_table."
    )


def _own_name(pool: Pool, k: int) -> str:
    """The system if the pool has exactly one, else a number."""
    systems = set() if pool.system is None else set(pool.system.tolist())
    return str(systems.pop()) if len(systems) == 1 else f"pool {k + 1}"


def _distinct(names: list[str]) -> list[str]:
    """Names, with a number added to repeated ones."""
    found: list[str] = []
    for name in names:
        count, label = 1, name
        while label in found or (count > 1 and label in names):
            count += 1
            label = f"{name} ({count})"
        found.append(label)
    return found


def _study(pool: Pool, gold: Any) -> Study:
    """A pool with its scores, from an array, a mapping by id, or a Series by id or position."""
    if hasattr(gold, "index") and hasattr(gold, "to_dict"):  # a Series
        if set(pool.ids.tolist()) <= set(gold.index.tolist()):
            if not gold.index.is_unique:
                raise DataError("some ids have more than one score. Average them first.")
            gold = gold.to_dict()
        elif gold.index.tolist() == list(range(len(gold))):  # it only counts
            gold = gold.to_numpy()
        else:
            raise DataError(
                "the index of gold holds neither the ids of the pool nor 0, 1, 2, …. Give "
                "gold.to_numpy() if it is in the pool's order, or set the ids as its index."
            )
    if isinstance(gold, Mapping):
        missing = [i for i in pool.ids.tolist() if i not in gold]
        if missing:
            raise DataError(
                f"{len(missing)} of {len(pool)} segments {verb(len(missing), 'have')} no score, "
                f"first {missing[:3]}. A "
                "simulation needs them all."
            )
        gold = [gold[i] for i in pool.ids.tolist()]
    try:
        scores = np.ma.filled(np.ma.asarray(gold, dtype=np.float64), np.nan)
    except (TypeError, ValueError):
        raise DataError("gold must hold a number for every segment of the pool.") from None
    if scores.shape != (len(pool),):
        raise DataError(
            f"gold must hold one score for each of the {len(pool)} segments; got the shape "
            f"{scores.shape}."
        )
    gaps = ~np.isfinite(scores)
    if gaps.any():
        raise DataError(
            f"{int(gaps.sum())} of {len(pool)} segments {verb(int(gaps.sum()), 'have')} no finite "
            "score, first "
            f"{pool.ids[gaps][0]!s}. A simulation needs them all: remove those segments from "
            "the pool, and the rest is simulated."
        )
    return Study(pool, scores)


def studies_from_table(
    table: pd.DataFrame,
    *,
    human: str | Sequence[str],
    by: Iterable[str] = (),
    rated_only: bool = False,
    **columns: Any,
) -> tuple[dict[str, Study], list[str]]:
    """Make studies from a table in which people rated every segment, with notes on omissions.

    Parameters
    ----------
    table
        One row per segment, per segment and system, or per segment, system and rater.
    human
        The column with the human scores; several columns, one per rater, are averaged.
    by
        Columns whose values split the table into studies, such as the system and the rater.
    rated_only
        Leave out rows without a score; otherwise they are an error.
    **columns
        As in `Pool.from_table`. In each part of the table, gaps in a metric are filled with its
        mean there; a metric that is constant or has many gaps is left out.
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
        for name in humans:
            rated = {str(k + 1): v for k, v in enumerate(table[name].tolist()) if not io.is_gap(v)}
            io.scores_of(
                name, list(rated), list(rated.values()), ""
            )  # raises for anything that is not a table
        table = table.assign(**{human: io.as_numbers(table[humans], humans).mean(axis=1)})
        notes.append(f"the human score is the {human}")
    empty = np.array([io.is_gap(v) for v in table[human]], dtype=bool)
    gaps = int(empty.sum())
    if gaps and rated_only:
        have, are = verb(gaps, "have"), verb(gaps, "are")
        notes.append(f"{gaps} of {len(table)} rows {have} no {human} and {are} left out")
        table = table[~empty]
    elif gaps:
        raise DataError(
            f"{gaps} of {len(table)} rows {verb(gaps, 'have')} no {human}. A simulation replays "
            "what people rated.",
            hints={
                "python": "Fill the gaps, or leave those rows out (rated_only=True).",
                "cli": "Fill the gaps, or leave those rows out with --rated-only.",
                "web": "Fill the gaps, or leave those rows out.",
            },
        )
    if table.empty:
        raise DataError(f"no row has a score in column {human!r}.")
    parts = {"all": table} if not by else _split(table, by)
    studies = {name: _from_part(name, p, human, columns, notes) for name, p in parts.items()}
    return studies, notes


def _split(table: pd.DataFrame, by: list[str]) -> dict[str, pd.DataFrame]:
    gaps = sum(any(io.is_empty(v) for v in row) for row in table[by].to_numpy().tolist())
    if gaps:
        raise DataError(f"{counted(gaps, 'row')} without {' or '.join(by)} to split the table by.")
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
        notes.append(f"{name}: without {lost} (too many gaps, or constant)")
    part = io.filled(part, kept)
    signs = {m: v for m, v in (columns.get("orientation") or {}).items() if m in kept}
    try:
        pool = Pool.from_table(part, **{**columns, "metrics": kept, "orientation": signs})
        hint = "Every row needs a human score."
        gold = io.scores_of(human, pool.ids.astype(str).tolist(), part[human].tolist(), hint)
    except DataError as error:
        raise DataError(f"{name}: {error.message}", hints=error.hints) from None
    return _study(pool, gold)


def _usable(column: pd.Series[Any]) -> bool:
    """False for a metric with many gaps or without any spread in this part of the table."""
    values = [v for v in column.tolist() if not io.is_gap(v)]
    return len(values) >= (1 - MOST_GAPS) * len(column) and len(set(map(str, values))) > 1
