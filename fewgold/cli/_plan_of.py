"""What ``fewgold plan`` plans from: a scale, a guess, a pilot, earlier ratings, or rates."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import _parse
from fewgold.cli._console import progress_bars
from fewgold.cli._stored import load_sample
from fewgold.errors import DataError

if TYPE_CHECKING:
    from fewgold.planning import Goal, Plan


def plan_of(
    source: str,
    goal: Goal,
    names: list[str] | None,
    size: int | None,
    cost: float,
    quiet: bool,
    guess: dict[str, Any],
    data: dict[str, Any],
    binary: dict[str, Any],
) -> Plan:
    """The plan from what is known: ``source`` is the option that told it."""
    from fewgold import planning
    from fewgold.planning import Outlook

    if source == "--alpha":
        return planning.plan_binary(goal, size=size, cost=cost, **binary)
    if source == "--limits":
        ends = _parse.limits(data["limits"])
        assert ends is not None
        return planning.plan_worst_case(goal, ends, size, cost)
    if source == "--sd":
        return planning.plan(goal, Outlook(**guess, size=size, cost=cost), names)
    if source == "--pilot":
        return _from_pilot(goal, data, names, size, quiet)
    from fewgold.cli._simulate_data import studies_of

    studies = studies_of(data["history"], data["human"], quiet, data["cost"])
    if goal.difference is not None:
        from fewgold.planning import difference_studies

        studies = difference_studies(studies)
    with progress_bars(quiet) as show:
        return planning.plan_from_history(
            goal, studies, None, names or _usual(studies), size=size, draws=data["draws"],
            rng=data["seed"], progress=partial(show, "replaying") if show else None,
        )  # fmt: skip


def _usual(studies: Any) -> list[str]:
    """The plain strategy, the metrics alone, and what we recommend."""
    from fewgold import registry

    pool = next(iter(studies.values())).pool
    wanted = ["random+mean", *(["random+ridge"] if pool.metrics else [])]
    return list(dict.fromkeys([*wanted, registry.recommended(pool)]))


def _from_pilot(
    goal: Goal, data: dict[str, Any], names: list[str] | None, size: int | None, quiet: bool
) -> Plan:
    from fewgold import files, planning
    from fewgold.planning import Outlook

    side = files.design_path(data["pilot"])
    if not side.is_file():
        raise DataError(
            f"--pilot takes a sheet of fewgold select, rated, with its design file beside it; "
            f"there is no {str(side)!r}. For other ratings give their sd with --sd, or the table "
            "with --history if every segment is rated."
        )
    record = files.read_record(side)
    sample = load_sample(side, None, quiet)
    column = record["score_column"] if data["human"] is None else data["human"]
    ratings = files.read_ratings(data["pilot"], sample, score=column)
    if goal.difference is not None:
        raise typer.BadParameter(
            "a pilot of one system tells the sd of its scores, not of differences. Give the sd of "
            "differences with --sd (fewgold compare on a pilot of both systems tells it), or "
            "--history with several systems."
        )
    outlook = Outlook.from_pilot(ratings, size=size, assurance=data["assurance"])
    return planning.plan(goal, outlook, names)
