"""``fewgold judge``: measures how good a metric or LLM judge is, from a rated sample."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import emit, fail, no_plots, note, notes, say
from fewgold.cli.options import Json, Output, Quiet, argument, described, flag, option

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.cut import Cut
    from fewgold.judge import Assessment, Recalibration

_LOOK = "More detail"


def judge(
    file: str = argument(
        ...,
        "FILE",
        "A rated sheet, a campaign, or a table in which people rated some or all rows; - is CSV "
        "on stdin.",
    ),
    judges: str | None = option(
        None,
        "A,B,…",
        "Columns of the judges. Default: all metrics of the pool.",
        "--judges",
        "--judge",
    ),
    human: str | None = option(
        None,
        "COLUMN",
        "Column of human scores (empty where nobody rated); in a campaign a criterion.",
    ),
    adequate: str | None = option(None, "CUT", "Human scores that count as good, such as '>=4'."),
    threshold: str | None = option(
        None, "CUT", "Judge scores that count as good, such as '>=0.5' (default for probabilities)."
    ),
    by: str | None = option(
        None,
        "COLUMN[,COLUMN]",
        "Also report each value of this column, or each combination of values of several columns.",
        panel=_LOOK,
    ),
    against: str | None = option(
        None,
        "A,B,…",
        "Columns that the judge's errors may depend on, such as length or position; for text, its "
        "number of words.",
        panel=_LOOK,
    ),
    disagreements: int | None = option(
        None, "N", "List the N largest disagreements with their texts.", panel=_LOOK, min=1
    ),
    bins: int | None = option(
        None,
        "K",
        "Bins of the reliability curve. Default: depends on the number of ratings.",
        panel=_LOOK,
        min=2,
    ),
    calibrate: Annotated[
        Path | None,
        described(
            "FILE.csv",
            "Write the pool with each judge's score as a probability learnt from the ratings, for "
            "use with --uncertainty or as a metric in the next study.",
            "--calibrate",
            panel=_LOOK,
        ),
    ] = None,
    calibration: str | None = option(
        None,
        "HOW",
        "For --calibrate: logistic or isotonic. Default: whichever does better in "
        "cross-validation.",
        panel=_LOOK,
    ),
    document: str | None = option(
        None,
        "COLUMN",
        "For a table with all rows rated: column of documents, whose rows belong together.",
    ),
    gaps: str = option(
        "wait",
        "HOW",
        "If chosen segments have no answer: wait (refuse to estimate) or at-random (assume that "
        "they are missing at random).",
    ),
    limits: options.ScaleEnds = None,
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    pool: options.Pool = None,
    design: options.SideFile = None,
    system: options.OneSystem = None,
    id: options.SheetId = "id",
    confidence: options.Confidence = None,
    out: Annotated[
        Path | None,
        described(
            "FILE",
            "File to write: a page (.html), a figure (.png, .svg, .pdf) or the disagreements "
            "(.csv).",
            "--out",
            "-o",
        ),
    ] = None,
    force: bool = flag(False, "--force", "Overwrite an existing file."),
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how well an LLM judge or metric agrees with people.

    Reports agreement (also beyond chance: κ, AC1), how often the judge is right on
    good and on bad outputs (ρ, η), AUC, calibration and more, for the whole pool.
    The intervals allow for how the rated segments were chosen.

    Examples:

    [bold]fewgold judge sheet.csv --judge llm[/bold]

    [bold]fewgold judge judged.csv --human passed --judges a,b --by topic -o judge.html[/bold]
    """
    _check_out(out, force)
    _check_table(calibrate, calibration, force)
    if gaps not in ("wait", "at-random"):
        raise typer.BadParameter(f"--gaps must be wait or at-random; got {gaps!r}.")
    cut = parse.cut("--threshold", threshold)
    level = 0.95 if confidence is None else parse.confidence(confidence)
    told: dict[str, Any] = {
        "threshold": cut, "by": parse.names(by), "against": parse.names(against), "bins": bins,
        "confidence": level,
    }  # fmt: skip
    names = parse.names(judges) or None
    good = parse.cut("--adequate", adequate)
    from fewgold.chosen import Chosen
    from fewgold.io import is_empty, with_paths
    from fewgold.judge import assess, assess_table

    table: Any = None
    of_table = {"--chosen": chosen, "--labels": labels, "--on": on}
    if input.is_campaign(file):
        from fewgold.campaign import Campaign

        own = {"--pool": pool, "--design": design, "--document": document, "--limits": limits}
        with Campaign(file) as whole:
            campaign = whole if system is None else whole.of(system)
            criteria = [criterion.name for criterion in campaign.settings.criteria]
            options.refuse_for_campaign(own | of_table | ({} if criteria else {"--human": human}))
            ratings = campaign.ratings(gaps, human)
            if criteria and human is None:
                note(f"people: the scores of {criteria[0]}; --human names another criterion", quiet)
            told["columns"] = campaign.labels
            found = assess(ratings if good is None else ratings.cut(good), names, **told)
    elif system is not None:
        raise typer.BadParameter("--system is for campaigns of several systems.")
    elif _is_sheet(file, design):
        from fewgold import sheets

        if unused := [name for name, value in of_table.items() if value is not None]:
            raise typer.BadParameter(
                f"{unused[0]} is for tables; a sheet records how its segments were drawn."
            )
        if "systems" in sheets.read_record(design or sheets.design_path(file)):
            fail(
                "this sheet holds several systems, and fewgold judge reads sheets of one. In a "
                "campaign of several systems, --system names one; in a table, put the scores into "
                "a column and name it with --human."
            )
        record, sample = input.open_sheet(file, pool, design, quiet)
        columns = sheets.score_columns(record, parse.names(human))
        partial = sheets.read_partial(
            input.read_sheet(file, columns, quiet), sample, id=id,
            score=columns[0] if len(columns) == 1 else columns, limits=parse.limits(limits),
            gaps=gaps != "wait",
        )  # fmt: skip
        ratings = partial.at_random() if gaps == "at-random" else partial.complete()
        more: dict[str, Any] = {}
        if sample.pool._rows_in_memory:
            table = sheets.pool_table(record, pool)
            more = {str(c): table[c] for c in table.columns if c not in sample.pool.metrics}
        found = assess(ratings if good is None else ratings.cut(good), names, columns=more, **told)
    else:
        table = input.with_labels(file, parse.names(human), labels, on, quiet)
        table = with_paths(table, [*(names or ()), *told["by"], *told["against"]])
        table = with_paths(table, [human, document])
        seen = _table(table, human, names, document, quiet, chosen)
        some = table[seen["human"]].map(is_empty).any()
        if chosen is None or (not some and Chosen.parse(chosen).how == "random"):
            found = assess_table(**seen, adequate=good, **told)
        else:
            found = assess(**_chosen(seen, chosen, good), **told)
    made = [] if calibrate is None else [found.calibrated(t.judge, calibration)
                                         for t in found.judges]  # fmt: skip
    _print(found, disagreements, made, "json" if json else output)
    if out is not None:
        _write(found, out, disagreements, quiet)
    if calibrate is not None:
        _write_calibrated(found, table, made, calibrate, quiet)


