"""``fewgold export`` and ``fewgold import``: segments to annotation tools, answers back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import escape, note, notes, pairs, quoted, show
from fewgold.cli.options import Json, Quiet, described, flag, option
from fewgold.common.temporary import TemporaryFolder
from fewgold.common.text import counted, listed, verb

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign import Campaign, Receipt
    from fewgold.formats import Format
    from fewgold.formats.logs import HumanScore


# Segments to rate, or answers, in the format of another tool

_BY_SUFFIX = {
    ".csv": "csv", ".tsv": "tsv", ".xlsx": "xlsx", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".parquet": "parquet", ".json": "label-studio",
}  # fmt: skip


def check_target(out: str, to: str | None, force: bool = False) -> Format:
    """The format of the file to write; an error if the file cannot or must not be written."""
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
        raise typer.BadParameter(error.message_for("cli")) from None
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
    campaign: Campaign, out: str, to: str | None, which: str, context: int, quiet: bool,
    raters: list[str] | None = None,
) -> tuple[int, list[str]]:  # fmt: skip
    """Write segments to rate, and return how many, and the files for those who rate."""
    from fewgold.errors import DataError
    from fewgold.formats import check_fits
    from fewgold.formats.handout import hand_out, hand_out_to

    found = check_target(out, to, force=True)
    each = campaign.tasks_for(raters, which, context=context) if raters else {}
    tasks = next((t for t in each.values() if t.to_rate), None) or campaign.tasks(
        which, context=context
    )
    if not tasks.to_rate or (raters and not any(t.to_rate for t in each.values())):
        raise DataError(
            "every sampled segment has enough raters: there is nothing to write."
            if which == "incomplete" or raters
            else "every sampled segment has an answer: there is nothing to write. --what "
            "incomplete writes those that need more raters, --what all writes all."
        )
    if not tasks._text_names:
        note(
            "the pool has no texts to show, so raters get ids only. Name the columns of texts with "
            "--texts when you begin a campaign.",
            quiet,
        )
    if found.name == "appraise" and tasks.higher_is_better is False:
        note(
            "Appraise asks for scores from 0 to 100 where higher is better, but in this campaign "
            "lower is better. Reverse the scores before you import them.",
            quiet,
        )
    check_fits(found, tasks)
    made = hand_out_to(found, each, out) if each else hand_out(found, tasks, out)
    notes(made.notes, quiet)
    count = len({s.key for t in each.values() or [tasks] for s in t.to_rate})
    return count, [str(path) for path in made.per_rater] or [out]


What = Annotated[
    Literal["unrated", "incomplete", "all", "last", "ratings", "set-aside", "rejected", "journal"],
    described(
        "WHAT",
        "Segments to rate: unrated (default), incomplete (fewer raters than init --each asks for), "
        "last (those of the last wave) or all. Or what came back: ratings, set-aside, rejected, "
        "journal.",
    ),
]


def export(
    campaign: Annotated[
        str,
        typer.Argument(
            metavar="CAMPAIGN|SHEET|LOG",
            help="A campaign; a rated sheet, to export its scores; or an evaluation log, to write "
            "it as a table.",
        ),
    ],
    out: str = option(..., "FILE", "File (or folder) to write.", "--out", "-o"),
    to: str | None = option(
        None,
        "FORMAT",
        "csv, tsv, xlsx, jsonl, parquet, label-studio, label-studio-csv, pearmut, "
        "argilla, potato, appraise, mqm, mt-metrics-eval, wmt-da. Default: from the file's name. "
        "To write scores back: inspect, promptfoo, deepeval, lm-eval, openai-evals, langfuse, "
        "langsmith, mlflow.",
    ),
    what: What = "unrated",
    context: int = option(
        2,
        "K",
        "Number of neighbouring segments to show on either side, marked as not to be rated.",
        min=0,
    ),
    raters: str | None = option(
        None,
        "A,B,…",
        "Divide the segments among these raters, in a different order for each: one file per rater "
        "(Pearmut: one for all).",
    ),
    log: str | None = option(
        None, "FILE", "Log to write the scores back to. Default: the pool of the sheet."
    ),
    name: str = option("human", "NAME", "Name of the scores in the log."),
    source: options.Log = None,
    force: bool = flag(False, "--force", "Overwrite an existing file."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write segments for a spreadsheet or an annotation tool.

    The file hides metrics and systems. Each segment carries a key, by which
    fewgold import recognises its answer. Human scores of a rated sheet or a
    campaign can also be written back to an evaluation tool: name it with --to.

    Example: [bold]fewgold export study -o tasks.json --to label-studio[/bold]
    """
    from fewgold.campaign import Campaign
    from fewgold.formats import check_fits, logs

    if to in logs.names() or not input.is_campaign(campaign):
        _export_back(campaign, out, to, log, name, source, force, json, quiet)
        return
    tasks = what in ("unrated", "incomplete", "all", "last")
    if raters is not None and not tasks:
        raise typer.BadParameter(
            "--raters is for segments to rate: leave out --what, or use --what all."
        )
    check_target(out, to, force)
    files = [out]
    with Campaign(campaign) as study:
        items = "outputs" if study.systems else "segments"
        if tasks:
            count, files = write_tasks(study, out, to, what, context, quiet, parse.names(raters))
        elif what == "ratings":
            ratings, written = (
                study.store.rated(),
                study.tasks("all", context=context, masked=False),
            )
            target = check_target(out, to, force=True)
            check_fits(target, written)
            target.write_ratings(written, ratings, out)
            count = len(ratings)
        else:
            count = _write_table(study, out, what)
    record = {"campaign": campaign, "file": out, "what": what, "count": count}
    told = f"[bold]Wrote {count} {f'{items} to rate' if tasks else what}[/bold] to "
    told += f"{escape(listed(files))}."
    if tasks:
        told += "\n\nWhen answers arrive, all or some of them:\n"
        told += f"  [green]fewgold import {quoted(campaign)} ANSWERS[/green]"
    show(json, record, lambda screen: screen.print(told))


