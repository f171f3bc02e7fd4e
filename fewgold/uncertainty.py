"""A column that says how uncertain ratings are: an expected spread or a judge's probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import io
from fewgold.common.arrays import FloatArray
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import Roles, roles, sureness
from fewgold.samplers import Chances, spread_of_probability

if TYPE_CHECKING:
    import pandas as pd

_KINDS = ("spread", "probability")


@dataclass(frozen=True)
class SpreadColumn:
    """A column with the expected spread, and how it is read."""

    name: str
    kind: str
    either: bool = False  # whether its values would suit both kinds

    def spread(self, table: pd.DataFrame, ids: Any) -> FloatArray:
        """The expected spread of every row."""
        values = io.column_of(table[self.name], self.name).values
        bad = ~np.isfinite(values) | (values < 0)
        if self.kind == "probability":
            bad |= values > 1
        if bad.any():
            what = "from 0 to 1" if self.kind == "probability" else "of at least 0"
            first = list(ids)[int(bad.argmax())]
            raise DataError(
                f"the uncertainty must be a number {what} in every row of {self.name!r}; rows "
                f"without one: {int(bad.sum())}, first that of id {first}.",
                hints={
                    "cli": "Fill them in, or leave out --uncertainty.",
                    "web": "Fill them in, or choose no column for it.",
                },
            )
        spread = spread_of_probability(values) if self.kind == "probability" else values
        if not spread.any():
            raise DataError(
                f"the expected spread is 0 in every row of {self.name!r}, so it favours no "
                "segment.",
                hints={
                    "cli": "Name another column, or leave out --uncertainty.",
                    "web": "Choose another column, or none.",
                },
            )
        return np.asarray(spread)

    @property
    def stored(self) -> str:
        """The spread in the form that `StoredPool` takes."""
        return self.name if self.kind == "spread" else f"{self.name}:{self.kind}"

    @property
    def sentence(self) -> str:
        """How the column is read, for output and reports."""
        if self.kind == "probability":
            return f"column {self.name}, a judge's probability q of a pass: √(q(1 − q))"
        return f"column {self.name}, as it is"

    @property
    def other(self) -> str | None:
        """The option that reads it the other way, if its values allow that."""
        kind = "spread" if self.kind == "probability" else "probability"
        return f"{self.name}:{kind}" if self.either else None


def roles_beside(
    table: pd.DataFrame, uncertainty: str | None, **named: Any
) -> tuple[Roles, SpreadColumn | None]:
    """The roles of the columns, and the column of the uncertainty (``--uncertainty``).

    A spread is not a metric unless named as one: it says nothing about how good an output is.
    """
    found = roles(table, **named)
    if uncertainty is None:
        return found, None
    names = [str(c) for c in table.columns]
    name, kind = uncertainty, ""
    if uncertainty not in names:
        head, _, tail = uncertainty.rpartition(":")
        if tail in _KINDS and head:
            name, kind = head, tail
    if name not in names:
        raise UnknownNameError("column of --uncertainty", name, names)
    values = io.column_of(table[name], name).values
    within = bool(((values >= 0) & (values <= 1))[np.isfinite(values)].all())
    if not kind:
        likely = "probability" if name in found.metrics and within else "spread"
        kind = sureness(name) or likely
    if kind == "spread" and not named.get("metrics") and name in found.metrics:
        found = roles(table, **{**named, "other": [*named.get("other", ()), name]})
    return found, SpreadColumn(name, kind, within)


def chances_sentence(source: str, chances: Chances) -> str:
    """How chances were made, for the methods section of a report."""
    return (
        f"The expected spread {source}; {1 - chances.uniform:.0%} of each chance followed it and "
        f"{chances.uniform:.0%} was the same for all segments."
    )
