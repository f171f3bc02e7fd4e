"""``fewgold select``: choose the segments to rate and write the sheet."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import _parse
from fewgold.cli._console import Json, Quiet, console, note, pairs, plain, to_json
from fewgold.errors import DataError

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.pool import Pool
    from fewgold.sample import Sample

_COLUMNS = "What the columns mean"
_SIZE = "How much to rate"


def select(
    pool_file: Annotated[
        str,
        typer.Argument(
            metavar="POOL",
            help="Table with a row a segment: .csv, .tsv, .jsonl, .parquet; - is CSV on stdin.",
            show_default=False,
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Sheet to rate: .csv or .tsv; - is stdout."
        ),
    ],
    budget: Annotated[
        str | None,
        typer.Option(metavar="N|P%", help="Segments, or share of the pool.", rich_help_panel=_SIZE),
    ] = None,
    cost_budget: Annotated[
        float | None,
        typer.Option(metavar="X", help="Budget in the units of --cost.", rich_help_panel=_SIZE),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Chance of overspending: 0.5 spends the budget on average, 0.05 keeps to it.",
            rich_help_panel=_SIZE,
        ),
    ] = None,
    given: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Rated sheet to add to: draw further segments beside it.",
            rich_help_panel=_SIZE,
        ),
    ] = None,
    strategy: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="See fewgold strategies. Default: the recommended one."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="S", min=0, help="The same seed draws the same segments. Default: a new one."
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Ids.", rich_help_panel=_COLUMNS)
    ] = None,
    document: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Documents.", rich_help_panel=_COLUMNS)
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="Automatic metrics; none for none.", rich_help_panel=_COLUMNS
        ),
    ] = None,
    cost: Annotated[
        str | None,
        typer.Option(
            metavar="COST",
            help="Cost of a rating: a column, or FIXED+PER*COLUMN such as 12+0.7*words, or "
            "12+0.7*words(output), which counts words.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None,
    system: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Systems; not shown.", rich_help_panel=_COLUMNS),
    ] = None,
    texts: Annotated[
        str | None,
        typer.Option(metavar="A,B,…", help="Texts to show to raters.", rich_help_panel=_COLUMNS),
    ] = None,
    orientation: Annotated[
        str | None,
        typer.Option(
            metavar="A=+1,B=-1",
            help="+1 where larger is better, -1 where larger is worse, 0 neither. Common metrics "
            "need none.",
            rich_help_panel=_COLUMNS,
        ),
    ] = None,
    score_column: Annotated[
        str, typer.Option(metavar="NAME", help="Column of the sheet that raters fill in.")
    ] = "score",
    design: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Side file. Default: FILE.design.json beside the sheet."),
    ] = None,
    in_order: Annotated[
        bool,
        typer.Option(
            "--in-order",
            help="Rows in the random order of drawing, to rate from the top until fewgold stop "
            "says stop; with --strategy random.",
        ),
    ] = False,
    shared: Annotated[
        bool,
        typer.Option(
            "--shared",
            help="Several systems: choose segments to rate for all of them, for fewgold compare. "
            "The sheet has a row for each system and does not tell which.",
        ),
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose which segments people should rate, and write a sheet for them.

    The sheet shows ids, documents and texts, but no metrics and no system,
    so that nothing sways the raters. A side file beside it says how the
    segments were drawn; estimate needs it.
    """
    from fewgold import files, registry, tables
    from fewgold import shared as blind

    if out == "-" and (design is None or json):
        raise typer.BadParameter(
            "-o - writes the sheet to stdout: "
            + ("leave out --json." if json else "say where the design goes with --design FILE.")
        )
    sources = {Path(p).resolve() for p in (pool_file, given) if p not in (None, "-")}
    if sources & {
        Path(out).resolve(),
        files.design_path(out).resolve(),
        Path(design or out).resolve(),
    }:
        raise typer.BadParameter("the sheet and its design must not overwrite POOL or --given.")
    if shared and (given is not None or in_order):
        raise typer.BadParameter("--shared goes without --given and --in-order.")
    named = {
        "id": id,
        "document": document,
        "metrics": _parse.names(metrics) if metrics is not None else None,
        "cost": cost,
        "system": system,
        "texts": _parse.names(texts) if texts is not None else None,
    }
    signs = _parse.orientation(orientation)
    notes: list[str] = []
    guessed: dict[str, str] = {}
    if given is None:
        from fewgold.roles import roles

        table = tables.read_table(pool_file)
        found = roles(table, named, signs)
        columns, guessed = found.columns, found.guessed
        notes += found.notes()
        if shared and columns["system"] is None:
            raise DataError("--shared needs the column of the systems. Name it with --system.")
        if not shared:
            _refuse_systems(table, columns)
        build = blind.build_joint_pool if shared else files.build_pool
        pool, rated = build(table, columns), None
        name = strategy or registry.recommended(pool)
    else:
        if signs or any(v is not None for v in named.values()):
            raise typer.BadParameter("--given brings the columns with it: leave their options out.")
        record = files.read_record(files.design_path(given))
        columns = dict(record["pool"]["columns"])
        pool = files.load_pool(files.design_path(given), pool_file)
        earlier = files.load_sample(files.design_path(given), pool)
        rated = files.read_ratings(given, earlier, score=record["score_column"])
        name = strategy or record["strategy"]
    for sentence in notes:
        note(f"note: {sentence}", quiet)
    amount = _parse.budget(budget, cost_budget, risk, len(pool) - (rated.n if rated else 0))
    if seed is None:
        import secrets

        seed = secrets.randbelow(10**6)
    chosen = registry.strategy(name, pool)
    if "+" not in name:  # a sampler or an estimator alone: say what goes with it
        name = f"{chosen.sampler.name}+{chosen.name}"
    sample = chosen.select(pool, amount, given=rated, rng=seed)
    if in_order and (sample.design.kind != "simple" or rated is not None):
        raise typer.BadParameter(
            "--in-order is for one plain random sample: give --strategy random, and leave out "
            "--given. Its budget may be 100%; stopping early is what saves ratings."
        )
    kept: dict[str, Any] = {
        "strategy": name,
        "columns": columns,
        "pool_path": None if pool_file == "-" else pool_file,
        "score": score_column,
        "budget": budget if cost_budget is None else {"cost": cost_budget, "risk": risk or 0.5},
        "design": design,
        "overwrite": force,
    }
    if shared:
        side = blind.save_shared(sample, table, out, seed=seed, **kept)
    else:
        side = files.save_sample(sample, out, in_order=in_order, **kept)
    result = {
        "n": sample.n,
        "pool_size": len(pool),
        "rated_before": rated.n if rated else 0,
        **_documents(pool, sample),
        "strategy": name,
        "recommended": strategy is None and given is None,
        "seed": seed,
        "cost": None if pool.cost is None else float(sample.cost),
        "pool_cost": None if pool.cost is None else float(pool.cost.sum()),
        "sheet": out,
        "design": str(side),
        "fingerprint": pool.fingerprint,
        "columns": plain(columns),
        "guessed": guessed,
        "notes": notes,
        "step": chosen.sampler.step,
        "in_order": in_order,
        "systems": table[columns["system"]].nunique() if shared else None,
    }
    if json:
        print(to_json(result))
    elif out == "-":
        note(f"{sample.n} of {len(pool)} segments, {name}, seed {seed}; design in {side}", quiet)
    else:
        _show(console(), result, score_column, pool_file)


