"""``fewgold select``: choose the segments to rate and write the sheet."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fewgold.cli import input, options, parse, uneven
from fewgold.cli.console import escape, notes, pairs, quoted, say, sheet_suffix, show
from fewgold.cli.exchange import check_target, write_tasks
from fewgold.cli.options import Json, Quiet, flag, option
from fewgold.common.text import counted, plain_value, verb
from fewgold.errors import DataError

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.campaign import Campaign
    from fewgold.common.arrays import FloatArray
    from fewgold.criteria import CriteriaRatings
    from fewgold.formats import Criterion
    from fewgold.pool import Pool, Population
    from fewgold.sample import Ratings, Sample
    from fewgold.samplers import Sampler

_ON = "On a campaign"
_SIZE = "How much to rate"
# Output options. --given and --history are files, whose paths are recorded separately.
_NOT_DRAWING = ("out", "design", "force", "json", "quiet", "given", "history")


def select(
    context: typer.Context,
    pool_files: Annotated[
        list[str],
        typer.Argument(
            metavar="POOL…",
            help="Table with one row per segment (.csv, .tsv, .xlsx, .jsonl, .parquet; - is CSV on "
            "stdin), a campaign, or Parquet files and folders of any size.",
            show_default=False,
        ),
    ],
    out: str | None = option(
        None, "FILE", "Sheet to write for the raters: .csv or .tsv (- is stdout).", "--out", "-o"
    ),
    budget: str | None = option(
        None, "N|P%", "How many segments to rate, such as 100 or 5%.", panel=_SIZE
    ),
    cost_budget: float | None = option(
        None,
        "X",
        "Budget in units of --cost, instead of --budget.",
        panel=_SIZE,
        parser=parse.number,
    ),
    risk: float | None = option(
        None,
        "R",
        "Chance of overspending: 0.5 spends the budget on average, 0.05 rarely exceeds it.",
        panel=_SIZE,
        parser=parse.rate,
    ),
    given: str | None = option(
        None, "FILE", "Rated sheet to add to: only new segments are drawn.", panel=_SIZE
    ),
    strategy: options.Strategy = None,
    by: str | None = option(
        None,
        "COLUMN,…",
        "Draw separately within each value of a column, so that every slice gets enough ratings.",
        panel=_SIZE,
    ),
    per_slice: int = option(
        30, "N", "With --by: smallest number of segments per slice.", panel=_SIZE, min=2
    ),
    seed: options.Seed = None,
    more: str | None = option(None, "N|P%", "Draw this many more segments.", panel=_ON),
    to: str | None = option(
        None, "FORMAT", "Format of --out, such as label-studio (see fewgold export).", panel=_ON
    ),
    next: bool = flag(
        False, "--next", "Hand out the next segment to rate, one at a time.", panel=_ON
    ),
    rater: str = option("", "NAME", "Rater requesting the next segment.", panel=_ON),
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
    score_column: str = option("score", "NAME", "Name of the column that raters fill in."),
    criteria: str | None = option(
        None,
        "A,B:1-5,…",
        "Several criteria to rate, one column each, such as fluency:1-5,adequacy:0-100:higher. "
        "The scale and the direction (higher or lower is better) are optional.",
    ),
    design: str | None = option(
        None, "FILE", "Path of the design file. Default: FILE.design.json next to the sheet."
    ),
    in_order: bool = flag(
        False,
        "--in-order",
        "Write rows in random order. Raters start at the top until fewgold stop says stop. "
        "Needs --strategy random.",
    ),
    shared: bool = flag(
        False,
        "--shared",
        "Rate the same segments for several systems, for fewgold compare. The sheet has one row "
        "per system and hides which is which.",
    ),
    engine: options.Engine = "auto",
    memory: options.Memory = None,
    order: options.Order = None,
    force: bool = flag(False, "--force", "Overwrite existing files."),
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Choose the segments to rate, and write a sheet for the raters.

    The sheet shows ids, documents and texts. It hides metrics and systems, so
    that they cannot influence the raters. A design file next to the sheet records
    how the segments were drawn. [bold]fewgold estimate[/bold] needs both.

    In a campaign, --budget draws the first segments, --more adds some, and
    --next hands out one at a time.

    Example: [bold]fewgold select pool.csv --budget 5% -o to_rate.csv[/bold]
    """
    from fewgold import registry, sheets

    pool_file = pool_files[0]
    if len(pool_files) == 1 and input.is_campaign(pool_file):
        options.refuse_for_campaign({
            "--given": given, "--id": id, "--document": document, "--metrics": metrics,
            "--cost": cost, "--system": system, "--texts": texts, "--orientation": orientation,
            "--strategy": strategy, "--design": design, "--in-order": in_order or None,
            "--shared": shared or None, "--force": force or None, "--memory": memory,
            "--order": order, "--engine": None if engine == "auto" else engine,
            "--uncertainty": uncertainty, "--history": history, "--uniform": uniform,
            "--history-human": history_human, "--by": by, "--criteria": criteria,
        })  # fmt: skip
        _select_wave(
            pool_file, out, budget=budget, cost_budget=cost_budget, risk=risk, more=more,
            seed=seed, to=to, next_one=next, rater=rater, json=json, quiet=quiet,
        )  # fmt: skip
        return
    if more is not None or next or to is not None:
        raise typer.BadParameter(
            f"--more, --next and --to are for campaigns, and {pool_file!r} is not one. "
            f"Begin one with "
            "fewgold init, or add to a rated sheet with --given."
        )
    if out is None:
        raise typer.BadParameter("name the sheet to write with -o FILE.")
    if out == "-" and (design is None or json):
        raise typer.BadParameter(
            "-o - writes the sheet to stdout: "
            + ("leave out --json." if json else "name the design file with --design FILE.")
        )
    sources = {Path(p).resolve() for p in (*pool_files, given, history) if p not in (None, "-")}
    targets = (Path(out), sheets.design_path(out), Path(design or out))
    if sources & {path.resolve() for path in targets}:
        raise typer.BadParameter(
            "the sheet and its design must not overwrite POOL, --given or --history."
        )
    if by is not None and (given is not None or in_order):
        raise typer.BadParameter("--by cannot be combined with --given or --in-order.")
    if shared and (given is not None or in_order):
        raise typer.BadParameter(
            "--shared cannot be combined with --given or --in-order. To rate several systems in "
            "waves, begin a campaign: fewgold init FOLDER POOL."
        )
    asked = parse.criteria("--criteria", criteria)
    if asked and score_column != "score":
        raise typer.BadParameter("--criteria names the columns: leave --score-column out.")
    if asked and given is not None:
        raise typer.BadParameter("--given already has its criteria: leave --criteria out.")
    named = options.named(
        id=id, document=document, metrics=metrics, cost=cost, system=system, texts=texts
    )
    signs = parse.orientation(orientation)
    known = {"--uncertainty": uncertainty, "--history": history, "--history-human": history_human}
    foreseen = [name for name, value in known.items() if value is not None]
    on_disk = input.stays_on_disk(pool_files, engine)
    if on_disk and by is not None:
        raise typer.BadParameter(
            "--by needs a single file loaded into memory: add --engine memory."
        )
    if on_disk and (history or history_human) is not None:
        raise typer.BadParameter(
            "--history needs a pool that is loaded: one file, with --engine memory if it is large. "
            "An --uncertainty column also works on disk."
        )
    if shared and history is not None:
        raise typer.BadParameter(
            "--shared cannot be combined with --history, which is about one system. An "
            "--uncertainty column works: it is averaged over the systems."
        )
    if on_disk and shared:
        raise typer.BadParameter(
            "--shared needs a single file loaded into memory: add --engine memory."
        )
    if not on_disk and (memory, order) != (None, None):
        raise typer.BadParameter("--memory and --order are for pools that stay on disk.")
    if given is not None:
        if signs or foreseen or any(v is not None for v in named.values()):
            raise typer.BadParameter("--given already has the columns: leave their options out.")
        opened = _open_given(given, pool_files, on_disk, memory, quiet)
    elif on_disk:
        from fewgold.stored import StoredPool
        from fewgold.uncertainty import roles_beside

        started = input.start_engine(engine, memory, quiet)
        seen = StoredPool._peek(pool_files, started)
        found, column = roles_beside(seen, uncertainty, **named, orientation=signs, fill=False)
        found = input.unrated(found)
        columns: dict[str, Any] = {**found.columns, "order": order}
        if column is not None:
            columns["spread"] = column.stored
        stored = StoredPool(pool_files, engine=started, **columns)
        record = uneven.inform(stored, column, None, None, None, quiet).record
        opened = _Opened(
            stored, columns, dict(found.guessed), found.notes(), foreseen=record,
            uncertainty=None if column is None else f"{column.name}:{column.kind}",
        )  # fmt: skip
    else:
        opened = _open_table(pool_file, named, signs, shared, quiet, known)
    pool, columns, rated = opened.pool, opened.columns, opened.rated
    settled: dict[str, str | None] = {}
    if given is None:
        settled = {k: columns[k] for k in ("id", "document", "cost", "system")}
        settled |= {k: options.listed(columns[k]) for k in ("metrics", "texts")}
        settled["uncertainty"] = opened.uncertainty
    notes(opened.notes, quiet)
    name = strategy or opened.strategy or registry.recommended(pool)
    amount = parse.budget(budget, cost_budget, risk, len(pool) - (rated.n if rated else 0))
    if seed is None:
        import secrets

        seed = secrets.randbelow(10**6)
    uniform = opened.uniform if uniform is None else uniform
    chosen = registry.strategy(name, pool, uniform=uniform)
    if "+" not in name:  # a sampler or an estimator alone: the error says how to complete it
        name = f"{chosen.sampler.name}+{chosen.name}"
    if by is not None:
        sampler = _within_slices(opened, chosen.sampler, by, per_slice, shared)
        chosen = chosen.with_sampler(sampler)
    sample = chosen.select(pool, amount, given=rated, rng=seed)
    if in_order and (not sample.design.drawn_as("simple") or rated is not None):
        raise typer.BadParameter(
            "--in-order is for one plain random sample: give --strategy random, and leave out "
            "--given. Its budget may be 100%, because stopping early saves the ratings."
        )
    informed = uneven.Informed(pool, opened.foreseen, opened.icc)
    chances = uneven.chances_of(chosen.sampler)
    kept: dict[str, Any] = {
        "strategy": name,
        "columns": columns,
        "pool_path": None if pool_file == "-" else pool_files if on_disk else pool_file,
        "score": score_column,
        "budget": budget if cost_budget is None else {"cost": cost_budget, "risk": risk or 0.5},
        "design": design,
        "overwrite": force,
        "given": given,
        "history": history,
        "uniform": uniform,
        "criteria": opened.criteria or asked,
        "chances": opened.chances or uneven.sentence(informed, chances),
        "options": options.typed(
            context, _NOT_DRAWING, {"strategy": name, "seed": str(seed), **settled}
        ),
    }
    if shared:
        from fewgold.shared_sheets import save_shared

        side = save_shared(sample, opened.table, out, seed=seed, **kept)
    else:
        side = sheets.save_sample(
            sample, out, in_order=in_order, given_criteria=opened.given_criteria, **kept
        )
    documents = sample.pool.documents
    reader, files = pool._source
    result = {
        "n": sample.n,
        "pool_size": len(pool),
        "rated_before": rated.n if rated else 0,
        "documents": None if documents is None else len(set(documents[sample.indices].tolist())),
        "pool_documents": None if documents is None else pool._known_n_documents,
        "strategy": name,
        "recommended": strategy is None and given is None,
        "seed": seed,
        "cost": None if sample.pool.cost is None else float(sample.cost),
        "pool_cost": None if sample.pool.cost is None else pool._total_cost,
        "sheet": out,
        "design": str(side),
        "fingerprint": pool.fingerprint,
        "columns": plain_value(columns),
        "guessed": opened.guessed,
        "notes": opened.notes,
        "step": chosen.sampler.step,
        "in_order": in_order,
        "systems": opened.table[columns["system"]].nunique() if shared else None,
        "files": files,
        "engine": reader,
    }
    if kept["criteria"]:
        result["criteria"] = [c.to_dict() for c in kept["criteria"]]
    told = uneven.lines(informed, chances) or _second_wave(chosen.sampler, rated)
    if uneven.lines(informed, chances):
        result["chances"] = uneven.as_record(informed, chances)
    more_to_say = [
        *uneven.remarks(informed, chances),
        *([] if shared else _first_wave(chosen.sampler, rated, pool_file, out)),
        *_worth_of_units(sample, opened.icc),
    ]
    if out == "-":
        say(f"{sample.n} of {len(pool)} segments, {name}, seed {seed}; design in {side}", quiet)
    else:
        show(
            json, result,
            lambda screen: _show(screen, result, score_column, pool_file, told, more_to_say),
        )  # fmt: skip


