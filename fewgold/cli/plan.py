"""``fewgold plan``: finds out how many ratings are needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import draw, emit, note, print_summary, progress_bars
from fewgold.cli.options import Json, Output, Quiet, flag, option
from fewgold.common.text import counted
from fewgold.errors import DataError

if TYPE_CHECKING:
    from fewgold.bayes import Priors
    from fewgold.cut import Cut
    from fewgold.planning import Goal, Outlook, Plan
    from fewgold.simulation.studies import Study

# With fewer documents of several ratings, an intraclass correlation is anything between 0 and 1.
_FEW_PAIRS = 10
_GOAL = "Goal"
_GUESS = "From a guess"
_DATA = "From ratings"
_BINARY = "Adequate or not"


def plan(
    half_width: str | None = option(None, "H", "Half-width of the interval: ±H.", panel=_GOAL),
    tolerance: str | None = option(
        None, "T", "The error of the estimate stays within ±T.", panel=_GOAL
    ),
    difference: str | None = option(
        None, "D", "Smallest difference between two systems that you want to find.", panel=_GOAL
    ),
    confidence: str = option("0.95", "LEVEL", "Confidence level of the interval.", panel=_GOAL),
    power: str = option("0.8", "P", "Probability of finding the difference (power).", panel=_GOAL),
    limits: str | None = option(
        None, "LOW,HIGH", "Lowest and highest rating: plans for the worst case.", panel=_GUESS
    ),
    sd: float | None = option(
        None,
        "S",
        "Standard deviation of the ratings (with --difference: of the differences).",
        panel=_GUESS,
        parser=parse.number,
    ),
    correlation: float = option(
        0.0, "R", "Correlation of the metrics with human scores.", panel=_GUESS, parser=parse.number
    ),
    metrics: str | None = option(
        None,
        "K",
        "Number of metrics. Default: 1. For a --pilot that is a table: its metric columns, A,B,…",
        panel=_GUESS,
    ),
    icc: float | None = option(
        None,
        "I",
        "Intraclass correlation: share of the variance between documents.",
        panel=_GUESS,
        parser=parse.rate,
    ),
    per_document: float | None = option(
        None, "M", "Segments per document.", panel=_GUESS, parser=parse.number
    ),
    size: int | None = option(None, "N", "Number of segments in the pool.", min=1),
    have: int | None = option(
        None,
        "N",
        "Number of ratings that you already have. Default: those of --pilot.",
        min=0,
    ),
    rating_cost: float = option(1.0, "C", "Average cost of one rating.", parser=parse.number),
    pilot: str | None = option(
        None,
        "SHEET",
        "A rated sheet of fewgold select, or a table with labels on some rows (--chosen).",
        panel=_DATA,
    ),
    chosen: options.Chosen = None,
    assurance: float | None = option(
        None,
        "P",
        "Probability that the planned number is enough, given that the pilot's standard deviation "
        "is uncertain.",
        panel=_DATA,
        parser=parse.rate,
    ),
    history: str | None = option(
        None, "DATA", "A fully rated table, or demo-ende, demo-zhen.", panel=_DATA
    ),
    human: str | None = option(None, "COLUMN", "Column of human scores in DATA.", panel=_DATA),
    adequate: str | None = option(
        None,
        "CUT",
        "Plan for the share of scores that meet CUT, such as '>=4', in SHEET or DATA.",
        panel=_DATA,
    ),
    cost: str | None = option(
        None,
        "COST",
        "Cost of each rating in DATA, as for select: a column, or 10+0.5*words.",
        panel=_DATA,
    ),
    uncertainty: str | None = option(
        None,
        "COLUMN",
        "Column of DATA with the expected spread of each rating or a judge's probability, as for "
        "select.",
        panel=_DATA,
    ),
    strategies: str | None = option(
        None, "A+B,…", "Strategies to compare (see fewgold strategies)."
    ),
    draws: int = option(200, "D", "Number of simulated studies.", panel=_DATA, min=20),
    seed: int = option(0, "S", "Random seed.", panel=_DATA, min=0),
    alpha: float | None = option(
        None,
        "A",
        "Expected success rate, as fewgold alpha estimates it.",
        panel=_BINARY,
        parser=parse.rate,
    ),
    rho: float | None = option(
        None,
        "P",
        "Share of adequate outputs that the metric recognises (ρ).",
        panel=_BINARY,
        parser=parse.rate,
    ),
    eta: float | None = option(
        None,
        "P",
        "Share of inadequate outputs that the metric recognises (η).",
        panel=_BINARY,
        parser=parse.rate,
    ),
    human_ratings: str | None = option(
        None,
        "N,…",
        "Without a goal: shows which difference N human ratings can measure. With a goal: how many "
        "metric ratings it needs besides N human ones.",
        panel=_BINARY,
    ),
    metric_ratings: str = option(
        "0", "N,…", "Number of items rated by the metric alone.", panel=_BINARY
    ),
    bias: bool = flag(
        False,
        "--bias",
        "With --human-ratings: also show bias and spread of the estimate over simulated studies.",
        panel=_BINARY,
    ),
    prior: options.Prior = None,
    known: bool = flag(False, "--known", "Treat --rho and --eta as known exactly.", panel=_BINARY),
    budget: float | None = option(
        None,
        "B",
        "Instead of a goal: split the budget B between human and metric ratings.",
        panel=_BINARY,
        parser=parse.number,
    ),
    metric_cost: float | None = option(
        None, "C", "Cost of one metric rating, for --budget.", panel=_BINARY, parser=parse.number
    ),
    out: options.Drawing = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find out how many ratings you need, strategy by strategy.

    Say what you know: the scale alone, a guess, a pilot, or earlier ratings.

    Examples:

    [bold]fewgold plan --half-width 0.3 --limits 0,25 --size 1418[/bold]

    [bold]fewgold plan --half-width 0.3 --sd 2.4 --correlation 0.5 --size 1418[/bold]

    [bold]fewgold plan --half-width 0.3 --pilot rated.csv[/bold]

    [bold]fewgold plan --half-width 0.3 --history last_year.csv --human mqm[/bold]

    Which difference can 100 pass or fail ratings show, if 60% pass and a metric
    recognises 90% of good (rho) and of bad outputs (eta)?

    [bold]fewgold plan --human-ratings 100 --alpha 0.6 --rho 0.9 --eta 0.9[/bold]
    """
    from fewgold import planning
    from fewgold.cli.simulate import rated_studies

    how = "json" if json else output
    priors = parse.priors(prior)
    alpha, rho, eta = _with_prior_means(priors, alpha, rho, eta)
    machine = parse.counts("--metric-ratings", metric_ratings)
    if budget is not None:
        if alpha is None or rho is None or eta is None or metric_cost is None:
            raise typer.BadParameter("--budget needs --alpha, --rho, --eta and --metric-cost.")
        split = planning.best_split(
            budget, rating_cost, metric_cost, alpha=alpha, rho=rho, eta=eta, known=known,
            level=1 - parse.confidence(confidence), items=size,
            power=parse.confidence(power, "--power", "0.8"), priors=priors,
        )  # fmt: skip
        written = draw(split.plot, out, quiet)
        record = split.to_dict() | {"files": list(map(str, written))}
        rows: Any = [split.best._asdict()]
        emit(how, record, rows, lambda _: print_summary(split.summary(), written))
        return
    wanted = {
        "--half-width": half_width, "--tolerance": tolerance, "--difference": difference
    }  # fmt: skip
    if human_ratings is not None:
        if alpha is None:
            raise typer.BadParameter(
                "--human-ratings is for pass or fail: give the success rate that you expect with "
                "--alpha."
            )
        people = parse.counts("--human-ratings", human_ratings)
        study = {"alpha": alpha, "rho": rho, "eta": eta, "known": known, "priors": priors}
        if not any(wanted.values()):
            found = planning.measurable_differences(
                human=people, metric=machine, level=1 - parse.confidence(confidence),
                power=parse.confidence(power, "--power", "0.8"), draws=draws if bias else None,
                rng=seed, **study,
            )  # fmt: skip
            written = draw(found.plot, out, quiet)
            record = found.to_dict() | {"files": list(map(str, written))}
            rows = found.to_frame().to_dict("records")
            emit(how, record, rows, lambda _: print_summary(found.summary(), written))
            return
        _metric_ratings_needed(wanted, confidence, power, people, machine, study, how)
        return
    if bias:
        raise typer.BadParameter("--bias needs --human-ratings, the size of the studies.")
    if len(machine) > 1:
        raise typer.BadParameter(
            "several --metric-ratings need --human-ratings, for a table of measurable differences; "
            "for a goal give one number."
        )
    shares = alpha is not None or adequate is not None
    goal = _goal(wanted, confidence, power, shares=shares)
    given = {
        "--limits": limits, "--sd": sd, "--pilot": pilot, "--history": history, "--alpha": alpha
    }  # fmt: skip
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise typer.BadParameter(
            "say what you know, with one of --limits (the scale alone), --sd (a guess), --pilot, "
            f"--history, or --alpha (pass or fail); got {' and '.join(named) or 'none'}."
        )
    if chosen is not None and pilot is None:
        raise typer.BadParameter("--chosen is for a table with labels on some rows: --pilot TABLE.")
    slopes = 1
    if metrics is not None and chosen is None:
        if not metrics.isdecimal() or int(metrics) < 1:
            raise typer.BadParameter(
                f"--metrics is the number of metrics, at least 1; got {metrics!r}. Columns can be "
                "named for a table with labels on some rows: --pilot TABLE --chosen HOW."
            )
        slopes = int(metrics)
    if assurance is not None and pilot is None:
        raise typer.BadParameter("--assurance needs --pilot, whose sd may be too small.")
    if uncertainty is not None and history is None:
        raise typer.BadParameter("--uncertainty names a column of the table of --history.")
    if adequate is not None and pilot is None and history is None:
        raise typer.BadParameter(
            "--adequate cuts the scores of --pilot or --history. With neither, give the share "
            "that you expect with --alpha."
        )
    passing = parse.cut("--adequate", adequate)
    names = parse.names(strategies) or None
    if alpha is not None:
        made = planning.plan_binary(
            goal, size=size, cost=rating_cost, alpha=alpha, rho=rho, eta=eta,
            metric=machine[0], known=known, priors=priors,
        )  # fmt: skip
    elif (ends := parse.limits(limits)) is not None:
        made = planning.plan_worst_case(goal, ends, size, rating_cost)
    elif history is not None:
        studies = rated_studies(history, human, quiet, cost=cost, uncertainty=uncertainty)
        if passing is not None:
            studies = {
                name: study._replace(gold=passing(study.gold).astype(float))
                for name, study in studies.items()
            }
        made = _from_history(goal, studies, names, size, draws, seed, quiet)
    else:
        if sd is not None:
            outlook = planning.Outlook(
                sd=sd, correlation=correlation, slopes=slopes, icc=icc, per_document=per_document,
                size=size, cost=rating_cost,
            )  # fmt: skip
        else:
            assert pilot is not None
            outlook, rated = _from_pilot(
                goal, pilot, human, chosen, metrics, size, assurance, passing, names or (), quiet
            )
            have = rated if have is None else have
        made = planning.plan(goal, outlook, names)
    if have is not None and made.size is not None and have > made.size:
        raise typer.BadParameter(
            f"--have {have} is more than the {made.size} segments of the pool (--size)."
        )
    made = replace(made, have=have)
    written = draw(made.plot, out, quiet)
    rows = made.to_frame().to_dict("records")
    record = made.to_dict() | {"files": list(map(str, written))}
    emit(how, record, rows, lambda _: print_summary(made.summary(), written))


