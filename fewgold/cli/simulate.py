"""``fewgold simulate``: which strategy would have worked best on fully rated data."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import input, options, parse, uneven
from fewgold.cli.console import (
    emit,
    note,
    notes,
    print_summary,
    progress_bars,
    resumable,
    save_all,
)
from fewgold.cli.options import Json, Output, Quiet, argument, flag, option

if TYPE_CHECKING:
    from fewgold.simulation.studies import Study

_DEMO = "demo-"
_WHERE = "Where to run"


def simulate(
    data: str = argument(
        ...,
        "DATA",
        "Table in which people rated every segment, or demo-ende, demo-zhen.",
        show_default=False,
    ),
    human: str | None = option(None, "COLUMN", "Column of human scores.", panel=options.COLUMNS),
    by: str | None = option(
        None,
        "A,B",
        "Columns that divide the table into pools, such as system,rater. Default: the systems, if "
        "ids repeat.",
        panel=options.COLUMNS,
    ),
    strategies: str | None = option(
        None, "A+B,…", "Strategies to try (see fewgold strategies). Default: all usual ones."
    ),
    budgets: str = option(
        "5%:50%:5%", "LIST", "Numbers of ratings to try, such as 5%:50%:5% or 50,100,200."
    ),
    draws: options.Draws = 100,
    seed: options.SeedOfDraws = 0,
    baseline: str = option("random+mean", "NAME", "Strategy to compare with."),
    confidence: str = option("0.95", "LEVEL", "Confidence level of the intervals."),
    bounds: str | None = option(None, "A,B", "More kinds of interval to try, such as hoeffding."),
    limits: str | None = option(None, "LOW,HIGH", "Lowest and highest rating."),
    adequate: str | None = option(
        None,
        "CUT",
        "Estimate the share of segments whose score meets CUT, such as '<=0'.",
    ),
    out: options.Folder = None,
    resume: options.Resume = False,
    n_jobs: int | None = option(None, "J", "Number of processes; -1 for all cores.", panel=_WHERE),
    backend: str | None = option(None, "NAME", "loky, threading or dask.", panel=_WHERE),
    scheduler: str | None = option(None, "ADDRESS", "Address of a dask cluster.", panel=_WHERE),
    id: options.Id = None,
    document: options.Document = None,
    metrics: options.Metrics = None,
    cost: options.Cost = None,
    orientation: options.Orientation = None,
    uncertainty: uneven.Uncertainty = None,
    history: uneven.HistoryFile = None,
    history_human: uneven.HistoryHuman = None,
    uniform: uneven.Uniform = None,
    rated_only: bool = flag(False, "--rated-only", "Leave out rows without a human score."),
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try strategies on data that people have rated in full.

    Each strategy chooses segments, sees their ratings and estimates the score
    of all segments. This is repeated many times. The true score is known, so
    the error of every estimate is too.

    Example: [bold]fewgold simulate rated.csv --human mqm --budgets 5%,10%[/bold]
    """
    from fewgold import registry
    from fewgold import simulate as run
    from fewgold.simulation.run import running_on

    asked: dict[str, Any] = {
        "strategies": parse.names(strategies) or None,
        "budgets": parse.budgets(budgets),
        "draws": draws,
        "rng": seed,
        "baseline": baseline,
        "confidence": parse.confidence(confidence),
        "bounds": {name: registry.bound(name) for name in parse.names(bounds)},
        "limits": parse.limits(limits),
    }
    passing = parse.cut("--adequate", adequate)
    if resume and out is None:
        raise typer.BadParameter("--resume needs --out, the folder of the earlier run.")
    studies = rated_studies(
        data, human, quiet, by=by, orientation=orientation, rated_only=rated_only, id=id,
        document=document, metrics=parse.names(metrics) or None, cost=cost,
        uncertainty=uncertainty,
    )  # fmt: skip
    if history is not None:
        studies = _with_history(studies, history, history_human, quiet)
    elif history_human is not None:
        raise typer.BadParameter("--history-human needs --history.")
    if passing is not None:
        studies = {k: s._replace(gold=passing(s.gold).astype(float)) for k, s in studies.items()}
        asked["limits"] = (0.0, 1.0)
    asked["strategies"] = _chosen(asked["strategies"], studies, asked["limits"], uniform)
    store = None if out is None else out / "cells"
    with progress_bars(quiet) as bars, running_on(backend, scheduler, n_jobs), resumable(store):
        bar = partial(bars, "simulating") if bars else None
        result = run(studies, **asked, progress=bar, store=store, resume=resume)
    written, how = save_all(result, out, quiet), "json" if json else output
    frame, ranking = result.to_frame(), result.ranking()
    record = {
        "signature": result.signature,
        "seconds": result.seconds,
        "ranking": ranking.to_dict("records"),
        "cells": frame.to_dict("records"),
        "failures": result.failures.to_dict("records"),
        "files": [str(path) for path in written],
    }
    if len(gains := result.uneven()):
        record["uneven"] = gains.to_dict("records")
    rows: Any = (ranking if how == "latex" else frame).to_dict("records")
    emit(how, record, rows, lambda _: print_summary(result.summary(), written))
    lost = [s for s in result.strategies if all(c.failure for c in result.cells if c.strategy == s)]
    if lost:  # the table shows the reasons; scripts need an exit code
        raise typer.Exit(1)