def _is_sheet(file: str, design: str | None) -> bool:
    """Whether the file has the design of a sample beside it."""
    if design is not None:
        return True
    from fewgold import sheets

    return file != "-" and sheets.design_path(file).is_file()


def _table(
    frame: pd.DataFrame, human: str | None, judges: list[str] | None, document: str | None,
    quiet: bool, chosen: str | None,
) -> dict[str, Any]:  # fmt: skip
    """A table with its roles, as input for `assess_table`."""
    seen = input.understand(
        frame, True, human=None if human is None else [human], metrics=judges, document=document,
        need_id=False,
    )  # fmt: skip
    column = seen.one_human()
    if not seen.metrics:
        fail("which column is the judge? Name it with --judge.")
    notes((n for n in seen.notes() if n.startswith(("columns guessed", "in "))), quiet)
    if chosen is None and seen.table[column].isna().any():
        note("the rated rows are taken as a random sample of all rows", quiet)
    return {
        "table": frame, "human": column, "judges": list(seen.metrics), "id": _ids(frame, seen.id),
        "document": seen.document, "texts": list(seen.texts),
    }  # fmt: skip


def _chosen(table: dict[str, Any], chosen: str, adequate: Cut | None) -> dict[str, Any]:
    """A table whose labelled rows were chosen in a known way, as input for `assess`.

    Gaps in the judges are kept: the result is about the rows that they scored.
    """
    from fewgold.sample import Ratings

    frame, human = table["table"], table["human"]
    roles = {k: table[k] for k in ("id", "texts")} | {"document": table["document"] or "none"}
    ratings = Ratings.from_table(frame, human=human, chosen=chosen, metrics=[], **roles)
    more = {str(name): frame[name] for name in frame.columns if name != human}
    return {
        "ratings": ratings if adequate is None else ratings.cut(adequate),
        "judges": table["judges"], "columns": more,
    }  # fmt: skip


