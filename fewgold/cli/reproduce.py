"""``fewgold reproduce``: recomputes published tables and compares them with the printed values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fewgold.cli import options, parse
from fewgold.cli.console import print_summary, progress_bars, resumable, save_all, say, show
from fewgold.cli.options import Json, Quiet, described, flag, option

if TYPE_CHECKING:
    from fewgold.reproduce import Reproduction


_BUDGETS = "5%:50%:5%"
_DRAWS = {"saldias": 100, "daniken": 100, "estrella": 1500}

Paper = Annotated[
    Literal["saldias", "daniken", "estrella"],
    typer.Argument(
        metavar="PAPER",
        help="saldias: Saldías et al. (2022); daniken: von Däniken et al. (2022) and (2023); "
        "estrella: Estrella et al. (2007).",
        show_default=False,
    ),
]

TextOrJson = Annotated[Literal["text", "json"], described("FORMAT", "text or json.", "--format")]


def reproduce(
    paper: Paper,
    draws: Annotated[
        int | None,
        described("D", "Studies to replay. Default: 100, and 1500 for estrella.", "--draws", min=2),
    ] = None,
    budgets: str = option(_BUDGETS, "LIST", "Shares such as 5%:50%:5% or 10%,30%."),
    incremental: bool = flag(
        True, "--incremental/--no-incremental", "Also make Table 2, which takes the longest."
    ),
    demo: bool = flag(False, "--demo", "Use the built-in synthetic data."),
    out: options.Folder = None,
    resume: options.Resume = False,
    n_jobs: int | None = option(None, "J", "Number of processes; -1 for all cores."),
    seed: options.SeedOfDraws = 0,
    fail: bool = flag(
        False,
        "--fail",
        "Exit with 1 if a finding does not hold, or a number differs for no known reason.",
    ),
    output: TextOrJson = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recompute the tables of a paper and check its findings.

    saldias needs the public WMT20 files in the folder that FEWGOLD_DATA names;
    --demo runs the same on embedded synthetic data. daniken and estrella need
    no data, but use those files if present; they accept only --draws, --out,
    --seed and --fail.

    Example: [bold]fewgold reproduce saldias --demo --draws 20[/bold]
    """
    from fewgold import reproduce as library
    from fewgold.errors import DataError
    from fewgold.reproduce.saldias_study import DATA, DEMO_DATA

    count = _DRAWS[paper] if draws is None else draws
    if paper != "saldias":
        odd = {"--demo": demo, "--resume": resume, "--no-incremental": not incremental}
        odd |= {"--n-jobs": n_jobs is not None, "--budgets": budgets != _BUDGETS}
        if any(odd.values()):
            named = ", ".join(name for name, given in odd.items() if given)
            raise typer.BadParameter(f"{named} is only for saldias: {paper} replays no data.")
        make = library.daniken if paper == "daniken" else library.estrella
        with progress_bars(quiet) as bar:
            tables: Reproduction = make(count, rng=seed, progress=bar)
        _finish(tables, out, json or output == "json", fail, quiet)
        return
    shares = [b for b in parse.budgets(budgets) if isinstance(b, float)]
    if len(shares) < len(parse.budgets(budgets)):
        raise typer.BadParameter(f"--budgets must be shares of the test set; got {budgets!r}.")
    if resume and out is None:
        raise typer.BadParameter("--resume needs --out, the folder of the earlier run.")
    store = None if out is None else out / "cells"
    with progress_bars(quiet) as bar, resumable(store):
        try:
            made = library.saldias(
                *(count, shares, DEMO_DATA if demo else DATA),
                incremental=incremental,
                n_jobs=n_jobs,
                rng=seed,
                progress=bar,
                store=store,
                resume=resume,
            )
        except FileNotFoundError as error:
            raise DataError(f"{error} --demo runs the same on embedded synthetic data.") from None
    _finish(made, out, json or output == "json", fail, quiet)


def _finish(
    made: Reproduction,
    out: Path | None,
    as_json: bool,
    fail: bool,
    quiet: bool,
) -> None:
    """Write and print the results; with --fail, exit with 1 if something is wrong."""
    written = save_all(made, out, quiet)
    record = made.to_dict() | {"files": [str(path) for path in written]}
    show(as_json, record, lambda _: print_summary(made.summary(), written))
    if fail and made.failed:
        names = ", ".join(getattr(one, "name", str(one)) for one in made.failed)
        say(f"does not hold: {names}", quiet)
        raise typer.Exit(1)
