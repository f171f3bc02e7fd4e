"""``fewgold monitor``: one score per batch, and an alarm when it drops."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli import rated as rated_study
from fewgold.cli.console import emit, escape, no_plots, say
from fewgold.cli.options import Json, Output, Quiet, described, flag, option
from fewgold.common.text import plain_value

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.monitoring import Batches, Drift, FalseAlarms, Monitoring

_ALARM = "The alarm"
_PLAN = "Beforehand"
_ANCHOR = "Does the judge drift?"

Every = Annotated[
    Literal["day", "week", "month"] | None,
    described("day|week|month", "Group dates by day, week or month."),
]
Method = Annotated[
    Literal["auto", "guaranteed", "approximate"],
    described(
        "NAME",
        "guaranteed: by betting on single ratings, for the intervals too; approximate: treats "
        "batch scores as normal; auto: guaranteed with --against and a known scale, else "
        "approximate.",
        panel=_ALARM,
    ),
]


def monitor(
    file: str = typer.Argument(
        "",
        metavar="[FILE]",
        help="A table with labels on some rows of each batch, a rated sheet or a campaign; - is "
        "CSV on stdin. Not needed for --plan --sd and --anchor.",
    ),
    batch: str | None = option(None, "COLUMN", "Column with the day, week or release of each row."),
    every: Every = None,
    drop: str | None = option(
        None, "SIZE", "Smallest drop that matters, in units of the scores (--plan takes several)."
    ),
    baseline: str = option(
        "before",
        "N|A,B,…",
        "Compare with the first N batches, with the named ones, or with all earlier ones (before).",
        panel=_ALARM,
    ),
    bar: float | None = option(
        None,
        "SCORE",
        "Compare with this target instead of a baseline.",
        "--against",
        panel=_ALARM,
        parser=parse.number,
    ),
    false_alarms: str = option(
        "0.05",
        "RATE",
        "Chance of a false alarm, however often you look.",
        panel=_ALARM,
    ),
    looks: str = option(
        "200", "K|ever", "Number of batches to monitor; 'ever' for no limit.", panel=_ALARM
    ),
    average_run: float | None = option(
        None,
        "K",
        "Instead of --false-alarms: at least K batches on average until a false alarm.",
        panel=_ALARM,
        parser=parse.number,
    ),
    method: Method = "auto",
    higher_is_better: bool | None = options.direction(
        None, "Default: as set in the campaign; otherwise higher, or lower with --limits mqm."
    ),
    fail_alarm: bool = flag(False, "--fail-alarm", "Exit with 1 if there is an alarm."),
    pool: options.Pool = None,
    design: options.SideFile = None,
    system: options.OneSystem = None,
    human: str | None = option(None, "COLUMN", "Column of human scores; A,B takes the mean."),
    id: options.SheetId = "id",
    estimator: str | None = option(
        None,
        "NAME",
        "Estimator for each batch alone. Default: corrects by metrics, using what earlier batches "
        "show.",
    ),
    confidence: options.Confidence = None,
    limits: options.ScaleEnds = None,
    adequate: str | None = option(
        None,
        "CUT",
        "Follow the share of segments whose score meets CUT, such as '>=4'.",
        "--share",
        "--adequate",
    ),
    gaps: rated_study.Gaps = "wait",
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    metrics: options.LabelMetrics = None,
    plan: bool = flag(
        False, "--plan", "Show how late an alarm would come, by ratings per batch.", panel=_PLAN
    ),
    sd: float | None = option(
        None,
        "SD",
        "For --plan without FILE: standard deviation of the ratings.",
        panel=_PLAN,
        parser=parse.number,
    ),
    ratings: str = option("10,20,50,100,200", "N,…", "For --plan: ratings per batch.", panel=_PLAN),
    size: int | None = option(None, "N", "Segments per batch.", panel=_PLAN, min=2),
    delay: float | None = option(
        None,
        "K",
        "For --plan: also find the fewest ratings for a mean delay of K batches.",
        panel=_PLAN,
        parser=parse.number,
    ),
    budget: int | None = option(
        None, "N", "Ratings for all batches together: shows how many the next one gets.",
        panel=_PLAN, min=1
    ),
    batches: int | None = option(
        None, "K", "With --budget: total number of batches, including earlier ones.", panel=_PLAN,
        min=1
    ),
    divide: int | None = option(
        None, "N", "Divide N ratings among the unrated batches of FILE.", panel=_PLAN,
        min=1,
    ),
    anchor: str | None = option(
        None, "FILE", "Table of items judged again in every batch, one row per item and batch.",
        panel=_ANCHOR
    ),
    item: str = option("id", "COLUMN", "Column of the ids of these items.", panel=_ANCHOR),
    judges: str | None = option(
        None,
        "A,B,…",
        "Columns of the judges, or of people who rated the items again.",
        "--judges",
        "--judge",
        panel=_ANCHOR,
    ),
    trusted: str | None = option(
        None, "COLUMN", "Column of trusted scores, to also measure the distance from people.",
        panel=_ANCHOR
    ),
    out: Annotated[
        Path | None,
        described("FILE", "File to write: a page (.html), a figure (.png, .svg, .pdf) or the table "
            "(.csv).",
                  "--out", "-o"),
    ] = None,
    force: bool = flag(False, "--force", "Overwrite an existing file."),
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Follow a score over time, with an alarm when it drops.

    One score per day, week or release, corrected by the judge. You may look at
    the intervals and the alarm after every batch without causing more false
    alarms. --plan shows how late an alarm would be, --anchor whether the judge
    itself has changed.

    Examples:

    [bold]fewgold monitor log.csv --batch date --every week --chosen random --drop 0.1[/bold]

    [bold]fewgold monitor --plan --sd 0.35 --drop 0.05,0.1 --size 500[/bold]

    [bold]fewgold monitor --anchor anchors.csv --batch week --judge llm[/bold]
    """
    told = dict(locals())
    how = "json" if json else output
    told["alarms"] = _alarms(false_alarms, looks, average_run)
    told["drops"] = _numbers("--drop", drop)
    told["level"] = 0.95 if confidence is None else parse.confidence(confidence)
    _check(told)
    record: dict[str, Any] = {}
    texts: list[Callable[[Console], None]] = []
    rows: list[dict[str, Any]] = []
    found = drift = None
    if file:
        found = _followed(told)
        record |= found.to_dict()
        rows = record["batches"]
        if not plan:
            texts.append(lambda out: _show(out, found))
        if budget is not None:
            _next(told, found, record, texts)
        if divide is not None:
            rows = _divided(divide, found, record, texts)
    if plan:
        rows = _planned(told, found, record, texts)
    if anchor is not None:
        drift = _drifted(told)
        record |= {"drift": drift.to_dict()}
        rows = rows or record["drift"]["rows"]
        texts.append(lambda out: print(drift.summary()))
    if out is not None:
        _write(found, drift, out, quiet)

    def text(out: Console) -> None:
        for k, one in enumerate(texts):
            if k:
                print()
            one(out)

    emit(how, plain_value(record | {"file": file or None}), rows, text)
    alarm = (found is not None and found.alarm is not None) or (drift is not None and drift.alarms)
    if fail_alarm and alarm:
        raise typer.Exit(1)


