"""``fewgold export`` and ``fewgold import``: segments to annotation tools, and answers back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import options
from fewgold.cli.console import escape, note, notes, pairs, quoted, show
from fewgold.cli.options import Json, Quiet, described, flag, option
from fewgold.common.temporary import TemporaryFolder

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign import Campaign, Receipt
    from fewgold.formats import Format


# What raters need, or what they gave, in the format of another tool

_BY_SUFFIX = {
    ".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".json": "label-studio",
}  # fmt: skip


def check_target(out: str, to: str | None, force: bool = False) -> Format:
    """The format of a file that may be written, or a sentence why it may not."""
    from fewgold import formats
    from fewgold.errors import DataError, UnknownNameError

    if to is None:
        to = _BY_SUFFIX.get(Path(out).suffix.lower())
        if to is None:
            raise typer.BadParameter(
                f"cannot tell the format of {out!r} from its name. Name it with --to: "
                f"{', '.join(formats.names())}."
            )
    try:
        found = formats.get(to)
    except UnknownNameError as error:
        raise typer.BadParameter(str(error)) from None
    if to == "xlsx" and find_spec("openpyxl") is None:
        raise DataError(
            "writing spreadsheets needs openpyxl. Install it with: pip install 'fewgold[xlsx]', "
            "or write a .csv file, which spreadsheets open too."
        )
    if Path(out).exists() and not force:
        raise typer.BadParameter(
            f"{out!r} exists and may hold answers. Choose another name, or overwrite it with "
            "--force of fewgold export."
        )
    return found


def write_tasks(
    campaign: Campaign, out: str, to: str | None, which: str, context: int, quiet: bool
) -> int:
    """Write segments to rate; their number."""
    from fewgold.errors import DataError
    from fewgold.formats import check_criteria

    found = check_target(out, to, force=True)
    tasks = campaign.tasks(which, context=context)
    if not tasks.to_rate:
        raise DataError(
            "every sampled segment has as many raters as were wanted: there is nothing to write."
            if which == "wanting"
            else "every sampled segment has an answer: there is nothing to write. Those that want "
            "further raters are written with --what wanting, all with --what all."
        )
    if not tasks._text_names:
        note(
            "the pool has no texts to show, so that raters get ids only. Texts are named "
            "with --texts when a campaign begins.",
            quiet,
        )
    if found.name == "appraise" and tasks.higher_is_better is False:
        note(
            "Appraise asks for scores from 0 to 100, the better the more, and in this "
            "campaign less is better. Turn the scores round before they are imported.",
            quiet,
        )
    check_criteria(found, tasks)
    found.write_tasks(tasks, out)
    if (second := found._beside(out)) is not None:
        note(f"{found.title} needs its configuration as well: {str(second)!r}", quiet)
    return len(tasks.to_rate)


What = Annotated[
    Literal["unrated", "wanting", "all", "last", "ratings", "set-aside", "rejected", "journal"],
    described(
        "WHAT",
        "Segments to rate: unrated (default), wanting (fewer raters than --each of init "
        "asks for), last (of the last wave) or all. Or what came: ratings, set-aside, "
        "rejected, journal.",
    ),
]


def export(
    campaign: options.Campaign,
    out: str = option(..., "FILE", "File (or folder) to write.", "--out", "-o"),
    to: str | None = option(
        None,
        "FORMAT",
        "csv, tsv, xlsx, jsonl, parquet, label-studio, label-studio-csv, pearmut, "
        "argilla, potato, appraise, mqm, mt-metrics-eval, wmt-da. Default: by the file's "
        "name.",
    ),
    what: What = "unrated",
    context: int = option(
        2, "K", "Neighbours of the document on either side, marked as not to be rated.", min=0
    ),
    force: bool = flag(False, "--force", "Overwrite an existing file."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write what is to be rated for a spreadsheet or an annotation tool.

    Neither metrics nor systems are in it. Each segment carries a key by which
    its answer is known when it comes back with fewgold import.

    Example: [bold]fewgold export study -o tasks.json --to label-studio[/bold]
    """
    from fewgold.campaign import Campaign
    from fewgold.formats import check_criteria

    tasks = what in ("unrated", "wanting", "all", "last")
    check_target(out, to, force)
    with Campaign(campaign) as study:
        if tasks:
            count = write_tasks(study, out, to, what, context, quiet)
        elif what == "ratings":
            ratings, written = (
                study.store.rated(),
                study.tasks("all", context=context, masked=False),
            )
            target = check_target(out, to, force=True)
            check_criteria(target, written)
            target.write_ratings(written, ratings, out)
            count = len(ratings)
        else:
            count = _write_table(study, out, what)
    record = {"campaign": campaign, "file": out, "what": what, "count": count}
    told = f"[bold]Wrote {count} {'segments to rate' if tasks else what}[/bold] to {escape(out)}."
    if tasks:
        told += "\n\nWhen answers come, all or some of them:\n"
        told += f"  [green]fewgold import {quoted(campaign)} ANSWERS[/green]"
    show(json, record, lambda screen: screen.print(told))


def _write_table(campaign: Campaign, out: str, what: What) -> int:
    from fewgold.io import as_text, cell, write_texts

    frame = {
        "set-aside": campaign.store.set_aside, "rejected": campaign.store.rejected,
        "journal": campaign.store.journal,
    }[what]()  # fmt: skip
    if not out.lower().endswith((".csv", ".tsv")):
        raise typer.BadParameter(f"{what} is written as a .csv or .tsv file; got {out!r}.")
    separator = "\t" if out.lower().endswith(".tsv") else ","
    rows = [[cell(v, separator) for v in row] for row in frame.itertuples(index=False)]
    write_texts({Path(out): as_text([list(map(str, frame.columns)), *rows], separator)})
    return len(frame)


# Answers into a campaign, from whatever tool they come

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
    human: str | None = option(
        None, "FIELD", "Field of the score; A,B for one column per rater, or per criterion."
    ),
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
    if study.systems:
        result["systems"] = study.systems
    show(json, result, lambda out: _show_receipts(out, result, receipts))
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


def _show_receipts(out: Console, result: dict[str, Any], receipts: list[Receipt]) -> None:
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
    several = result.get("systems")
    items = "chosen outputs" if several else "sampled segments"
    out.print(f"\n{result['rated']} of {result['sampled']} {items} are rated.")
    place = quoted(result["campaign"])
    done = "compare" if several else "estimate"
    what = "status" if result["unrated"] or not result["sampled"] else done
    out.print(f"  [green]fewgold {what} {place}[/green]")
