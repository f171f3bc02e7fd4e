"""Labels and scores from a table: the human score cut into 0 and 1, metrics with their signs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold import io
from fewgold._arrays import BoolArray, FloatArray
from fewgold.cut import Cut, binary
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import known_orientation

if TYPE_CHECKING:
    import pandas as pd

#: The name of the rows over all systems.
ALL = "(all)"


@dataclass(frozen=True, eq=False)
class BinaryTable:
    """A row an item: its label (NaN where nobody rated), its system, its scores (NaN: a gap)."""

    labels: FloatArray
    system: NDArray[np.object_]
    scores: dict[str, FloatArray]
    signs: dict[str, str]

    @property
    def rated(self) -> BoolArray:
        """Which items people rated."""
        return ~np.isnan(self.labels)

    @property
    def systems(self) -> list[str]:
        """Systems in the order of their first item; none where all items are of one."""
        return [] if self.system[0] == ALL else list(dict.fromkeys(self.system.tolist()))

    def of(self, system: str) -> BoolArray:
        """The items of a system, or of all."""
        if system == ALL:
            return np.ones(self.labels.size, dtype=bool)
        return np.asarray(self.system == system)


def read_binary(
    frame: pd.DataFrame,
    human: str,
    metrics: Sequence[str],
    system: str | None,
    adequate: Cut | str | None,
    orientation: Mapping[str, int] | None,
    strict: bool,
    alone: bool = False,
) -> BinaryTable:
    """Check the columns and read them."""
    names = [str(c) for c in frame.columns]
    metrics = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in (human, *metrics, *([system] if system is not None else [])):
        if name not in names:
            raise UnknownNameError("column", name, names)
    if not metrics and not alone:
        raise DataError("expected the name of at least one metric; got none.")
    if human in metrics:
        raise DataError(f"{human!r} holds the human scores, so it cannot be a metric as well.")
    if not len(frame):
        raise DataError("the table has no rows.")
    for name in orientation or {}:
        if name not in metrics:
            raise UnknownNameError("metric", name, metrics)
    raw = _numbers(frame, human)
    rated = ~np.isnan(raw)
    if not rated.any():
        raise DataError(f"no row has a score in column {human!r}.")
    labels = np.full(raw.size, np.nan)
    low, high = np.nanmin(raw), np.nanmax(raw)
    if adequate is None:
        hint = (
            f"Scores run from {low:g} to {high:g}: say which of them are adequate, such as "
            f"'>= {high:g}' or '<= {low:g}' (adequate=, --adequate)."
        )
        labels[rated] = binary(raw[rated], f"the scores in {human!r}", hint)
    else:
        cut = Cut.parse(adequate)
        labels[rated] = cut(raw[rated])
        if not low <= cut.at <= high:
            raise DataError(
                f"{'every' if labels[rated].any() else 'no'} score in {human!r} is {cut}: they run "
                f"from {low:g} to {high:g}. Choose another cut (adequate=, --adequate)."
            )
    scores = {name: _numbers(frame, name) for name in metrics}
    signs = {}
    for name, values in scores.items():
        seen = values[~np.isnan(values)]
        way = (orientation or {}).get(name, known_orientation(name, seen))
        signs[name] = ("<" if way == -1 else ">") + ("" if strict else "=")
    made_by: list[Any] = [ALL] * len(frame) if system is None else frame[system].tolist()
    if gaps := sum(io.is_empty(v) for v in made_by):
        raise DataError(f"{gaps} of {len(frame)} rows have no {system}.")
    return BinaryTable(labels, np.array([str(v) for v in made_by], dtype=object), scores, signs)


def _numbers(frame: pd.DataFrame, name: str) -> FloatArray:
    """A column as numbers; empty cells are gaps, words are an error."""
    found = io.column_of(frame[name], name)
    if "infinite" in found.sorts:
        raise DataError(f"column {name!r} must hold finite numbers; got an infinite one.")
    wrong = sorted(k for rows in found.sorts.values() for k in rows)
    if wrong:
        raise DataError(
            f"column {name!r} must hold numbers; {len(wrong)} of {len(frame)} rows do not, "
            f"first {str(frame[name].iloc[wrong[0]])!r}. Write 1 for pass and 0 for fail, and "
            "leave gaps empty."
        )
    return found.values
