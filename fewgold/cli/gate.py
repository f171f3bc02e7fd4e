"""``fewgold gate``: checks a score against a bar, with the answer in the exit code."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, options, parse
from fewgold.cli import rated as rated_study
from fewgold.cli.console import BAD_DATA, emit, escape, note, pairs, remarks, to_json
from fewgold.cli.options import Json, Output, Quiet, argument, described, flag, option
from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.estimate import Estimate
    from fewgold.gate import Gate

_BATCH = "One batch of the table"


def gate(
    file: str = argument(
        ...,
        "FILE",
        "The rated sheet, a campaign, or a table with labels on some rows (--chosen); - is CSV on "
        "stdin.",
    ),
    bar: float = option(
        ..., "SCORE", "Score to reach, in the units of the ratings.", parser=parse.number
    ),
    confidence: options.Confidence = None,
    higher_is_better: bool | None = options.direction(
        None, "Default: as set in the campaign; otherwise higher, or lower with --limits mqm."
    ),
    looks: int = option(1, "K", "How often you will run the gate while ratings come in.", min=1),
    unknown_passes: bool = flag(
        False, "--unknown-passes", "Exit with 0 instead of 3 while the answer is not yet known."
    ),
    by: str | None = option(
        None, "COLUMN", "Use only the rows with the last value of this column.", panel=_BATCH
    ),
    part: str | None = option(
        None, "VALUE", "With --by: use this value instead of the last.", panel=_BATCH
    ),
    every: Annotated[
        str | None,
        described("day|week|month", "With --by: group dates by day, week or month.", panel=_BATCH),
    ] = None,
    pool: options.Pool = None,
    design: options.SideFile = None,
    human: str | None = option(None, "COLUMN", "Column of human scores; A,B takes the mean."),
    id: options.SheetId = "id",
    estimator: options.Estimator = None,
    bound: str | None = option(
        None, "NAME", "Method for the interval, as for fewgold estimate. Default: auto."
    ),
    limits: options.ScaleEnds = None,
    adequate: str | None = option(
        None,
        "CUT",
        "Test the share of segments whose score meets CUT, such as '>=4'.",
        "--share",
        "--adequate",
    ),
    gaps: rated_study.Gaps = "wait",
    waves: int | None = option(None, "K", "In a campaign: use only the first K waves.", min=1),
    only_system: str | None = option(
        None,
        "NAME",
        "In a campaign of several systems: the one to test.",
        "--system",
    ),
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    metrics: options.LabelMetrics = None,
    target: options.EstimateTarget = "pool",
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Pass or fail in CI: is the score at least a given bar?

    Exit code 0: at the bar or better; 1: worse; 2: wrong options; 3: not yet known,
    with the number of further ratings that would probably decide. The chance of a
    wrong 0 or 1 is at most 5% (--confidence). Data that cannot be read also give 3:
    stderr then has a line "error: ...", and the verdict in --json is "error".

    Examples:

    [bold]fewgold gate to_rate.csv --bar 0.85[/bold]

    [bold]fewgold gate log.csv --bar 4 --chosen random --by date --every week[/bold]
    """
    how = "json" if json else output
    try:
        found = _decided(locals())
    except FewgoldError as error:
        if how == "json":
            told = {"verdict": "error", "exit_code": BAD_DATA, "passed": None, "bar": bar}
            why = error.message_for("cli")
            print(to_json(told | {"sentence": f"error: {why}", "error": why, "file": file}))
        raise
    record = found.to_dict() | {"file": file}
    flat = {k: v for k, v in record.items() if not isinstance(v, list)}
    emit(how, record, [flat], lambda out: _show(out, found))
    if found.exit_code and not (unknown_passes and found.passed is None):
        raise typer.Exit(found.exit_code)


