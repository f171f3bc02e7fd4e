"""``fewgold export``: what raters need, or what they gave, in the format of another tool."""

from __future__ import annotations

import shlex
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fewgold.cli._console import Json, Quiet, console, to_json
from fewgold.cli._export_tasks import check_target, write_tasks

if TYPE_CHECKING:
    from fewgold.campaign import Campaign


class What(StrEnum):
    """What is written."""

    unrated = "unrated"
    wanting = "wanting"
    all = "all"
    last = "last"
    ratings = "ratings"
    set_aside = "set-aside"
    rejected = "rejected"
    journal = "journal"


def export(
    campaign: Annotated[str, typer.Argument(metavar="CAMPAIGN", help="Its folder or file.")],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="File (or folder) to write.")
    ],
    to: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT",
            help="csv, tsv, xlsx, jsonl, parquet, label-studio, label-studio-csv, pearmut, "
            "argilla, potato, appraise, mqm, mt-metrics-eval, wmt-da. Default: by the file's name.",
        ),
    ] = None,
    what: Annotated[
        What,
        typer.Option(
            metavar="WHAT",
            help="Segments to rate: unrated (default), wanting (fewer raters than --each of init "
            "asks for), last (of the last wave) or all. Or what came: ratings, set-aside, "
            "rejected, journal.",
        ),
    ] = What.unrated,
    context: Annotated[
        int,
        typer.Option(
            metavar="K",
            min=0,
            help="Neighbours of the document on either side, marked as not to be rated.",
        ),
    ] = 2,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write what is to be rated for a spreadsheet or an annotation tool.

    Neither metrics nor systems are in it. Each segment carries a key by which
    its answer is known when it comes back with fewgold import.

    Example: [bold]fewgold export study -o tasks.json --to label-studio[/bold]
    """
    from fewgold.campaign import Campaign

    tasks = what in (What.unrated, What.wanting, What.all, What.last)
    check_target(out, to, force)
    with Campaign(campaign) as study:
        if tasks:
            count = write_tasks(study, out, to, what.value, context, quiet)
        elif what is What.ratings:
            count = _write_ratings(study, out, to, context)
        else:
            count = _write_table(study, out, what)
    if json:
        print(to_json({"campaign": campaign, "file": out, "what": what.value, "count": count}))
        return
    from rich.markup import escape

    screen = console()
    named = "segments to rate" if tasks else what.value
    screen.print(f"[bold]Wrote {count} {named}[/bold] to {escape(out)}.")
    if tasks:
        screen.print()
        screen.print("When answers come, all or some of them:")
        place = escape(shlex.quote(campaign))
        screen.print(f"  [green]fewgold import {place} ANSWERS[/green]")


def _write_ratings(campaign: Campaign, out: str, to: str | None, context: int) -> int:
    found = check_target(out, to, force=True)
    ratings = campaign.rated()
    found.write_ratings(campaign.tasks("all", context=context, masked=False), ratings, out)
    return len(ratings)


def _write_table(campaign: Campaign, out: str, what: What) -> int:
    from fewgold.tables import as_text, cell, write_texts

    frame = {
        What.set_aside: campaign.set_aside, What.rejected: campaign.rejected,
        What.journal: campaign.journal,
    }[what]()  # fmt: skip
    if not out.lower().endswith((".csv", ".tsv")):
        raise typer.BadParameter(f"{what.value} is written as a .csv or .tsv file; got {out!r}.")
    separator = "\t" if out.lower().endswith(".tsv") else ","
    rows = [[cell(v, separator) for v in row] for row in frame.itertuples(index=False)]
    write_texts({Path(out): as_text([list(map(str, frame.columns)), *rows], separator)})
    return len(frame)
