"""``fewgold init``: begin a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fewgold.cli import input, options, parse, uneven
from fewgold.cli.console import escape, note, notes, pairs, quoted, sheet_suffix, show
from fewgold.cli.options import Json, Quiet, argument, described, option

if TYPE_CHECKING:
    from rich.console import Console

_GOAL = "What is wanted"
_RATERS = "Raters"

Repeats = Annotated[
    Literal["last", "first", "mean"],
    described(
        "WHICH",
        "Answer that counts if a rater gives several: last, first or mean.",
        panel=_RATERS,
    ),
]

Among = Annotated[
    Literal["mean", "median"],
    described("HOW", "Score of several raters: mean or median.", panel=_RATERS),
]


def init(
    campaign: str = argument(..., "CAMPAIGN", "New folder, or a new file that ends in .fewgold."),
    pool_file: str = argument(
        ...,
        "POOL",
        "Table with a row a segment: .csv, .tsv, .xlsx, .jsonl, .parquet; - is CSV on "
        "stdin; or a folder of mt-metrics-eval. It is copied into the campaign.",
    ),
    strategy: options.Strategy = None,
    seed: options.Seed = None,
    name: str | None = option(None, "NAME", "Of the campaign, for reports."),
    question: str = option(
        "", "TEXT", "What raters are asked. Default: what fits the scale.", show_default=False
    ),
    limits: str | None = option(
        None,
        "LOW,HIGH",
        "Ends of the rating scale, such as 0,100 or mqm. Answers outside are rejected.",
        panel=_GOAL,
    ),
    higher_is_better: bool | None = options.direction(
        None,
        "Raters are told which end of the scale is good. Default: by the name of the "
        "scale, such as mqm; else they are not told.",
    ),
    criteria: str | None = option(
        None,
        "A,B,…",
        "Several things to rate about each segment, with their scales: "
        "fluency:1-5,adequacy:0-100:higher. The first one leads: tolerance and stopping go by it.",
        panel=_GOAL,
    ),
    tolerance: float | None = option(
        None,
        "T",
        "Half-width of the interval that is wanted; status says what it still costs.",
        panel=_GOAL,
        parser=parse.number,
    ),
    confidence: str = option("0.95", "LEVEL", "Of intervals, such as 0.95 or 95%.", panel=_GOAL),
    bound: str | None = option(
        None, "NAME", "How intervals are made; see fewgold strategies.", panel=_GOAL
    ),
    rule: Annotated[
        options.StoppingRule,
        described(
            "NAME",
            "Of stopping, with --strategy random: kelly (guaranteed) or hall (sooner).",
            panel=_GOAL,
        ),
    ] = "kelly",
    each: int = option(1, "K", "Raters wanted for a segment.", panel=_RATERS, min=1),
    repeats: Repeats = "last",
    among: Among = "mean",
    only_system: str | None = option(
        None,
        "NAME",
        "The system that the pool is of, where files of answers hold several.",
        panel=_RATERS,
    ),
    pair: str | None = option(
        None, "SRC-TGT", "Of a folder of mt-metrics-eval: the languages, such as en-de."
    ),
    id: options.Id = None,
    document: options.Document = None,
    metrics: options.Metrics = None,
    cost: options.Cost = None,
    system: options.System = None,
    texts: options.Texts = None,
    orientation: options.Orientation = None,
    uncertainty: uneven.Uncertainty = None,
    history: uneven.HistoryFile = None,
    history_human: uneven.HistoryHuman = None,
    uniform: uneven.Uniform = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Begin a campaign: a study that lives in a folder for as long as it takes.

    It holds the pool, every sample drawn and how, and every answer with rater
    and time. What was stored survives crashes; several people may work on it.

    Example: [bold]fewgold init study pool.csv --limits 0,100 --tolerance 2[/bold]
    """
    from fewgold import registry, sheets
    from fewgold.campaign import Campaign

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
    if Path(pool_file).is_dir() and not input.is_table(pool_file):
        from fewgold import formats

        table = formats.read_tree(pool_file, pair, only_system)
    elif pair is not None:
        raise typer.BadParameter("--pair is for folders of mt-metrics-eval.")
    else:
        table = input.read_table(pool_file, quiet)
    named = options.named(
        id=id, document=document, metrics=metrics, cost=cost, system=system, texts=texts
    )
    found, column_of_spread = uneven.roles_beside(
        table, uncertainty, **named, orientation=parse.orientation(orientation)
    )
    found = input.unrated(found)
    table = found.table
    input.single_system(table, found)
    notes(found.notes(), quiet)
    if (column := found.columns["system"]) is not None and (many := table[column].nunique()) > 1:
        note(
            f"the pool holds {many} systems, and the score is that of all together. In a "
            "folder of mt-metrics-eval --only-system NAME takes one; of a table keep its rows.",
            quiet,
        )
    pool, spread = sheets.build_pool(table, found.columns), None
    if column_of_spread is not None:
        spread = column_of_spread.spread(table, pool.ids)
    informed = uneven.inform(pool, column_of_spread, spread, history, history_human, quiet)
    pool = informed.pool
    strategy_name = strategy or registry.recommended(pool)
    chances = uneven.chances_of(registry.strategy(strategy_name, pool, uniform=uniform).sampler)
    with Campaign.create(
        campaign, pool, name=name, strategy=strategy_name, seed=seed, limits=scale,
        tolerance=tolerance, confidence=level, bound=bound, rule=rule, each=each, repeats=repeats,
        among=among, question=question, system=only_system,
        higher_is_better=higher_is_better, uniform=uniform, criteria=several,
        chances=uneven.sentence(informed, chances) or "",
    ) as made:  # fmt: skip
        settings = made.settings
        silent = [c.name for c in settings.criteria if c.higher_is_better is None]
        if silent:
            note(
                f"nobody said which end of the scale of {', '.join(silent)} is good, so raters are "
                f"not told: write {silent[0]}:…:higher or {silent[0]}:…:lower.",
                quiet,
            )
        elif settings.higher_is_better is None:
            note(
                "nobody said which end of the scale is good, so raters are asked: "
                f"{settings.asked!r} Say it with --higher-is-better or --lower-is-better.",
                quiet,
            )
        result: dict[str, Any] = {
            "campaign": campaign,
            "file": str(made.path),
            "pool_size": len(pool),
            "pool_documents": None if pool.documents is None else int(pool.codes.max()) + 1,
            "metrics": list(pool.metrics),
            "texts": list(pool.texts),
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
        if told := uneven.lines(informed, chances):
            result["chances"] = uneven.as_record(informed, chances)
    notes(uneven.remarks(informed, chances), quiet)
    show(json, result, lambda out: _show(out, result, told))


def _show(out: Console, result: dict[str, Any], chances: list[tuple[str, str]]) -> None:
    from fewgold.formats import RatingScale

    documents = f" in {result['pool_documents']} documents" if result["pool_documents"] else ""
    out.print(f"[bold]Began {escape(result['campaign'])}[/bold]\n")
    lines = [
        ("pool", f"{result['pool_size']} segments{documents}, copied into it"),
        ("strategy", result["strategy"] + (" (recommended)" if result["recommended"] else "")),
        ("metrics", escape(", ".join(result["metrics"]) or "none")),
        *((name, escape(told)) for name, told in chances),
        ("raters see", escape(", ".join(result["texts"]) or "ids only: name texts with --texts")),
        ("seed", str(result["seed"])),
    ]
    lines.append(("question", escape(result["question"])))
    scales = {"scale": (result["limits"], result["higher_is_better"])}
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
    out.print("\nChoose what to rate:")
    place = quoted(result["campaign"])
    some = min(100, -(-result["pool_size"] // 2))
    sheet = f"to_rate{sheet_suffix()}"
    out.print(f"  [green]fewgold select {place} --budget {some} -o {sheet}[/green]")
