"""``fewgold init``: begin a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse, uneven
from fewgold.cli.console import escape, note, notes, pairs, quoted, sheet_suffix, show
from fewgold.cli.options import Json, Quiet, argument, described, flag, option

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from fewgold.io.columns import Roles
    from fewgold.pool import Pool

_GOAL = "Goal"
_RATERS = "Raters"

Repeats = Annotated[
    Literal["last", "first", "mean"],
    described(
        "WHICH",
        "Which answer counts if a rater gives several: last, first or mean.",
        panel=_RATERS,
    ),
]

Among = Annotated[
    Literal["mean", "median"],
    described("HOW", "How to combine the scores of several raters: mean or median.", panel=_RATERS),
]


def init(
    campaign: str = argument(..., "CAMPAIGN", "New folder, or a new file that ends in .fewgold."),
    pool_file: str = argument(
        ...,
        "POOL",
        "Table with one row per segment, or per segment and system: .csv, .tsv, .xlsx, .jsonl, "
        ".parquet; - is CSV on stdin; or a folder of mt-metrics-eval. It is copied into the "
        "campaign.",
    ),
    strategy: options.Strategy = None,
    seed: options.Seed = None,
    name: str | None = option(None, "NAME", "Name of the campaign, for reports."),
    question: str = option(
        "",
        "TEXT",
        "Question that raters see. Default: one that fits the scale.",
        show_default=False,
    ),
    instructions: str | None = option(
        None, "FILE", "Markdown file with the instructions for raters.", panel=_RATERS
    ),
    ends_called: str | None = option(
        None,
        "LOW,HIGH",
        "Labels for the two ends of the scale, such as useless,perfect.",
        "--ends",
        panel=_RATERS,
    ),
    limits: str | None = option(
        None,
        "LOW,HIGH",
        "Lowest and highest rating, such as 0,100 or mqm. Answers outside are rejected.",
        panel=_GOAL,
    ),
    higher_is_better: bool | None = options.direction(
        None,
        "Tell raters which end of the scale is good. Default: from the name of the scale, such as "
        "mqm; otherwise they are not told.",
    ),
    criteria: str | None = option(
        None,
        "A,B,…",
        "Several criteria with their scales: "
        "fluency:1-5,adequacy:0-100:higher. The tolerance and the stopping rule use the first.",
        panel=_GOAL,
    ),
    tolerance: float | None = option(
        None,
        "T",
        "Target half-width of the interval; fewgold status says how many ratings it still takes.",
        panel=_GOAL,
        parser=parse.number,
    ),
    confidence: str = option(
        "0.95", "LEVEL", "Confidence level, such as 0.95 or 95%.", panel=_GOAL
    ),
    bound: str | None = option(
        None, "NAME", "Method for the intervals (see fewgold strategies).", panel=_GOAL
    ),
    rule: Annotated[
        options.StoppingRule,
        described(
            "NAME",
            "Stopping rule, with --strategy random: kelly (guaranteed) or hall (stops sooner).",
            panel=_GOAL,
        ),
    ] = "kelly",
    each: int = option(1, "K", "Number of raters per segment.", panel=_RATERS, min=1),
    repeats: Repeats = "last",
    among: Among = "mean",
    practice: int = option(
        0,
        "K",
        "Number of items that a new rater practises on first; the answers never count. fewgold "
        "work --practice-items sets which ones.",
        panel=_RATERS,
        min=0,
        max=20,
    ),
    only_system: str | None = option(
        None,
        "NAME",
        "Use only this system of a table with several. For a pool of one system: its name in files "
        "of answers that hold several.",
        panel=_RATERS,
    ),
    unshared: bool = flag(
        False,
        "--unshared",
        "Draw a separate sample for each of several systems. Default: all are rated on the same "
        "segments, which takes far fewer ratings to compare them.",
    ),
    pair: str | None = option(
        None, "SRC-TGT", "In a folder of mt-metrics-eval: the language pair, such as en-de."
    ),
    id: options.Id = None,
    document: options.Document = None,
    metrics: options.Metrics = None,
    cost: options.Cost = None,
    system: options.System = None,
    texts: options.Texts = None,
    side_by_side: str | None = option(
        None,
        "A,B",
        "Two columns of texts, the outputs of two systems. Raters see them side by side in random "
        "order, and say which is better. Name what both share, such as the source, with --texts.",
        panel=options.COLUMNS,
    ),
    between: str | None = option(
        None,
        "A,B",
        "With --side-by-side, the columns that name the two systems of each row, if they vary. "
        "Default: the names of the two text columns.",
        panel=options.COLUMNS,
    ),
    by: str | None = option(
        None,
        "A,B,…",
        "Columns to keep for slices (estimate --by, compare --by), such as language; raters do not "
        "see them. Default: all with few distinct values; none to keep none.",
        panel=options.COLUMNS,
    ),
    orientation: options.Orientation = None,
    uncertainty: uneven.Uncertainty = None,
    history: uneven.HistoryFile = None,
    history_human: uneven.HistoryHuman = None,
    uniform: uneven.Uniform = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Begin a campaign: a study whose ratings come in over time.

    A campaign holds the pool, every sample and how it was drawn, and every answer
    with rater and time. Several people may work on it at the same time. If the
    table has several systems, all are rated on the same segments, and raters cannot
    tell which is which.

    Examples, for one system and for several:

    [bold]fewgold init study pool.csv --limits 0,100 --tolerance 2[/bold]

    [bold]fewgold init study outputs.csv --system system --limits 0,100[/bold]
    """
    from fewgold import registry, sheets
    from fewgold.campaign import Campaign, sides
    from fewgold.uncertainty import roles_beside

    level, ends = parse.confidence(confidence), parse.limits(limits)
    several = parse.criteria("--criteria", criteria)
    if several and (limits is not None or higher_is_better is not None):
        raise typer.BadParameter(
            "each criterion has its own scale and direction, such as --criteria "
            f"{several[0].name}:1-5:higher; leave out --limits and --higher-is-better."
        )
    scale = limits.strip() if limits is not None and "," not in limits else ends
    if bound is not None and bound not in ("equal", "hdi"):
        parse.bound(bound)
    if pair is not None and (not Path(pool_file).is_dir() or input.is_table(pool_file)):
        raise typer.BadParameter("--pair is for folders of mt-metrics-eval.")
    table = input.read_table(pool_file, quiet, pair=pair)
    named = options.named(
        id=id, document=document, metrics=metrics, cost=cost, system=system, texts=texts
    )
    slicing = _slicing(table, by)
    two = parse.names(side_by_side)
    if side_by_side is not None:
        named["texts"] = list(dict.fromkeys([*parse.names(texts), *two]))
        named["system"] = "none"
        if len(two) != 2 or system is not None or only_system is not None or unshared:
            raise typer.BadParameter(
                "--side-by-side takes two columns of texts, without --system, --only-system or "
                "--unshared: --between names the systems of each pair."
            )
    elif between is not None:
        raise typer.BadParameter("--between needs --side-by-side.")
    if between is not None and len(parse.names(between)) != 2:
        raise typer.BadParameter("--between takes two columns, such as model_a,model_b.")
    found, column_of_spread = roles_beside(
        table, uncertainty, **named, orientation=parse.orientation(orientation)
    )
    if only_system is not None and len(part := input.of_system(found, only_system)) < len(table):
        found, column_of_spread = roles_beside(
            part, uncertainty, **named, orientation=parse.orientation(orientation)
        )
    found = input.unrated(found)
    table = found.table
    notes(found.notes(), quiet)
    many = input.systems_in(found)
    shared, segments = len(many) > 1 and not input.ids_differ(found), None
    if unshared and len(many) < 2:
        raise typer.BadParameter(
            "--unshared is for tables of several systems: name their column with --system."
        )
    if shared or unshared:
        from fewgold.shared_sheets import build_outputs

        if history is not None:
            raise typer.BadParameter("--history is about one system: leave it out.")
        outputs = build_outputs(table, found.columns)
        pool, segments = outputs.pool, outputs.segments
        if not pool.texts:
            note(
                "with several systems raters need to see texts: name the columns to show, such as "
                "the source and the output, with --texts.",
                quiet,
            )
        notes(outputs.notes, quiet)
    else:
        if len(many) > 1:
            note(
                f"the pool has {len(many)} systems whose ids differ, so the score covers all "
                f"of them. --only-system NAME uses one; --unshared compares them, with a separate "
                f"sample for each; give all systems the same ids to rate them on the same "
                f"segments.",
                quiet,
            )
        pool = sheets.build_pool(table, found.columns)
    labels = _labels(found, pool, slicing)
    if between is not None:
        pool = sides.with_pairs(pool, table, parse.names(between))
    spread = None if column_of_spread is None else column_of_spread.spread(table, pool.ids)
    informed = uneven.inform(pool, column_of_spread, spread, history, history_human, quiet)
    pool = informed.pool
    drawn_from = pool
    if segments is not None and not unshared:
        from fewgold.campaign.systems import joint

        drawn_from = joint(pool, segments)
    strategy_name = strategy or registry.recommended(drawn_from)
    sampler = registry.strategy(strategy_name, drawn_from, uniform=uniform).sampler
    chances = uneven.chances_of(sampler)
    with Campaign.create(
        campaign, pool, name=name, strategy=strategy_name, seed=seed, limits=scale,
        tolerance=tolerance, confidence=level, bound=bound, rule=rule, each=each, repeats=repeats,
        among=among, question=question, system=only_system,
        higher_is_better=higher_is_better, uniform=uniform, criteria=several,
        chances=uneven.sentence(informed, chances) or "",
        segments=segments, shared=not unshared, labels=labels, ends=named_ends(ends_called),
        instructions="" if instructions is None else text_of(Path(instructions)),
        sides=tuple(two), practice=practice,
    ) as made:  # fmt: skip
        settings = made.settings
        silent = [c.name for c in settings.criteria if c.higher_is_better is None]
        if silent:
            note(
                f"it is not known which end of the scale of {', '.join(silent)} is good, so raters "
                f"are not told: write {silent[0]}:…:higher or {silent[0]}:…:lower.",
                quiet,
            )
        elif settings.higher_is_better is None:
            note(
                "it is not known which end of the scale is good, so raters are asked: "
                f"{settings.asked!r} Set it with --higher-is-better or --lower-is-better.",
                quiet,
            )
        result: dict[str, Any] = {
            "campaign": campaign,
            "file": str(made.path),
            "pool_size": len(made.store.frame),
            "pool_documents": None if pool.documents is None else int(pool.codes.max()) + 1,
            "metrics": list(pool.metrics),
            "texts": list(pool.texts),
            "slices": list(labels),
            "strategy": settings.strategy,
            "recommended": strategy is None,
            "seed": settings.seed,
            "limits": settings.limits,
            "higher_is_better": settings.higher_is_better,
            "question": settings.asked,
            "criteria": [c.to_dict() for c in settings.criteria],
            "tolerance": settings.tolerance,
            "confidence": settings.confidence,
            "columns": found.columns,
            "guessed": found.guessed,
            "notes": found.notes(),
        }
        if settings.practice:
            result["practice"] = settings.practice
        if settings.ends is not None:
            result["ends"] = settings.ends
        if settings.systems:
            result |= {
                "systems": settings.systems, "shared": settings.shared, "outputs": len(pool),
            }  # fmt: skip
        if settings.sides:
            result["side_by_side"] = list(settings.sides)
        if told := uneven.lines(informed, chances):
            result["chances"] = uneven.as_record(informed, chances)
    notes(uneven.remarks(informed, chances), quiet)
    show(json, result, lambda out: _show(out, result, told))