@dataclass(frozen=True)
class _Opened:
    """A pool to draw from, with what is known about it."""

    pool: Population
    columns: dict[str, Any]
    guessed: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    table: Any = None  # as read, if loaded
    rated: Ratings | None = None
    strategy: str | None = None
    # What is known of the spread of ratings, and how the chances were computed
    foreseen: dict[str, Any] = field(default_factory=dict)
    uncertainty: str | None = None
    uniform: float | None = None
    chances: str | None = None
    icc: float | None = None
    criteria: tuple[Criterion, ...] = ()
    given_criteria: CriteriaRatings | None = None


def _open_table(
    file: str, named: dict[str, Any], signs: dict[str, int], shared: bool, quiet: bool,
    known: dict[str, str | None],
) -> _Opened:  # fmt: skip
    from fewgold.uncertainty import roles_beside

    table = input.read_table(file, quiet)
    found, column = roles_beside(
        table, known["--uncertainty"], **named, orientation=signs
    )  # fmt: skip
    found = input.unrated(found)
    columns = found.columns
    if shared:
        if columns["system"] is None:
            raise DataError("--shared needs the column of the systems. Name it with --system.")
        from fewgold.shared_sheets import build_joint_pool as build
    else:
        input.single_system(found.table, found)
        from fewgold.sheets import build_pool as build
    pool, spread = build(found.table, columns), None
    if column is not None:
        spread = column.spread(found.table, found.table[columns["id"]])
        spread = _by_segment(pool, found.table[columns["id"]], spread) if shared else spread
    made = uneven.inform(
        pool, column, spread, known["--history"], known["--history-human"], quiet
    )  # fmt: skip
    return _Opened(
        made.pool, columns, dict(found.guessed), found.notes(), found.table,
        foreseen=made.record, icc=made.icc,
        uncertainty=None if column is None else f"{column.name}:{column.kind}",
    )  # fmt: skip


