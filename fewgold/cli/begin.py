"""First commands for a new user: ``fewgold demo``, ``doctor`` and ``strategies``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import typer

from fewgold.cli import input, options, parse
from fewgold.cli.console import emit, notes, pairs, progress, show, to_json
from fewgold.cli.options import Json, Output, Quiet, argument, flag, option

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from fewgold.common.arrays import FloatArray
    from fewgold.pool import Pool


# A whole study on built-in data whose true score is known

PLAIN = "random+mean"
#: What the table compares: each idea alone, then both together.
SHOWN = {
    PLAIN: "random; mean",
    "docs-sys+mean": "spread; mean",
    "random+cv-multi": "random; corrected mean",
    "docs-sys+ridge": "spread; corrected mean",
    "docs-balanced+ridge": "balanced; corrected mean",
}
#: Intervals for the mean of a plain random sample.
INTERVALS = ("student", "auto", "star", "hoeffding")


def demo(
    kind: str = option(
        "ende",
        "ende|zhen",
        "Built-in data whose metrics agree with people less (ende) or more (zhen).",
    ),
    system: str = option("alpha", "NAME", "Which of the systems to score."),
    budget: str = option("5%", "N|P%", "How many segments to rate, such as 100 or 5%."),
    strategy: str | None = option(
        None, "NAME", "How to choose and estimate. Default: the recommended strategy."
    ),
    seed: options.SeedOfDraws = 1,
    draws: int = option(2000, "D", "Number of simulated studies.", min=2),
    save: str | None = option(
        None,
        "FOLDER",
        "Write the data to FOLDER instead, to try the other commands: pool.csv, and human.csv with "
        "the human score of each segment.",
    ),
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Try fewgold on built-in data whose true score is known.

    Runs one study and shows how far its score is from the truth. Then it repeats
    the study many times and compares it with the plain mean of a random sample.

    To get data for trying the other commands: [bold]fewgold demo --save data[/bold]
    """
    import numpy as np

    from fewgold import registry, simulate
    from fewgold.datasets import load_demo

    if save is not None:
        _save(save, kind, system, json)
        return
    pool, gold = load_demo(kind, system=system)
    amount = parse.budget(budget, None, None, len(pool))
    name = strategy or registry.recommended(pool)
    chosen = registry.strategy(name, pool)

    def people(sample: Any) -> FloatArray:
        # The ratings that people would give the chosen segments.
        return np.asarray(gold[sample.indices])

    progress(f"one study with {name} …", quiet)
    study = chosen.run(pool, people, amount, rng=seed)
    low, high = study.interval()
    names = list(dict.fromkeys([*SHOWN, name]))
    replayed = simulate(
        *(pool, gold, names, [amount]),
        draws=draws,
        rng=seed,
        progress=lambda done, total: progress(f"{draws} studies each: {done} of {total}", quiet),
    )
    rows = [
        {
            "strategy": cell["strategy"],
            "n": cell["n"],
            "typical_error": cell["abs_error"],
            "worth": cell["ess"],
            "holds_truth": cell["coverage"],
            "width": 2 * cell["half_width"],
        }
        for cell in replayed.to_frame().to_dict("records")
    ]
    progress("intervals …", quiet)
    bounds = [registry.bound(bound) for bound in INTERVALS]
    tried = simulate(
        *(pool, gold, [PLAIN], [amount]),
        draws=min(draws, 500), rng=seed, bounds=bounds, limits=(0, 25),
    )  # fmt: skip
    cell = tried.to_frame().to_dict("records")[0]
    intervals = [
        {
            "bound": bound.name,
            "kind": bound.kind,
            "holds_truth": cell[f"coverage_{bound.name}"],
            "half_width": cell[f"half_width_{bound.name}"],
        }
        for bound in bounds
    ]
    progress("", quiet)
    plain = rows[0]
    ours = next(r for r in rows if r["strategy"] == name)
    result = {
        "data": f"demo-{kind}",
        "system": system,
        "pool_size": len(pool),
        "documents": int(pool.codes.max()) + 1,
        "metrics": list(pool.metrics),
        "n": ours["n"],
        "strategy": name,
        "seed": seed,
        "draws": draws,
        "truth": float(gold.mean()),
        "study": study.to_dict(),
        "error": float(study.value - gold.mean()),
        "holds_truth": bool(low <= gold.mean() <= high),
        "typical_error": ours["typical_error"],
        "typical_error_random": plain["typical_error"],
        "worth": ours["worth"],
        "saved": 1 - ours["n"] / ours["worth"] if ours["worth"] > 0 else None,
        "strategies": rows,
        "intervals": intervals,
    }
    emit("json" if json else output, result, rows, lambda out: _show_demo(out, result))


