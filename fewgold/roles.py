"""What the columns of a pool's table mean: as the user says, else as their names suggest."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fewgold import tables
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd


@dataclass
class Roles:
    """The role of each column, which of them were guessed, and what was left out and why."""

    columns: dict[str, Any]
    guessed: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """Sentences for stderr."""
        lines = []
        if self.guessed:
            parts = ", ".join(f"{role} = {what}" for role, what in self.guessed.items())
            lines.append(f"columns guessed from their names: {parts}")
        if self.left_out:
            parts = ", ".join(f"{name} ({why})" for name, why in self.left_out.items())
            lines.append(f"not taken as metrics: {parts}. Name those you want with --metrics.")
        return lines


def human_columns(names: Sequence[str]) -> list[str]:
    """The columns that look like human scores of their own.

    Not those of a known metric such as ``MoverScore`` or ``wmt20-comet-da``, nor a mark of systems
    that are people (``is_human``); counts of errors only where there is nothing else.

    >>> human_columns(["is_human", "mqm", "n_major", "wmt20-comet-da", "bb_MoverScore"])
    ['mqm']
    """
    import numpy as np

    from fewgold._orientation import known_orientation

    def known(name: str) -> bool:
        return known_orientation(name, np.empty(0)) is not None

    found = [n for n in names if tables.looks_human(n, known(n)) and tables.parts(n)[:1] != ["is"]]
    return [n for n in found if not set(tables.parts(n)) & _COUNTED] or found


_COMMA = re.compile(r"\s*-?\d+,\d+\s*")
# Parts of the names of columns that count what raters marked.
_COUNTED = {"errors", "major", "minor"}


def human_column(names: Sequence[str]) -> str:
    """The one column that looks like human scores; with none or several, ask."""
    likely = human_columns(names)
    if len(likely) != 1:
        hint = f" ({' or '.join(likely)}?)" if likely else f": {', '.join(names)}"
        raise DataError(f"which column holds the human scores? Name it with --human{hint}.")
    return likely[0]


def roles(frame: pd.DataFrame, given: Mapping[str, Any], orientation: Mapping[str, int]) -> Roles:
    """The roles of the columns; ``given`` holds what the user named, None where nothing."""
    names = [str(c) for c in frame.columns]
    chosen = dict(given)
    for name in _named(given):
        if name not in names:
            raise UnknownNameError("column", name, names)
    taken = set(_named(given))
    if given["cost"] is not None and given["cost"] in names:
        taken.add(given["cost"])
    guessed: dict[str, str] = {}

    def guess(role: str, wanted: tuple[str, ...]) -> None:
        free = [n for n in names if n not in taken]
        if chosen[role] is None and (hit := tables.guess_column(free, wanted)):
            chosen[role] = guessed[role] = hit
            taken.add(hit)

    guess("id", tables.ID_NAMES)
    if chosen["id"] is None:
        raise DataError(
            f"cannot tell which column holds the ids. Name it with --id: {', '.join(names)}."
        )
    guess("document", tables.DOCUMENT_NAMES)
    guess("system", tables.SYSTEM_NAMES)
    if _priced(frame, tables.guess_column(names, tables.COST_NAMES)):
        guess("cost", tables.COST_NAMES)
    if chosen["texts"] is None:
        shown = [n for n in names if tables.plain(n) in tables.TEXT_NAMES and n not in taken]
        chosen["texts"] = shown
        if shown:
            guessed["texts"] = ", ".join(shown)
    result = Roles(chosen, guessed)
    if chosen["metrics"] is None:
        metrics, result.left_out = metric_columns(frame, taken | set(chosen["texts"] or ()))
        chosen["metrics"] = metrics
        guessed["metrics"] = ", ".join(metrics) or "none"
    elif chosen["metrics"] == ["none"] and "none" not in names:
        chosen["metrics"] = []
    chosen["orientation"] = dict(orientation)
    return result


def _named(given: Mapping[str, Any]) -> list[str]:
    lone = [given[role] for role in ("id", "document", "system") if given[role] is not None]
    metrics = [] if given["metrics"] in (None, ["none"]) else given["metrics"]
    return [*lone, *metrics, *(given["texts"] or [])]


def metric_columns(frame: pd.DataFrame, taken: set[str]) -> tuple[list[str], dict[str, str]]:
    """Numeric columns that may be metrics, and why the others are not."""
    import numpy as np
    import pandas as pd

    from fewgold._orientation import known_orientation

    found: list[str] = []
    left: dict[str, str] = {}
    for name in map(str, frame.columns):
        if name in taken:
            continue
        raw = frame[name]
        if raw.dtype == bool:
            raw = raw.astype(float)
        if raw.dtype.kind in "mM":  # dates and spans of time
            continue
        values = pd.to_numeric(raw, errors="coerce").to_numpy(dtype=np.float64)
        whole = np.isfinite(values)
        # Text with a number here and there is text.
        words = np.isnan(values)
        words[words] = [not tables.is_empty(v) for v in raw[words].tolist()]
        if words.any() and all(_COMMA.fullmatch(str(v)) for v in raw[words]):
            left[name] = f"decimal commas, such as {raw[words].iloc[0]!r}: write points"
            continue
        if not whole.any() or words.mean() > 0.2:
            continue
        if words.any():
            odd = raw[words].iloc[0]
            left[name] = f"{int(words.sum())} not a number, such as {odd!r}"
            continue
        gaps = int((~whole).sum())
        known = known_orientation(name, values[whole]) is not None
        if tables.looks_human(name, known):
            left[name] = "may be human scores"
        elif tables.looks_like_position(name) or _counts(values):
            left[name] = "numbers the rows"
        elif gaps:
            left[name] = f"{gaps} gap{'s' if gaps > 1 else ''}"
        elif (values == values[0]).all():
            left[name] = "the same everywhere"
        else:
            found.append(name)
    return found, left


def _priced(frame: pd.DataFrame, name: str | None) -> bool:
    """True for a column of positive numbers: a guess must not end in an error."""
    import pandas as pd

    if name is None:
        return False
    values = pd.to_numeric(frame[name], errors="coerce")
    return bool((values > 0).all() and (values < float("inf")).all())


def _counts(values: Any) -> bool:
    """True for 0, 1, 2, … or 1, 2, 3, …: the number of the row."""
    first = values[0]
    return values.size > 2 and first in (0, 1) and bool((values[1:] - values[:-1] == 1).all())
