"""Rated data to replay annotation on: a table that is parted into pools, or an embedded set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.cli import _parse
from fewgold.cli._console import note

if TYPE_CHECKING:
    from fewgold.simulation import Study

_DEMO = "demo-"
_UNNAMED: dict[str, Any] = {"id": None, "document": None, "metrics": None, "cost": None}


def rated_studies(
    data: str,
    human: str | None,
    by: str | None,
    given: dict[str, Any],
    orientation: str | None,
    rated_only: bool,
    quiet: bool,
) -> dict[str, Study]:
    """Rated pools from a table whose columns are said or guessed, or embedded ones."""
    from fewgold import tables
    from fewgold.cli._console import guess_human
    from fewgold.errors import UnknownNameError
    from fewgold.roles import roles
    from fewgold.simulation import studies_from_table

    if data.startswith(_DEMO) and not Path(data).exists():
        return _embedded(data.removeprefix(_DEMO))
    table = tables.read_table(data)
    names = [str(c) for c in table.columns]
    if human is None:
        human = guess_human(names, quiet)
    parts = _parse.names(by)
    for name in (human, *parts):
        if name not in names:
            raise UnknownNameError("column", name, names)
    kept = table.drop(columns=[c for c in (human, *parts) if c in names])
    found = roles(kept, {**given, "system": None, "texts": []}, _parse.orientation(orientation))
    systems = found.columns["system"]
    columns = {k: v for k, v in found.columns.items() if k not in ("texts", "system")}
    for sentence in found.notes():
        note(f"note: {sentence}", quiet)
    if not parts and systems is not None and table[columns["id"]].duplicated().any():
        parts = [systems]
        note(f"note: ids repeat, so each {parts[0]} is a pool of its own (--by)", quiet)
    if columns.get("cost") is not None:
        table = tables.with_cost(table, columns["cost"])
    studies, notes = studies_from_table(
        table, human=human, by=parts, rated_only=rated_only, **columns
    )
    for sentence in notes:
        note(f"note: {sentence}", quiet)
    return studies


def studies_of(
    data: str, human: str | None, quiet: bool, cost: str | None = None
) -> dict[str, Study]:
    """Rated pools from a table whose columns are guessed, or embedded ones."""
    return rated_studies(data, human, None, {**_UNNAMED, "cost": cost}, None, False, quiet)


def _embedded(kind: str) -> dict[str, Study]:
    from fewgold.datasets import demo_systems, load_demo
    from fewgold.simulation import Study

    return {s: Study(*load_demo(kind, system=s)) for s in demo_systems(kind)}
