"""``fewgold stop``: whether a partly rated sheet has enough ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import emit, escape, pairs
from fewgold.cli.options import Json, Output, argument, described, flag, option
from fewgold.common.text import decimals, plain_value

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.sample import Ratings, Sample

_ORDER = (
    "Rate them first: segments must be rated in the order drawn, which is the row order of fewgold "
    "select --in-order. Which segments are left out must not depend on how hard they are to rate."
)


# Fewer ratings than this cannot predict how many more are needed.
_ENOUGH = 10


def stop(
    file: str = argument(
        ..., "SHEET", "The sheet, rated from the top as far as you got; - is stdin."
    ),
    tolerance: float = option(
        ..., "T", "Stop when the interval is ±T or narrower.", parser=parse.number
    ),
    limits: str = option(..., "LOW,HIGH", "Lowest and highest rating, such as 0,25 or mqm."),
    metric: str | None = option(
        None, "NAME", "Metric to use, chosen before rating began (mean: the mean of all metrics)."
    ),
    rule: Annotated[
        options.StoppingRule,
        described(
            "NAME", "kelly: guaranteed however often you look; hall: approximate, stops sooner."
        ),
    ] = "kelly",
    confidence: str = option("0.95", "LEVEL", "Confidence level, such as 0.95 or 95%."),
    pool: options.Pool = None,
    design: options.SideFile = None,
    human: str | None = option(None, "COLUMN", "Column of human scores; A,B takes the mean."),
    id: options.SheetId = "id",
    fail_open: bool = flag(False, "--fail-open", "Exit with 1 while more ratings are needed."),
    output: Output = "text",
    json: Json = False,
) -> None:
    """Say whether you can stop rating.

    Make the sheet with [bold]fewgold select --strategy random --in-order[/bold] and rate it
    from the top. You may look as often as you like: with the default rule, the
    interval still holds. Fix tolerance, metric and rule before the first rating.

    Example: [bold]fewgold stop to_rate.csv --tolerance 0.5 --limits mqm[/bold]
    """
    from fewgold import sheets
    from fewgold.bounds import sequence

    level, ends = parse.confidence(confidence), parse.limits(limits)
    assert ends is not None
    if not 0 < tolerance < (ends[1] - ends[0]) / 2:
        raise typer.BadParameter(
            f"--tolerance must be above 0 and below half the scale, {(ends[1] - ends[0]) / 2:g}"
            f"; got {tolerance:g}."
        )
    record, sample = input.open_sheet(file, pool, design, quiet=False)
    columns = sheets.score_columns(record, parse.names(human))
    ratings = _started(file, sample, id, columns, ends)
    result: dict[str, Any] = {
        "stop": False, "n": 0, "pool_size": len(sample.pool), "low": ends[0], "high": ends[1],
        "half_width": (ends[1] - ends[0]) / 2, "tolerance": tolerance, "mean": None,
        "confidence": level, "stopped_after": None, "more": None, "more_low": None,
        "more_high": None, "in_sheet": sample.n, "seed": record["seed"], "metric": metric,
        "rule": rule,
        "rule_kind": sequence.RULES[rule].kind, "promise": sequence.RULES[rule].promise,
        "file": file, "signature": None,
    }  # fmt: skip
    if ratings is not None:
        path = sequence.path(ratings, tolerance, level, metric=metric, rule=rule)
        # With a rule that is valid at any time, later ratings only help.
        late = rule == "kelly" or not path.stopped
        at = (ratings.n if late else path.stopped) - 1
        result |= {
            "stop": path.stopped > 0, "n": ratings.n, "low": path.low[at], "high": path.high[at],
            "half_width": path.half_width[at], "mean": path.mean[at],
            "stopped_after": path.stopped or None, "signature": path.signature(),
        }  # fmt: skip
        if not path.stopped and ratings.n >= _ENOUGH:
            likely = sequence.remaining(
                ratings, tolerance, metric=metric, confidence=level, rule=rule
            )
            low, high = likely.quantile(0.1)[0], likely.quantile(0.9)[0]
            totals = {"more": likely.mean[0], "more_low": low, "more_high": high}
            result |= {name: float(total) - ratings.n for name, total in totals.items()}
    result = plain_value(result)
    how = "json" if json else output
    emit(how, result, [result], lambda out: _show(out, result))
    if fail_open and not result["stop"]:
        raise typer.Exit(1)


def _started(
    file: str, sample: Sample, id: str, columns: list[str], limits: tuple[float, float]
) -> Ratings | None:
    """The ratings from the top up to the first gap, or None if there are none yet."""
    from fewgold import io, sheets
    from fewgold.bounds import sequence
    from fewgold.errors import UnknownNameError

    frame = io.read_table(file)
    for name in [id, *columns]:
        if name not in frame.columns:
            raise UnknownNameError(f"column of {file!r}", name, map(str, frame.columns))
    begun = frame[~frame[columns].map(io.is_empty).all(axis=1)]
    place = {str(i): k for k, i in enumerate(sample.ids)}
    place |= {io.neutral(name): k for name, k in place.items()}
    found = [str(i) for i in begun[id]]
    io.refuse(
        "are not in the sample",
        [i for i in found if i not in place],
        "Does the sheet belong to this design?",
    )
    rated = {place[i] for i in found}
    first = sequence.first(sample, max(rated) + 1 if rated else 1)
    gaps = [str(i) for k, i in enumerate(first.ids) if k not in rated]
    if not rated:
        return None
    io.refuse("are not rated, but later ones are", gaps, _ORDER)
    return sheets.read_ratings(begun, first, id=id, score=columns, limits=limits)


def _show(out: Console, result: dict[str, Any]) -> None:
    n, size, digits = result["n"], result["pool_size"], decimals(result["half_width"])
    if result["stop"]:
        enough = result["stopped_after"]
        verdict = f"[green]Stop[/green]: {enough} of {size} ratings are enough."
    elif n:
        verdict = "[yellow]Go on[/yellow]: the interval is not narrow enough yet."
    else:
        verdict = "[yellow]Go on[/yellow]: no row has a score yet."
    out.print(f"[bold]{verdict}[/bold]\n")
    middle = (result["low"] + result["high"]) / 2
    lines = [
        (
            f"{100 * result['confidence']:.6g}% interval",
            f"{result['low']:.{digits}f} to {result['high']:.{digits}f}, that is "
            f"{middle:.{digits}f} ± {result['half_width']:.{digits}f}",
        ),
        ("tolerance", f"± {result['tolerance']:g}"),
        ("ratings", f"{n} of {size} segments"),
    ]
    if n:
        outside = not result["low"] <= result["mean"] <= result["high"]
        hint = f"; outside the interval, so report {middle:.{digits}f}" if outside else ""
        lines.insert(1, ("mean of ratings", f"{result['mean']:.{digits}f}{hint}"))
    if result["more"] is not None:
        lines.append(
            (
                "still to rate",
                f"about {result['more']:.0f} ({result['more_low']:.0f} to "
                f"{result['more_high']:.0f}), if the rest is like the segments rated so far",
            )
        )
    lines.append(("rule", f"{result['rule']}, {result['rule_kind']}: {escape(result['promise'])}"))
    pairs(out, lines)
    if result["signature"]:
        out.print("\nTo cite this interval:")
        out.print(f"  {escape(result['signature'])}", soft_wrap=True)
    if not result["stop"] and n == result["in_sheet"] < size:
        out.print(
            "\nThe whole sheet is rated. Select again with the same seed "
            f"(--seed {result['seed']}) and a larger budget, up to 100%: the new sheet begins with "
            "the same rows. Copy their scores and continue."
        )
