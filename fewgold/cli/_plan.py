"""``fewgold plan``: how many ratings are needed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import _parse
from fewgold.cli._console import Format, Json, Output, Quiet, drawn, emit
from fewgold.cli._plan_of import plan_of

if TYPE_CHECKING:
    from fewgold.planning import Goal

_GOAL = "What is wanted"
_GUESS = "From a guess"
_DATA = "From ratings"
_BINARY = "Adequate or not"


def plan(
    half_width: Annotated[
        str | None,
        typer.Option(metavar="H", help="The interval is ±H.", rich_help_panel=_GOAL),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            metavar="T",
            help="The error stays within T, whatever the interval says.",
            rich_help_panel=_GOAL,
        ),
    ] = None,
    difference: Annotated[
        str | None,
        typer.Option(
            metavar="D", help="Find a difference of D between two systems.", rich_help_panel=_GOAL
        ),
    ] = None,
    confidence: Annotated[
        str, typer.Option(metavar="LEVEL", help="Of the interval.", rich_help_panel=_GOAL)
    ] = "0.95",
    power: Annotated[
        str,
        typer.Option(metavar="P", help="Chance to find the difference.", rich_help_panel=_GOAL),
    ] = "0.8",
    limits: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH", help="Ends of the scale: the worst case.", rich_help_panel=_GUESS
        ),
    ] = None,
    sd: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            parser=_parse.number,
            help="Of scores; of differences for --difference.",
            rich_help_panel=_GUESS,
        ),
    ] = None,
    correlation: Annotated[
        float,
        typer.Option(
            metavar="R",
            parser=_parse.number,
            help="Of metrics with human scores.",
            rich_help_panel=_GUESS,
        ),
    ] = 0.0,
    metrics: Annotated[
        int,
        typer.Option(metavar="K", min=1, help="Metrics that are used.", rich_help_panel=_GUESS),
    ] = 1,
    icc: Annotated[
        float | None,
        typer.Option(
            metavar="I",
            parser=_parse.rate,
            help="Share of variance between documents.",
            rich_help_panel=_GUESS,
        ),
    ] = None,
    per_document: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            parser=_parse.number,
            help="Segments of a document.",
            rich_help_panel=_GUESS,
        ),
    ] = None,
    size: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Segments of the pool.")
    ] = None,
    rating_cost: Annotated[
        float, typer.Option(metavar="C", parser=_parse.number, help="Of one rating, on average.")
    ] = 1.0,
    pilot: Annotated[
        str | None,
        typer.Option(
            metavar="SHEET", help="A rated sheet of fewgold select.", rich_help_panel=_DATA
        ),
    ] = None,
    assurance: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            parser=_parse.rate,
            help="Plan safely: the pilot's sd may be too small.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="A table rated in full, or demo-ende, demo-zhen.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    human: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Human scores in DATA.", rich_help_panel=_DATA),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="COST",
            help="Of the ratings in DATA, as for select: a column, or 10+0.5*words.",
            rich_help_panel=_DATA,
        ),
    ] = None,
    strategies: Annotated[
        str | None,
        typer.Option(metavar="A+B,…", help="To compare; see fewgold strategies."),
    ] = None,
    draws: Annotated[
        int, typer.Option(metavar="D", min=20, help="Studies to replay.", rich_help_panel=_DATA)
    ] = 200,
    seed: Annotated[
        int, typer.Option(metavar="S", min=0, help="Of the replay.", rich_help_panel=_DATA)
    ] = 0,
    alpha: Annotated[
        float | None,
        typer.Option(
            metavar="A",
            parser=_parse.rate,
            help="Success rate that is expected.",
            rich_help_panel=_BINARY,
        ),
    ] = None,
    rho: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            parser=_parse.rate,
            help="True positive rate of the metric.",
            rich_help_panel=_BINARY,
        ),
    ] = None,
    eta: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            parser=_parse.rate,
            help="True negative rate of the metric.",
            rich_help_panel=_BINARY,
        ),
    ] = None,
    metric_ratings: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Items that only the metric rates.", rich_help_panel=_BINARY
        ),
    ] = 0,
    known: Annotated[
        bool, typer.Option("--known", help="ρ and η are known exactly.", rich_help_panel=_BINARY)
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="B",
            parser=_parse.number,
            help="Instead of a goal: split B between people and metric.",
            rich_help_panel=_BINARY,
        ),
    ] = None,
    metric_cost: Annotated[
        float | None,
        typer.Option(
            metavar="C",
            parser=_parse.number,
            help="Of one metric rating, for --budget.",
            rich_help_panel=_BINARY,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw the curves: .png, .svg or .pdf."),
    ] = None,
    output: Output = Format.text,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find out how many ratings are needed, for several strategies side by side.

    From nothing but the scale (worst case), a guess, a pilot, or last year's ratings:

    [bold]fewgold plan --half-width 0.3 --limits 0,25 --size 1418[/bold]

    [bold]fewgold plan --half-width 0.3 --sd 2.4 --correlation 0.5 --size 1418[/bold]

    [bold]fewgold plan --half-width 0.3 --pilot rated.csv[/bold]

    [bold]fewgold plan --half-width 0.3 --history last_year.csv --human mqm[/bold]

    And for pass or fail:

    [bold]fewgold plan --difference 0.05 --alpha 0.6 --rho 0.9 --eta 0.9 --metric-ratings 999[/bold]
    """
    how = Format.json if json else output
    if budget is not None:
        _split(
            budget, alpha, rho, eta, rating_cost, metric_cost, known, confidence, size,
            _parse.confidence(power, "--power", "0.8"), how,
        )  # fmt: skip
        return
    wanted = {
        "--half-width": half_width, "--tolerance": tolerance, "--difference": difference
    }  # fmt: skip
    goal = _goal(wanted, confidence, power, shares=alpha is not None)
    given = {
        "--limits": limits, "--sd": sd, "--pilot": pilot, "--history": history, "--alpha": alpha
    }  # fmt: skip
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise typer.BadParameter(
            "say what is known, by one of --limits (the scale alone), --sd (a guess), --pilot, "
            f"--history, or --alpha (pass or fail); got {' and '.join(named) or 'none'}."
        )
    if assurance is not None and pilot is None:
        raise typer.BadParameter("--assurance goes with --pilot, whose sd may be too small.")
    names = _parse.names(strategies) or None
    found = plan_of(
        named[0], goal, names, size, rating_cost, quiet,
        {"sd": sd, "correlation": correlation, "slopes": metrics, "icc": icc,
         "per_document": per_document},
        {"limits": limits, "pilot": pilot, "assurance": assurance, "history": history,
         "human": human, "cost": cost, "draws": draws, "seed": seed},
        {"alpha": alpha, "rho": rho, "eta": eta, "metric": metric_ratings, "known": known},
    )  # fmt: skip
    if out is not None:
        from fewgold.plots import save

        if not drawn(partial(save, path=out), found.plot, quiet):
            out = None
    rows: Any = found.to_frame().to_dict("records")
    record = found.to_dict() | {"files": [] if out is None else [str(out)]}

    def text(_: Any) -> None:
        print(found.summary())
        if out is not None:
            print(f"\nwritten: {out}")

    emit(how, record, rows, text)