def _refuse_systems(table: Any, columns: dict[str, Any]) -> None:
    """Say what to do with a table of several systems, which would have each id several times."""
    system = columns["system"]
    if system is None or table[system].nunique() < 2 or table[columns["id"]].is_unique:
        return
    raise DataError(
        f"the column {system!r} holds {table[system].nunique()} systems. To compare them, choose "
        "segments to rate for all of them with --shared; or keep the rows of one system."
    )


def _documents(pool: Pool, sample: Sample) -> dict[str, int | None]:
    if pool.documents is None:
        return {"documents": None, "pool_documents": None}
    return {
        "documents": len(set(pool.codes[sample.indices].tolist())),
        "pool_documents": int(pool.codes.max()) + 1,
    }


def _show(out: Console, result: dict[str, Any], score: str, pool_file: str) -> None:
    from rich.markup import escape

    further = " further" if result["rated_before"] else ""
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
        ("strategy", result["strategy"] + (" (recommended)" if result["recommended"] else "")),
        ("metrics", escape(", ".join(result["columns"]["metrics"]) or "none")),
        ("seed", f"{result['seed']} (--seed {result['seed']} draws the same segments again)"),
    ]
    if result["rated_before"]:
        lines.insert(0, ("before", f"{result['rated_before']} ratings, kept in the design file"))
    if result["cost"] is not None:
        share = result["cost"] / result["pool_cost"]
        lines.append(
            ("cost", f"{result['cost']:,.10g} of {result['pool_cost']:,.10g} ({share:.1%})")
        )
    lines += [
        ("to rate", f"{escape(result['sheet'])} (fill in the column {score!r} of every row)"),
        ("design", f"{escape(result['design'])} (leave it beside the sheet)"),
    ]
    pairs(out, lines)
    out.print()
    if result["step"]:
        out.print(
            f"{result['strategy']} learns from the ratings where to go next: draw few segments at "
            f"a time and go on with --given {escape(result['sheet'])}."
        )
        out.print()
    pool = " --pool POOL" if pool_file == "-" else ""
    if result["systems"]:
        out.print(
            f"The sheet has a row for each of {result['systems']} systems, "
            f"{result['n'] * result['systems']} ratings in all, and does not tell which is which. "
            "When every row has a score:"
        )
        out.print(f"  [green]fewgold compare {escape(shlex.quote(result['sheet']))}{pool}[/green]")
        return
    if result["in_order"]:
        out.print("Rate from the top, row by row. To see whether that is enough:")
        sheet = escape(shlex.quote(result["sheet"]))
        out.print(f"  [green]fewgold stop {sheet} --tolerance T --limits LOW,HIGH{pool}[/green]")
        return
    out.print("When every row has a score:")
    out.print(f"  [green]fewgold estimate {escape(shlex.quote(result['sheet']))}{pool}[/green]")
