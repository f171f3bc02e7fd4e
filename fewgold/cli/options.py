"""Helpers that declare options, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import EllipsisType
from typing import Annotated, Any, Literal, TypeVar, cast

import typer

from fewgold.cli import parse

_T = TypeVar("_T")


def argument(default: _T | EllipsisType, metavar: str, help: str, **more: Any) -> _T:
    """An argument, as the default of a parameter; ``...`` if it is required."""
    return cast(_T, typer.Argument(default, metavar=metavar, help=help, **more))


def option(
    default: _T | EllipsisType, metavar: str, help: str, *names: str, panel: str = "", **more: Any
) -> _T:
    """An option with a value; ``names`` only if they differ from the name of the parameter."""
    more |= {"metavar": metavar, "help": help, "rich_help_panel": panel or None}
    return cast(_T, typer.Option(default, *names, **more))


def flag(default: _T, name: str, help: str, *short: str, panel: str = "", **more: Any) -> _T:
    """A flag, or a pair of flags (``--yes/--no``)."""
    more |= {"help": help, "rich_help_panel": panel or None}
    return cast(_T, typer.Option(default, name, *short, **more))


def direction(default: bool | None, help: str) -> bool | None:
    """Which end of the scale of human scores is good."""
    panel = "Which way human scores point"
    name = "--higher-is-better/--lower-is-better"
    return flag(default, name, help, panel=panel, show_default=False)


def described(metavar: str, help: str, *names: str, panel: str | None = None, **more: Any) -> Any:
    """The help of an option, to go beside its type in ``Annotated``."""
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **more)


# Output
#: Output formats.
OutputFormat = Literal["text", "json", "csv", "latex"]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no notes or progress.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Output = Annotated[
    OutputFormat,
    described("FORMAT", "How to print the result: text, json, csv or latex.", "--format"),
]
Drawing = Annotated[
    Path | None, described("FILE", "Save a plot: .png, .svg or .pdf.", "--out", "-o")
]
Folder = Annotated[
    Path | None, described("FOLDER", "Folder for tables, plots and an HTML page.", "--out", "-o")
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue an interrupted run from --out.")]

# What the columns of a table mean
COLUMNS = "What the columns mean"

Id = Annotated[
    str | None,
    described("COLUMN", "Column of segment ids, or two such as document,number.", panel=COLUMNS),
]
Document = Annotated[str | None, described("COLUMN", "Column of document names.", panel=COLUMNS)]
Metrics = Annotated[
    str | None, described("A,B,…", "Metric columns ('none' to use none).", panel=COLUMNS)
]
Cost = Annotated[
    str | None,
    described(
        "COST",
        "Cost of one rating: a column, or a formula such as 12+0.7*words. 12+0.7*words(output) "
        "counts the words of the column output.",
        panel=COLUMNS,
    ),
]
System = Annotated[
    str | None, described("COLUMN", "Column of system names. Raters do not see it.", panel=COLUMNS)
]
Texts = Annotated[
    str | None, described("A,B,…", "Columns with the texts that raters see.", panel=COLUMNS)
]
Orientation = Annotated[
    str | None,
    described(
        "A=+1,B=-1",
        "Whether larger is better (+1), worse (-1) or neither (0). fewgold knows the "
        "common metrics.",
        panel=COLUMNS,
    ),
]

Log = Annotated[
    str | None,
    described(
        "NAME",
        "Tool that wrote the evaluation log, if fewgold does not recognise it: inspect, promptfoo, "
        "deepeval, lm-eval, openai-evals, langfuse, langsmith or mlflow.",
        "--from",
    ),
]

# Campaigns and sheets
#: What a result is about: exactly these segments, or the system that produced them.
Target = Literal["pool", "process"]

EstimateTarget = Annotated[
    Target,
    described(
        "WHAT",
        "pool: the score of these segments; process: the score of a new test set like this one.",
    ),
]

#: Stopping rules.
StoppingRule = Literal["kelly", "hall"]
Campaign = Annotated[
    str, typer.Argument(metavar="CAMPAIGN", help="Folder or file of the campaign.")
]
OneSystem = Annotated[
    str | None,
    described("NAME", "In a campaign with several systems: the system to use.", "--system"),
]
Pool = Annotated[
    str | None,
    described("POOL", "New path of the pool, if it has moved (- reads CSV from stdin)."),
]
SideFile = Annotated[
    str | None, described("FILE", "The .design.json file, if it is not next to the sheet.")
]
SheetId = Annotated[str, described("COLUMN", "Column of segment ids.")]
Estimator = Annotated[
    str | None,
    described("NAME", "Estimator to use instead of the strategy's own (see fewgold strategies)."),
]
ScaleEnds = Annotated[
    str | None, described("LOW,HIGH", "Lowest and highest rating, such as 1,5 or mqm.")
]

# Several criteria
CRITERIA = "Several criteria"

Criteria = Annotated[
    str | None,
    described(
        "A,B,…",
        "Score columns of several criteria, with optional scales: "
        "fluency:1-5,adequacy:0-100:higher. Default: the criteria of the sheet or campaign.",
        panel=CRITERIA,
    ),
]
Simultaneous = Annotated[
    bool,
    typer.Option(
        "--simultaneous",
        help="Intervals that hold for all criteria together.",
        rich_help_panel=CRITERIA,
    ),
]

# Existing labels
LABELS = "Existing labels"

Chosen = Annotated[
    str | None,
    described(
        "HOW",
        "How the labelled rows were chosen: random, strata:COLUMN (at random within each value), "
        "whole:COLUMN (whole groups) or chances:COLUMN (each row's probability).",
        panel=LABELS,
    ),
]
LabelFile = Annotated[
    str | None,
    described(
        "FILE", "File with the labels, if they are in a separate one (needs --on).", panel=LABELS
    ),
]
LabelKey = Annotated[
    str | None,
    described("COLUMN", "Column, or columns A,B, that match labels to rows.", panel=LABELS),
]
LabelDocument = Annotated[
    str | None, described("COLUMN", "Column of document names. Default: guessed.", panel=LABELS)
]
LabelTexts = Annotated[
    str | None, described("A,B,…", "Columns of texts. Default: guessed.", panel=LABELS)
]
LabelMetrics = Annotated[
    str | None,
    described(
        "A,B,…",
        "Columns of judges, metrics and categories ('none' to use none). Default: guessed.",
        panel=LABELS,
    ),
]

# Drawing and replaying
Strategy = Annotated[
    str | None,
    described(
        "NAME", "How to choose and estimate (see fewgold strategies). Default: the recommended one."
    ),
]
Seed = Annotated[
    int | None,
    described(
        "S", "Random seed: the same seed draws the same segments. Default: a new one.", min=0
    ),
]
SeedOfDraws = Annotated[int, described("S", "Random seed.", min=0)]
Draws = Annotated[int, described("D", "Number of simulated studies.", min=2)]
Confidence = Annotated[
    str | None, described("LEVEL", "Confidence level, such as 0.95 (default) or 95%.")
]

#: What is known of a metric beforehand.
Prior = Annotated[
    str | None,
    described(
        "rho=30/40,…",
        "What you knew of the judge before: counts (rho=30/40,eta=45/50), or a mean and how many "
        "items it is worth (rho=0.75@40).",
    ),
]

# Pools on disk
_ON_DISK = "Pools on disk"

#: What reads the pool.
EngineName = Literal["auto", "memory", "duckdb", "spark"]
Engine = Annotated[
    EngineName,
    typer.Option(
        help="How to read Parquet: memory loads one file; auto leaves folders, several files and "
        "files of over a million rows on disk.",
        rich_help_panel=_ON_DISK,
    ),
]
Memory = Annotated[
    str | None, described("SIZE", "Memory limit of DuckDB, such as 2GB.", panel=_ON_DISK)
]
Order = Annotated[
    str | None,
    described(
        "COLUMN",
        "Column that orders the segments of a document, for docs-whole and docs-chunks. "
        "Default: ids.",
        panel=_ON_DISK,
    ),
]


def named(**columns: str | None) -> dict[str, Any]:
    """The columns that the user named, None for the others; metrics and texts as lists."""
    return {
        name: parse.names(told) if name in ("metrics", "texts") and told is not None else told
        for name, told in columns.items()
    }


def refuse_for_campaign(given: Mapping[str, Any]) -> None:
    """Refuse options that a campaign has already fixed."""
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise typer.BadParameter(
            f"{', '.join(names)} cannot be given with a campaign, because it already has a pool, a "
            "strategy and a design."
        )


def typed(
    context: typer.Context,
    without: Collection[str],
    settled: Mapping[str, str | None] | None = None,
) -> list[str]:
    """The options of the running command as shell words that reproduce the result.

    Includes every option given except those in ``without``, so that a new option is never
    forgotten. ``settled`` maps parameters that were guessed or drawn at random to their words;
    None keeps what was typed.
    """
    found: list[str] = []
    for parameter in context.command.params:
        name = str(parameter.name)
        if parameter.param_type_name != "option" or name in without:
            continue
        source, value = context.get_parameter_source(name), context.params[name]
        word = (settled or {}).get(name)
        if word is None and (source is None or source.name.startswith("DEFAULT")):
            continue
        yes, *_ = sorted(parameter.opts, key=len, reverse=True)
        if word is None and isinstance(value, bool):
            found.append(yes if value else parameter.secondary_opts[0])
        else:
            found += [yes, str(value) if word is None else word]
    return found


def listed(names: Sequence[str] | None) -> str | None:
    """Names joined by commas; None if that would be read differently."""
    text = ",".join(names or ())
    return text if parse.names(text) == list(names or ()) else None
