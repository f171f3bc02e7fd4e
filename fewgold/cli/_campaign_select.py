"""``fewgold select`` on a campaign: the first wave, further ones, or the next segment."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import _parse
from fewgold.cli._console import console, pairs, sheet_suffix, to_json

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign import Campaign, Wave


def refuse(options: Mapping[str, Any]) -> None:
    """Options that a campaign has decided already."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise typer.BadParameter(
            f"{', '.join(given)} cannot be given with a campaign, which has its pool, strategy and "
            "design already."
        )


def select(
    place: str, out: str | None, *, budget: str | None, cost_budget: float | None,
    risk: float | None, more: str | None, seed: int | None, to: str | None, next_one: bool,
    rater: str, json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Draw, and write what is to be rated if a file was named."""
    from fewgold.campaign import Campaign

    if next_one and (budget or cost_budget or more or out):
        raise typer.BadParameter("--next goes without --budget, --more and -o.")
    if more is not None and (budget is not None or cost_budget is not None):
        raise typer.BadParameter("give --budget for the first wave or --more for a further one.")
    if to is not None and out is None:
        raise typer.BadParameter("--to says the format of a file: name it with -o FILE.")
    with Campaign(place) as campaign:
        if next_one:
            _next(campaign, rater, json)
            return
        if out is not None:
            from fewgold.cli._export_tasks import check_target

            check_target(out, to)
        left = len(campaign.pool) - sum(w.n for w in campaign.waves)
        amount = _parse.budget(more or budget, cost_budget, risk, left)
        draw = campaign.select if more is None else campaign.more
        wave = draw(amount, seed=seed)
        if out is not None:
            from fewgold.cli._export_tasks import write_tasks

            write_tasks(campaign, out, to, "last", context=2, quiet=quiet)
        result = _record(campaign, wave, place, out, to)
    if json:
        print(to_json(result))
    else:
        _show(console(), result)


def _record(
    campaign: Campaign, wave: Wave, place: str, out: str | None, to: str | None
) -> dict[str, Any]:
    pool, sample = campaign.pool, campaign.sample
    rows = sample.indices[-wave.n :]
    return {
        "campaign": place,
        "wave": wave.number,
        "n": wave.n,
        "sampled": sample.n,
        "pool_size": len(pool),
        "documents": None if pool.documents is None else len(set(pool.codes[rows].tolist())),
        "pool_documents": None if pool.documents is None else int(pool.codes.max()) + 1,
        "strategy": wave.strategy,
        "seed": wave.seed,
        "cost": None if pool.cost is None else float(pool.cost[rows].sum()),
        "budget": campaign.settings.budget,
        "file": out,
        "sheet": to in (None, "csv", "tsv", "xlsx"),
        "ids": list(wave.ids),
    }


def _next(campaign: Campaign, rater: str, json: bool) -> None:
    segment = campaign.next(rater)
    if segment is None:
        left = len(campaign.unrated)
        why = f"{left} segments are with other raters" if left else "all sampled segments are rated"
        if json:
            print(to_json({"segment": None, "why": why}))
        else:
            print(f"Nothing to rate for now: {why}.")
        return
    record = {"segment": segment.id, "key": segment.key, "document": segment.document,
              "position": segment.position, "texts": dict(segment.texts)}  # fmt: skip
    if json:
        print(to_json(record))
        return
    from rich.markup import escape

    out = console()
    out.print(f"[bold]Rate next: {escape(segment.id)}[/bold]")
    out.print()
    lines = [("key", segment.key)]
    if segment.document:
        lines.append(("document", f"{escape(segment.document)}, segment {segment.position}"))
    pairs(out, [*lines, *((name, escape(text)) for name, text in segment.texts.items())])


def _show(out: Console, result: dict[str, Any]) -> None:
    from rich.markup import escape

    further = " further" if result["wave"] > 1 else ""
    spread = (
        f", from {result['documents']} of {result['pool_documents']} documents"
        if result["documents"]
        else ""
    )
    out.print(
        f"[bold]Chose {result['n']}{further} of {result['pool_size']} segments[/bold]{spread}."
    )
    out.print()
    lines = [
        ("wave", f"{result['wave']}; {result['sampled']} segments were drawn in all"),
        ("strategy", result["strategy"]),
        ("seed", str(result["seed"])),
    ]
    if result["cost"] is not None:
        lines.append(("cost", f"{result['cost']:,.10g}"))
    if result["file"] is not None:
        lines.append(("to rate", escape(result["file"])))
    pairs(out, lines)
    out.print()
    place = escape(shlex.quote(result["campaign"]))
    if result["budget"] and result["sampled"] < result["budget"]:
        out.print(f"It learns from each answer; {result['budget']} ratings in all. Go on with:")
        out.print(f"  [green]fewgold select {place} --next[/green]")
        return
    if result["file"] is None:
        out.print("Write what is to be rated, for a spreadsheet or an annotation tool:")
        out.print(f"  [green]fewgold export {place} -o to_rate{sheet_suffix()}[/green]")
        out.print(f"  [green]fewgold export {place} -o tasks.json --to label-studio[/green]")
        return
    out.print("When answers come, all or some of them:")
    filled = result["file"].lower().endswith((".csv", ".tsv", ".xlsx")) and result["sheet"]
    name = escape(shlex.quote(result["file"])) if filled else "ANSWERS"
    out.print(f"  [green]fewgold import {place} {name}[/green]")