def _with_prior_means(
    priors: Priors | None, alpha: float | None, rho: float | None, eta: float | None
) -> tuple[float | None, float | None, float | None]:
    """Rates as given; those left out are the prior means."""
    if priors is None:
        return alpha, rho, eta
    means = [
        pair[0] / sum(pair) if isinstance(pair, tuple) and pair != (1.0, 1.0) else None
        for pair in (priors.alpha, priors.rho, priors.eta)
    ]
    given = (alpha, rho, eta)
    one, two, three = (m if g is None else g for g, m in zip(given, means, strict=True))
    return one, two, three


def _metric_ratings_needed(
    wanted: dict[str, str | None], confidence: str, power: str, human: list[int],
    metric: list[int], study: dict[str, Any], how: Any,
) -> None:  # fmt: skip
    """Number of metric ratings needed to find a difference, given the number of human ones."""
    from fewgold import planning

    goal = _goal(wanted, confidence, power, shares=True)
    if goal.difference is None or metric != [0]:
        raise typer.BadParameter(
            "--human-ratings with --difference asks how many metric ratings are needed: leave out "
            "--metric-ratings and --half-width."
        )
    rows = [
        {
            "human": n,
            "metric": planning.ratings_needed(
                goal.difference, human=n, power=goal.power, level=1 - goal.confidence, **study
            ),
        }
        for n in human
    ]
    record = {"goal": str(goal), "sizes": rows}

    def text(_: Any) -> None:
        print(f"For {goal}, for each of the two systems:\n")
        for row in rows:
            print(f"{row['human']} human ratings and {row['metric']} ratings by the metric alone")

    emit(how, record, rows, text)


