"""``fewgold reliability``: how steady scores and rankings are by number of documents."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import emit, no_plots, note, notes, print_summary, progress_bars
from fewgold.cli.options import Json, Output, OutputFormat, Quiet, argument, flag, option

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reliability import DocumentsNeeded, Reliability

_DEMO = "demo-"
_ENOUGH = "How many documents are enough"


#: What the bootstrap draws.
Resample = Literal["segments", "documents"]


def reliability(
    file: Annotated[
        str,
        argument(
            "FILE",
            "Table, one row a segment and system; - is CSV on stdin; or demo-ende, demo-zhen.",
        ),
    ],
    score: Annotated[
        str | None, option("A,B,…", "Human or metric scores.", panel=options.COLUMNS_SHORT)
    ] = None,
    document: Annotated[
        str | None, option("COLUMN", "Documents.", panel=options.COLUMNS_SHORT)
    ] = None,
    system: Annotated[
        str | None, option("COLUMN", "Systems; none for none.", panel=options.COLUMNS_SHORT)
    ] = None,
    segment: Annotated[
        str | None,
        option(
            "COLUMN",
            "Ids that systems share; none for the place in the document.",
            panel=options.COLUMNS_SHORT,
        ),
    ] = None,
    orders: Annotated[str, option("N", "Random orders of the documents, or file.")] = "20",
    draws: Annotated[int, option("D", "Bootstrap samples.", min=2)] = 1500,
    seed: options.SeedOfDraws = 0,
    resample: Annotated[
        Resample, option("WHAT", "Draw segments, as the paper, or whole documents.")
    ] = "segments",
    at: Annotated[
        str | None, option("1,2,5,…", "Numbers of documents, or all. Default: 30 of them.")
    ] = None,
    absolute: Annotated[
        bool, flag("--absolute", "Do not divide by the mean, which may be near 0.")
    ] = False,
    x_i: Annotated[float, option("X", "Where the tangent of x_min touches.", "--x-i")] = 1.0,
    epsilon: Annotated[float, option("E", "Slope at which x_max lies.")] = 0.0001,
    drop_gaps: Annotated[
        bool, flag("--drop-gaps", "Leave out segments that lack a score.")
    ] = False,
    confidence: Annotated[str, option("P", "Of the intervals.")] = "0.95",
    half_width: Annotated[
        float | None,
        option(
            "H",
            "Say how many documents give a score within ±H.",
            panel=_ENOUGH,
            parser=parse.number,
        ),
    ] = None,
    against: Annotated[
        str | None,
        option(
            "SYSTEM", "Differences to this system within ±H, rather than scores.", panel=_ENOUGH
        ),
    ] = None,
    population: Annotated[
        str | None,
        option(
            "D",
            "Documents that there are, or these; without it, more of the kind than one needs.",
            panel=_ENOUGH,
        ),
    ] = None,
    out: Annotated[
        Path | None, option("FOLDER", "Write tables and figures there.", "--out", "-o")
    ] = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how steady a score is with 1, 2, 3, … documents.

    Standard deviations by bootstrap, a power law through them with x_min
    and x_max, and how soon systems are ranked as in the end. --half-width
    asks the better question: how many documents are enough?

    Example: [bold]fewgold reliability rated.csv --score mqm --half-width 0.3[/bold]
    """
    from fewgold.reliability import documents_needed
    from fewgold.reliability import reliability as study

    level = parse.confidence(confidence)
    count = _orders(orders)
    steps = _steps(at)
    those = _population(population)
    if half_width is None and (against is not None or population is not None):
        raise typer.BadParameter("--against and --population go with --half-width.")
    table, columns = _columns(file, score, document, system, segment, quiet)
    columns["gaps"] = "drop" if drop_gaps else "error"
    plan = None
    if half_width is not None:
        plan = documents_needed(
            table, half_width=half_width, against=against, confidence=level, population=those,
            **columns,
        )  # fmt: skip
    with progress_bars(quiet) as bars:
        bar = None if bars is None else partial(bars, "orders")
        result = study(
            table, orders=count, draws=draws, resample=resample, at=steps,
            relative=not absolute, x_i=x_i, epsilon=epsilon, confidence=level, rng=seed,
            progress=bar, **columns,
        )  # fmt: skip
    written = [] if out is None else _save(result, plan, out, quiet)
    _print(result, plan, written, "json" if json else output)


def _orders(text: str) -> str | int:
    if text.strip() == "file":
        return "file"
    if not text.strip().isdecimal() or int(text) < 1:
        raise typer.BadParameter(f"--orders must be file or a number such as 20; got {text!r}.")
    return int(text)


