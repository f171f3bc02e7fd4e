"""``fewgold reliability``: how stable scores and rankings are, by number of documents."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import emit, no_plots, note, notes, print_summary, progress_bars
from fewgold.cli.options import Json, Output, Quiet, argument, described, flag, option
from fewgold.common.text import counted

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.reliability import CorpusScore, DocumentsNeeded, Reliability

_COLUMNS = "Columns"
_DEMO = "demo-"
_ENOUGH = "How many documents are enough"

Resample = Annotated[
    Literal["segments", "documents"],
    described("WHAT", "What the bootstrap resamples: segments, as in the paper, or documents."),
]


def reliability(
    file: str = argument(
        ...,
        "FILE",
        "Table with one row per segment and system; - is CSV on stdin; or demo-ende, demo-zhen.",
    ),
    score: str | None = option(None, "A,B,…", "Columns of human or metric scores.", panel=_COLUMNS),
    corpus: Annotated[
        list[str] | None,
        described(
            "METRIC:OUTPUT,REFERENCE",
            "A corpus-level metric: bleu, chrf or ter, with the columns of outputs and references. "
            "May be given several times.",
            "--corpus",
            panel=_COLUMNS,
        ),
    ] = None,
    document: str | None = option(None, "COLUMN", "Column of document names.", panel=_COLUMNS),
    system: str | None = option(
        None, "COLUMN", "Column of system names ('none' to use none).", panel=_COLUMNS
    ),
    segment: str | None = option(
        None,
        "COLUMN",
        "Column of ids that systems share; none to use the position in the document.",
        panel=_COLUMNS,
    ),
    orders: str = option(
        "20", "N", "Number of random document orders, or 'file' for the order of the file."
    ),
    draws: int = option(1500, "D", "Number of bootstrap samples.", min=2),
    seed: options.SeedOfDraws = 0,
    resample: Resample = "segments",
    at: str | None = option(
        None, "1,2,5,…", "Numbers of documents to try, or all. Default: up to 30 of them."
    ),
    absolute: bool = flag(False, "--absolute", "Do not divide by the mean, which may be near 0."),
    x_i: float = option(
        1.0,
        "X",
        "Number of documents at which the tangent that defines x_min touches the curve.",
        "--x-i",
    ),
    epsilon: float = option(
        0.0001, "E", "Slope below which the curve counts as flat: this defines x_max."
    ),
    drop_gaps: bool = flag(False, "--drop-gaps", "Leave out segments without a score."),
    confidence: str = option("0.95", "LEVEL", "Confidence level of the intervals."),
    half_width: float | None = option(
        None,
        "H",
        "Find how many documents give a score within ±H.",
        panel=_ENOUGH,
        parser=parse.number,
    ),
    against: str | None = option(
        None,
        "SYSTEM",
        "Measure differences from this system within ±H instead of scores.",
        panel=_ENOUGH,
    ),
    population: str | None = option(
        None,
        "D",
        "Total number of documents, or 'these' for those of the table. Default: unlimited.",
        panel=_ENOUGH,
    ),
    out: Annotated[
        Path | None, described("FOLDER", "Folder for tables and figures.", "--out", "-o")
    ] = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how a score stabilises as documents are added.

    For 1, 2, 3, … documents: how much the score varies, and how often systems are
    ranked as by all documents. A fitted curve shows where more documents begin to
    help less (x_min) and where they hardly help (x_max). --half-width finds how many
    are enough.

    Example: [bold]fewgold reliability rated.csv --score mqm --half-width 0.3[/bold]
    """
    from fewgold.reliability import documents_needed
    from fewgold.reliability import reliability as study

    level = parse.confidence(confidence)
    count = _count_or("file", orders, "--orders must be file or a number such as 20", least=1)
    hint = "--population must be a number or these"
    those = None if population is None else _count_or("these", population, hint)
    steps = _steps(at)
    if half_width is None and (against is not None or population is not None):
        raise typer.BadParameter("--against and --population need --half-width.")
    named = {"human": parse.names(score) or None, "document": document, "system": system}
    table, columns = _columns(file, named, segment, quiet, corpus or [])
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
    how = "json" if json else output
    record = result.to_dict() | {"files": [str(path) for path in written]}
    told = result.summary()
    if plan is not None:
        record["needed"] = plan.to_dict()
        told += f"\n\n{plan.summary()}"
    rows: Any = (result.fits() if how == "latex" else result.to_frame()).to_dict("records")
    emit(how, record, rows, lambda _: print_summary(told, written))


