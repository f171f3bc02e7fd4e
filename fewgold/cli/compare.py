"""``fewgold compare``: which systems are better, from rated outputs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import PaperTable, emit, escape, notes, remarks, save_all, table
from fewgold.cli.options import Json, Output, Quiet, described, flag, option
from fewgold.common.text import plain_frame, shorter

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from fewgold.comparison import Comparison, SlicedComparison
    from fewgold.io.columns import Roles

_COLUMNS = "What the columns mean (not needed for a sheet of select --shared)"
_SHEET = "A sheet of select --shared"
_MOST = 15  # pairs to print

Correction = Annotated[
    Literal["holm", "fdr", "none"],
    described("NAME", "Correction for many tests: holm, fdr or none."),
]

Unit = Annotated[
    Literal["segment", "document"] | None,
    described("UNIT", "What was sampled independently: segment or document."),
]

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="A campaign, the rated sheet, or any table with one row per segment and system; - is "
        "CSV on stdin. Several files hold one system each, named after the file.",
        show_default=False,
    ),
]


def compare(
    files: Files,
    human: str | None = option(
        None,
        "COLUMN",
        "Column of human scores, or columns A,B with one rater each.",
        panel=_COLUMNS,
    ),
    system: str | None = option(None, "COLUMN", "Column of system names.", panel=_COLUMNS),
    id: str | None = option(
        None, "COLUMN", "Column of segment ids, the same for all systems.", panel=_COLUMNS
    ),
    document: str | None = option(
        None, "COLUMN", "Column of document names ('none' to use none).", panel=_COLUMNS
    ),
    metrics: str | None = option(
        None, "A,B,…", "Metric columns ('none' to use none).", panel=_COLUMNS
    ),
    rater: str | None = option(
        None, "COLUMN", "Column of rater names, if several people rated.", panel=_COLUMNS
    ),
    rated_only: bool = flag(
        False, "--rated-only", "Use only the rated rows. The others must be missing at random."
    ),
    orientation: str | None = option(
        None, "A=+1,B=-1", "Whether larger is better (+1) or worse (-1).", panel=_COLUMNS
    ),
    waves: int | None = option(None, "K", "In a campaign: use only the first K waves.", min=1),
    pool: str | None = option(None, "POOL", "New path of the pool, if it has moved.", panel=_SHEET),
    design: str | None = option(
        None, "FILE", "The .design.json file, if it is not next to the sheet.", panel=_SHEET
    ),
    target: Annotated[
        options.Target | None,
        described(
            "WHAT",
            "pool: the segments of the table; process: new text like them. Default: pool, or "
            "process if every segment is rated.",
        ),
    ] = None,
    unit: Unit = None,
    correction: Correction = "holm",
    level: str = option("0.05", "LEVEL", "Significance level, such as 0.05 or 5%."),
    limits: options.ScaleEnds = None,
    chosen: options.Chosen = None,
    labels: options.LabelFile = None,
    on: options.LabelKey = None,
    higher_is_better: bool | None = options.direction(
        None, "Default: guessed from the name of the column or scale, or from the metrics."
    ),
    no_control: bool = flag(
        False, "--no-control", "Use no metrics, even if they would narrow the intervals."
    ),
    adjust_raters: bool = flag(False, "--adjust-raters", "Correct for strict and lenient raters."),
    by: Annotated[
        str | None,
        described("COLUMN,…", "Also compare within each value of a column, such as each language."),
    ] = None,
    least: int = option(10, "N", "Smallest number of rated segments for comparing a slice.", min=2),
    out: Annotated[
        Path | None, described("FOLDER", "Folder for tables and plots.", "--out", "-o")
    ] = None,
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare systems that people rated, and rank them.

    Differences are taken segment by segment, which is far more precise than
    comparing two scores. Reads a campaign, a sheet of select --shared, or any
    table with one row per segment and system; an empty score means not rated.
    For systems with outputs for different inputs, give one file each.

    Example: [bold]fewgold compare rated.csv --human mqm --system system[/bold]
    """
    from fewgold import sheets

    risk, ends = parse.confidence(level, "--level", "0.05"), parse.limits(limits)
    settings: dict[str, Any] = {
        "target": target, "unit": unit, "correction": correction, "level": risk,
        "limits": ends if limits is None or "," in limits else limits.strip(),
        "higher_is_better": higher_is_better, "control": "never" if no_control else "auto",
        "adjust_raters": adjust_raters,
    }  # fmt: skip
    named: dict[str, Any] = {
        "id": id, "document": document, "system": system,
        "metrics": None if metrics is None else parse.names(metrics),
        "texts": [],
    }  # fmt: skip
    if out is not None and out.suffix.lower() in (".png", ".svg", ".pdf", ".csv", ".html"):
        raise typer.BadParameter(f"-o names a folder for tables and plots; got {str(out)!r}.")
    humans, signs = parse.names(human), parse.orientation(orientation)
    columns: dict[str, Any]
    if len(files) > 1:
        given = {
            "--system": system, "--design": design, "--pool": pool, "--target": target,
            "--unit": unit, "--rater": rater, "--adjust-raters": adjust_raters or None,
            "--no-control": no_control or None,
        }  # fmt: skip
        if labels is not None or on is not None:
            raise typer.BadParameter("--labels works with a single file only.")
        roles = named | {"orientation": signs}
        settings |= {"by": parse.names(by), "least": least}
        result = _several(files, humans, id, roles, settings, given, chosen, quiet)
        return _finish(result, ", ".join(files), out, "json" if json else output, quiet)
    file = files[0]
    if input.is_campaign(file):
        given = {
            "--human": human, "--system": system, "--id": id, "--document": document,
            "--metrics": metrics, "--rater": rater, "--orientation": orientation, "--pool": pool,
            "--design": design, "--limits": limits, "--chosen": chosen, "--labels": labels,
            "--on": on,
        }  # fmt: skip
        if system is not None:
            raise typer.BadParameter(
                "--system cannot be given with a campaign, whose systems are fixed. To compare the "
                "values of a column, use fewgold estimate --by COLUMN."
            )
        options.refuse_for_campaign(given)
        settings.pop("limits")
        if higher_is_better is None:
            settings.pop("higher_is_better")
        result = _of_campaign(file, rated_only, waves, parse.names(by), least, settings)
        return _finish(result, file, out, "json" if json else output, quiet, needed=True)
    if waves is not None:
        raise typer.BadParameter("--waves is for campaigns.")
    side = sheets.design_path(file) if design is None else design
    if design is not None or (file != "-" and Path(side).is_file()):
        if (chosen or labels or on) is not None:
            raise typer.BadParameter(
                "--chosen is for tables; a sheet records how its segments were drawn."
            )
        if signs or any(named[k] is not None for k in ("document", "system", "metrics")):
            raise typer.BadParameter(
                "the design file of the sheet says what the columns are: leave out --system, "
                "--document, --metrics and --orientation. To compare the values of a column, use "
                "fewgold estimate --by COLUMN."
            )
        from fewgold.shared_sheets import load_shared, read_shared

        record = sheets.read_record(side)
        shared, humans = load_shared(record, pool), sheets.score_columns(record, humans)
        frame = read_shared(
            file, shared, human=humans, rater=rater, id=id or "id", gaps=rated_only,
            by=parse.names(by),
        )  # fmt: skip
        columns = {k: shared.columns.get(k) for k in ("id", "system", "document", "orientation")}
        columns |= {
            "human": humans if len(humans) > 1 else humans[0], "rater": rater,
            "metrics": shared.columns.get("metrics") or (), "sample": shared.sample,
        }  # fmt: skip
    else:
        if pool is not None:
            raise typer.BadParameter("--pool is for a sheet with a design file.")
        named |= {"human": humans or None, "rater": rater, "orientation": signs}
        read = input.with_labels(file, humans, labels, on, quiet, raters=chosen is None)
        if chosen is not None:
            settings |= {"by": parse.names(by), "least": least}
            result = _labelled(read, chosen, named, settings, quiet)
            return _finish(result, file, out, "json" if json else output, quiet)
        frame, columns = _columns(read, named, quiet)
    result = _compared(frame, columns, settings | {"by": parse.names(by), "least": least})
    _finish(result, file, out, "json" if json else output, quiet)