def _within_slices(
    opened: _Opened, sampler: Sampler, by: str, per_slice: int, shared: bool
) -> Sampler:
    """The sampler within each value of some columns of the table."""
    from fewgold.comparison.table import label
    from fewgold.errors import UnknownNameError
    from fewgold.samplers import WithinSlices
    from fewgold.samplers.slices import ByLabels
    from fewgold.slices import labels_of

    if sampler.step is not None:
        raise typer.BadParameter(
            f"--by cannot be combined with {sampler.name}, which chooses segments step by step."
        )
    names = parse.names(by)
    for name in names:
        if name not in opened.table.columns:
            raise UnknownNameError("column", name, map(str, opened.table.columns))
    pool: Any = opened.pool
    table, ids = opened.table, list(map(str, pool.ids.tolist()))
    if shared:  # the table has one row per system; slices consist of segments
        table = table.assign(**{"": [label("id", i) for i in table[opened.columns["id"]].tolist()]})
        for name in names:
            values = table.groupby("", sort=False)[name].nunique(dropna=False)
            if (values > 1).any():
                raise DataError(
                    f"with --shared all systems of a segment must be in the same slice, but "
                    f"{name!r} has {values.max()} values for segment {values.idxmax()!r}."
                )
        table = table.drop_duplicates("").set_index("").loc[ids]
    column, labels = labels_of(pool, {name: table[name].to_numpy() for name in names})
    known = dict(zip(ids, labels.tolist(), strict=True))
    return WithinSlices(ByLabels(column, known), sampler, per_slice)


