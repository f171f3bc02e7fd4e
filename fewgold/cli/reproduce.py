"""``fewgold reproduce``: published tables made again, beside the printed values."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import parse
from fewgold.cli.console import Format, Json, Quiet, emit, note, progress_bars

if TYPE_CHECKING:
    from fewgold.reproduce import DanikenReproduction, Reproduction


_BUDGETS = "5%:50%:5%"


class Paper(StrEnum):
    """Papers whose tables can be made again."""

    saldias = "saldias"
    daniken = "daniken"


class Shown(StrEnum):
    """How the result is printed."""

    text = "text"
    json = "json"


def reproduce(
    paper: Annotated[
        Paper,
        typer.Argument(
            metavar="PAPER",
            help="saldias: Saldías et al. (2022); daniken: von Däniken et al. (2022) and (2023).",
            show_default=False,
        ),
    ],
    draws: Annotated[int, typer.Option(metavar="D", min=2, help="Studies to replay.")] = 100,
    budgets: Annotated[
        str, typer.Option(metavar="LIST", help="Shares such as 5%:50%:5% or 10%,30%.")
    ] = _BUDGETS,
    incremental: Annotated[
        bool,
        typer.Option("--incremental/--no-incremental", help="With Table 2, which takes longest."),
    ] = True,
    demo: Annotated[
        bool, typer.Option("--demo", help="On the embedded synthetic data, which all have.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FOLDER", help="Write tables, plots and a page there."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the cells finished in --out.")
    ] = False,
    n_jobs: Annotated[
        int | None, typer.Option(metavar="J", help="Processes; -1 for all cores.")
    ] = None,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of all draws.")] = 0,
    fail: Annotated[
        bool,
        typer.Option(
            "--fail",
            help="Exit with 1 if a finding does not hold, or a figure differs for no known reason.",
        ),
    ] = False,
    output: Annotated[
        Shown, typer.Option("--format", help="text or json.", metavar="FORMAT")
    ] = Shown.text,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make the tables of a paper again, and say which of its findings hold.

    saldias needs the public WMT20 files in the folder that FEWGOLD_DATA names;
    --demo runs the same on embedded synthetic data. daniken needs no data; of
    the options it has --draws, --out, --seed and --fail.

    Example: [bold]fewgold reproduce saldias --demo --draws 20[/bold]
    """
    from fewgold import reproduce as library
    from fewgold.errors import DataError

    if paper is Paper.daniken:
        odd = {"--demo": demo, "--resume": resume, "--no-incremental": not incremental}
        odd |= {"--n-jobs": n_jobs is not None, "--budgets": budgets != _BUDGETS}
        if any(odd.values()):
            named = ", ".join(name for name, given in odd.items() if given)
            raise typer.BadParameter(f"{named} goes with saldias: daniken replays no data.")
        with progress_bars(quiet) as bar:
            tables = library.daniken(draws, rng=seed, progress=bar)
        _finish(tables, out, json or output is Shown.json, fail, quiet)
        return
    shares = [b for b in parse.budgets(budgets) if isinstance(b, float)]
    if len(shares) < len(parse.budgets(budgets)):
        raise typer.BadParameter(f"--budgets must be shares of the test set; got {budgets!r}.")
    if resume and out is None:
        raise typer.BadParameter("--resume goes with --out, the folder of the earlier run.")
    store = None if out is None else out / "cells"
    with progress_bars(quiet) as bar:
        try:
            made = library.saldias(
                *(draws, shares, library.DEMO_DATA if demo else library.DATA),
                incremental=incremental,
                n_jobs=n_jobs,
                rng=seed,
                progress=bar,
                store=store,
                resume=resume,
            )
        except FileNotFoundError as error:
            raise DataError(f"{error} --demo runs the same on embedded synthetic data.") from None
        except KeyboardInterrupt:
            if out is not None:
                kept = f"the cells finished so far are in {store}"
                print(f"\ninterrupted; {kept}. Go on with --resume.", file=sys.stderr)
            raise
    _finish(made, out, json or output is Shown.json, fail, quiet)


def _finish(
    made: Reproduction | DanikenReproduction,
    out: Path | None,
    as_json: bool,
    fail: bool,
    quiet: bool,
) -> None:
    """Write and print what was made; with --fail, exit with 1 if something is wrong."""
    written = [] if out is None else made.save(out)
    if out is not None and not any(p.suffix == ".png" for p in written):
        note('note: no plots without matplotlib. pip install "fewgold[plots]"', quiet)
    _show(made, written, as_json)
    if fail and made.failed:
        names = ", ".join(getattr(one, "name", str(one)) for one in made.failed)
        note(f"does not hold: {names}", quiet)
        raise typer.Exit(1)


def _show(made: Reproduction | DanikenReproduction, written: list[Path], as_json: bool) -> None:
    def text(out: Any) -> None:
        print(made.summary())
        if written:
            print(f"\nwritten: {', '.join(map(str, written))}")

    record = made.to_dict() | {"files": [str(path) for path in written]}
    emit(Format.json if as_json else Format.text, record, [], text)