# Evaluation logs: as tables, and human scores written back to them


def _export_back(
    file: str, out: str, to: str | None, log: str | None, name: str, source: str | None,
    force: bool, json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Write the scores of a campaign or sheet for an evaluation tool, or a log as a table."""
    from fewgold import sheets
    from fewgold.errors import DataError
    from fewgold.formats import logs

    if Path(out).exists() and not force:
        raise typer.BadParameter(f"{out!r} exists. Choose another name, or give --force.")
    pool: str | None
    if input.is_campaign(file):
        scores, result = _campaign_scores(file, quiet)
        pool = None
    elif Path(file).is_file() and sheets.design_path(file).is_file():
        scores, result, pool = _sheet_scores(file, quiet)
    else:
        _export_table(file, out, to, source, json, quiet)
        return
    place = log or pool
    if place is None:
        raise typer.BadParameter("say which log the scores belong to: --log FILE.")
    known = logs.recognise(place)
    form = known if to is None else logs.get(to) if to in logs.names() else None
    if form is None or (known is not None and known is not form):
        whose = f"a log of {known.title}" if known else "not an evaluation log that fewgold knows"
        raise DataError(
            f"{place!r} is {whose}. Name the log with --log, and its tool with --to: "
            f"{', '.join(logs.names())}."
        )
    if not scores:
        raise DataError(f"{file!r} holds no scores yet, so there is nothing to write.")
    form.write(Path(place), scores, Path(out), name, result)
    if not form.takes:
        note(f"{form.title} cannot read scores back: {out!r} is a table to join", quiet)
    record = {"source": file, "log": place, "format": form.name, "file": out,
              "count": len(scores), "result": result}  # fmt: skip
    many = counted(len(scores), "score")
    told = f"[bold]Wrote {many}[/bold] for {escape(form.title)} to {escape(out)}"
    show(json, record, lambda screen: screen.print(f"{told}: {form.takes or 'a table to join'}."))


def _export_table(
    file: str, out: str, to: str | None, source: str | None, json: bool, quiet: bool
) -> None:
    """Write any table that fewgold reads, such as a log, as CSV, TSV or JSON lines."""
    from fewgold import sheets
    from fewgold.formats.logs.base import dumped, lines_of
    from fewgold.io import as_text, cell, is_empty, write_texts

    kind = to or _BY_SUFFIX.get(Path(out).suffix.lower())
    if kind not in ("csv", "tsv", "jsonl"):
        raise typer.BadParameter(f"tables are written as .csv, .tsv or .jsonl; got {out!r}.")
    frame = sheets.open_table(file, input.noting(quiet), source=source)
    names = list(map(str, frame.columns))
    rows = [[None if is_empty(v) else v for v in row] for row in frame.itertuples(index=False)]
    if kind == "jsonl":
        held = ({n: v for n, v in zip(names, row, strict=True) if v is not None} for row in rows)
        text = lines_of(held)
    else:
        mark = "\t" if kind == "tsv" else ","
        flat = [[dumped(v) if isinstance(v, dict | list) else v for v in row] for row in rows]
        cells = [["" if v is None else cell(v, mark) for v in row] for row in flat]
        text = as_text([names, *cells], mark)
    write_texts({Path(out): text})
    record = {"source": file, "file": out, "count": len(rows), "columns": names}
    told = f"[bold]Wrote {counted(len(rows), 'row')}[/bold] to {escape(out)}.\n\n"
    told += f"  [green]fewgold doctor {quoted(out)}[/green]"
    show(json, record, lambda screen: screen.print(told))


def _campaign_scores(place: str, quiet: bool) -> tuple[list[HumanScore], dict[str, float]]:
    """The answers of a campaign, one by one, and its estimate."""
    from fewgold.campaign import Campaign
    from fewgold.errors import FewgoldError
    from fewgold.formats.logs import HumanScore

    with Campaign(place) as study:
        answers = study.answers()
        several = bool(study.systems)
        result: dict[str, float] = {}
        if not several:
            try:
                result = _result(study.estimate())
            except FewgoldError as why:
                note(f"without the estimate: {why}", quiet)
    systems = answers["system"] if several else [""] * len(answers)
    rows = zip(answers["segment"], answers["score"], answers["rater"], systems, strict=True)
    return [HumanScore(str(i), float(s), str(m), str(r)) for i, s, r, m in rows], result


def _sheet_scores(sheet: str, quiet: bool) -> tuple[list[HumanScore], dict[str, float], str | None]:
    """The scores of a rated sheet, its estimate, and the file that its pool came from."""
    from fewgold import io, sheets
    from fewgold.errors import FewgoldError
    from fewgold.formats.logs import HumanScore

    record = sheets.read_record(sheets.design_path(sheet))
    stored = record["pool"].get("path")
    place = str(record.path.parent / stored) if isinstance(stored, str) else None
    if "systems" in record:
        from fewgold.shared_sheets import load_shared

        shared = load_shared(record)
        frame = io.read_table(sheet)
        cells = zip(frame["id"], frame[shared.score], strict=True)
        rated = [(shared.key[str(i).strip()], v) for i, v in cells if not io.is_gap(v)]
        names = [f"{i} of {s}" for (i, s), _ in rated]
        found = io.scores_of(shared.score, names, [v for _, v in rated], "Mend it.")
        pairs = zip(rated, found, strict=True)
        return [HumanScore(i, float(v), s) for ((i, s), _), v in pairs], {}, place
    record, sample = input.open_sheet(sheet, None, None, quiet)
    columns = sheets.score_columns(record)
    given = sheets.read_partial(
        io.read_table(sheet), sample, score=columns[0] if len(columns) == 1 else columns, gaps=True
    )
    pairs = zip(sample.ids, given.scores.tolist(), strict=True)
    scores = [HumanScore(str(i), float(v)) for i, v in pairs if v == v]
    result: dict[str, float] = {}
    try:
        estimator = input.estimator_of(record, None, sample.pool)
        result = _result(estimator.estimate(given.complete()))
    except FewgoldError as why:
        note(f"without the estimate: {why}", quiet)
    return scores, result, place


def _result(estimate: Any) -> dict[str, float]:
    low, high = estimate.interval()
    found = {"value": estimate.value, "se": estimate.se, "low": low, "high": high}
    return {k: float(v) for k, v in found.items()}


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


# Read answers from any tool into a campaign

_SHOWN = 5


def import_answers(
    campaign: options.Campaign,
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="File of answers, in any format that fewgold export knows; - is stdin.",
        ),
    ] = None,
    source: str | None = option(
        None, "FORMAT", "Format of the answers, if fewgold does not recognise it.", "--from"
    ),
    id: str | None = option(None, "FIELD", "Field of the segment's key or id."),
    human: str | None = option(
        None, "FIELD", "Field of the score; A,B for one column per rater, or per criterion."
    ),
    rater: str | None = option(None, "FIELD", "Field of the rater's name."),
    by: str = option("", "NAME", "Rater to record for answers without a name."),
    adopt: bool = flag(
        False,
        "--adopt",
        "Count the answers that were set aside and whose segments have been sampled since.",
    ),
    fail_rejected: bool = flag(False, "--fail-rejected", "Exit with 1 if a row could not be read."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Read the raters' answers into a campaign.

    Import any part of them, in any order; importing the same answers twice does no
    harm. Several raters and repeated answers are kept. Answers about segments that
    were not sampled are set aside and do not count. Rows that cannot be read are
    kept with the reason.

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
    """The file; standard input is copied to a file, so that its format can be recognised."""
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
            f"({receipt.format}, {counted(receipt.rows, 'row')})."
        )
        counts = {
            "known": (receipt.known, "answers were there already"),
            "blank": (receipt.blank, "segments have no answer in the file"),
            "context": (receipt.context, "rows are context"),
        }
        lines = [(name, f"{count} {what}") for name, (count, what) in counts.items() if count]
        aside = receipt.set_aside.items()
        lines += [("set aside", f"{counted(n, 'answer')}: {escape(why)}") for why, n in aside]
        some = receipt.refused[:_SHOWN]
        lines += [("rejected", escape(f"{one.place}: {one.why}")) for one in some]
        if len(receipt.refused) > _SHOWN:
            lines.append(("", f"and {len(receipt.refused) - _SHOWN} more"))
        pairs(out, lines)
    if result["adopted"]:
        many = counted(result["adopted"], "answer")
        out.print(f"{many} that had been set aside now {verb(result['adopted'], 'count')}.")
    several = result.get("systems")
    items = "chosen outputs" if several else "sampled segments"
    out.print(f"\n{result['rated']} of {result['sampled']} {items} are rated.")
    place = quoted(result["campaign"])
    done = "compare" if several else "estimate"
    what = "status" if result["unrated"] or not result["sampled"] else done
    out.print(f"  [green]fewgold {what} {place}[/green]")