def _by_segment(pool: Pool, ids: Any, spread: FloatArray) -> FloatArray:
    """The expected spread of each segment of a joint pool, averaged over systems."""
    import numpy as np
    import pandas as pd

    from fewgold.comparison.table import label

    mean = pd.Series(spread).groupby([label("id", i) for i in ids.tolist()]).mean()
    return np.asarray(mean.loc[[label("id", i) for i in pool.ids.tolist()]])


def _open_given(
    given: str, pool_files: list[str], on_disk: bool, memory: str | None, quiet: bool
) -> _Opened:
    """The pool of a rated sheet, with its ratings."""
    from fewgold import sheets

    record = sheets.read_record(sheets.design_path(given))
    if on_disk != ("engine" in record["pool"]):
        raise DataError(
            "the given ratings belong to a pool that was read differently. Give the same files as "
            "before, with --engine memory if one large file was loaded."
        )
    engine = input.start_engine(record["pool"]["engine"], memory, quiet) if on_disk else None
    pool = sheets.load_pool(record, pool_files if on_disk else pool_files[0], engine)
    earlier = sheets.load_sample(record, pool)
    criteria, several = sheets.criteria_of(record), None
    if criteria:
        several = sheets.read_criteria(given, earlier, criteria, record=record)
    rated = sheets.read_ratings(
        given, earlier, score=record["score_column"],
        limits=criteria[0].limits if criteria else None,
    )  # fmt: skip
    columns = dict(record["pool"]["columns"])
    return _Opened(
        pool, columns, rated=rated, strategy=record["strategy"], uniform=record.get("uniform"),
        chances=record.get("chances"), criteria=criteria, given_criteria=several,
    )  # fmt: skip