def _show_demo(out: Console, result: dict[str, Any]) -> None:
    study, n, name = result["study"], result["n"], result["strategy"]
    out.print("[bold]How good is a system, if only a few of its outputs can be rated?[/bold]")
    out.print(
        f"This test set has {result['pool_size']:,} translated segments in {result['documents']} "
        f"documents. People give each a penalty from 0 (perfect) to 25, but only [bold]{n}[/bold] "
        f"can be rated. {len(result['metrics'])} automatic metrics are known for all. The data are "
        "synthetic, so the true score is known too."
    )
    out.print(f"\n[bold]One study[/bold], strategy [cyan]{name}[/cyan], seed {result['seed']}")
    verdict = "covers the truth" if result["holds_truth"] else "misses the truth, as 1 in 20 may"
    for label, what in [
        ("estimate", f"[bold green]{study['value']:.2f}[/bold green]  from {n} ratings"),
        ("95% interval", f"{study['low']:.2f} to {study['high']:.2f}  ({verdict})"),
        ("truth", f"{result['truth']:.2f}  the mean over all {result['pool_size']:,}"),
    ]:
        out.print(f"  [cyan]{label:<13}[/cyan] {what}")
    out.print(
        f"\n[bold]The same study {result['draws']} times[/bold], each with a different sample"
    )
    wide = out.width >= 74
    texts = ["strategy", *(["how chosen; how scored"] if wide else [])]
    table = _table(texts, ["typical\nerror", "worth\nratings", "covers\ntruth"])
    for row in result["strategies"]:
        table.add_row(
            row["strategy"],
            *([SHOWN.get(row["strategy"], "your choice")] if wide else []),
            f"{row['typical_error']:.3f}",
            f"{row['worth']:.0f}",
            f"{row['holds_truth']:.0%}",
            style="bold" if row["strategy"] == name else None,
        )
    out.print(table)
    out.print()
    pairs(
        out,
        [
            ("spread", "taken evenly from all documents"),
            ("balanced", "spread, with the same metric averages as the whole set"),
            ("corrected", "adjusted by the metrics of the segments nobody rated"),
            ("typical error", "how far the estimate is from the truth, on average"),
            ("worth ratings", f"how many plain random ratings would do as well as these {n}"),
            ("covers truth", "how often the 95% interval contains the truth; 95% would be ideal"),
        ],
    )
    out.print()
    worth = result["worth"]
    if worth > n:
        out.print(
            f"So [bold]{n} ratings are worth about {worth:.0f} plain random ones[/bold]: "
            f"about {1 - n / worth:.0%} of the annotation is saved.\n"
            f"(With {result['draws']} repetitions this figure is accurate to about "
            f"{100 * math.sqrt(2 / result['draws']):.0f}%; --draws {5 * result['draws']} makes it "
            "more accurate.)"
        )
    else:
        out.print(f"So here {name} does no better than a plain random sample of {n}.")
    out.print(
        f"\n[bold]How certain is it?[/bold] 95% intervals of {PLAIN}; fewgold uses "
        f"[cyan]auto[/cyan]"
    )
    table = _table(["interval", "promise"], ["half of\nits width", "covers\ntruth"])
    for row in result["intervals"]:
        width, holds = f"{row['half_width']:.2f}", f"{row['holds_truth']:.0%}"
        table.add_row(row["bound"], row["kind"], width, holds)
    out.print(table)
    out.print("\n[bold]With your own data[/bold], a table with one row per segment:")
    out.print("  [green]fewgold select pool.csv --budget 100 -o sample.csv[/green]")
    out.print("  (people fill in the column [cyan]score[/cyan] of sample.csv)")
    out.print("  [green]fewgold estimate sample.csv[/green]")


