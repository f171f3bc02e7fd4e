"""Prints estimates of several criteria."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.cli import slices as estimates
from fewgold.cli.console import PaperTable, emit, escape, remarks, table
from fewgold.cli.options import OutputFormat
from fewgold.common.text import decimals

if TYPE_CHECKING:
    from rich.console import Console


def answer(told: dict[str, Any], how: OutputFormat) -> None:
    """Print the record of a `fewgold.criteria.CriteriaEstimate`; one row per criterion in CSV."""
    names = ("criterion", "value", "se", "low", "high", "n", "missing", "method", "signature")
    rows = [{name: row.get(name) for name in names} for row in told["criteria"]]

    def paper() -> PaperTable:
        heads, lines, signed = estimates.paper([
            row | {"quantity": row["criterion"], "pool_size": told["criteria"][0]["pool_size"]}
            for row in told["criteria"]
        ])  # fmt: skip
        return ["criterion", *heads[-5:]], lines, signed

    emit(how, told, rows, lambda out: _show(out, told), paper)


def _show(out: Console, told: dict[str, Any]) -> None:
    """Criteria side by side, and their correlations."""
    rows = told["criteria"]
    size = rows[0]["pool_size"]
    what = f"share with a score {told['adequate']}" if told["adequate"] else "mean score"
    out.print(f"[bold]Estimated {what} of all {size} segments, by criterion[/bold]\n")
    level = f"{100 * told['confidence']:.6g}% interval"
    made = table("criterion", "score", level, "standard error", "ratings", wrap=1)
    for row in rows:
        digits = decimals(row.get("se") or 0.0)
        shown = "open" if row.get("value") is None else f"{row['value']:.{digits}f}"
        if row.get("region"):
            shown = " to ".join(f"{end:.{digits}f}" for end in row["region"])
        ends = "unknown"
        if row["low"] is not None and row["high"] is not None:
            ends = f"{row['low']:.{digits}f} to {row['high']:.{digits}f}"
        error = "–" if row.get("se") is None else f"{row['se']:.{digits}f}"
        made.add_row(escape(row["criterion"]), shown, ends, error, str(row["n"]))
    out.print(made)
    known = [row for row in told["correlations"] if row["value"] is not None]
    if known:
        out.print()
        other = table("correlation", "value", level, "ratings", wrap=1)
        for row in known:
            pair = escape(f"{row['first']} – {row['second']}")
            ends = f"{row['low']:.2f} to {row['high']:.2f}"
            other.add_row(pair, f"{row['value']:.2f}", ends, str(row["n"]))
        out.print(other)
    out.print()
    if told["simultaneous"]:
        out.print(
            f"The intervals hold for all criteria together (each at {100 * told['level']:.4g} %)."
        )
    remarks(out, told["notes"])
    out.print("\nTo cite these numbers:")
    for row in rows:
        out.print(f"  {escape(row['criterion'])}: {escape(row['signature'])}", soft_wrap=True)