def _alarms(rate: str, looks: str, run: float | None) -> FalseAlarms:
    from fewgold.monitoring import FalseAlarms

    if looks != "ever" and not (looks.isdecimal() and int(looks) > 0):
        raise typer.BadParameter(
            f"--looks must be a whole number such as 200, or ever; got {looks!r}."
        )
    if run is not None and not run > 1:
        raise typer.BadParameter(f"--average-run must be above 1; got {run:g}.")
    return FalseAlarms(
        parse.confidence(rate, "--false-alarms", "0.05"),
        None if looks == "ever" else int(looks), run,
    )  # fmt: skip


def _numbers(option: str, text: str | None) -> list[float]:
    try:
        found = [float(part) for part in parse.names(text)]
    except ValueError:
        found = [math.nan]
    if text is not None and not (found and all(math.isfinite(v) and v > 0 for v in found)):
        raise typer.BadParameter(f"{option} must be a number above 0, such as 0.1; got {text!r}.")
    return found


def _check(told: dict[str, Any]) -> None:
    """Check that options which need each other are given together."""
    planned = told["plan"] and told["sd"] is not None
    if not told["file"] and told["anchor"] is None and not planned:
        raise typer.BadParameter("name a FILE with ratings, or use --plan --sd or --anchor.")
    if (told["file"] or told["anchor"]) and told["batch"] is None:
        raise typer.BadParameter("name the column of the batches: --batch COLUMN.")
    if told["plan"] and not told["drops"]:
        raise typer.BadParameter("--plan needs the size of a drop: --drop 0.1, or several as A,B.")
    if not told["plan"] and len(told["drops"]) > 1:
        raise typer.BadParameter("--drop takes one size; several only with --plan.")
    if not told["plan"] and (told["delay"] is not None or told["sd"] is not None):
        raise typer.BadParameter("--delay and --sd need --plan.")
    if told["anchor"] is not None and told["judges"] is None:
        raise typer.BadParameter("--anchor needs the columns of the judges: --judge A,B.")
    if (told["budget"] is None) != (told["batches"] is None):
        raise typer.BadParameter("--budget and --batches go together.")
    for name in ("budget", "divide"):
        if told[name] is not None and not told["file"]:
            raise typer.BadParameter(f"--{name} needs the FILE with the ratings so far.")
    out = told["out"]
    if out is not None:
        if out.suffix.lower() not in (".html", ".htm", ".csv", ".png", ".svg", ".pdf"):
            raise typer.BadParameter(
                f"-o must end in .html, .csv, .png, .svg or .pdf; got {out!s}."
            )
        if out.exists() and not told["force"]:
            raise typer.BadParameter(f"{str(out)!r} exists. Overwrite it with --force.")