def _goal(wanted: dict[str, str | None], confidence: str, power: str, *, shares: bool) -> Goal:
    from fewgold.planning import Goal

    if sum(x is not None for x in wanted.values()) != 1:
        raise typer.BadParameter(
            "say what is wanted, by one of --half-width H (an interval of ±H), --tolerance T (an "
            "error within ±T) and --difference D (a difference that is found)."
        )
    half_width, tolerance, difference = (
        _parse.width(option, text, shares=shares) for option, text in wanted.items()
    )
    level = _parse.confidence(confidence)
    chance = _parse.confidence(power, "--power", "0.8")
    return Goal(half_width, difference, tolerance, confidence=level, power=chance)


def _split(
    budget: float,
    alpha: float | None,
    rho: float | None,
    eta: float | None,
    human_cost: float,
    metric_cost: float | None,
    known: bool,
    confidence: str,
    size: int | None,
    power: float,
    how: Format,
) -> None:
    """The best division of a budget."""
    from fewgold.planning import best_split

    if alpha is None or rho is None or eta is None or metric_cost is None:
        raise typer.BadParameter("--budget asks for --alpha, --rho, --eta and --metric-cost.")
    level = 1 - _parse.confidence(confidence)
    found = best_split(
        budget, human_cost, metric_cost, alpha=alpha, rho=rho, eta=eta, known=known, level=level,
        items=size, power=power,
    )  # fmt: skip
    record = found.to_dict()
    emit(how, record, [found.best._asdict()], lambda _: print(found.summary()))
