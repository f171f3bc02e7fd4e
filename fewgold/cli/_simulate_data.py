"""Rated data to replay annotation on: a table that is parted into pools, or an embedded set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.cli import _input, _parse
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
    from fewgold.simulation import studies_from_table

    if data.startswith(_DEMO) and not Path(data).exists():
        return _embedded(data.removeprefix(_DEMO))
    parts = _parse.names(by)
    told = _parse.names(human)
    found = _input.understand(
        _input.read_table(data, quiet), quiet, **given, texts=[], human=told or None, other=parts,
        orientation=_parse.orientation(orientation),
    )  # fmt: skip
    humans = found.some_humans()
    if found.rater not in (None, *parts) and not parts:
        one = found.per_output()
        if len(one.table) < len(found.table):
            found = one
            note(f"note: {len(one.table)} outputs, the score of each the mean of its raters", quiet)
    table, systems = found.table, found.system
    columns = {k: v for k, v in found.columns.items() if k not in ("texts", "system")}
    if not parts and systems is not None and table[columns["id"]].duplicated().any():
        parts = [systems]
        note(f"note: ids repeat, so each {parts[0]} is a pool of its own (--by)", quiet)
    if columns.get("cost") is not None:
        table = tables.with_cost(table, columns["cost"])
    studies, notes = studies_from_table(
        table, human=humans, by=parts, rated_only=rated_only, **columns
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
