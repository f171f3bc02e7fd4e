"""Which column of a table is what, guessed from the names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
    from fewgold.roles import roles

    found = roles(data.frame, texts=[], need_id=False)
    human = found.human or found.humans[:1]
    notes = [*data.notes, *replace(found, guessed={}).notes()]
    return Columns(
        human, found.system, found.id, found.document, found.metrics,
        tuple(s.partition(". To use one of them")[0].rstrip(".") for s in notes),
    )  # fmt: skip