def _first_wave(
    sampler: Sampler, rated: Ratings | None, pool_file: str, out: str
) -> list[str]:  # fmt: skip
    """The next step after the first wave of a sampler that learns the spread from it."""
    from fewgold.samplers import TwoWave

    if not isinstance(sampler, TwoWave) or rated is not None:
        return []
    return [
        "This is the first wave, drawn with equal chances. When it is rated, draw the second one, "
        f"which samples more where these ratings differ most from the metrics: fewgold select "
        f"{quoted(pool_file)} --given {quoted(out)} --budget N -o second.csv. A good size for the "
        f"first wave is {sampler.share:.0%} of all ratings."
    ]


def _second_wave(sampler: Sampler, rated: Ratings | None) -> list[tuple[str, str]]:
    """How the chances of a second wave were learnt from the first wave, as pairs for the screen."""
    from fewgold.samplers import TwoWave

    if not isinstance(sampler, TwoWave) or rated is None:
        return []
    share = f"{1 - sampler.uniform:.0%} by spread, {sampler.uniform:.0%} equal"
    return [("spread", f"learnt from the {rated.n} earlier ratings"), ("chances", share)]


# Typical intraclass correlation within documents: 0.10 to 0.24 for MQM scores of translations,
# more for captions.
_TYPICAL_ICC = 0.2


def _worth_of_units(sample: Sample, icc: float | None) -> list[str]:
    """The loss from rating neighbouring segments, by the design effect 1 + (m − 1) icc.

    m is the mean size of the document or chunk that a segment belongs to (Kish 1965, section 5.4).
    """
    import numpy as np

    units = sample.design.units
    if units is None or sample.n < 2:
        return []
    sizes = np.unique(units, return_counts=True)[1]
    members = float((sizes**2).sum() / sizes.sum())
    known = icc
    if sample.given is not None and sample.pool.documents is not None:
        from fewgold.common.statistics import intraclass_correlation

        given = sample.given
        measured = float(
            intraclass_correlation(given.scores, sample.pool.codes[given.sample.indices])
        )
        known = min(max(measured, 0.0), 1.0) if np.isfinite(measured) else icc
    share = _TYPICAL_ICC if known is None else known
    effect = 1 + (members - 1) * share
    where = "typically" if known is None else "in the ratings so far"
    whole = sample.info.sampler == "docs-whole"
    cheaper = "--strategy docs-chunks3, or docs-balanced" if whole else "--strategy docs-balanced"
    return [
        f"{sample.n} segments in {'whole documents' if whole else 'chunks'} are worth about "
        f"{max(round(sample.n / effect), 1)} scattered ones, because segments of one document get "
        f"similar ratings (intraclass correlation {where} {share:.2f}). Cheaper: {cheaper} while "
        f"showing raters the text around each segment (in a campaign, or with fewgold export "
        f"--context)."
    ]