def _compared(
    frame: pd.DataFrame, columns: dict[str, Any], settings: dict[str, Any]
) -> Comparison | SlicedComparison:
    """Compare the systems of a table, within slices if requested."""
    from fewgold import comparison

    settings = dict(settings)
    by, least = settings.pop("by"), settings.pop("least")
    if by:
        return comparison.compare_by(frame, by, least=least, **columns, **settings)
    return comparison.compare(frame, **columns, **settings)


def _compared_samples(
    samples: dict[str, Any], settings: dict[str, Any]
) -> Comparison | SlicedComparison:
    """Compare systems that each have a sample, within slices if requested."""
    from fewgold import comparison

    kept = {k: settings[k] for k in ("higher_is_better", "correction", "level")}
    if settings["by"]:
        by, least = settings["by"], settings["least"]
        return comparison.compare_by(samples, by, least=least, **kept)
    return comparison.compare_samples(samples, **kept)


def _of_campaign(
    place: str, rated_only: bool, waves: int | None, by: list[str], least: int,
    settings: dict[str, Any],
) -> Comparison | SlicedComparison:  # fmt: skip
    """Compare the systems of a campaign by the answers so far, within slices if requested."""
    from fewgold.campaign import Campaign

    gaps = "at-random" if rated_only else "wait"
    with Campaign(place) as study:
        if by and study.systems:
            return study.compare_by(by, gaps, least=least, waves=waves, **settings)
        return study.compare(gaps, waves=waves, **settings)


