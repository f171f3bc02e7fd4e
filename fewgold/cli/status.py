"""``fewgold status``: shows the progress of a campaign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import options
from fewgold.cli.console import (
    console,
    escape,
    pairs,
    quoted,
    remarks,
    sheet_suffix,
    table,
    to_json,
)
from fewgold.cli.options import Json, flag
from fewgold.common.text import counted, decimals, plain_value

if TYPE_CHECKING:
    from rich.console import Console

_SHOWN = 10


def status(
    campaign: options.Campaign,
    unrated: bool = flag(False, "--unrated", "List all segments without an answer, one per line."),
    fail_open: bool = flag(
        False, "--fail-open", "Exit with 1 while answers are missing or the goal is not reached."
    ),
    json: Json = False,
) -> None:
    """Show the progress of a campaign.

    Shows what was drawn and rated, the estimate so far, how many more ratings
    the tolerance takes, whether the stopping rule says stop, and anything odd.

    Example: [bold]fewgold status study[/bold]
    """
    from fewgold.campaign import Campaign

    with Campaign(campaign) as study:
        found, beside = study.status(), bool(study.settings.sides)
    result: dict[str, Any] = plain_value(found.to_dict()) | {"campaign": campaign}
    result["open"] = bool(
        found.unrated
        or not found.sampled
        or (found.stop is not None and not found.stop["fired"])
        or (found.stop is None and found.goal is not None and found.goal["more"] != 0)
    )
    if json:
        print(to_json(result))
    elif unrated:
        print("".join(f"{i}\n" for i in found.unrated), end="")
    else:
        _show(console(), result, beside)
    if fail_open and result["open"]:
        raise typer.Exit(1)


def _show(out: Console, result: dict[str, Any], beside: bool) -> None:
    from fewgold.campaign.status import goal_line, stop_line

    sampled, rated, size = result["sampled"], result["rated"], result["pool_size"]
    several = result.get("systems")
    what = "chosen outputs" if several else "sampled segments"
    out.print(f"[bold]{escape(result['name'])}: {rated} of {sampled} {what} rated[/bold]\n")
    waves = result["waves"]
    drawn = ", ".join(_drawn(w) for w in waves[:6])
    if len(waves) > 6:
        drawn += f" and {len(waves) - 6} more waves"
    lines = [
        ("pool", f"{size} segments"),
        ("strategy", escape(result["strategy"])),
        ("drawn", drawn or "nothing yet"),
    ]
    if result["raters"]:
        who = ", ".join(f"{name or 'unnamed'} {n}" for name, n in sorted(result["raters"].items()))
        lines.append(("answers", escape(f"{result['answers']}: {who}")))
    if result["each"] > 1:
        items = "outputs" if several else "segments"
        lines.append(
            (
                "incomplete",
                f"{counted(result['incomplete'], items[:-1])} with fewer than {result['each']} "
                "raters",
            )
        )
    if result["unrated"]:
        some = ", ".join(result["unrated"][:_SHOWN])
        more = len(result["unrated"]) - _SHOWN
        lines.append(
            ("unrated", escape(some) + (f" and {more} more (--unrated)" if more > 0 else ""))
        )
    made, goal, stop = result["estimate"], result["goal"], result["stop"]
    if made is not None and not result["criteria"]:
        digits = decimals(made["se"] or 0.0)
        told = f"{made['value']:.{digits}f}"
        if made["low"] is not None and made["high"] is not None:
            level = f"{100 * result['confidence']:.6g}%"
            told += f", {level} interval {made['low']:.{digits}f} to {made['high']:.{digits}f}"
            told += f" ({made['bound_label']})"
        lines.append(("so far", told))
    if several:
        lines.append(("systems", f"{len(several)}"))
    for row in result["criteria"]:
        told = f"{row['rated']} of {sampled} rated"
        if row.get("value") is not None:
            digits = decimals(row["se"] or 0.0)
            told += f", so far {row['value']:.{digits}f}"
            if row["low"] is not None and row["high"] is not None:
                told += f" ({row['low']:.{digits}f} to {row['high']:.{digits}f})"
        lines.append((escape(row["criterion"]), told))
    if goal is not None:
        lines.append(("goal", goal_line(goal)))
    if stop is not None:
        lines.append(("stopping rule", stop_line(stop)))
    pairs(out, lines)
    if several:
        _systems(out, result)
    remarks(out, result["notes"])
    out.print()
    place = quoted(result["campaign"])
    if not sampled:
        some = min(100, -(-size // 2))
        out.print(f"Next: [green]fewgold select {place} --budget {some}[/green]")
    elif result["unrated"]:
        out.print(f"Next: [green]fewgold import {place} ANSWERS[/green]")
        out.print(f"      [green]fewgold export {place} -o unrated{sheet_suffix()}[/green]")
    elif result["each"] > 1 and result["incomplete"]:
        name = f"incomplete{sheet_suffix()}"
        out.print(f"Next: [green]fewgold export {place} -o {name} --what incomplete[/green]")
    elif goal and goal["more"]:
        out.print(f"Next: [green]fewgold select {place} --more {goal['more']}[/green]")
    else:
        if further := _more_needed(result):
            out.print(f"Next: [green]fewgold select {place} --more {further}[/green]")
        if several:
            out.print(f"Next: [green]fewgold compare {place}[/green]")
        elif beside:
            out.print(f"Next: [green]fewgold preferences {place}[/green]")
        out.print(f"Next: [green]fewgold report {place} -o report.html[/green]")


def _drawn(wave: dict[str, Any]) -> str:
    """How many segments a wave chose, and when."""
    outputs = wave["n"]
    told = f"{outputs}" if "segments" not in wave else f"{wave['segments']} ({outputs} outputs)"
    return f"{told} on {wave['drawn_at'][:10]}"


def _systems(out: Console, result: dict[str, Any]) -> None:
    """The progress of each of several systems, and their comparison."""
    compared = result["comparison"]
    ranks = {} if compared is None else {row["system"]: row for row in compared["ranking"]}
    rows = sorted(result["systems"], key=lambda r: ranks.get(r["system"], {}).get("rank", 0))
    from fewgold.comparison.result import needed_line

    shown = table("system", "rated", "so far", f"{100 * result['confidence']:.6g}%", "rank")
    for row in rows:
        made = row["estimate"]
        value = interval = rank = "–"
        if made is not None:
            digits = decimals(made["se"] or 0.0)
            value = f"{made['value']:.{digits}f}"
            if made["low"] is not None and made["high"] is not None:
                interval = f"{made['low']:.{digits}f} to {made['high']:.{digits}f}"
        if row["system"] in ranks:
            found = ranks[row["system"]]
            rank = "–".join(str(r) for r in sorted({found["rank_low"], found["rank_high"]}))
        rated = f"{row['rated']} of {row['sampled']}"
        shown.add_row(escape(row["system"]), rated, value, interval, rank)
    out.print()
    out.print(shown)
    if compared is None:
        return
    out.print()
    for row in compared["needed"][:_SHOWN]:
        out.print(escape(needed_line(row)))


def _more_needed(result: dict[str, Any]) -> int | None:
    """The fewest further segments that would tell two systems apart, if known."""
    compared = result.get("comparison")
    known = [] if not compared else [row["more"] for row in compared["needed"] if row["more"]]
    return min(known, default=None)