def _show(
    out: Console, result: dict[str, Any], score: str, pool_file: str,
    chances: list[tuple[str, str]], remarks: list[str],
) -> None:  # fmt: skip
    further = " further" if result["rated_before"] else ""
    spread = ""
    if result["documents"]:
        of = "" if result["pool_documents"] is None else f" of {result['pool_documents']}"
        spread = f", from {result['documents']}{of} documents"
    if result["engine"] != "memory":
        spread += f", in {result['files']} Parquet file{'s' * (result['files'] > 1)} on disk"
    out.print(
        f"[bold]Chose {result['n']}{further} of {result['pool_size']} segments[/bold]{spread}.\n"
    )
    lines = [
        ("strategy", result["strategy"] + (" (recommended)" if result["recommended"] else "")),
        ("metrics", escape(", ".join(result["columns"]["metrics"]) or "none")),
        *((name, escape(told)) for name, told in chances),
        ("seed", f"{result['seed']} (--seed {result['seed']} draws the same segments again)"),
    ]
    if result["rated_before"]:
        lines.insert(0, ("before", f"{result['rated_before']} ratings, kept in the design file"))
    if result["cost"] is not None:
        share = result["cost"] / result["pool_cost"]
        lines.append(
            ("cost", f"{result['cost']:,.10g} of {result['pool_cost']:,.10g} ({share:.1%})")
        )
    columns = f"the column {score!r}"
    if result.get("criteria"):
        columns = "the columns " + ", ".join(repr(c["name"]) for c in result["criteria"])
    lines += [
        ("to rate", escape(f"{result['sheet']} (fill in {columns} of every row)")),
        ("design", f"{escape(result['design'])} (keep it beside the sheet)"),
    ]
    pairs(out, lines)
    out.print()
    for remark in remarks:
        out.print(escape(remark))
        out.print()
    if result["step"]:
        out.print(
            f"{result['strategy']} learns from the ratings where to sample next: draw a few "
            f"segments at a time and continue with --given {escape(result['sheet'])}."
        )
        out.print()
    pool = " --pool POOL" if pool_file == "-" else ""
    if result["systems"]:
        out.print(
            f"The sheet has one row for each of {result['systems']} systems, "
            f"{result['n'] * result['systems']} ratings in all, and hides which is which. When "
            f"every row has a score:"
        )
        out.print(f"  [green]fewgold compare {quoted(result['sheet'])}{pool}[/green]")
        return
    if result["in_order"]:
        out.print("Rate from the top, row by row. To check whether you can stop:")
        sheet = quoted(result["sheet"])
        out.print(f"  [green]fewgold stop {sheet} --tolerance T --limits LOW,HIGH{pool}[/green]")
        return
    out.print("When every row has a score:")
    out.print(f"  [green]fewgold estimate {quoted(result['sheet'])}{pool}[/green]")


# On a campaign: the first wave, further ones, or the next segment


def _select_wave(
    place: str, out: str | None, *, budget: str | None, cost_budget: float | None,
    risk: float | None, more: str | None, seed: int | None, to: str | None, next_one: bool,
    rater: str, json: bool, quiet: bool,
) -> None:  # fmt: skip
    """Draw segments, and write them if a file is named."""
    from fewgold.campaign import Campaign

    if next_one and (budget or cost_budget or more or out):
        raise typer.BadParameter("--next cannot be combined with --budget, --more or -o.")
    if more is not None and (budget is not None or cost_budget is not None):
        raise typer.BadParameter("give --budget for the first wave or --more for a further one.")
    if to is not None and out is None:
        raise typer.BadParameter("--to sets the format of a file: name the file with -o FILE.")
    with Campaign(place) as campaign:
        if next_one:
            _next(campaign, rater, json)
            return
        if out is not None:
            check_target(out, to)
        amount = parse.budget(more or budget, cost_budget, risk, _left(campaign))
        wave = (campaign.select if more is None else campaign.more)(amount, seed=seed)
        if out is not None:
            write_tasks(campaign, out, to, "last", context=2, quiet=quiet)
        pool, waves = campaign.pool, campaign.waves
        rows, known = campaign.store.drawn()[-wave.n :], pool.documents is not None
        several, shared = campaign.systems, campaign.settings.shared
        result: dict[str, Any] = {
            "campaign": place,
            "wave": wave.number,
            "n": wave.segments if shared else wave.n,
            "sampled": sum(w.segments if shared else w.n for w in waves),
            "pool_size": len(campaign.store.frame if shared else pool),
            "documents": len(set(pool.codes[rows].tolist())) if known else None,
            "pool_documents": int(pool.codes.max()) + 1 if known else None,
            "strategy": wave.strategy,
            "seed": wave.seed,
            "cost": None if pool.cost is None else float(pool.cost[rows].sum()),
            "budget": campaign.settings.budget,
            "file": out,
            "sheet": to in (None, "csv", "tsv", "xlsx"),
            "ids": list(wave.ids),
        }
        if several:
            result |= {"systems": several, "shared": shared, "outputs": wave.n}
    show(json, result, lambda screen: _show_wave(screen, result))