def _steps(text: str | None) -> list[int] | str | None:
    if text is None or text.strip() == "all":
        return None if text is None else "all"
    parts = parse.names(text)
    if not parts or not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"--at must be like 1,2,5,10, or all; got {text!r}.")
    return [int(part) for part in parts]


def _population(text: str | None) -> int | str | None:
    if text is None or text.strip() == "these":
        return None if text is None else "these"
    if not text.strip().isdecimal():
        raise typer.BadParameter(f"--population must be a number or these; got {text!r}.")
    return int(text)


def _columns(
    file: str,
    score: str | None,
    document: str | None,
    system: str | None,
    segment: str | None,
    quiet: bool,
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table, and which columns to take: as told, else as their names suggest."""
    from fewgold.errors import DataError
    from fewgold.io.columns import roles

    demo = file.startswith(_DEMO) and not Path(file).exists()
    table = _embedded(file.removeprefix(_DEMO)) if demo else input.read_table(file, quiet)
    found = roles(
        table, document=document, system=system, human=parse.names(score) or None, texts=[],
        metrics=[], id=segment, need_id=False,
    )  # fmt: skip
    names = [str(c) for c in table.columns]
    document, system = found.document, found.system
    if document is None:
        raise DataError(f"which column holds the documents? --document: {', '.join(names)}.")
    chosen = list(found.some_humans("--score"))
    table = found.table
    told = {"document": "document", "system": "system", "human": "score"}
    guessed = [f"{told[k]} = {v}" for k, v in found.guessed.items() if k in told]
    notes(replace(found, guessed={}, left_out={}).notes(), quiet)
    if segment == "none" and "none" not in names:
        segment = None
    elif segment is None and system is not None and system in names:
        segment = _shared_ids(table, document, system, names)
        if segment is not None:
            guessed.append(f"segment = {segment}")
    if guessed:
        note(f"columns guessed: {', '.join(guessed)}", quiet)
    return table, {"score": chosen, "document": document, "system": system, "segment": segment}


def _shared_ids(table: pd.DataFrame, document: str, system: str, names: list[str]) -> str | None:
    """A column of ids, if each id stands once in every document and system that has it."""
    from fewgold import io

    found = io.guess_column([n for n in names if n not in (document, system)], io.ID_NAMES)
    if found is None or document not in names:
        return None
    shared = table[found].nunique() < len(table)
    unique = not table.duplicated([document, system, found]).any()
    return found if shared and unique else None


def _embedded(kind: str) -> pd.DataFrame:
    """An embedded set; the score of a segment is the mean of its raters."""
    from fewgold.datasets import demo_frame

    table = demo_frame(kind)
    raters = [c for c in table.columns if str(c).startswith("rater")]
    return table.assign(score=table[raters].mean(axis=1)).drop(columns=raters)


def _save(
    result: Reliability, plan: DocumentsNeeded | None, folder: Path, quiet: bool
) -> list[Path]:
    """Write the tables as CSV, and a figure for each score where matplotlib is there."""
    from fewgold import io
    from fewgold.plots.style import available
    from fewgold.report.layout import save_result

    frames = {"curves": result.to_frame(), "fits": result.fits()}
    if len(result.systems) > 1:
        frames["ranks"] = result.ranks()
    if plan is not None:
        frames["documents"] = plan.to_frame()
    figures: dict[str, Any] = {}
    if not available():
        no_plots(quiet)
        return save_result(folder, frames, {}, figures)
    for k, score in enumerate(result.scores):
        tail = "" if len(result.scores) == 1 else f"-{k + 1}-{io.plain(score)}"
        for kind in ("sd", "mean", "tangent"):
            figures[f"{kind}{tail}"] = result.plot(kind, score=score, title=score)
        if plan is not None:
            figures[f"documents{tail}"] = plan.plot(score=score, title=score)
    if "ranks" in frames:
        figures["ranks"] = result.plot("ranks")
    return save_result(folder, frames, {}, figures)


def _print(
    result: Reliability, plan: DocumentsNeeded | None, written: list[Path], how: OutputFormat
) -> None:
    record = result.to_dict() | {"files": [str(path) for path in written]}
    if plan is not None:
        record["needed"] = plan.to_dict()
    told = result.summary() if plan is None else f"{result.summary()}\n\n{plan.summary()}"
    rows: Any = (result.fits() if how == "latex" else result.to_frame()).to_dict("records")
    emit(how, record, rows, lambda _: print_summary(told, written))