def _count_or(word: str, text: str, hint: str, least: int = 0) -> str | int:
    """A whole number, or the one word allowed instead."""
    if text.strip() == word:
        return word
    if not text.strip().isdecimal() or int(text) < least:
        raise typer.BadParameter(f"{hint}; got {text!r}.")
    return int(text)


def _steps(text: str | None) -> list[int] | str | None:
    if text is None or text.strip() == "all":
        return None if text is None else "all"
    parts = parse.names(text)
    if not parts or not all(part.isdecimal() for part in parts):
        raise typer.BadParameter(f"--at must be like 1,2,5,10, or all; got {text!r}.")
    return [int(part) for part in parts]


def _columns(
    file: str, named: dict[str, Any], segment: str | None, quiet: bool, corpus: list[str]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table and its columns, as given or else guessed from their names."""
    from fewgold.errors import DataError
    from fewgold.io.columns import roles

    if file.startswith(_DEMO) and not Path(file).exists():
        from fewgold.datasets import demo_frame

        table = demo_frame(file.removeprefix(_DEMO))
        raters = [c for c in table.columns if str(c).startswith("rater")]
        table = table.assign(score=table[raters].mean(axis=1)).drop(columns=raters)
    else:
        table = input.read_table(file, quiet)
    found = roles(table, **named, texts=[], metrics=[], id=segment, need_id=False)
    names = [str(c) for c in found.table.columns]
    document, system = found.document, found.system
    if document is None:
        raise DataError(
            f"which column holds the documents? Name it with --document: {', '.join(names)}."
        )
    asked = not corpus or named["human"]
    chosen: Any = list(found.some_humans("--score")) if asked else []
    table = found.table
    if corpus:
        chosen = {name: table[name].to_numpy() for name in chosen}
        chosen |= dict(_corpus_score(text, table) for text in corpus)
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


def _corpus_score(text: str, table: pd.DataFrame) -> tuple[str, CorpusScore]:
    """``bleu:output,reference``: a score that sacrebleu computes from columns of text, and its
    name."""
    from fewgold import io
    from fewgold.errors import DataError, UnknownNameError
    from fewgold.reliability import CorpusScore

    metric, _, rest = text.partition(":")
    columns = parse.names(rest)
    if len(columns) < 2:
        raise typer.BadParameter(
            "--corpus must be a metric and the columns of outputs and references, such as "
            f"bleu:output,reference; got {text!r}."
        )
    for name in columns:
        if name not in table.columns:
            raise UnknownNameError("column", name, map(str, table.columns))
        empty = [k for k, value in enumerate(table[name]) if io.is_empty(value)]
        if empty:
            raise DataError(
                f"column {name!r} has no text in {counted(len(empty), 'row')}, first in row "
                f"{empty[0]} "
                "(counted from 0)."
            )
    outputs, *references = (table[name].astype(str).tolist() for name in columns)
    made = CorpusScore.sacrebleu(outputs, list(zip(*references, strict=True)), metric.lower())
    return metric, made


def _shared_ids(table: pd.DataFrame, document: str, system: str, names: list[str]) -> str | None:
    """A column of ids, if each id occurs once per document and system."""
    from fewgold import io

    found = io.guess_column([n for n in names if n not in (document, system)], io.ID_NAMES)
    if found is None or document not in names:
        return None
    shared = table[found].nunique() < len(table)
    unique = not table.duplicated([document, system, found]).any()
    return found if shared and unique else None


def _save(
    result: Reliability, plan: DocumentsNeeded | None, folder: Path, quiet: bool
) -> list[Path]:
    """Write the tables as CSV, and a figure for each score if matplotlib is installed."""
    from fewgold import io
    from fewgold.plots.style import available
    from fewgold.report.sections import save_result

    frames = {"curves": result.to_frame(), "fits": result.fits()}
    if len(result.systems) > 1:
        frames["ranks"] = result.ranks()
    if plan is not None:
        frames["documents"] = plan.to_frame()
    if not available():
        no_plots(quiet)
        return save_result(folder, frames, {}, {})
    figures: dict[str, Any] = {}
    for k, score in enumerate(result.scores):
        tail = "" if len(result.scores) == 1 else f"-{k + 1}-{io.plain(score)}"
        for kind in ("sd", "mean", "tangent"):
            figures[f"{kind}{tail}"] = result.plot(kind, score=score, title=score)
        if plan is not None:
            figures[f"documents{tail}"] = plan.plot(score=score, title=score)
    if "ranks" in frames:
        figures["ranks"] = result.plot("ranks")
    return save_result(folder, frames, {}, figures)