def _left(campaign: Campaign) -> int:
    """Number of segments left to draw; for unshared systems, that of the system with the fewest."""
    if campaign.systems and not campaign.settings.shared:
        parts = [campaign.of(name) for name in campaign.systems]
        return min(len(p.pool) - (p.store.drawn().size if p.waves else 0) for p in parts)
    return len(campaign.store.frame) - sum(w.segments for w in campaign.waves)


def _next(campaign: Campaign, rater: str, json: bool) -> None:
    segment = campaign.next(rater)
    if segment is None:
        left = len(campaign.unrated)
        why = "all sampled segments are rated"
        if left:
            why = f"{counted(left, 'segment')} {verb(left, 'are')} with other raters"
        nothing = f"Nothing to rate for now: {why}."
        show(json, {"segment": None, "why": why}, lambda _: print(nothing))
        return
    record = {"segment": segment.id, "key": segment.key, "document": segment.document,
              "position": segment.position, "texts": dict(segment.texts)}  # fmt: skip
    lines = [("key", segment.key)]
    if segment.document:
        lines.append(("document", f"{escape(segment.document)}, segment {segment.position}"))
    lines += [(name, escape(text)) for name, text in segment.texts.items()]

    def text(out: Console) -> None:
        out.print(f"[bold]Rate next: {escape(segment.id)}[/bold]\n")
        pairs(out, lines)

    show(json, record, text)


def _show_wave(out: Console, result: dict[str, Any]) -> None:
    further = " further" if result["wave"] > 1 else ""
    spread = ""
    if result["documents"]:
        spread = f", from {result['documents']} of {result['pool_documents']} documents"
    what, several = "segments", result.get("systems")
    if several and not result["shared"]:
        what, spread = "outputs", f", separately for each of {len(several)} systems"
    out.print(
        f"[bold]Chose {result['n']}{further} of {result['pool_size']} {what}[/bold]{spread}.\n"
    )
    lines = [
        ("wave", f"{result['wave']}; {result['sampled']} {what} drawn in total"),
        ("strategy", result["strategy"]),
        ("seed", str(result["seed"])),
    ]
    if several and result["shared"]:
        told = f"{result['outputs']}: those of {len(several)} systems, in random order"
        lines.insert(1, ("outputs", told))
    if result["cost"] is not None:
        lines.append(("cost", f"{result['cost']:,.10g}"))
    if result["file"] is not None:
        lines.append(("to rate", escape(result["file"])))
    pairs(out, lines)
    out.print()
    place = quoted(result["campaign"])
    if result["budget"] and result["sampled"] < result["budget"]:
        out.print(
            f"It learns from each answer; {result['budget']} ratings in total. Continue with:"
        )
        out.print(f"  [green]fewgold select {place} --next[/green]")
        return
    if result["file"] is None:
        out.print("Write the segments to rate, for a spreadsheet or an annotation tool:")
        out.print(f"  [green]fewgold export {place} -o to_rate{sheet_suffix()}[/green]")
        out.print(f"  [green]fewgold export {place} -o tasks.json --to label-studio[/green]")
        return
    out.print("When answers arrive, all or some of them:")
    filled = result["file"].lower().endswith((".csv", ".tsv", ".xlsx")) and result["sheet"]
    name = quoted(result["file"]) if filled else "ANSWERS"
    out.print(f"  [green]fewgold import {place} {name}[/green]")
