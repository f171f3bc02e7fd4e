"""``fewgold datasets``: builds tables of real ratings from clones of public repositories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fewgold.cli import parse
from fewgold.cli.console import progress_bars, show
from fewgold.cli.options import Json, Quiet, described, flag, option

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.datasets.build import Built

Action = Annotated[
    Literal["build"],
    typer.Argument(metavar="build", help="What to do: build the tables.", show_default=False),
]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder to write the tables to.", show_default=False)
]


def datasets(
    action: Action,
    folder: Folder,
    clones: Annotated[
        Path, described("CLONES", "Folder with clones of the public repositories.", "--from")
    ],
    only: str | None = option(None, "A,B,…", "Tables to build, such as frank. Default: all."),
    fail: bool = flag(
        False, "--fail", "Exit with 1 if a table is incomplete or does not match its checksums."
    ),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Build the tables of real ratings used in the documentation.

    Clone the public repositories into one folder, each under its own name, and
    name that folder with --from. Nothing is downloaded. Columns whose
    repository is missing are left out and listed; the others are checked
    against checksums.

    Example: [bold]fewgold datasets build data --from clones[/bold]
    """
    from fewgold.datasets.build import Clones, build

    absent = Clones(clones).absent
    with progress_bars(quiet) as bar:
        made = build(folder, clones, parse.names(only), progress=bar)
    record = {"folder": str(folder), "tables": [one.to_dict() for one in made], "absent": absent}
    show(json, record, lambda out: _show(out, made, folder, absent))
    if fail and any(one.missing or one.different for one in made):
        raise typer.Exit(1)


def _show(out: Console, made: list[Built], folder: Path, absent: list[str]) -> None:
    from rich.markup import escape

    from fewgold.datasets.build import REPOSITORIES

    lacking: dict[str, list[str]] = {}
    for one in made:
        told = f"{one.rows:,} rows; {len(one.verified)} columns as expected"
        told += f", {len(one.different)} not as expected" if one.different else ""
        told += f", {len(one.unchecked)} without a checksum" if one.unchecked else ""
        told += f", {len(one.missing)} missing" if one.missing else ""
        out.print(f"[bold]{one.name}[/bold]: {told if one.rows else 'not made'}")
        if one.different:
            out.print(f"  not as expected: {escape(', '.join(one.different))}")
        for column, reason in one.missing.items():
            lacking.setdefault(reason, []).append(f"{one.name} {column}")
    for reason, columns in lacking.items():
        out.print(f"[yellow]missing:[/yellow] {escape(reason)}", soft_wrap=True)
        out.print(f"  for {escape(', '.join(columns))}")
    if lacking and absent:
        out.print("\nClone the missing repositories into the folder given by --from:")
        for name in absent:
            out.print(f"  git clone {REPOSITORIES[name]}", soft_wrap=True)
    if any(one.rows for one in made):
        out.print(f"\nTo use them: export FEWGOLD_DATA={escape(str(folder))}", soft_wrap=True)
