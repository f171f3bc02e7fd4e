"""Verdicts of fallible raters, judges and metrics: ``raters``, ``preferences``, ``naive``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.adequate import ThresholdRule
from fewgold.cli.console import draw, emit, notes, print_summary
from fewgold.cli.options import Json, Output, Quiet, argument, described, flag, option

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.bayes.pairwise import Preferences
    from fewgold.comparison import PairRanking

_COLUMNS = "Columns"

Target = Annotated[
    options.Target,
    described(
        "WHAT",
        "pool: the share of these rows alone; process: the rate of the system that made them.",
    ),
]
GoldFrom = Annotated[
    Literal["sample", "picked", "calibration"],
    described(
        "HOW",
        "How the rows with an expert verdict were chosen: sample (at random), picked (by class) or "
        "calibration (they come from elsewhere).",
    ),
]


def raters(
    file: str = argument(..., "FILE", "Table of raters' verdicts; - is CSV on stdin."),
    columns: str | None = option(
        None,
        "A,B,…",
        "One column per rater (empty where they did not rate).",
        "--raters",
        panel=_COLUMNS,
    ),
    rater: str | None = option(
        None,
        "COLUMN",
        "For tables with one row per answer: column of raters (with --id and --human).",
        panel=_COLUMNS,
    ),
    id: str | None = option(None, "COLUMN", "Column of item ids.", panel=_COLUMNS),
    human: str | None = option(None, "COLUMN", "Column of the answers.", panel=_COLUMNS),
    gold: str | None = option(
        None, "COLUMN", "Column of expert verdicts (empty where there is none).", panel=_COLUMNS
    ),
    metrics: str | None = option(
        None,
        "A,B,…",
        "Columns of judges or metrics, each treated as one more rater.",
        "--judges",
        "--metrics",
        panel=_COLUMNS,
    ),
    adequate: str | None = option(None, "CUT", "Scores that count as adequate, such as '>=4'."),
    threshold: str | None = option(
        None, "CUT", "Judge scores that count as adequate, such as '>=0.5'."
    ),
    gold_from: GoldFrom = "sample",
    target: Target = "pool",
    seed: int = option(0, "S", "Random seed.", min=0),
    confidence: str = option("0.95", "LEVEL", "Confidence level, such as 0.95 or 95%."),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Estimate the success rate and the accuracy of each rater.

    No rater is treated as the truth. The agreement between raters shows how
    often each recognises adequate items ([bold]ρ[/bold]) and inadequate ones ([bold]η[/bold]).
    Verdicts are 0 and 1, or words such as pass and fail, yes and no.

    Examples, with one column per rater and with one row per answer:

    [bold]fewgold raters verdicts.csv --raters ann,bob,cleo[/bold]

    [bold]fewgold raters answers.csv --rater who --id item --human ok[/bold]
    """
    from fewgold.bayes import RaterPosterior

    level = parse.confidence(confidence)
    table = input.read_table(file, quiet, raters=rater is not None)
    names, judges = parse.names(columns), parse.names(metrics)
    long = rater is not None
    if long == bool(names):
        raise typer.BadParameter(
            "name the columns of the verdicts: --raters ann,bob,cleo (one column per rater), or "
            "--rater COLUMN with --id and --human (one row per answer)."
        )
    if long and (id is None or human is None):
        raise typer.BadParameter("--rater needs --id (the item) and --human (the answer).")
    found = RaterPosterior.from_frame(
        table, raters=names, rater=rater, item=id, answer=human, gold=gold, metrics=judges,
        adequate=parse.cut("--adequate", adequate), threshold=parse.cut("--threshold", threshold),
        target=target, gold_from=gold_from, seed=seed,
    )  # fmt: skip
    notes(found.notes, quiet)
    written = draw(lambda: found.plot_raters(confidence=level), out, quiet)
    record = found.to_dict(level) | {"files": list(map(str, written))}
    frame = found.raters(level)
    rows: Any = frame.to_dict("records")
    emit(
        "json" if json else output, record, rows,
        lambda _: print_summary(_raters_text(found, frame, level), written),
    )  # fmt: skip