def _goal(wanted: dict[str, str | None], confidence: str, power: str, *, shares: bool) -> Goal:
    from fewgold.planning import Goal

    if sum(x is not None for x in wanted.values()) != 1:
        raise typer.BadParameter(
            "say what you want, with one of --half-width H (an interval of ±H), --tolerance T (an "
            "error within ±T) and --difference D (a difference that is found)."
        )
    half_width, tolerance, difference = (
        parse.width(option, text, shares=shares) for option, text in wanted.items()
    )
    level = parse.confidence(confidence)
    chance = parse.confidence(power, "--power", "0.8")
    return Goal(half_width, difference, tolerance, confidence=level, power=chance)


def _from_pilot(
    goal: Goal, pilot: str, human: str | None, chosen: str | None, metrics: str | None,
    size: int | None, assurance: float | None, adequate: Cut | None, names: Sequence[str],
    quiet: bool,
) -> tuple[Outlook, int]:  # fmt: skip
    """What rated segments show about scores and metrics, and their number."""
    from fewgold import sheets
    from fewgold.planning import Outlook

    if goal.difference is not None:
        raise typer.BadParameter(
            "a pilot shows the sd of scores, not of differences. Give the sd of differences with "
            "--sd (about se × √n in differences.csv of fewgold compare SHEET -o FOLDER), or "
            "--history with several systems."
        )
    side = sheets.design_path(pilot)
    if chosen is not None:
        from fewgold.labels import partial_ratings

        people = None if human is None else parse.names(human)
        named = options.named(metrics=metrics)
        found = input.labelled(pilot, chosen, quiet, human=people, **named)
        ratings = partial_ratings(found).complete()
    elif side.is_file():
        record, sample = input.open_sheet(pilot, None, None, quiet)
        (column,) = sheets.score_columns(record, () if human is None else (human,))
        ratings = sheets.read_ratings(pilot, sample, score=column)
    else:
        raise DataError(
            f"--pilot takes a rated sheet of fewgold select, with its design file beside it; "
            f"there is no {str(side)!r}. If it is a table with labels on some rows, say how they "
            "were chosen, such as --chosen random. For other ratings give their sd with --sd, or a "
            "fully rated table with --history."
        )
    if adequate is not None:
        ratings = ratings.cut(adequate)
    outlook = Outlook.from_pilot(ratings, size=size, assurance=assurance, strategies=names)
    if outlook.icc is not None:
        rated = ratings.sample.pool.codes[ratings.sample.indices].tolist()
        several = sum(count > 1 for count in Counter(rated).values())
        if several < _FEW_PAIRS:
            note(
                f"the icc comes from only {counted(several, 'document')} with more than one "
                "rating, so it is little more than a guess, and so are the plans for whole "
                "documents and chunks",
                quiet,
            )
    return outlook, ratings.n


def _from_history(
    goal: Goal, studies: dict[str, Study], names: list[str] | None, size: int | None, draws: int,
    seed: int, quiet: bool,
) -> Plan:  # fmt: skip
    """Plan by replaying studies on existing ratings."""
    from fewgold import planning, registry

    if goal.difference is not None:
        studies = planning.difference_studies(studies)
    if names is None:  # the plain strategy, the metrics alone, and what we recommend
        pool = next(iter(studies.values())).pool
        usual = ["random+mean", *(["random+ridge"] if pool.metrics else [])]
        names = list(dict.fromkeys([*usual, registry.recommended(pool)]))
    with progress_bars(quiet) as bars:
        return planning.plan_from_history(
            goal, studies, None, names, size=size, draws=draws, rng=seed,
            progress=partial(bars, "replaying") if bars else None,
        )  # fmt: skip