def _table(texts: list[str], numbers: list[str]) -> Table:
    """An empty table with lines; its first column is coloured."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE, padding=(0, 1), show_edge=False)
    for k, title in enumerate(texts):
        table.add_column(title, style=None if k else "cyan", no_wrap=True)
    for title in numbers:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _save(folder: str, kind: str, system: str, json: bool) -> None:
    """Write the pool with its texts, and the human scores in a separate file."""
    from pathlib import Path

    import pandas as pd

    from fewgold.datasets import load_demo
    from fewgold.errors import DataError
    from fewgold.io import write_texts

    pool, gold = load_demo(kind, system=system, texts=True)
    table = {"id": pool.ids, "document": pool.documents, **pool.texts, **pool.metrics}
    files = {
        Path(folder, "pool.csv"): pd.DataFrame(table).to_csv(index=False, lineterminator="\n"),
        Path(folder, "human.csv"): pd.DataFrame({"id": pool.ids, "human": gold}).to_csv(
            index=False, lineterminator="\n"
        ),
    }
    for path in files:
        if path.exists():
            raise DataError(f"{str(path)!r} exists. Choose another folder.")
    Path(folder).mkdir(parents=True, exist_ok=True)
    write_texts(files)
    names = [str(path) for path in files]
    told = f"[bold]Wrote {names[0]}[/bold] ({len(pool)} segments) and {names[1]}."
    show(json, {"files": names, "segments": len(pool)}, lambda out: out.print(told))


# What a file is, its problems, and the command to run next


def doctor(
    file: str = argument(
        ...,
        "FILE",
        "A table, a sheet, a campaign, an evaluation log, an export of an annotation "
        "tool, or a folder.",
    ),
    human: str | None = option(
        None,
        "COLUMN",
        "Column of human scores, if its name is unclear; A,B for one column per rater.",
    ),
    id: options.Id = None,
    document: options.Document = None,
    system: options.System = None,
    texts: options.Texts = None,
    metrics: options.Metrics = None,
    source: options.Log = None,
    json: Json = False,
    quiet: bool = flag(False, "--quiet", "Print only the findings and the next command.", "-q"),
) -> None:
    """Check a file: what it is, what is wrong, and what to run next.

    Exit code 0: fine; 1: usable, but read the warnings; 3: not usable as it is.

    Example: [bold]fewgold doctor scores.csv[/bold]
    """
    from fewgold.doctor import examine

    told = options.named(id=id, document=document, metrics=metrics, system=system, texts=texts)
    found = examine(
        file, human=parse.names(human) if human is not None else None, source=source, **told
    )
    if json:
        print(to_json(found.to_dict()))
    else:
        print(found._brief() if quiet else found.summary())
    if found.exit_code:
        raise typer.Exit(found.exit_code)


# The strategies, one per line


def strategies(
    pool_file: str | None = argument(
        None, "[POOL]", "Table of segments. With it, the strategies that suit the table are listed."
    ),
    id: str | None = option(None, "COLUMN", "Column of segment ids, if fewgold does not find it."),
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the strategies for choosing segments and estimating.

    A strategy such as docs-balanced+ridge is a sampler, which says how segments
    are chosen, and an estimator, which computes the score from their ratings.

    Example: [bold]fewgold strategies pool.csv[/bold]
    """
    from fewgold import registry
    from fewgold.report.descriptions import ESTIMATORS, SAMPLERS, short_line

    pool = None
    if pool_file is not None:
        from fewgold import sheets
        from fewgold.io.columns import roles

        found = input.unrated(roles(input.read_table(pool_file, quiet), id=id))
        notes(found.notes(), quiet)
        pool = sheets.build_pool(found.table, found.columns)
    best = registry.RECOMMENDED if pool is None else registry.recommended(pool)
    rows = [
        {"kind": kind, "name": n, "about": short_line(n, known, make), "see": ""}
        for kind, names, known, make in (
            ("sampler", registry.sampler_names(), SAMPLERS, registry.sampler),
            ("estimator", registry.estimator_names(pool), ESTIMATORS, registry.estimator),
        )
        for n in names
    ]
    bounds = [registry.bound(n) for n in registry.bound_names()]
    rows += [
        {"kind": "bound", "name": b.name, "about": f"{b.kind}: {b.assumes}", "see": b.reference}
        for b in bounds
    ]
    record = {"recommended": best, "strategies": rows}
    how = "json" if json else output
    emit(how, record, rows, lambda out: _show_strategies(out, rows, best, pool))


def _show_strategies(
    out: Console, rows: list[dict[str, str]], best: str, pool: Pool | None
) -> None:
    from rich.table import Table
    from rich.text import Text

    titles = {
        "sampler": "Samplers choose the segments to rate",
        "estimator": "Estimators turn ratings and metrics into a score",
        "bound": "Bounds make the interval (fewgold estimate --bound NAME)",
    }
    first, _, second = best.partition("+")
    for kind, title in titles.items():
        out.print(f"[bold]{title}[/bold]")
        table = Table.grid(padding=(0, 2))
        table.add_column(style="cyan", no_wrap=True)
        table.add_column()
        for row in rows:
            # Variants as printed in the paper are only needed to reproduce it: one line is enough.
            if row["kind"] == kind and not row["name"].endswith("-printed"):
                star = " *" if row["name"] in (first, second, "auto") else "  "
                table.add_row(f" {star}{row['name']}", Text(row["about"]))
        out.print(table)
        out.print()
    where = "for this pool" if pool is not None else "for tables with metrics"
    out.print(f"A strategy joins two with a plus. Recommended {where}: [green]{best}[/green] (*).")
    if pool is None:
        out.print("cv-METRIC corrects by a single metric, as in docs-sys+cv-comet.")
        out.print(
            "alpha-METRIC takes a metric with the values 0 and 1; for others, alpha-comet>=0.5 or "
            "alpha-comet:bins."
        )
    out.print("cv-sklearn:package.module:Class takes any other regressor with fit and predict.")
    out.print("Names ending in -printed follow the paper exactly; --json lists them.")