def _finish(
    found: Comparison | SlicedComparison,
    file: str,
    out: Path | None,
    how: options.OutputFormat,
    quiet: bool,
    needed: bool = False,
) -> None:
    """Write the files, and print the result."""
    from fewgold.comparison import SlicedComparison

    sliced = found if isinstance(found, SlicedComparison) else None
    result = found.whole if isinstance(found, SlicedComparison) else found
    written = save_all(result, out, quiet)
    record: dict[str, Any] = {**result.to_dict(), "file": file}
    if sliced is not None:
        record["slices"] = sliced.to_dict()
        written += sliced.save(out) if out is not None else []
    record["files"] = [str(p) for p in written]
    left = plain_frame(result.needed()) if needed else None
    record |= {"needed": left} if needed else {}

    def text(console: Console) -> None:
        _show(console, result)
        if sliced is not None:
            _show_slices(console, sliced)
        if left:
            from fewgold.comparison.result import needed_line

            print(
                "\nRatings needed to tell more of them apart (80% power, if the differences are "
                "as found):"
            )
            for row in left[:_MOST]:
                print(f"  {needed_line(row)}")
        for path in written:
            print(f"written: {path}")

    def paper() -> PaperTable:
        if sliced is None:
            return _ranking(result)
        return *sliced.cells(), [sliced.signature(), *sliced.notes]

    rows: Any = found.differences().to_dict("records")
    emit(how, record, rows, text, paper)


def _ranking(result: Comparison) -> PaperTable:
    """The ranking as a paper prints it, with a line between groups that differ significantly."""
    from fewgold.comparison.result import decimals, findings

    scores, ranking = result.scores(), result.ranking()
    digits = decimals(float(scores["se"].min()))
    rows: list[list[str] | None] = []
    group = 1
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    for place, own in both:
        if place.group != group:
            rows.append(None)
        group = place.group
        known = math.isfinite(own.low)
        rows.append([
            "–".join(map(str, sorted({place.rank_low, place.rank_high}))), own.system,
            f"{own.score:.{digits}f}",
            f"{own.low:.{digits}f} to {own.high:.{digits}f}" if known else "unknown",
            str(own.ratings), f"{place.p_best:.3f}",
        ])  # fmt: skip
    heads = ["rank", "system", "score", f"{100 * result.confidence:.6g}% interval", "ratings",
             "P(best)"]  # fmt: skip
    return heads, rows, [*findings(result), result.signature()]


def _several(
    files: list[str],
    humans: list[str],
    id: str | None,
    named: dict[str, Any],
    options: dict[str, Any],
    given: dict[str, Any],
    chosen: str | None,
    quiet: bool,
) -> Comparison | SlicedComparison:
    """Compare one system per file: sheets with design files, or tables joined into one."""
    import pandas as pd

    from fewgold import sheets
    from fewgold.common.checks import as_limits

    names = [Path(file).stem for file in files]
    if len(set(names)) < len(names):
        raise typer.BadParameter(
            "systems are named after the files, so each file needs a different name."
        )
    drawn = [file != "-" and sheets.design_path(file).is_file() for file in files]
    if any(drawn) and not all(drawn):
        raise typer.BadParameter(
            f"{files[drawn.index(False)]} has no design file, but {files[drawn.index(True)]} has: "
            "give either sheets of select or tables, not both."
        )
    if not any(drawn):
        for used in ("--system", "--design", "--pool"):
            if given[used] is not None:
                raise typer.BadParameter(f"{used} works with a single file only.")
        tables = [
            input.read_table(file, quiet, raters=True).assign(system=name)
            for file, name in zip(files, names, strict=True)
        ]
        roles = named | {"system": "system", "human": humans or None, "rater": given["--rater"]}
        whole = pd.concat(tables, ignore_index=True)
        if chosen is not None:
            return _labelled(whole, chosen, roles, options, quiet)
        frame, columns = _columns(whole, roles, quiet)
        return _compared(frame, columns, options)
    unused = [name for name, value in given.items() if value is not None]
    if chosen is not None:
        unused.insert(0, "--chosen")
    if named["document"] is not None or named["metrics"] is not None or named["orientation"]:
        unused.append("--document, --metrics or --orientation")
    if unused:
        raise typer.BadParameter(f"{unused[0]} cannot be used with several sheets of select.")
    samples = {}
    for file, name in zip(files, names, strict=True):
        record, sample = input.open_sheet(file, None, None, quiet)
        score = sheets.score_columns(record, humans)
        frame = input.read_sheet(file, score, quiet)
        samples[name] = sheets.read_ratings(
            frame, sample, id=id or "id", score=score[0] if len(score) == 1 else score,
            limits=as_limits(options["limits"]),
        )  # fmt: skip
    return _compared_samples(samples, options)


