"""``fewgold simulate``: which strategy would have worked best on data that are rated already."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, parse
from fewgold.cli.console import Format, Json, Output, Quiet, emit, note, progress_bars

if TYPE_CHECKING:
    from fewgold.simulation import Simulation
    from fewgold.simulation.studies import Study

# Rated data to replay annotation on: a table that is parted into pools, or an embedded set.


_DEMO = "demo-"
_UNNAMED: dict[str, Any] = {"id": None, "document": None, "metrics": None, "cost": None}


def rated_studies(
    data: str,
    human: str | None,
    by: str | None,
    given: dict[str, Any],
    orientation: str | None,
    rated_only: bool,
    quiet: bool,
) -> dict[str, Study]:
    """Rated pools from a table whose columns are said or guessed, or embedded ones."""
    from fewgold import io
    from fewgold.simulation import studies_from_table

    if data.startswith(_DEMO) and not Path(data).exists():
        return _embedded(data.removeprefix(_DEMO))
    parts = parse.names(by)
    told = parse.names(human)
    found = input.understand(
        input.read_table(data, quiet), quiet, **given, texts=[], human=told or None, other=parts,
        orientation=parse.orientation(orientation),
    )  # fmt: skip
    humans = found.some_humans()
    if found.rater not in (None, *parts) and not parts:
        one = found.per_output()
        if len(one.table) < len(found.table):
            found = one
            note(f"note: {len(one.table)} outputs, the score of each the mean of its raters", quiet)
    table, systems = found.table, found.system
    columns = {k: v for k, v in found.columns.items() if k not in ("texts", "system")}
    if not parts and systems is not None and table[columns["id"]].duplicated().any():
        parts = [systems]
        note(f"note: ids repeat, so each {parts[0]} is a pool of its own (--by)", quiet)
    if columns.get("cost") is not None:
        table = io.with_cost(table, columns["cost"])
    studies, notes = studies_from_table(
        table, human=humans, by=parts, rated_only=rated_only, **columns
    )
    for sentence in notes:
        note(f"note: {sentence}", quiet)
    return studies


def studies_of(
    data: str, human: str | None, quiet: bool, cost: str | None = None
) -> dict[str, Study]:
    """Rated pools from a table whose columns are guessed, or embedded ones."""
    return rated_studies(data, human, None, {**_UNNAMED, "cost": cost}, None, False, quiet)


def _embedded(kind: str) -> dict[str, Study]:
    from fewgold.datasets import demo_systems, load_demo
    from fewgold.simulation.studies import Study

    return {s: Study(*load_demo(kind, system=s)) for s in demo_systems(kind)}


_WHERE = "Where it runs"


def simulate(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Table in which people rated every segment, or demo-ende, demo-zhen.",
            show_default=False,
        ),
    ],
    human: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Human scores.", rich_help_panel=input.COLUMNS),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Columns that part the table into pools, such as system,rater. Default: the "
            "systems, where ids repeat.",
            rich_help_panel=input.COLUMNS,
        ),
    ] = None,
    strategies: Annotated[
        str | None,
        typer.Option(metavar="A+B,…", help="See fewgold strategies. Default: all usual ones."),
    ] = None,
    budgets: Annotated[
        str, typer.Option(metavar="LIST", help="Such as 5%:50%:5% or 50,100,200.")
    ] = "5%:50%:5%",
    draws: Annotated[int, typer.Option(metavar="D", min=2, help="Studies to replay.")] = 100,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of all draws.")] = 0,
    baseline: Annotated[
        str, typer.Option(metavar="NAME", help="Strategy to compare with.")
    ] = "random+mean",
    confidence: Annotated[str, typer.Option(metavar="P", help="Of the intervals.")] = "0.95",
    bounds: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Further intervals to try, such as hoeffding."),
    ] = None,
    limits: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Ends of the rating scale.")
    ] = None,
    adequate: Annotated[
        str | None,
        typer.Option(
            metavar="CUT",
            help="Count adequate segments: human scores such as '<=0' are a 1, all others a 0.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Write tables, plots and a page there."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the cells finished in --out.")
    ] = False,
    n_jobs: Annotated[
        int | None,
        typer.Option(metavar="J", help="Processes; -1 for all cores.", rich_help_panel=_WHERE),
    ] = None,
    backend: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="loky, threading or dask.", rich_help_panel=_WHERE),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Of a dask cluster.", rich_help_panel=_WHERE),
    ] = None,
    id: input.Id = None,
    document: input.Document = None,
    metrics: input.Metrics = None,
    cost: Annotated[
        str | None,
        typer.Option(metavar="COST", help="As for select.", rich_help_panel=input.COLUMNS),
    ] = None,
    orientation: Annotated[
        str | None,
        typer.Option(metavar="A=+1,B=-1", help="As for select.", rich_help_panel=input.COLUMNS),
    ] = None,
    rated_only: Annotated[
        bool, typer.Option("--rated-only", help="Leave out rows without a human score.")
    ] = False,
    output: Output = Format.text,
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
    roles = {"id": id, "document": document, "metrics": parse.names(metrics) or None, "cost": cost}
    studies = rated_studies(data, human, by, roles, orientation, rated_only, quiet)
    if passing is not None:
        studies = {k: s._replace(gold=passing(s.gold).astype(float)) for k, s in studies.items()}
        asked["limits"] = (0.0, 1.0)
    store = None if out is None else out / "cells"
    with progress_bars(quiet) as show, running_on(backend, scheduler, n_jobs):
        try:
            bar = partial(show, "simulating") if show else None
            result = run(studies, **asked, progress=bar, store=store, resume=resume)
        except KeyboardInterrupt:
            if out is not None:
                kept = f"the cells finished so far are in {store}"
                print(f"\ninterrupted; {kept}. Go on with --resume.", file=sys.stderr)
            raise
    written = [] if out is None else result.save(out)
    if out is not None and not any(p.suffix == ".png" for p in written):
        note('note: no plots without matplotlib. pip install "fewgold[plots]"', quiet)
    _show(result, written, Format.json if json else output)
    lost = [s for s in result.strategies if all(c.failure for c in result.cells if c.strategy == s)]
    if lost:  # the table has the reasons; scripts need to know
        raise typer.Exit(1)


def _show(result: Simulation, written: list[Path], how: Format) -> None:
    frame = result.to_frame()
    record = {
        "signature": result.signature,
        "seconds": result.seconds,
        "ranking": result.ranking().to_dict("records"),
        "cells": frame.to_dict("records"),
        "failures": result.failures.to_dict("records"),
        "files": [str(path) for path in written],
    }

    def text(out: Any) -> None:
        print(result.summary())
        if written:
            print(f"\nwritten: {', '.join(map(str, written))}")

    rows: Any = (result.ranking() if how is Format.latex else frame).to_dict("records")
    emit(how, record, rows, text)
