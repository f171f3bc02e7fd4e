"""Options that several commands have: what the columns of a table mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import _parse

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.roles import Roles

COLUMNS = "What the columns mean"

Id = Annotated[str | None, typer.Option(metavar="COLUMN", help="Ids.", rich_help_panel=COLUMNS)]
Document = Annotated[
    str | None, typer.Option(metavar="COLUMN", help="Documents.", rich_help_panel=COLUMNS)
]
Metrics = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,…", help="Automatic metrics; none for none.", rich_help_panel=COLUMNS
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        metavar="COST",
        help="Cost of a rating: a column, or FIXED+PER*COLUMN such as 12+0.7*words, or "
        "12+0.7*words(output), which counts words.",
        rich_help_panel=COLUMNS,
    ),
]
System = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Systems; not shown.", rich_help_panel=COLUMNS),
]
Texts = Annotated[
    str | None,
    typer.Option(metavar="A,B,…", help="Texts to show to raters.", rich_help_panel=COLUMNS),
]
Orientation = Annotated[
    str | None,
    typer.Option(
        metavar="A=+1,B=-1",
        help="+1 where larger is better, -1 where larger is worse, 0 neither. Common metrics "
        "need none.",
        rich_help_panel=COLUMNS,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(
        metavar="S", min=0, help="The same seed draws the same segments. Default: a new one."
    ),
]
Strategy = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="See fewgold strategies. Default: the recommended one."),
]
Confidence = Annotated[
    str | None,
    typer.Option(metavar="LEVEL", help="Of the interval, such as 0.95 (default) or 95%."),
]


def named(
    id: str | None, document: str | None, metrics: str | None, cost: str | None,
    system: str | None, texts: str | None,
) -> dict[str, Any]:  # fmt: skip
    """What the user said of the columns, None where nothing."""
    return {
        "id": id,
        "document": document,
        "metrics": _parse.names(metrics) if metrics is not None else None,
        "cost": cost,
        "system": system,
        "texts": _parse.names(texts) if texts is not None else None,
    }


def single_system(table: pd.DataFrame, found: Roles) -> None:
    """Say what to do with a table of several systems, which would have each id several times."""
    from fewgold.errors import DataError

    system = found.columns["system"]
    if system is None or table[system].nunique() < 2 or table[found.columns["id"]].is_unique:
        return
    raise DataError(
        f"the column {system!r} holds {table[system].nunique()} systems. To compare them, choose "
        "segments to rate for all of them with fewgold select --shared; or keep the rows of one "
        "system."
    )


def typed(
    context: typer.Context,
    without: Collection[str],
    instead: Mapping[str, str | None] | None = None,
) -> list[str]:
    """The options of the running command as words for a shell, to give the same result again.

    Every option that was given is among them but those in ``without``, so that a new option is
    never forgotten. ``instead`` holds the words that settle what was guessed or drawn by lot, by
    parameter; None leaves what was typed.
    """
    found: list[str] = []
    for option in context.command.params:
        name = str(option.name)
        if option.param_type_name != "option" or name in without:
            continue
        source, value = context.get_parameter_source(name), context.params[name]
        settled = (instead or {}).get(name)
        if settled is None and (source is None or source.name.startswith("DEFAULT")):
            continue
        yes, *_ = sorted(option.opts, key=len, reverse=True)
        if settled is None and isinstance(value, bool):
            found.append(yes if value else option.secondary_opts[0])
        else:
            found += [yes, str(value) if settled is None else settled]
    return found


def listed(names: Sequence[str] | None) -> str | None:
    """Names as a list with commas; None where that would be read as something else."""
    text = ",".join(names or ())
    return text if _parse.names(text) == list(names or ()) else None