def _labelled(
    read: pd.DataFrame, chosen: str, named: dict[str, Any], settings: dict[str, Any], quiet: bool
) -> Comparison | SlicedComparison:
    """Compare systems with labels on some rows, chosen in the same way for each system.

    If the same segments were chosen for all systems, they are compared segment by segment;
    otherwise each system is treated as a separate sample.
    """
    from dataclasses import replace

    import numpy as np

    from fewgold.chosen import Chosen, read_labelled, with_controls
    from fewgold.common.checks import as_limits
    from fewgold.errors import UnknownNameError
    from fewgold.sample import Ratings, Sample

    how = Chosen.parse(chosen)
    by = settings["by"]
    for name in by:
        if name not in read.columns:
            raise UnknownNameError("column", name, map(str, read.columns))
    kept = [] if how.column is None or how.column not in read.columns else [how.column]
    kept = list(dict.fromkeys([*kept, *by]))
    taken = [named["id"], named["document"], named["system"]]
    found = input.understand(
        read, True, **named, need_id=False, other=[c for c in kept if c not in taken]
    )
    system, people = _system_of(found), list(found.some_humans())
    labelled = np.any([found.cells[name].finite for name in people], axis=0)
    plain = set(found.metrics)
    found, _ = with_controls(
        found, labelled, how, named=named["metrics"] is not None, without=[*kept, system]
    )
    notes(found.notes(), quiet)
    told: dict[str, Any] = {
        "human": people, "chosen": how, "metrics": list(found.metrics), "id": found.id,
        "document": (how.column if how.how == "whole" else found.document) or "none",
        "system": "none", "texts": list(by),
    }  # fmt: skip
    samples = {}
    for name, part in found.table.groupby(found.table[system].astype(str), sort=False):
        own = read_labelled(part, **told)
        sample, scores = Sample.labelled(own)
        samples[str(name)] = Ratings(sample, scores, as_limits(settings["limits"]))
    first, *others = samples.values()
    shared = found.id is not None and all(
        sorted(first.sample.pool.ids.tolist()) == sorted(r.sample.pool.ids.tolist())
        and set(first.sample.ids.tolist()) == set(r.sample.ids.tolist())
        for r in others
    )
    if shared:
        whole = tuple(name for name in found.metrics if name in plain)
        frame, columns = _filled(replace(found, metrics=whole), named)
        return _compared(frame, {**columns, "sample": first.sample}, settings)
    unused = {
        "--target": settings["target"] == "process", "--unit": settings["unit"] is not None,
        "--no-control": settings["control"] == "never",
        "--adjust-raters": settings["adjust_raters"],
    }  # fmt: skip
    if refused := [name for name, given in unused.items() if given]:
        raise typer.BadParameter(
            f"{refused[0]} needs labels on the same segments for all systems, but here they differ."
        )
    return _compared_samples(samples, settings)


def _system_of(found: Roles) -> str:
    """The column of the systems, which is required."""
    if found.system is None:
        from fewgold.errors import DataError

        raise DataError(
            "cannot tell which column holds the systems. Name it with --system: "
            f"{', '.join(map(str, found.table.columns))}."
        )
    return found.system


