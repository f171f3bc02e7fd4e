"""``fewgold import``: answers into a campaign, from whatever tool they come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold._temporary import TemporaryFolder
from fewgold.cli import options
from fewgold.cli.console import escape, notes, pairs, quoted, show
from fewgold.cli.options import Json, Quiet, flag, option

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign import Receipt

_SHOWN = 5


def import_answers(
    campaign: options.Campaign,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Answers, in any format that fewgold export knows; - is stdin.",
        ),
    ] = None,
    source: str | None = option(
        None, "FORMAT", "Format, if it is not recognised by the content.", "--from"
    ),
    id: str | None = option(None, "FIELD", "Field of the segment's key or id."),
    human: str | None = option(None, "FIELD", "Field of the score; A,B for one column a rater."),
    rater: str | None = option(None, "FIELD", "Field of the rater's name."),
    by: str = option("", "NAME", "Rater of the answers that name none."),
    adopt: bool = flag(
        False,
        "--adopt",
        "Let answers count that were set aside and whose segments were sampled since.",
    ),
    fail_rejected: bool = flag(False, "--fail-rejected", "Exit with 1 if a row could not be read."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Store answers of raters in a campaign.

    Any part of them, in any order, twice if it happens: answers that are known
    are recognised. Several raters and repeated answers are kept. Answers about
    segments that were not sampled are set aside and do not count; rows that
    cannot be read are kept with the reason.

    Example: [bold]fewgold import study project-7-at-2026-11-20.json[/bold]
    """
    from fewgold.campaign import Campaign
    from fewgold.formats import Names

    if not files and not adopt:
        raise typer.BadParameter("name a file of answers, or give --adopt.")
    receipts: list[Receipt] = []
    with Campaign(campaign) as study:
        names = Names(id=id, score=human, rater=rater)
        for file in files or ():
            with _on_disk(file) as path:
                receipts.append(study.import_file(path, source, names, by=by.strip()))
        adopted = study.adopt() if adopt else 0
        waves = study.waves
        unrated = list(study.unrated) if waves else []
        sampled = sum(wave.n for wave in waves)
    notes((sentence for receipt in receipts for sentence in receipt.notes), quiet)
    result: dict[str, Any] = {
        "campaign": campaign,
        "imports": [r.to_dict() for r in receipts],
        "stored": sum(r.stored for r in receipts),
        "adopted": adopted,
        "sampled": sampled,
        "rated": sampled - len(unrated),
        "unrated": unrated,
    }
    show(json, result, lambda out: _show(out, result, receipts))
    if fail_rejected and any(r.refused for r in receipts):
        raise typer.Exit(1)


@contextmanager
def _on_disk(file: str) -> Iterator[str]:
    """The file itself; standard input as a file, so that its format can be told."""
    if file != "-":
        yield file
        return
    with TemporaryFolder() as folder:
        path = folder / "stdin"
        path.write_bytes(sys.stdin.buffer.read())
        yield str(path)


def _show(out: Console, result: dict[str, Any], receipts: list[Receipt]) -> None:
    for receipt in receipts:
        s = "" if receipt.stored == 1 else "s"
        out.print(
            f"[bold]Stored {receipt.stored} new answer{s}[/bold] from {escape(receipt.source)} "
            f"({receipt.format}, {receipt.rows} rows)."
        )
        counts = {
            "known": (receipt.known, "answers were there already"),
            "blank": (receipt.blank, "segments have no answer in it"),
            "context": (receipt.context, "rows are context"),
        }
        lines = [(name, f"{count} {what}") for name, (count, what) in counts.items() if count]
        aside = receipt.set_aside.items()
        lines += [("set aside", f"{count} answers: {escape(why)}") for why, count in aside]
        some = receipt.refused[:_SHOWN]
        lines += [("rejected", escape(f"{one.place}: {one.why}")) for one in some]
        if len(receipt.refused) > _SHOWN:
            lines.append(("", f"and {len(receipt.refused) - _SHOWN} more"))
        pairs(out, lines)
    if result["adopted"]:
        out.print(f"{result['adopted']} answers that were set aside count from now on.")
    out.print(f"\n{result['rated']} of {result['sampled']} sampled segments are rated.")
    place = quoted(result["campaign"])
    what = "status" if result["unrated"] or not result["sampled"] else "estimate"
    out.print(f"  [green]fewgold {what} {place}[/green]")
