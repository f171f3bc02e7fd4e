"""Columns of a frame or a pool, as text and as numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fewgold import tables
from fewgold._arrays import FloatArray
from fewgold._validate import no_number
from fewgold.errors import DataError, UnknownNameError
from fewgold.pool import Pool

Score: TypeAlias = str | Sequence[str] | Mapping[str, Any]


def opened(data: Any) -> tuple[Callable[[str], NDArray[Any]], list[str]]:
    """How to get a column, and the names of all."""
    if isinstance(data, Pool):
        found: dict[str, NDArray[Any]] = {**data.texts, **data.metrics, "id": data.ids}
        if data.documents is not None:
            found["document"] = data.documents
        if data.system is not None:
            found["system"] = data.system
        return found.__getitem__, list(found)
    import narwhals.stable.v2 as nw

    try:
        frame = nw.from_native(data, eager_only=True)
    except TypeError:
        raise DataError(
            f"expected a dataframe or a Pool; got {type(data).__name__}. Read files with "
            "fewgold.tables.read_table."
        ) from None
    return (lambda name: np.asarray(frame[name].to_numpy())), [str(c) for c in frame.columns]


def pool_columns(
    pool: Pool, document: str | None, system: str | None, segment: str | None
) -> tuple[str, str | None, str | None]:
    if document is None and pool.documents is None:
        raise DataError("the pool has no documents. Make it with document=, or name a column.")
    if system is None and pool.system is not None:
        system = "system"
    # Ids of a pool all differ, so that they tell nothing about which segments belong together.
    return document or "document", system, segment


def scores_given(
    score: Score, column: Callable[[str], NDArray[Any]], names: Sequence[str]
) -> dict[str, NDArray[Any]]:
    """The scores by name: columns, or arrays as they come."""
    if isinstance(score, Mapping):
        found = {str(name): np.asarray(values) for name, values in score.items()}
    else:
        wanted = [score] if isinstance(score, str) else list(score)
        for name in wanted:
            if name not in names:
                raise UnknownNameError("column", str(name), names)
        found = {name: column(name) for name in wanted}
    if not found:
        raise DataError("expected at least one score; got none. Name a column of scores.")
    return found


def labels_of(name: str, raw: NDArray[Any]) -> NDArray[Any]:
    """A column as text; every row needs a label."""
    empty = [k for k, v in enumerate(raw.tolist()) if tables.is_empty(v)]
    if empty:
        raise DataError(
            f"column {name!r} is empty in {len(empty)} rows, first in row {empty[0]} (counted from "
            "0). Fill them in or leave these rows out."
        )
    return np.array([str(v) for v in raw.tolist()])


def numbers_of(name: str, raw: NDArray[Any], n: int) -> FloatArray:
    """Scores as numbers, NaN where there is none."""
    if raw.shape != (n,):
        raise DataError(f"score {name!r} has shape {raw.shape}; expected {n} numbers, one a row.")
    found = tables.column_of(raw, name)
    infinite = found.sorts.get("infinite", ())
    if infinite:
        raise DataError(f"score {name!r} is infinite in row {min(infinite)}.")
    wrong = sorted(k for rows in found.sorts.values() for k in rows)
    if wrong:
        value = raw.tolist()[wrong[0]]
        raise DataError(
            f"score {name!r} must hold numbers; got {value!r} in row {wrong[0]} (counted from 0). "
            f"{no_number(value)}"
        )
    return found.values