def _columns(
    read: pd.DataFrame, named: dict[str, Any], quiet: bool
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table and its columns, as given or else guessed from their names."""
    return _filled(input.understand(read, quiet, **named), named)


def _filled(found: Roles, named: dict[str, Any]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """The table after the gaps in its metrics are filled, and its columns."""
    from fewgold import io

    system = _system_of(found)
    humans = list(found.some_humans())
    columns: dict[str, Any] = {
        "id": found.id, "system": system, "document": found.document,
        "metrics": list(found.metrics), "rater": named["rater"],
    }  # fmt: skip
    several = found.table.duplicated([found.id, system]).any()
    if named["rater"] is None and several and found.rater is not None and len(humans) == 1:
        columns["rater"] = found.rater
    kept = {k: v for k, v in named["orientation"].items() if k in found.metrics}
    told = humans if len(humans) > 1 else humans[0]
    filled = io.filled(found.table, columns["metrics"], system)
    return filled, {**columns, "human": told, "orientation": kept}


def _show(out: Console, result: Comparison) -> None:
    """Ranking, differences, raters and notes."""
    from rich.text import Text

    from fewgold.comparison.result import decimals, findings

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
    places = table("rank", "system", "score", level, "P(best)", left=2)
    group = 1
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    for place, own in both:
        if place.group != group:
            places.add_section()
            places.add_row("[dim]──[/dim]")
        group = place.group
        span = {place.rank_low, place.rank_high}
        known, ends = math.isfinite(own.low), f"{own.low:.{digits}f} to {own.high:.{digits}f}"
        places.add_row(
            "–".join(map(str, sorted(span))), Text(own.system), f"{own.score:.{digits}f}",
            ends if known else "unknown", f"{place.p_best:.3f}",
        )  # fmt: skip
    out.print(places)
    out.print()
    _differences(out, result, level)
    if result.people is not None:
        out.print()
        _raters(out, result)
    out.print()
    first, *others = findings(result)
    for sentence in (f"* {first}", *others):  # the star that marks significant differences
        out.print(Text(sentence))
    for sentence in result.remarks:
        out.print(Text.assemble(("note: ", "yellow"), sentence))
    out.print("\nTo cite these numbers:")
    out.print(Text(f"  {result.signature()}"), soft_wrap=True)


def _show_slices(out: Console, sliced: SlicedComparison) -> None:
    """The differences within each slice."""
    from rich.text import Text

    heads, rows = sliced.cells()
    out.print()
    shown = table(*map(escape, heads), wrap=1)
    for row in rows:
        shown.add_row(*map(escape, row))
    out.print(shown)
    out.print(f"* significant after the correction for all pairs in all {len(sliced.parts)} slices")
    remarks(out, sliced.notes)
    out.print(Text(f"  {sliced.signature()}"), soft_wrap=True)


def _differences(out: Console, result: Comparison, level: str) -> None:
    from rich.text import Text

    from fewgold.comparison.result import decimals

    frame = result.differences()
    place = {name: k for k, name in enumerate(result.ranking()["system"])}
    if len(frame) > _MOST:
        near = frame["second"].map(place) - frame["first"].map(place) == 1
        out.print(f"Differences between neighbours (--format csv lists all {len(frame)}):")
        frame = frame[near]
    digits = decimals(float(frame["se"].min()))
    shown = table("difference", "", level, "P(better)", "p, corrected", wrap=1)
    rows: Any = frame.itertuples()
    for row in rows:
        unknown, first, second = not math.isfinite(row.low), row.first, row.second
        if len(first) + len(second) > 26:  # leave room for the figures
            first, second = shorter(first, 13), shorter(second, 13)
        shown.add_row(
            Text(f"{first} − {second}"),
            f"{row.difference:+.{digits}f}".replace("-", "−"),
            "unknown" if unknown
            else f"{row.low:.{digits}f} to {row.high:.{digits}f}".replace("-", "−"),
            f"{row.p_better:.3f}",
            ("< 0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}")
            + ("*" if row.significant else " "),
        )  # fmt: skip
    out.print(shown)


def _raters(out: Console, result: Comparison) -> None:
    from rich.text import Text

    people = result.people
    assert people is not None
    agree = ""
    if people.shared:
        alpha, correlation = _number(people.alpha, 2), _number(people.correlation, 2)
        agree = f"Krippendorff's α {alpha}, mean correlation {correlation}; "
    out.print(f"Raters: {agree}{people.shared} of {people.outputs} outputs rated by two or more")
    shown = table("rater", "ratings", "mean", "bias", "±", "spread", wrap=6)
    rows: Any = people.to_frame().itertuples()
    for row in rows:
        shown.add_row(
            Text(row.rater), str(row.ratings), f"{row.mean:.3f}",
            _number(row.bias, 3, "+"), _number(row.bias_se, 3), _number(row.spread, 3),
        )  # fmt: skip
    out.print(shown)


def _number(value: float, digits: int, sign: str = "") -> str:
    return "–" if value != value else f"{value:{sign}.{digits}f}".replace("-", "−")