def _ids(frame: pd.DataFrame, column: str | None) -> str | None:
    """The column of ids if they are unique; with several systems they are not."""
    return column if column is not None and frame[column].is_unique else None


def _check_out(out: Path | None, force: bool) -> None:
    if out is None:
        return
    if out.suffix.lower() not in (".html", ".htm", ".csv", ".png", ".svg", ".pdf"):
        raise typer.BadParameter(f"-o must end in .html, .csv, .png, .svg or .pdf; got {out!s}.")
    if out.exists() and not force:
        raise typer.BadParameter(f"{str(out)!r} exists. Overwrite it with --force.")


def _check_table(path: Path | None, method: str | None, force: bool) -> None:
    """Check the options for a file of calibrated scores."""
    if path is None:
        if method is not None:
            raise typer.BadParameter("--calibration needs --calibrate FILE.csv.")
        return
    if path.suffix.lower() != ".csv":
        raise typer.BadParameter(f"--calibrate writes a .csv; got {path!s}.")
    if path.exists() and not force:
        raise typer.BadParameter(f"{str(path)!r} exists. Overwrite it with --force.")


def _write_calibrated(
    found: Assessment, table: Any, made: list[Recalibration], path: Path, quiet: bool
) -> None:
    """Write the table of the pool, or its ids, with a column for each judge."""
    import pandas as pd

    from fewgold import io

    pool = found.ratings.sample.pool
    if table is None:
        if not pool._rows_in_memory:
            fail("--calibrate needs the whole pool in memory; this one stays on disk.")
        table = pd.DataFrame({"id": pool.ids})
    taken = [r.column for r in made if r.column in table.columns]
    if taken:
        fail(f"the table has a column {taken[0]!r} already. Rename it.")
    wider = table.assign(**{r.column: r.values.round(6) for r in made})
    io.write_texts({path: wider.to_csv(index=False)})
    say(f"Wrote {path}", quiet)


def _write(found: Assessment, out: Path, most: int | None, quiet: bool) -> None:
    from fewgold import io
    from fewgold.plots.style import available

    kind = out.suffix.lower()
    if kind == ".csv":
        import pandas as pd

        frames = [found.disagreements(t.judge, most).assign(of=t.judge) for t in found.judges]
        table = pd.concat(frames)
        for name in table.select_dtypes(
            exclude="number"
        ):  # spreadsheets must not read texts as formulas
            table[name] = [io.neutral(str(v)) for v in table[name]]
        io.write_texts({out: table.to_csv(index=False)})
    elif kind in (".html", ".htm"):
        if not available():
            no_plots(quiet)
        found.write(out)
    elif not available():
        no_plots(quiet, "plot")
        return
    else:
        from fewgold.plots import save

        save(found.plot(), out)
    say(f"Wrote {out}", quiet)


def _print(found: Assessment, most: int | None, made: list[Recalibration], how: Any) -> None:
    record = found.to_dict()
    if made:
        record["calibrated"] = [r.to_dict() for r in made]
    if most is not None:
        record["disagreements"] = {
            t.judge: found.disagreements(t.judge, most).to_dict("records") for t in found.judges
        }
    rows: Any = found.to_frame().to_dict("records")

    def text(_: Any) -> None:
        print(found.summary())
        for r in made:
            print(f"\n{r.summary()}")
        for t in found.judges if most is not None else ():
            listed = found.disagreements(t.judge, most)
            print(f"\ndisagreements with {t.judge}, largest first:")
            for row in listed.to_dict("records"):
                _show(row)
            if listed.empty:
                print("  none among the rated segments")

    emit(how, record, rows, text)


def _show(row: dict[Any, Any]) -> None:
    from fewgold.common.text import shorter

    told = f"  {row['id']}: people {row['people']:g}, judge {row['judge']:.3g}"
    known = ("id", "document", "people", "judge", "error", "stands_for")
    print(told + f" (represents {row['stands_for']:.0f} segments)")
    for name, value in row.items():
        if name not in known:
            print(f"    {name}: {shorter(value, 300)}")
