"""``fewgold work`` and ``fewgold adjudicate``: how raters work, and where they disagree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import escape, pairs, quoted, show
from fewgold.cli.options import Json, described, flag, option
from fewgold.common.text import counted

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from fewgold.campaign import Campaign, Work
    from fewgold.campaign.practice import PracticeItem

_HOW = "How raters work"


def work(
    campaign: options.Campaign,
    check_every: int | None = option(
        None,
        "K",
        "Show an attention check after every K answers of a rater; 0 for none.",
        panel=_HOW,
        min=0,
    ),
    known: str | None = option(
        None,
        "FILE",
        "Table of known answers for attention checks: columns id and score, or id, low and high.",
        panel=_HOW,
    ),
    second: float | None = option(
        None,
        "SHARE",
        "Random share of the sampled segments that get one more rater, such as 0.2.",
        panel=_HOW,
        parser=parse.number,
    ),
    hold: float | None = option(
        None,
        "MINUTES",
        "How long a segment stays reserved for the rater who opened it. Default: 30.",
        panel=_HOW,
        parser=parse.number,
    ),
    practice: int | None = option(
        None,
        "K",
        "Items that a new rater practises on first, marked as practice; their answers never count.",
        panel=_HOW,
        min=0,
        max=20,
    ),
    practice_items: str | None = option(
        None,
        "FILE",
        "Table of segments to practise on, outside the sample: column id, and optionally score (or "
        "one column per criterion) and explanation, shown after rating.",
        panel=_HOW,
    ),
    hand_on: str | None = option(
        None,
        "NAME",
        "Release the segments that this rater opened and left; 'all' for all raters.",
        panel=_HOW,
    ),
    json: Json = False,
) -> None:
    """Show how the raters work, and change how segments reach them.

    Without options, shows answers and their times, attention checks, segments opened
    but not answered, and how well raters agree. Answers to checks never count.

    Example: [bold]fewgold work study --check-every 20 --known gold.csv --second 0.2[/bold]
    """
    from fewgold.campaign import Campaign

    with Campaign(campaign) as study:
        told = {} if known is None else _known(known)
        values: dict[str, Any] = {
            "check_every": check_every, "second": second, "practice": practice,
            "hold": None if hold is None else 60 * hold,
        }  # fmt: skip
        values = {name: value for name, value in values.items() if value is not None}
        if values:
            study.change(**values)
        if told:
            study.set_known(told)
        named = 0 if practice_items is None else study.practise_on(_practice(study, practice_items))
        handed = None
        if hand_on is not None:
            handed = study.desk.hand_on(None if hand_on == "all" else hand_on)
        found, settings = study.work(), study.settings
        record: dict[str, Any] = found.to_dict() | {
            "campaign": campaign, "handed_on": handed, "known_answers": len(told),
            "check_every": settings.check_every, "second": settings.second, "hold": settings.hold,
            "practice": settings.practice, "practice_items": named,
        }  # fmt: skip
        show(json, record, lambda out: _show(out, study, found, record))


def _practice(study: Campaign, file: str) -> list[PracticeItem]:
    """Read practice items from a table."""
    from fewgold.campaign.practice import PracticeItem, parse_answer
    from fewgold.errors import DataError

    table = input.read_table(file, True).astype(object)
    if "id" not in table.columns:
        raise DataError(
            "practice items need the column id, and may have score and explanation; the table has "
            f"{', '.join(map(str, table.columns[:8]))}."
        )
    asked = {c.name: c.name for c in study.settings.criteria} or {"": "score"}
    asked = {name: column for name, column in asked.items() if column in table.columns}
    rows = table.where(table.notna(), "").to_dict("records")
    return [
        PracticeItem(
            str(row["id"]),
            {
                name: parse_answer(study.store, str(row[column]))
                for name, column in asked.items()
                if str(row[column]).strip()
            },
            str(row.get("explanation", "")),
        )
        for row in rows
    ]


def _known(file: str) -> dict[str, tuple[float, float]]:
    """Read known answers from a table, by id."""
    import numpy as np

    from fewgold.errors import DataError
    from fewgold.io import column_of

    table = input.read_table(file, True)
    has = set(table.columns)
    if "id" not in has or not ("score" in has or {"low", "high"} <= has):
        raise DataError(
            "known answers need the columns id and score, or id, low and high; the table has "
            f"{', '.join(map(str, table.columns[:8]))}."
        )
    ends = ("score", "score") if "score" in has else ("low", "high")
    values = [column_of(table[name], name).values for name in ends]
    gaps = np.isnan(values).any(0)
    if gaps.any():
        row = int(np.flatnonzero(gaps)[0])
        raise DataError(
            f"row {row + 1} of {file!r} ({table['id'].iloc[row]!s}) has no number as its score. "
            f"Every row needs one."
        )
    return {
        str(id): (float(low), float(high))
        for id, low, high in zip(table["id"].tolist(), *values, strict=True)
    }


def _show(out: Console, study: Campaign, found: Work, record: dict[str, Any]) -> None:
    from fewgold.campaign.work import hours

    out.print(f"[bold]{escape(study.settings.name)}: raters' work[/bold]\n")
    if record["handed_on"] is not None:
        out.print(f"{counted(record['handed_on'], 'segment')} passed on to the next raters.\n")
    rows = record["raters"]
    if not rows:
        out.print("Nobody has rated yet.")
    wide = max([5, *(len(r["rater"] or "unnamed") for r in rows)])
    if rows:
        out.print(
            f"{'rater':{wide}s}  answers  median time  repeats  same  known  right  skipped  open",
            highlight=False,
        )
    for row in rows:
        time = "-" if row["seconds"] is None else hours(row["seconds"])
        same = "-" if row["same"] is None else f"{row['same']:.0%}"
        right = "-" if row["right"] is None else f"{row['right']:.0%}"
        out.print(
            escape(
                f"{row['rater'] or 'unnamed':{wide}s}  {row['answers']:7d}  {time:>11s}  "
                f"{row['repeats']:7d}  {same:>4s}  {row['known']:5d}  {right:>5s}  "
                f"{row['skipped']:7d}  {row['held']:4d}"
            ),
            highlight=False,
        )
    lines = []
    if found.timed:
        told = f"{hours(found.seconds)} for an answer (median of {found.timed})"
        if record["seconds_per_cost"] is not None:
            told += f", {found.per_cost:.3g} s per unit of cost"
        lines.append(("time", told))
        if record["seconds_left"]:
            lines.append(("still to do", f"about {hours(found.left)} of rating"))
    if len(found.agreement):
        last = record["agreement"][-1]
        told = f"{counted(last['shared'], 'segment')} with two raters, "
        told += f"the same score in {last['same']:.0%}"
        if last["alpha"] is not None:
            told += f"; Krippendorff's α {last['alpha']:.2f}"
        if last["low"] is not None:
            told += f" ({last['low']:.2f} to {last['high']:.2f})"
        lines.append(("agreement", told))
        if found.remark:
            lines.append(("", found.remark))
        grown = [r for r in record["agreement"] if r["low"] is not None]
        if len(grown) > 1:
            steps = ", ".join(
                f"{r['shared']}: {r['alpha']:.2f} ({r['low']:.2f} to {r['high']:.2f})"
                for r in grown[:: max(len(grown) // 4, 1)]
            )
            lines.append(("over time", steps))
    left = [h for h in found.held if h.abandoned]
    if left:
        lines.append(("left", f"{counted(len(left), 'segment')}, free for the next raters"))
    out.print()
    pairs(out, lines)
    if study.settings.differ is not None and (open_ := len(study.differing())):
        place = quoted(record["campaign"])
        many = counted(open_, "segment")
        out.print(f"\nTo settle: {many}. [green]fewgold adjudicate {place}[/green]")


Rule = Annotated[
    Literal["replaces", "joins"] | None,
    described(
        "RULE",
        "replaces: a settled score replaces the answers of the raters (default); joins: it counts "
        "as one more rater.",
    ),
]


def adjudicate(
    campaign: options.Campaign,
    differ: float | None = option(
        None,
        "D",
        "List segments whose raters differ by D or more. Set it before anything is settled.",
        parser=parse.number,
    ),
    rule: Rule = None,
    segment: str | None = option(None, "ID", "Settle this segment (with --score and --by)."),
    score: float | None = option(None, "SCORE", "The score that settles it.", parser=parse.number),
    by: str | None = option(None, "NAME", "Name of the adjudicator."),
    comment: str = option("", "TEXT", "Reason, stored with the score.", show_default=False),
    answers: str | None = option(
        None, "FILE", "Settle all segments of a table with columns id and score (with --by)."
    ),
    settled: bool = flag(False, "--settled", "Also list segments that are already settled."),
    json: Json = False,
) -> None:
    """List segments on which raters disagree, and settle them.

    A rule set beforehand decides which are settled, so that the score of a
    segment does not depend on who happened to look. The raters' answers are
    kept, and results say how many scores were settled.

    Examples:

    [bold]fewgold adjudicate study --differ 20[/bold]

    [bold]fewgold adjudicate study --segment doc3:7 --score 55 --by cleo[/bold]
    """
    from fewgold.campaign import Campaign

    one = (segment, score)
    if (segment is None) != (score is None):
        raise typer.BadParameter("--segment and --score go together.")
    if by is None and (segment is not None or answers is not None):
        raise typer.BadParameter("name the adjudicator: --by NAME.")
    with Campaign(campaign) as study:
        values = {"differ": differ, "adjudication": rule}
        values = {name: value for name, value in values.items() if value is not None}
        if values:
            study.change(**values)
        done = 0
        if one[0] is not None and one[1] is not None:
            done += study.settle(one[0], one[1], by=by or "", comment=comment)
        if answers is not None:
            done += sum(study.settle(id, s, by=by or "") for id, (s, _) in _known(answers).items())
        queue, left = study.differing(settled=settled), len(study.differing())
        chosen = study.settings.adjudication
        limit, beside = study.settings.differ, bool(study.settings.sides)
    from fewgold.common.text import plain_value

    record = {
        "campaign": campaign, "settled": done, "differ": limit, "adjudication": chosen,
        "queue": plain_value(queue.to_dict("records")), "left": left,
    }  # fmt: skip
    show(json, record, lambda out: _show_queue(out, queue, record, beside))


def _show_queue(out: Console, queue: pd.DataFrame, record: dict[str, Any], beside: bool) -> None:
    if record["settled"]:
        out.print(f"[bold]Settled {record['settled']}.[/bold]\n")
    s = "" if record["left"] == 1 else "s"
    out.print(
        f"{record['left']} segment{s} to settle: raters differ by {record['differ']:g} or more. "
        f"A settled score {record['adjudication']} the answers of the raters.\n"
    )
    if queue.empty:
        return
    if beside:
        from fewgold.campaign.sides import EXPLAINED

        out.print(
            "Settle a pair by its id with 1 (the first output is better), -1 (the second) or 0; "
            f"by its key, as on a page, {EXPLAINED}.\n"
        )
    wide = max(7, *(len(str(i)) for i in queue["segment"]))
    out.print(f"{'segment':{wide}s}  raters  lowest  highest  settled", highlight=False)
    for row in queue.to_dict("records"):
        told = "" if row["score"] != row["score"] else f"{row['score']:g}"
        out.print(
            escape(
                f"{row['segment']!s:{wide}s}  {row['raters']:6d}  {row['low']:6g}  "
                f"{row['high']:7g}  {told:>7s}"
            ),
            highlight=False,
        )
