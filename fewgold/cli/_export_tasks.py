"""Writes what raters need into a file whose format is told or guessed."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from fewgold.cli._console import note

if TYPE_CHECKING:
    from fewgold.campaign import Campaign
    from fewgold.formats import Format

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

    found = check_target(out, to, force=True)
    tasks = campaign.tasks(which, context=context)
    if not tasks.to_rate:
        raise DataError(
            "every sampled segment has as many raters as were wanted: there is nothing to write."
            if which == "wanting"
            else "every sampled segment has an answer: there is nothing to write. Those that want "
            "further raters are written with --what wanting, all with --what all."
        )
    if not tasks.text_names:
        note(
            "note: the pool has no texts to show, so that raters get ids only. Texts are named "
            "with --texts when a campaign begins.",
            quiet,
        )
    if found.name == "appraise" and tasks.higher_is_better is False:
        note(
            "note: Appraise asks for scores from 0 to 100, the better the more, and in this "
            "campaign less is better. Turn the scores round before they are imported.",
            quiet,
        )
    found.write_tasks(tasks, out)
    if (second := found.beside(out)) is not None:
        note(f"note: {found.title} needs its configuration as well: {str(second)!r}", quiet)
    return len(tasks.to_rate)
