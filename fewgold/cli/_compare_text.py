"""What ``fewgold compare`` prints for people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.comparison import Comparison

_MOST = 15  # pairs to print


def show(out: Console, result: Comparison) -> None:
    """Ranking, differences, raters and notes."""
    from rich.table import Table
    from rich.text import Text

    from fewgold.comparison._text import decimals, findings

    facts, level = result.facts, f"{100 * result.confidence:.10g}%"
    about = (
        f"all {facts['pool_size']} segments"
        if facts["target"] == "pool"
        else f"new {facts['unit']}s like these"
    )
    out.print(
        Text.assemble(
            (f"{len(result.systems)} systems on {facts['n']} rated segments", "bold"),
            f"; the result is about {about}.",
        )
    )
    out.print()
    scores, ranking = result.scores(), result.ranking()
    digits = decimals(float(scores["se"].min()))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="cyan")
    for head in ("rank", "system", "score", level, "P(best)"):
        side: Any = "left" if head in ("rank", "system") else "right"
        table.add_column(head, justify=side, no_wrap=True, overflow="ellipsis")
    group = 1
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    for place, own in both:
        if place.group != group:
            table.add_section()
            table.add_row("[dim]──[/dim]")
        group = place.group
        span = {place.rank_low, place.rank_high}
        table.add_row(
            "–".join(map(str, sorted(span))), Text(own.system), f"{own.score:.{digits}f}",
            f"{own.low:.{digits}f} to {own.high:.{digits}f}", f"{place.p_best:.3f}",
        )  # fmt: skip
    out.print(table)
    out.print()
    _differences(out, result, level)
    if result.people is not None:
        out.print()
        _raters(out, result)
    out.print()
    first, *others = findings(result)
    for sentence in (f"* {first}", *others):  # the star of the table
        out.print(Text(sentence))
    for sentence in result.remarks:
        out.print(Text.assemble(("note: ", "yellow"), sentence))
    out.print()
    out.print("To cite how the numbers were made:")
    out.print(Text(f"  {result.signature()}"), soft_wrap=True)


def _differences(out: Console, result: Comparison, level: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from fewgold.comparison._text import decimals

    frame = result.differences()
    place = {name: k for k, name in enumerate(result.ranking()["system"])}
    if len(frame) > _MOST:
        near = frame["second"].map(place) - frame["first"].map(place) == 1
        out.print(f"Differences of neighbours (--format csv lists all {len(frame)}):")
        frame = frame[near]
    digits = decimals(float(frame["se"].min()))
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="cyan")
    for head in ("difference", "", level, "P(better)", "p, corrected"):
        side: Any = "left" if head == "difference" else "right"
        table.add_column(head, justify=side, no_wrap=head != "difference")
    rows: Any = frame.itertuples()
    for row in rows:
        unknown = not math.isfinite(row.low)
        table.add_row(
            Text(_pair(row.first, row.second)),
            f"{row.difference:+.{digits}f}".replace("-", "−"),
            "unknown" if unknown
            else f"{row.low:.{digits}f} to {row.high:.{digits}f}".replace("-", "−"),
            f"{row.p_better:.3f}",
            ("< 0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}")
            + ("*" if row.significant else " "),
        )  # fmt: skip
    out.print(table)


def _pair(first: str, second: str) -> str:
    """Two names that leave room for the figures."""
    from fewgold.plots._style import shorten

    if len(first) + len(second) > 26:
        first, second = shorten(first, 13), shorten(second, 13)
    return f"{first} − {second}"


def _raters(out: Console, result: Comparison) -> None:
    from rich.table import Table
    from rich.text import Text

    assert result.people is not None
    people = result.people
    agree = (
        (
            f"Krippendorff's α {_number(people.alpha, 2)}, mean correlation "
            f"{_number(people.correlation, 2)}; "
        )
        if people.shared
        else ""
    )
    out.print(f"Raters: {agree}{people.shared} of {people.outputs} outputs rated by two or more")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="cyan")
    table.add_column("rater")
    for head in ("ratings", "mean", "bias", "±", "spread"):
        table.add_column(head, justify="right")
    rows: Any = people.to_frame().itertuples()
    for row in rows:
        table.add_row(
            Text(row.rater), str(row.ratings), f"{row.mean:.3f}",
            _number(row.bias, 3, "+"), _number(row.bias_se, 3), _number(row.spread, 3),
        )  # fmt: skip
    out.print(table)


def _number(value: float, digits: int, sign: str = "") -> str:
    return "–" if value != value else f"{value:{sign}.{digits}f}".replace("-", "−")
