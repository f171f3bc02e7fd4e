"""``fewgold simulate``: which strategy would have worked best on data that are rated already."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import (
    emit,
    note,
    notes,
    print_summary,
    progress_bars,
    resumable,
    save_all,
)
from fewgold.cli.options import Json, Output, OutputFormat, Quiet, argument, flag, option

if TYPE_CHECKING:
    from fewgold.simulation import Simulation
    from fewgold.simulation.studies import Study

_DEMO = "demo-"
_WHERE = "Where it runs"


def simulate(
    data: Annotated[
        str,
        argument(
            "DATA",
            "Table in which people rated every segment, or demo-ende, demo-zhen.",
            show_default=False,
        ),
    ],
    human: Annotated[str | None, option("COLUMN", "Human scores.", panel=options.COLUMNS)] = None,
    by: Annotated[
        str | None,
        option(
            "A,B",
            "Columns that part the table into pools, such as system,rater. Default: the "
            "systems, where ids repeat.",
            panel=options.COLUMNS,
        ),
    ] = None,
    strategies: Annotated[
        str | None, option("A+B,…", "See fewgold strategies. Default: all usual ones.")
    ] = None,
    budgets: Annotated[str, option("LIST", "Such as 5%:50%:5% or 50,100,200.")] = "5%:50%:5%",
    draws: options.Draws = 100,
    seed: options.SeedOfDraws = 0,
    baseline: Annotated[str, option("NAME", "Strategy to compare with.")] = "random+mean",
    confidence: Annotated[str, option("P", "Of the intervals.")] = "0.95",
    bounds: Annotated[
        str | None, option("A,B", "Further intervals to try, such as hoeffding.")
    ] = None,
    limits: Annotated[str | None, option("LOW,HIGH", "Ends of the rating scale.")] = None,
    adequate: Annotated[
        str | None,
        option(
            "CUT", "Count adequate segments: human scores such as '<=0' are a 1, all others a 0."
        ),
    ] = None,
    out: options.Folder = None,
    resume: options.Resume = False,
    n_jobs: Annotated[int | None, option("J", "Processes; -1 for all cores.", panel=_WHERE)] = None,
    backend: Annotated[str | None, option("NAME", "loky, threading or dask.", panel=_WHERE)] = None,
    scheduler: Annotated[str | None, option("ADDRESS", "Of a dask cluster.", panel=_WHERE)] = None,
    id: options.Id = None,
    document: options.Document = None,
    metrics: options.Metrics = None,
    cost: Annotated[str | None, option("COST", "As for select.", panel=options.COLUMNS)] = None,
    orientation: Annotated[
        str | None, option("A=+1,B=-1", "As for select.", panel=options.COLUMNS)
    ] = None,
    rated_only: Annotated[
        bool, flag("--rated-only", "Leave out rows without a human score.")
    ] = False,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Replay annotation on rated data and see which strategy comes closest.

    Every strategy chooses its segments, is told their ratings, and estimates
    the score of all, again and again; the truth is known, so its error is too.

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
        "bounds": [registry.bound(name) for name in parse.names(bounds)],
        "limits": parse.limits(limits),
    }
    passing = parse.cut("--adequate", adequate)
    if resume and out is None:
        raise typer.BadParameter("--resume goes with --out, the folder of the earlier run.")
    studies = rated_studies(
        data, human, quiet, by=by, orientation=orientation, rated_only=rated_only, id=id,
        document=document, metrics=parse.names(metrics) or None, cost=cost,
    )  # fmt: skip
    if passing is not None:
        studies = {k: s._replace(gold=passing(s.gold).astype(float)) for k, s in studies.items()}
        asked["limits"] = (0.0, 1.0)
    store = None if out is None else out / "cells"
    with progress_bars(quiet) as bars, running_on(backend, scheduler, n_jobs), resumable(store):
        bar = partial(bars, "simulating") if bars else None
        result = run(studies, **asked, progress=bar, store=store, resume=resume)
    _print(result, save_all(result, out, quiet), "json" if json else output)
    lost = [s for s in result.strategies if all(c.failure for c in result.cells if c.strategy == s)]
    if lost:  # the table has the reasons; scripts need to know
        raise typer.Exit(1)


def rated_studies(
    data: str,
    human: str | None,
    quiet: bool,
    *,
    by: str | None = None,
    orientation: str | None = None,
    rated_only: bool = False,
    **named: Any,
) -> dict[str, Study]:
    """Rated pools from a table whose columns are said or guessed, or embedded ones."""
    from fewgold import io
    from fewgold.simulation import studies_from_table

    if data.startswith(_DEMO) and not Path(data).exists():
        return _embedded(data.removeprefix(_DEMO))
    parts = parse.names(by)
    found = input.understand(
        input.read_table(data, quiet), quiet, **named, texts=[], human=parse.names(human) or None,
        other=parts, orientation=parse.orientation(orientation),
    )  # fmt: skip
    humans = found.some_humans()
    if found.rater not in (None, *parts) and not parts:
        one = found.per_output()
        if len(one.table) < len(found.table):
            found = one
            note(f"{len(one.table)} outputs, the score of each the mean of its raters", quiet)
    table, systems = found.table, found.system
    columns = {k: v for k, v in found.columns.items() if k not in ("texts", "system")}
    if not parts and systems is not None and table[columns["id"]].duplicated().any():
        parts = [systems]
        note(f"ids repeat, so each {parts[0]} is a pool of its own (--by)", quiet)
    if columns.get("cost") is not None:
        table = io.with_cost(table, columns["cost"])
    studies, told = studies_from_table(
        table, human=humans, by=parts, rated_only=rated_only, **columns
    )
    notes(told, quiet)
    return studies


def _embedded(kind: str) -> dict[str, Study]:
    from fewgold.datasets import demo_systems, load_demo
    from fewgold.simulation.studies import Study

    return {s: Study(*load_demo(kind, system=s)) for s in demo_systems(kind)}


def _print(result: Simulation, written: list[Path], how: OutputFormat) -> None:
    frame = result.to_frame()
    record = {
        "signature": result.signature,
        "seconds": result.seconds,
        "ranking": result.ranking().to_dict("records"),
        "cells": frame.to_dict("records"),
        "failures": result.failures.to_dict("records"),
        "files": [str(path) for path in written],
    }
    rows: Any = (result.ranking() if how == "latex" else frame).to_dict("records")
    emit(how, record, rows, lambda _: print_summary(result.summary(), written))
