"""``fewgold doctor``: what a file is, what is wrong with it, and the command to run next."""

from __future__ import annotations

from typing import Annotated

import typer

from fewgold.cli import input, parse
from fewgold.cli.console import Json, to_json


def doctor(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A table, a sheet, a campaign, an export of an annotation tool, or a folder.",
        ),
    ],
    human: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Human scores, if the name does not tell; A,B are a rater each."
        ),
    ] = None,
    id: input.Id = None,
    document: input.Document = None,
    system: input.System = None,
    texts: input.Texts = None,
    metrics: input.Metrics = None,
    json: Json = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Only the findings and the next command.")
    ] = False,
) -> None:
    """Say what a file is, what it supports, what is wrong, and what to run next.

    Exit code 0: fine; 1: usable, but read the warnings; 3: not usable as it is.

    [bold]fewgold doctor scores.csv[/bold]
    """
    from fewgold.doctor import examine

    told = input.named(id, document, metrics, None, system, texts)
    told.pop("cost")
    found = examine(file, human=parse.names(human) if human is not None else None, **told)
    if json:
        print(to_json(found.to_dict()))
    else:
        print(found.brief() if quiet else found.summary())
    if found.exit_code:
        raise typer.Exit(found.exit_code)
