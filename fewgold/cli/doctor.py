"""``fewgold doctor``: what a file is, what is wrong with it, and the command to run next."""

from __future__ import annotations

import typer

from fewgold.cli import options, parse
from fewgold.cli.console import to_json
from fewgold.cli.options import Json, argument, flag, option


def doctor(
    file: str = argument(
        ..., "FILE", "A table, a sheet, a campaign, an export of an annotation tool, or a folder."
    ),
    human: str | None = option(
        None, "COLUMN", "Human scores, if the name does not tell; A,B are a rater each."
    ),
    id: options.Id = None,
    document: options.Document = None,
    system: options.System = None,
    texts: options.Texts = None,
    metrics: options.Metrics = None,
    json: Json = False,
    quiet: bool = flag(False, "--quiet", "Only the findings and the next command.", "-q"),
) -> None:
    """Say what a file is, what it supports, what is wrong, and what to run next.

    Exit code 0: fine; 1: usable, but read the warnings; 3: not usable as it is.

    [bold]fewgold doctor scores.csv[/bold]
    """
    from fewgold.doctor import examine

    told = options.named(id=id, document=document, metrics=metrics, system=system, texts=texts)
    found = examine(file, human=parse.names(human) if human is not None else None, **told)
    if json:
        print(to_json(found.to_dict()))
    else:
        print(found._brief() if quiet else found.summary())
    if found.exit_code:
        raise typer.Exit(found.exit_code)