def _decided(told: dict[str, Any]) -> Gate:
    from fewgold.gate import gate as decide

    level = None if told["confidence"] is None else parse.confidence(told["confidence"])
    if level is not None and level <= 0.5:
        raise typer.BadParameter(f"--confidence must be above 0.5 for a gate; got {level:g}.")
    file, higher, cut = told["file"], told["higher_is_better"], told["adequate"]
    passing = parse.cut("--share or --adequate", cut)
    made_by = None if told["bound"] is None else parse.bound(told["bound"])
    if told["by"] is None and (told["part"] is not None or told["every"] is not None):
        raise typer.BadParameter("--part and --every need --by COLUMN.")
    names = (
        "pool", "design", "human", "id", "estimator", "limits", "gaps", "waves", "chosen",
        "labels", "on", "metrics", "quiet",
    )  # fmt: skip
    system = told["only_system"]
    if system is not None and not input.is_campaign(file):
        raise typer.BadParameter("--system is for campaigns of several systems.")
    study = rated_study.opened(
        file, level=level, system=system, **{name: told[name] for name in names}
    )
    if passing is not None:
        study = study._replace(partial=study.partial.cut(passing))
    if higher is None:
        higher = rated_study.better(file, told["limits"], passing is not None)
    made = study.estimator
    if passing is None:
        made = rated_study.pointed(made, higher, quiet=True)
    rated_study.check_limits([study.partial], made, made_by, passing, told["gaps"])
    if made_by is not None:
        made = replace(made, bound=made_by)  # type: ignore[type-var]
    study = study._replace(estimator=made)
    estimate = _whole(study, told) if told["by"] is None else _part(study, told)
    return decide(
        estimate, told["bar"], higher_is_better=higher, confidence=study.level,
        looks=told["looks"],
    )  # fmt: skip


def _whole(study: rated_study.RatedStudy, told: dict[str, Any]) -> Any:
    from fewgold import labels

    return labels.for_target(
        study.estimator, study.partial, told["target"], told["gaps"], study.level
    )


def _part(study: rated_study.RatedStudy, told: dict[str, Any]) -> Estimate:
    """The score of the last batch, or of the batch named by --part."""
    from fewgold.errors import UnknownNameError
    from fewgold.missing import ratings_for
    from fewgold.monitoring import batch_labels
    from fewgold.quantities import weighted_mean

    if told["gaps"] == "bounds" or told["target"] == "process":
        raise typer.BadParameter(
            "--gaps bounds and --target process are for the whole pool; leave out --by."
        )
    ratings = ratings_for(study.partial, study.estimator, told["gaps"])
    column = input.columns_beside(told["file"], ratings, study.table(), study.sheet, told["id"])
    values, order, how = batch_labels(column(told["by"]), told["every"], told["by"])
    name = order[-1] if told["part"] is None else told["part"]
    if told["part"] is None and len(order) > 1 and how == "in the order of the table":
        note(
            f"only rows with the last value of {told['by']} in the table count, {name}; name "
            f"another with --part, such as --part {shlex.quote(order[0])}",
            told["quiet"],
        )
    if name not in order:
        raise UnknownNameError(f"value of {told['by']}", name, order)
    return weighted_mean(
        ratings, study.estimator, (values == name).astype(float), of=f"mean of {name}"
    )


def _show(out: Console, found: Gate) -> None:
    from fewgold.common.text import decimals, fixed

    colour = {"better": "green", "worse": "red", "unknown": "yellow"}[found.verdict]
    out.print(f"[bold {colour}]{escape(found.sentence)}[/bold {colour}]\n")
    places = decimals((found.high - found.low) / 4)
    ends = [fixed(end, places).replace("inf", "∞") for end in (found.low, found.high)]
    score = "unknown" if found.value is None else fixed(found.value, places)
    what = "score" if found.of == "mean" else found.of
    lines = [
        (what, score),
        (f"{100 * found.level:.6g}% interval", f"{' to '.join(ends)} ({escape(found.label)})"),
        ("ratings", f"{found.n} of {found.size} segments"),
    ]
    if found.advice:
        lines.append(("still to rate", found.advice))
    pairs(out, lines)
    remarks(out, found.notes)
    out.print("\nTo cite this number:")
    out.print(f"  {escape(found.signature)}", soft_wrap=True)