def _batches(told: dict[str, Any]) -> Batches:
    """The batches of a table, or those of a sheet or campaign."""
    from fewgold.missing import ratings_for
    from fewgold.monitoring import from_labelled, from_ratings

    file, cut = told["file"], parse.cut("--share or --adequate", told["adequate"])
    if told["gaps"] == "bounds":
        raise typer.BadParameter("--gaps must be wait or at-random here.")
    of_table = not input.is_campaign(file) and (
        told["chosen"] is not None or told["labels"] is not None
        or input.without_design(file, told["design"])
    )  # fmt: skip
    if of_table:
        if told["system"] is not None:
            raise typer.BadParameter("--system is for campaigns of several systems.")
        if told["pool"] is not None or told["design"] is not None:
            raise typer.BadParameter("--pool and --design are for sheets, --chosen is for tables.")
        named = options.named(metrics=told["metrics"])
        named |= {"id": None if told["id"] == "id" else told["id"]}
        found = input.labelled(
            file, told["chosen"], told["quiet"], labels=told["labels"], on=told["on"],
            other=[told["batch"]],
            **named | {"human": None if told["human"] is None else parse.names(told["human"])},
        )  # fmt: skip
        return from_labelled(
            found, told["batch"], every=told["every"], limits=parse.limits(told["limits"]),
            gaps=told["gaps"], adequate=cut,
        )  # fmt: skip
    names = (
        "pool", "design", "human", "id", "limits", "gaps", "chosen", "labels", "on", "metrics",
        "system", "quiet",
    )  # fmt: skip
    study = rated_study.opened(
        file, level=told["level"], estimator=None, waves=None,
        **{name: told[name] for name in names},
    )  # fmt: skip
    partial = study.partial if cut is None else study.partial.cut(cut)
    ratings = ratings_for(partial, study.estimator, told["gaps"])
    column = input.columns_beside(told["file"], ratings, study.table(), study.sheet, told["id"])
    return from_ratings(ratings, column(told["batch"]), every=told["every"], name=told["batch"])


def _followed(told: dict[str, Any]) -> Monitoring:
    from fewgold import registry
    from fewgold.monitoring import monitor as follow

    made = _batches(told)
    higher = told["higher_is_better"]
    if higher is None:
        higher = rated_study.better(told["file"], told["limits"], told["adequate"] is not None)
    first = next((b.ratings for b in made.parts if b.ratings is not None), made.whole)
    named = told["estimator"]
    base = told["baseline"]
    own = None
    if named is not None and first is not None:
        own = registry.estimator(named, first.sample.pool)
    return follow(
        made, drop=told["drops"][0] if told["drops"] and not told["plan"] else None,
        target=told["bar"],
        baseline=int(base) if base.isdecimal() else base if base == "before" else parse.names(base),
        higher_is_better=higher, false_alarms=told["alarms"], method=told["method"], estimator=own,
        confidence=told["level"],
    )  # fmt: skip


def _planned(
    told: dict[str, Any], found: Monitoring | None, record: dict[str, Any],
    texts: list[Callable[[Console], None]],
) -> list[dict[str, Any]]:  # fmt: skip
    from fewgold.monitoring import delays, ratings_for_delay

    sd, size = told["sd"], told["size"]
    if sd is None:
        assert found is not None
        sd = found.unit_sd
        size = size or round(sum(found.table["size"]) / len(found))
    base = told["baseline"]
    count: int | str = int(base) if base.isdecimal() else len(parse.names(base))
    count = 0 if told["bar"] is not None else "before" if base == "before" else count
    asked = [n for n in parse.counts("--ratings", told["ratings"]) if size is None or n <= size]
    if not asked or min(asked) < 2:
        raise typer.BadParameter(
            "--ratings must be at least 2 and at most the number of segments per batch."
        )
    how: dict[str, Any] = {"size": size, "baseline": count, "false_alarms": told["alarms"]}
    made = delays(sd, told["drops"], asked, **how)
    record |= {"plan": made.to_dict()}
    texts.append(lambda out: print(made.summary()))
    if told["delay"] is not None:
        fewest = {d: ratings_for_delay(sd, d, told["delay"], **how) for d in told["drops"]}
        record["plan"] |= {
            "needed": [{"drop": d, "delay": told["delay"], "ratings": n} for d, n in fewest.items()]
        }

        def needed(_: Console) -> None:
            print(f"For a mean delay of {told['delay']:g} batches:")
            for size_of, n in fewest.items():
                never = "not possible, even with all segments rated"
                said = never if n is None else f"{n} ratings per batch"
                print(f"  drop of {size_of:g}: {said}")

        texts.append(needed)
    rows: list[dict[str, Any]] = record["plan"]["delays"]
    return rows