def _chosen(
    names: list[str] | None, studies: dict[str, Study], limits: tuple[float, float] | None,
    uniform: float | None,
) -> Any:  # fmt: skip
    """The strategies to compare; the default ones depend on the rating scale."""
    from fewgold import registry
    from fewgold.errors import DesignError
    from fewgold.simulation.run import check_scale, check_strategy, usual_strategies

    if names is None:
        usual, fitting = usual_strategies(studies), []
        for name in usual:
            with suppress(DesignError):
                check_scale(name, studies, limits)
                fitting.append(name)
        names = None if fitting == usual and uniform is None else fitting
    else:
        for name in names:
            check_strategy(name, studies)
            check_scale(name, studies, limits)
    if names is None or uniform is None:
        return names
    made: dict[str, Any] = {}
    for name in names:
        made[name] = name
        with suppress(DesignError):  # equal chances
            made[name] = registry.strategy(name, uniform=uniform)
    if all(isinstance(one, str) for one in made.values()):
        raise typer.BadParameter(
            f"--uniform is for strategies with uneven chances, such as {registry.UNEVEN}."
        )
    return made


def _with_history(
    studies: dict[str, Study], file: str, human: str | None, quiet: bool
) -> dict[str, Study]:
    """Studies whose pools use earlier ratings, but never the ratings that are replayed."""
    read: dict[tuple[str, ...], uneven.Earlier] = {}
    found = {}
    for name, study in studies.items():
        key = tuple(study.pool.metrics)
        if key not in read:
            read[key] = uneven.read_history(file, human, study.pool, quiet)
        earlier = uneven.without_own(read[key], study.pool, study.gold, name)
        found[name] = study._replace(pool=earlier.history.inform(study.pool))
        own = "" if len(studies) == 1 else f" of {name}"
        note(f"history{own}: {earlier.told(study.pool)['sentence']}", quiet)
    return found


def rated_studies(
    data: str,
    human: str | None,
    quiet: bool,
    *,
    by: str | None = None,
    orientation: str | None = None,
    rated_only: bool = False,
    uncertainty: str | None = None,
    **named: Any,
) -> dict[str, Study]:
    """Rated pools from a table whose columns are named or guessed, or the built-in ones."""
    from fewgold import io
    from fewgold.datasets import demo_systems, load_demo
    from fewgold.simulation import studies_from_table
    from fewgold.simulation.studies import Study
    from fewgold.uncertainty import roles_beside

    if data.startswith(_DEMO) and not Path(data).exists():
        if uncertainty is not None:
            raise typer.BadParameter(
                "--uncertainty names a column of a table. Write the data with fewgold demo --save "
                "FOLDER to try it."
            )
        kind = data.removeprefix(_DEMO)
        return {s: Study(*load_demo(kind, system=s)) for s in demo_systems(kind)}
    parts = parse.names(by)
    found, column = roles_beside(
        input.read_table(data, quiet), uncertainty, **named, texts=[],
        human=parse.names(human) or None, other=parts, orientation=parse.orientation(orientation),
    )  # fmt: skip
    notes(found.notes(), quiet)
    humans = found.some_humans()
    if found.rater not in (None, *parts) and not parts:
        one = found.per_output()
        if len(one.table) < len(found.table):
            found = one
            note(f"{len(one.table)} outputs, each scored by the mean of its raters", quiet)
    table, systems = found.table, found.system
    columns = {k: v for k, v in found.columns.items() if k not in ("texts", "system")}
    if not parts and systems is not None and table[columns["id"]].duplicated().any():
        parts = [systems]
        note(f"ids repeat, so each {parts[0]} is a separate pool (--by)", quiet)
    if columns.get("cost") is not None:
        table = io.with_cost(table, columns["cost"])
    if column is not None:
        spread = "expected spread"
        table = table.assign(**{spread: column.spread(table, table[columns["id"]])})
        columns["spread"] = spread
        note(f"expected spread: {column.sentence}", quiet)
    studies, told = studies_from_table(
        table, human=humans, by=parts, rated_only=rated_only, **columns
    )
    notes(told, quiet)
    return studies
