"""Reads human ratings from a sheet, a campaign, or a table with labels on some rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial as partial_function
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import note
from fewgold.cli.options import described

if TYPE_CHECKING:
    from fewgold.criteria import CriteriaRatings
    from fewgold.cut import Cut
    from fewgold.estimate import Bound
    from fewgold.estimator import Estimator
    from fewgold.formats import Criterion
    from fewgold.missing import PartialRatings
    from fewgold.sheets import Record

Gaps = Annotated[
    Literal["wait", "at-random", "bounds"],
    described(
        "HOW",
        "If chosen segments have no answer: wait (refuse to estimate), at-random (assume that they "
        "are missing at random) or bounds (allow them any score; needs --limits).",
    ),
]


class RatedStudy(NamedTuple):
    """Scores with their design, and the estimator to use."""

    partial: PartialRatings
    criteria: CriteriaRatings | None  # several criteria side by side
    estimator: Estimator
    level: float
    strategy: str
    seed: Any
    table: Callable[[], Any]  # the table of the pool, or None; read only if needed
    sheet: str | None  # the sheet, which may have further columns
    record: Record | None = None  # the design file of the sheet


def criteria_asked(criteria: str | None, human: str | None) -> tuple[Criterion, ...]:
    """The criteria of ``--criteria``, which cannot be combined with ``--human``."""
    if criteria is not None and human is not None:
        raise typer.BadParameter(
            "--human A,B takes the mean of several raters, and --criteria A,B estimates several "
            "criteria side by side. Give one of the two."
        )
    return parse.criteria("--criteria", criteria)


def opened(
    file: str, *, pool: str | None, design: str | None, human: str | None, id: str,
    estimator: str | None, level: float | None, limits: str | None, gaps: str, waves: int | None,
    chosen: str | None, labels: str | None, on: str | None, metrics: str | None,
    document: str | None = None, texts: str | None = None,
    criteria: tuple[Criterion, ...] = (), system: str | None = None, quiet: bool = False,
) -> RatedStudy:  # fmt: skip
    """Read the ratings, and choose the matching estimator unless one is named."""
    rated = None
    ends = parse.limits(limits)
    beside: Callable[[], Any] = _no_table
    in_sheet: str | None = None
    record: Record | None = None
    if input.is_campaign(file):
        from fewgold.campaign import Campaign
        from fewgold.campaign.study import waves_to_use

        own = {
            "--pool": pool, "--design": design, "--human": human, "--limits": limits,
            "--chosen": chosen, "--labels": labels, "--on": on, "--metrics": metrics,
            "--document": document, "--texts": texts,
        }  # fmt: skip
        options.refuse_for_campaign(own | {"--id": None if id == "id" else id})
        with Campaign(file) as whole:
            campaign = whole if system is None else whole.of(system)
            if gaps == "at-random" and waves is None:
                waves = waves_to_use(campaign)
            seeds: Any = [wave.seed for wave in campaign.waves[:waves]]
            made = campaign._estimator(estimator)
            criteria = input.chosen_criteria(criteria, campaign.settings.criteria)
            if criteria:
                rated = campaign.criteria_ratings(waves).only(c.name for c in criteria)
            partial = campaign._partial(waves) if rated is None else rated[criteria[0].name]
            strategy, seed = campaign.settings.strategy, seeds[0] if len(seeds) == 1 else seeds
            level = level or campaign.settings.confidence
            beside = partial_function(_frame_of, campaign.labels)
    elif waves is not None or system is not None:
        only = "--waves" if waves is not None else "--system"
        raise typer.BadParameter(f"{only} is for campaigns.")
    elif chosen is not None or labels is not None or input.without_design(file, design):
        from fewgold.labels import partial_ratings

        if pool is not None or design is not None:
            raise typer.BadParameter("--pool and --design are for sheets, --chosen is for tables.")
        named = options.named(human=human, metrics=metrics, document=document, texts=texts)
        named |= {"id": None if id == "id" else id}
        if criteria:
            rated, beside = input.labelled_criteria(
                file, criteria, chosen, quiet, labels=labels, on=on, limits=ends, **named
            )
            partial = rated[criteria[0].name]
        else:
            found = input.labelled(
                file, chosen, quiet, labels=labels, on=on,
                **named | {"human": None if human is None else parse.names(human)},
            )  # fmt: skip
            partial = partial_ratings(found, ends)
            beside = partial_function(getattr, found.roles, "table")
        made = input.estimator_for(estimator, partial.sample.pool)
        strategy, seed, level = f"labels+{made.name}", None, level or 0.95
    else:
        from fewgold import sheets

        if any(said is not None for said in (on, metrics, document, texts)):
            raise typer.BadParameter(
                "--on, --metrics, --document and --texts are for tables with labels (--chosen)."
            )

        record, sample = input.open_sheet(file, pool, design, quiet)
        if human is None:
            criteria = input.chosen_criteria(criteria, sheets.criteria_of(record))
        columns = [c.name for c in criteria] or sheets.score_columns(record, parse.names(human))
        frame = input.read_sheet(file, columns, quiet)
        if criteria:
            rated = sheets.read_criteria(
                frame, sample, criteria, record=record, id=id, limits=ends, gaps=gaps != "wait"
            )
            partial = rated[criteria[0].name]
        else:
            partial = sheets.read_partial(
                frame, sample, id=id, score=columns[0] if len(columns) == 1 else columns,
                limits=ends, gaps=gaps != "wait",
            )  # fmt: skip
        made = input.estimator_of(record, estimator, sample.pool)
        strategy, seed, level = record["strategy"], record["seed"], level or 0.95
        in_sheet = file
        if "engine" not in record["pool"]:
            beside = partial_function(sheets.pool_table, record, pool)
    return RatedStudy(partial, rated, made, level, strategy, seed, beside, in_sheet, record)


def _no_table() -> None:
    """Pools on disk have no table beside the pool."""


def _frame_of(labels: dict[str, Any]) -> Any:
    """The columns for slices that a campaign keeps beside the pool."""
    import pandas as pd

    return pd.DataFrame(labels)


def check_limits(
    parts: Sequence[PartialRatings], estimator: Estimator, bound: Bound | None, cut: Cut | None,
    gaps: str,
) -> None:  # fmt: skip
    """Refuse a bound or worst case that needs the ends of the scale if they are not given."""
    unlimited = (
        any(part.limits is None for part in parts)
        and cut is None
        and not estimator.name.startswith("alpha")
    )
    if bound is not None and bound.needs_limits and unlimited:
        raise typer.BadParameter(
            f"--bound {bound.name} needs the ends of the scale: --limits LOW,HIGH, such as 0,25 or "
            "mqm."
        )
    if gaps == "bounds" and unlimited:
        raise typer.BadParameter(
            "--gaps bounds needs the ends of the scale, the lowest and highest possible score: "
            "--limits LOW,HIGH (of fewgold init for a campaign)."
        )


def pointed(estimator: Estimator, higher_is_better: bool | None, quiet: bool) -> Estimator:
    """The estimator, with the direction of the scores if it can use it."""
    if higher_is_better is None:
        return estimator
    if any(f.name == "higher_is_better" for f in fields(estimator)):  # type: ignore[arg-type]
        return replace(estimator, higher_is_better=higher_is_better)  # type: ignore[type-var]
    note(f"{estimator.name} does not use the direction of the scores", quiet)
    return estimator


def better(file: str, limits: str | None, share: bool) -> bool:
    """Whether higher scores are better, which is always true for a share of adequate outputs."""
    if share:
        return True
    if input.is_campaign(file):
        from fewgold.campaign import Campaign

        with Campaign(file) as campaign:
            return campaign.settings.higher_is_better is not False
    return limits != "mqm"
