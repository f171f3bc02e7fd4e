"""``fewgold settings``: shows the settings of a campaign, and changes those that may still
change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import options, parse
from fewgold.cli.console import escape, pairs, show
from fewgold.cli.init import named_ends, text_of
from fewgold.cli.options import Json, described, flag, option

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign.settings import Settings

_GOAL, _RATERS = "Goal", "Raters"
_NONE = "none"


def settings(
    campaign: options.Campaign,
    question: str | None = option(
        None,
        "TEXT",
        "Question that raters see; '' for the default that fits the scale.",
        panel=_RATERS,
    ),
    instructions: str | None = option(
        None, "FILE", "Markdown file with the instructions, or none.", panel=_RATERS
    ),
    ends: str | None = option(
        None, "LOW,HIGH", "Labels for the ends of the scale, or none.", panel=_RATERS
    ),
    limits: str | None = option(
        None,
        "LOW,HIGH",
        "Lowest and highest rating, such as 0,100 or mqm; or none.",
        panel=_RATERS,
    ),
    higher_is_better: bool | None = options.direction(
        None, "Tell raters which end of the scale is good."
    ),
    shown: str | None = option(
        None,
        "A,B,…",
        "What raters see besides texts: metrics, system, estimate; or none. Showing these may bias "
        "them.",
        "--show",
        panel=_RATERS,
    ),
    each: int | None = option(None, "K", "Number of raters per segment.", panel=_RATERS, min=1),
    repeats: Annotated[
        Literal["last", "first", "mean"] | None,
        described(
            "WHICH",
            "Which answer counts if a rater gives several: last, first or mean.",
            panel=_RATERS,
        ),
    ] = None,
    among: Annotated[
        Literal["mean", "median"] | None,
        described(
            "HOW", "How to combine the scores of several raters: mean or median.", panel=_RATERS
        ),
    ] = None,
    tolerance: str | None = option(
        None, "T", "Target half-width of the interval, or none.", panel=_GOAL
    ),
    confidence: str | None = option(
        None, "LEVEL", "Confidence level, such as 0.95 or 95%.", panel=_GOAL
    ),
    rule: Annotated[
        options.StoppingRule | None,
        described("NAME", "Stopping rule: kelly (guaranteed) or hall (stops sooner).", panel=_GOAL),
    ] = None,
    no_direction: bool = flag(
        False, "--no-direction", "Do not tell raters which end of the scale is good."
    ),
    json: Json = False,
) -> None:
    """Show and change the settings of a campaign.

    Settings that could bias the result are fixed once answers arrive. Changes
    are recorded in the journal with their time. Several settings can be removed
    with 'none'.

    Examples:

    [bold]fewgold settings study[/bold]

    [bold]fewgold settings study --ends useless,perfect --instructions guide.md[/bold]
    """
    from fewgold.campaign import Campaign

    if no_direction and higher_is_better is not None:
        raise typer.BadParameter("--no-direction cannot be combined with --higher-is-better.")
    values: dict[str, Any] = {
        "question": question, "each": each, "repeats": repeats, "among": among, "rule": rule,
        "higher_is_better": higher_is_better,
        "confidence": None if confidence is None else parse.confidence(confidence),
    }  # fmt: skip
    values = {name: value for name, value in values.items() if value is not None}
    if no_direction:
        values["higher_is_better"] = None
    if instructions is not None:
        values["instructions"] = "" if instructions == _NONE else text_of(Path(instructions))
    if ends is not None:
        values["ends"] = None if ends == _NONE else named_ends(ends)
    if limits is not None:
        values["limits"] = None if limits == _NONE else parse.limits(limits)
    if shown is not None:
        values["shown"] = () if shown == _NONE else tuple(parse.names(shown))
    if tolerance is not None:
        values["tolerance"] = None if tolerance == _NONE else parse.number(tolerance)
    with Campaign(campaign) as study:
        now = study.settings
        changed = {k: v for k, v in values.items() if v != getattr(now, k)}
        if changed:
            study.change(**changed)
        found = study.settings
        record = _record(found) | {"campaign": campaign, "changed": sorted(changed)}
        record["texts"] = list(study.pool.texts)
    show(json, record, lambda out: _show(out, found, record))


def _record(found: Settings) -> dict[str, Any]:
    """The settings as plain values."""
    return {
        "name": found.name, "strategy": found.strategy, "seed": found.seed,
        "question": found.asked, "instructions": found.instructions, "ends": found.ends,
        "limits": found.limits, "higher_is_better": found.higher_is_better,
        "criteria": [c.to_dict() for c in found.criteria], "side_by_side": list(found.sides),
        "shown": list(found.shown), "each": found.each, "repeats": found.repeats,
        "among": found.among, "tolerance": found.tolerance, "confidence": found.confidence,
        "rule": found.rule,
    }  # fmt: skip


def _show(out: Console, found: Settings, record: dict[str, Any]) -> None:
    out.print(f"[bold]{escape(found.name)}: settings[/bold]\n")
    scales = [("scale", found.scale.words or "any number")]
    if found.criteria:
        scales = [(c.name, c.scale.words or "any number") for c in found.criteria]
    if found.sides:
        scales = [("side by side", " and ".join(found.sides))]
    better = {None: "not told", True: "more", False: "less"}[found.higher_is_better]
    lines = [
        ("strategy", f"{found.strategy} (seed {found.seed})"),
        ("question", found.asked),
        ("instructions", f"{len(found.instructions.split())} words"
         if found.instructions else "none"),
        *scales,
        *([] if found.sides or found.criteria else [("better", better)]),
        ("raters see", ", ".join((*record["texts"], *found.shown)) or "ids only"),
        ("raters each", str(found.each)),
        ("counts", f"{found.repeats} answer of a rater, {found.among} of several raters"),
        ("tolerance", "none" if found.tolerance is None else f"± {found.tolerance:g}"),
        ("confidence", f"{found.confidence:g}"),
        ("stopping rule", found.rule),
    ]  # fmt: skip
    pairs(out, [(escape(name), escape(told)) for name, told in lines])
    if record["changed"]:
        out.print(f"\nChanged: {escape(', '.join(record['changed']))}.")