def _slicing(table: pd.DataFrame, by: str | None) -> list[str] | None:
    """The columns named for slices, or None."""
    from fewgold.errors import UnknownNameError

    if by is None:
        return None
    names = [] if by.strip() == "none" else parse.names(by)
    for name in names:
        if name not in table.columns:
            raise UnknownNameError("column", name, [str(c) for c in table.columns])
    return names


def _labels(found: Roles, pool: Pool, names: list[str] | None) -> dict[str, Any]:
    """Columns of the table for slices that the pool does not have already."""
    from fewgold.slices import sliceable

    known = {found.document, found.system, *pool.texts, *pool.metrics}
    asked = sliceable(found) if names is None else names
    return {name: found.table[name].to_numpy() for name in asked if name not in known}


def _show(out: Console, result: dict[str, Any], chances: list[tuple[str, str]]) -> None:
    from fewgold.formats import RatingScale

    documents = f" in {result['pool_documents']} documents" if result["pool_documents"] else ""
    out.print(f"[bold]Began {escape(result['campaign'])}[/bold]\n")
    lines = [
        ("pool", f"{result['pool_size']} segments{documents}, copied into it"),
        *_about_systems(result),
        ("strategy", result["strategy"] + (" (recommended)" if result["recommended"] else "")),
        ("metrics", escape(", ".join(result["metrics"]) or "none")),
        *((name, escape(told)) for name, told in chances),
        ("raters see", escape(", ".join(result["texts"]) or "ids only (name columns of texts with "
            "--texts)")),
        *([("slices", escape(", ".join(result["slices"]))
            + " (kept for --by; raters do not see them)")] if result["slices"] else []),
        ("seed", str(result["seed"])),
    ]  # fmt: skip
    lines.append(("question", escape(result["question"])))
    scales = {"scale": (result["limits"], result["higher_is_better"])}
    if result.get("side_by_side"):
        lines.append(("side by side", escape(" and ".join(result["side_by_side"]))))
        scales = {}
    if result["criteria"]:
        scales = {c["name"]: (c["limits"], c["higher_is_better"]) for c in result["criteria"]}
    for what, (limits, way) in scales.items():
        if told := RatingScale(limits, way).words:
            lines.append((escape(what), told))
        elif result["criteria"]:
            lines.append((escape(what), "any number"))
    if result["tolerance"]:
        lines.append(("tolerance", f"± {result['tolerance']:g}"))
    pairs(out, lines)
    each = "" if not result.get("systems") else " (for each system)"
    out.print(f"\nChoose what to rate{each}:")
    place = quoted(result["campaign"])
    some = min(100, -(-result["pool_size"] // 2))
    sheet = f"to_rate{sheet_suffix()}"
    out.print(f"  [green]fewgold select {place} --budget {some} -o {sheet}[/green]")


def named_ends(text: str | None) -> tuple[str, str] | None:
    """The names of the low and the high end of the scale."""
    if text is None:
        return None
    low, comma, high = text.partition(",")
    if not comma or not low.strip() or not high.strip():
        raise typer.BadParameter(
            f"--ends must name both ends, such as useless,perfect; got {text!r}."
        )
    return low.strip(), high.strip()


def text_of(path: Path) -> str:
    """The text of a file."""
    from fewgold.errors import DataError
    from fewgold.io import read_text

    if not path.is_file():
        raise DataError(f"there is no file {str(path)!r} with instructions.")
    return read_text(path)


def _about_systems(result: dict[str, Any]) -> list[tuple[str, str]]:
    """How several systems are compared, as a line for the screen."""
    if not result.get("systems"):
        return []
    how = "all on the same segments" if result["shared"] else "each on a separate sample"
    names = escape(", ".join(result["systems"]))
    return [("systems", f"{len(result['systems'])} ({names}), {how}; raters do not see which")]
