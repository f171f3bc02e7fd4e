"""Which column of a table is what, guessed from the names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fewgold.errors import DataError

if TYPE_CHECKING:
    from fewgold.web._replay_data import Data


@dataclass(frozen=True)
class Columns:
    """Which column is what; guessed from the names until somebody says otherwise."""

    human: tuple[str, ...]
    system: str | None
    id: str | None
    document: str | None
    metrics: tuple[str, ...]
    notes: tuple[str, ...] = ()


def guess(data: Data) -> Columns:
    """What the columns probably are; a gap where their names do not tell."""
    if data.guessed is None:
        data.guessed = _guess(data)
    found: Columns = data.guessed
    return found


def _guess(data: Data) -> Columns:
    from fewgold.roles import human_columns, metric_columns, roles
    from fewgold.tables import DOCUMENT_NAMES, SYSTEM_NAMES, guess_column

    likely = human_columns(data.columns)
    stems = {name.rstrip("0123456789 _-.") for name in likely}
    human = likely if len(stems) == 1 else likely[:1]
    rest = data.frame.drop(columns=likely)
    none = dict.fromkeys(("id", "document", "system", "metrics", "cost"))
    try:
        found = roles(rest, {**none, "texts": []}, {})
        c = found.columns
        hint = " Name those you want with --metrics."
        notes = tuple(s.replace(hint, "").rstrip(".") for s in found.notes())
        return Columns(
            tuple(human), c["system"], c["id"], c["document"], tuple(c["metrics"]), notes
        )
    except DataError:  # no column looks like ids
        names = [str(n) for n in rest.columns]
        system, document = guess_column(names, SYSTEM_NAMES), guess_column(names, DOCUMENT_NAMES)
        metrics, _ = metric_columns(rest, {n for n in (system, document) if n is not None})
        return Columns(tuple(human), system, None, document, tuple(metrics))