def _divided(
    budget: int, found: Monitoring, record: dict[str, Any], texts: list[Callable[[Console], None]]
) -> list[dict[str, Any]]:
    """Ratings for each unrated batch, so that their scores will be equally precise."""
    from fewgold.monitoring import share_budget

    table = found.table
    rows = zip(table["batch"], table["n"], table["size"], strict=True)
    bare = [(str(name), int(size)) for name, n, size in rows if n == 0]
    if not bare:
        raise typer.BadParameter(
            "--divide is for batches without ratings, but here every batch has some."
        )
    if not math.isfinite(found.unit_sd):
        raise typer.BadParameter(
            "--divide needs ratings of an earlier batch, to know how much they vary. Rate at least "
            "2 segments of one batch."
        )
    sizes = [size for _, size in bare]
    counts = share_budget([found.unit_sd] * len(bare), sizes, budget)
    made = [
        {"batch": name, "size": size, "ratings": int(n)}
        for (name, size), n in zip(bare, counts, strict=True)
    ]
    record |= {"divided": made}
    if (rest := budget - int(counts.sum())) > 0:
        record |= {"left": rest}

    def text(_: Console) -> None:
        print(f"{budget} ratings for the unrated batches, so that each score is equally precise:")
        for one in made:
            print(f"  {one['batch']}: {one['ratings']} of {one['size']}")
        if rest > 0:
            print(f"  {rest} are left over: all segments of these batches would be rated.")

    texts.append(text)
    return made


def _next(
    told: dict[str, Any], found: Monitoring, record: dict[str, Any],
    texts: list[Callable[[Console], None]],
) -> None:  # fmt: skip
    from fewgold.monitoring import next_batch

    size = told["size"] or round(sum(found.table["size"]) / len(found))
    made = next_batch(found, size, budget=told["budget"], batches=told["batches"])
    record |= {"next": made.to_dict()}
    texts.append(lambda out: print(made.summary()))


def _drifted(told: dict[str, Any]) -> Drift:
    from fewgold.monitoring import judge_drift

    frame = input.read_table(told["anchor"], told["quiet"])
    return judge_drift(
        frame, item=told["item"], batch=told["batch"], judges=parse.names(told["judges"]),
        human=told["trusted"], every=told["every"], false_alarms=told["alarms"],
        confidence=told["level"],
    )  # fmt: skip


def _show(out: Console, found: Monitoring) -> None:
    """The summary, with the verdict in colour and lines wrapped to the screen."""
    verdict, _, rest = found.summary().partition("\n")
    colour = "red" if found.alarm is not None else "green" if found.drop is not None else "default"
    out.print(f"[bold {colour}]{escape(verdict)}[/bold {colour}]")
    for block in rest.split("\n\n"):
        lines = block.splitlines()
        in_table = bool(lines) and lines[0].startswith(found.by + " ")
        for line in lines:
            if in_table or line == found.signature():
                print(line)
            elif line:
                out.print(escape(line))
        if block != rest.split("\n\n")[-1]:
            print()


def _write(found: Monitoring | None, drift: Drift | None, out: Path, quiet: bool) -> None:
    from fewgold import io
    from fewgold.plots.style import available

    kind = out.suffix.lower()
    if found is None and (drift is None or kind != ".csv"):
        raise typer.BadParameter(
            "-o writes a page or figure only with a FILE of ratings; --anchor alone writes a .csv."
        )
    if kind == ".csv":
        frame = found.to_frame() if found is not None else drift.to_frame()  # type: ignore[union-attr]
        for name in frame.select_dtypes(
            exclude="number"
        ):  # spreadsheets must not read texts as formulas
            frame[name] = [io.neutral(str(v)) for v in frame[name]]
        io.write_texts({out: frame.to_csv(index=False)})
    elif kind in (".html", ".htm"):
        assert found is not None
        if not available():
            no_plots(quiet)
        found.write(out)
    elif not available():
        no_plots(quiet, "plot")
        return
    else:
        from fewgold.plots import save

        assert found is not None
        save(found.plot(), out)
    say(f"Wrote {out}", quiet)