def _raters_text(found: Any, frame: pd.DataFrame, level: float) -> str:
    wide = max(5, *(len(str(name)) for name in frame["rater"]))
    lines = [
        f"{'rater':{wide}s}  answers      ρ  {100 * level:g}% interval    "
        f"  η  {100 * level:g}% interval"
    ]
    for row in frame.to_dict("records"):
        cells = [
            f"{row[n]:.3f}  {row[f'{n}_low']:.3f} to {row[f'{n}_high']:.3f}" for n in ("rho", "eta")
        ]
        lines.append(f"{row['rater']!s:{wide}s}  {row['answers']:7d}  " + "  ".join(cells))
    said = found.summary(level).split("\nnote:")[0]
    return "\n".join([
        "Success rate: " + said, "", *lines, "",
        "ρ, η: probability of recognising an adequate and an inadequate item. Assumes that raters",
        "err independently on items of the same class.",
    ])  # fmt: skip


def preferences(
    file: str = argument(
        ...,
        "FILE",
        "Table with one row per pair of outputs, or a side-by-side campaign; - is CSV on stdin.",
    ),
    human: str | None = option(
        None,
        "COLUMN",
        "Column of human verdicts: A, B or tie (empty where nobody judged).",
        panel=_COLUMNS,
    ),
    judges: str | None = option(
        None,
        "A,B,…",
        "Columns of one or more judges, with a verdict on every row.",
        "--judges",
        "--judge",
        panel=_COLUMNS,
    ),
    a: str = option(
        "A", "NAME", "Name of the first system in the verdicts.", "--a", panel=_COLUMNS
    ),
    b: str = option(
        "B", "NAME", "Name of the second system in the verdicts.", "--b", panel=_COLUMNS
    ),
    systems: str | None = option(
        None,
        "FIRST,SECOND",
        "Columns that name the two systems of each pair, to rank all systems.",
        panel=_COLUMNS,
    ),
    chosen: str | None = option(
        None,
        "HOW",
        "With --systems, how the judged pairs were chosen: random (default), strata:COLUMN, "
        "whole:COLUMN or chances:COLUMN.",
    ),
    tie: float = option(
        0.0,
        "T",
        "If verdicts are score differences: at most T counts as a tie.",
        parser=parse.number,
    ),
    target: Target = "pool",
    confidence: str = option("0.95", "LEVEL", "Confidence level, such as 0.95 or 95%."),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find out which system people prefer, with a judge's help.

    People judge a random sample of the pairs, and a judge all of them. The
    pairs judged by both are used to correct the judge's verdicts on the others.
    Rows without a verdict of the judge form a separate category. Three or more
    systems, compared in pairs, are ranked (Bradley-Terry model, --systems).

    Examples:

    [bold]fewgold preferences pairs.csv --human people --judge llm[/bold]

    [bold]fewgold preferences arena.csv --human winner --systems model_a,model_b[/bold]
    """
    from fewgold.bayes import preferences as corrected

    level = parse.confidence(confidence)
    if input.is_campaign(file):
        if human is not None or systems is not None or chosen is not None:
            raise typer.BadParameter(
                "a campaign knows its verdicts, its systems and how pairs were drawn: leave out "
                "--human, --systems and --chosen."
            )
        _of_campaign(
            file, parse.names(judges), target, level, out, "json" if json else output, quiet
        )
        return
    if human is None:
        raise typer.BadParameter("name the column of people's verdicts: --human COLUMN.")
    table = input.read_table(file, quiet)
    if chosen is not None and systems is None:
        raise typer.BadParameter("--chosen needs --systems FIRST,SECOND.")
    if systems is not None:
        if (a, b) != ("A", "B"):
            raise typer.BadParameter("--a and --b name two systems; --systems names their columns.")
        both = parse.names(systems)
        if len(both) != 2:
            raise typer.BadParameter("--systems takes two columns, such as model_a,model_b.")
        _rank(
            table, human, parse.names(judges), (both[0], both[1]), chosen or "random", tie, target,
            level, out, "json" if json else output, quiet,
        )  # fmt: skip
        return
    found = corrected(
        table, human=human, judges=parse.names(judges), a=a, b=b, tie=tie, target=target
    )
    _print_two(found, level, out, "json" if json else output, quiet)


def _rank(
    table: pd.DataFrame, human: str, judges: list[str], systems: tuple[str, str], chosen: str,
    tie: float, target: str, level: float, out: Any, output: Any, quiet: bool,
) -> None:  # fmt: skip
    """Strengths of all systems."""
    from fewgold.comparison import bradley_terry

    found = bradley_terry(
        table, human=human, first=systems[0], second=systems[1], judges=judges, chosen=chosen,
        tie=tie, target=target, level=1 - level,
    )  # fmt: skip
    _print_ranking(found, out, output, quiet)


def _print_ranking(found: PairRanking, out: Any, output: Any, quiet: bool) -> None:
    notes(found.notes, quiet)
    written = draw(found.plot, out, quiet)
    record = found.to_dict() | {"files": list(map(str, written))}
    rows: Any = found.to_frame().to_dict("records")
    text = found.summary().split("\nnote:")[0]
    emit(output, record, rows, lambda _: print_summary(text, written))


def _of_campaign(
    campaign: str, judges: list[str], target: str, level: float, out: Any, output: Any, quiet: bool
) -> None:
    """What people prefer in a side-by-side campaign."""
    from fewgold.campaign import Campaign
    from fewgold.comparison import PairRanking

    with Campaign(campaign) as study:
        found = study.preferences(judges, target=target)
    if isinstance(found, PairRanking):
        _print_ranking(replace(found, level=1 - level), out, output, quiet)
    else:
        _print_two(found, level, out, output, quiet)


def _print_two(found: Preferences, level: float, out: Any, output: Any, quiet: bool) -> None:
    notes(found.notes, quiet)
    written = draw(lambda: found.plot(confidence=level), out, quiet)
    record = found.to_dict(level) | {"files": list(map(str, written))}
    rows: Any = found.to_frame(level).to_dict("records")
    text = found.summary(level).split("\nnote:")[0]
    emit(output, record, rows, lambda _: print_summary(text, written))


def naive(
    file: str = argument(..., "FILE", "Table of human and metric scores; - is CSV on stdin."),
    human: str = option(
        ..., "COLUMN", "Column of human scores (empty where nobody rated).", panel=_COLUMNS
    ),
    metrics: str | None = option(
        None, "A,B,…", "Columns of metrics or judges.", "--metrics", "--judges", panel=_COLUMNS
    ),
    system: str | None = option(
        None, "COLUMN", "Column of system names ('none' to use none).", panel=_COLUMNS
    ),
    adequate: str | None = option(
        None, "CUT", "Human scores that count as adequate, such as '<=0'; not needed for 0 and 1."
    ),
    rule: ThresholdRule = "equal",
    per_system: bool = flag(False, "--per-system", "Use a separate threshold for each system."),
    orientation: str | None = option(
        None, "A=+1,B=-1", "Whether larger is better (+1) or worse (-1).", panel=_COLUMNS
    ),
    rated: int | None = option(
        None,
        "N",
        "In a fully rated table, use N ratings per system and hold back the rest.",
        min=1,
    ),
    target: Target = "process",
    seed: int = option(0, "S", "Random seed of --rated.", min=0),
    confidence: str = option("0.95", "LEVEL", "Confidence level, such as 0.95 or 95%."),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare raw success rates of metrics with corrected ones.

    Four rates per metric and system. naive: the share that the metric calls
    adequate; own: corrected by the rated rows of the system; pooled: corrected by
    error rates shared by all systems; transfer: corrected by error rates from the
    other systems only.

    Example: [bold]fewgold naive rated.csv --human mqm --adequate '<=0' --metrics comet[/bold]
    """
    from fewgold.bayes import naive_table
    from fewgold.errors import DataError

    level = parse.confidence(confidence)
    told, ways = parse.names(metrics), parse.orientation(orientation)
    seen = input.understand(
        input.read_table(file, quiet), quiet, human=[human], system=system, texts=[],
        metrics=told or None, need_id=False,
    )  # fmt: skip
    chosen = list(seen.metrics)
    if not chosen:
        raise DataError("no column looks like a metric. Name them with --metrics.")
    found = naive_table(
        seen.table, human=human, metrics=chosen, system=seen.system,
        adequate=parse.cut("--adequate", adequate), rated=rated, rule=rule,
        per_system=per_system, target=target, confidence=level, rng=seed,
        orientation={name: way for name, way in ways.items() if name in chosen},
    )  # fmt: skip
    written = draw(found.plot, out, quiet)
    frame = found.to_frame()
    rows: Any = frame.astype({"covered": object}).where(frame.notna(), None).to_dict("records")
    record = {
        "human": human, "metrics": chosen, "confidence": level, "target": target, "rows": rows,
        "files": list(map(str, written)),
    }  # fmt: skip
    emit(
        "json" if json else output, record, rows, lambda _: print_summary(found.summary(), written)
    )
