"""``fewgold strategies``: what can be chosen, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fewgold.cli import input
from fewgold.cli.console import emit, notes
from fewgold.cli.options import Format, Json, Output, Quiet, argument, option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from fewgold.pool import Pool

SAMPLERS = {
    "random": "any segment with the same chance",
    "docs-prop": "from each document its share of the budget",
    "docs-opt": "more from documents whose metrics vary more",
    "metrics-prop": "from segments of high, middling and low metrics alike",
    "metrics-opt": "the same, more where the metrics vary more",
    "docs-sys": "every so many segments along the documents in random order",
    "docs-balanced": "documents spread out, metrics averaging as in the pool",
    "docs-whole": "whole documents, for raters who need context",
    "docs-chunks3": "3 segments in a row; docs-chunksK for any K",
    "docs-incr-human": "where the ratings so far vary most (biased; use --given)",
    "docs-incr-metrics": "where predicted ratings vary most (biased; use --given)",
}
ESTIMATORS = {
    "mean": "the mean of the ratings, weighted as they were drawn",
    "cv-mean": "mean corrected by the average of the metrics",
    "cv-multi": "mean corrected by all metrics, a slope each",
    "cv-knn": "mean corrected by what similar rated segments got",
    "cv-forest": "mean corrected by a random forest on the metrics",
    "ridge": "mean corrected by all metrics, as far as the ratings bear it",
    "ridge-free": "the same without using which way each metric points",
    "alpha": "share of adequate segments from ratings of 0 and 1, by a model of metric errors",
}


def describe(name: str, known: Mapping[str, str], make: Callable[[str], object]) -> str:
    """A line about a sampler or an estimator; its own docstring speaks for a plug-in.

    ``make`` is called for plug-ins only: building some estimators imports much.
    """
    base = name.removesuffix("-printed")
    if name != base:
        return f"{base} as printed in the paper, to reproduce it"
    if name in known:
        return known[name]
    if name.startswith("cv-"):
        return f"mean corrected by {name.removeprefix('cv-')}"
    if name.startswith("alpha-"):
        return f"alpha with what {name.removeprefix('alpha-')} says of the unrated segments"
    return (type(make(name)).__doc__ or "").strip().partition("\n")[0]


def strategies(
    pool_file: Annotated[
        str | None, argument("[POOL]", "Table of segments: say what is recommended for it.")
    ] = None,
    id: Annotated[str | None, option("COLUMN", "Column of ids, if not called so.")] = None,
    output: Output = Format.text,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the ways to choose segments, to estimate, and to make intervals.

    A strategy is SAMPLER+ESTIMATOR.

    Example: [bold]fewgold strategies pool.csv[/bold]
    """
    from fewgold import registry

    pool = None if pool_file is None else _pool(pool_file, id, quiet)
    best = registry.RECOMMENDED if pool is None else registry.recommended(pool)
    rows = [
        {"kind": kind, "name": n, "about": describe(n, known, make), "see": ""}
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
    how = Format.json if json else output
    emit(how, record, rows, lambda out: _show(out, rows, best, pool))


def _pool(path: str, id: str | None, quiet: bool) -> Pool:
    from fewgold import sheets
    from fewgold.io.columns import roles

    found = input.unrated(roles(input.read_table(path, quiet), id=id))
    notes(found.notes(), quiet)
    return sheets.build_pool(found.table, found.columns)


def _show(out: Console, rows: list[dict[str, str]], best: str, pool: Pool | None) -> None:
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
            # The variants of the paper are for those who reproduce it: a line is enough.
            if row["kind"] == kind and not row["name"].endswith("-printed"):
                star = " *" if row["name"] in (first, second, "auto") else "  "
                table.add_row(f" {star}{row['name']}", Text(row["about"]))
        out.print(table)
        out.print()
    where = "for this pool" if pool is not None else "where there are metrics"
    out.print(f"A strategy joins two with a plus. Recommended {where}: [green]{best}[/green] (*).")
    if pool is None:
        out.print("cv-METRIC corrects by a single metric, such as docs-sys+cv-comet.")
        out.print(
            "alpha-METRIC takes a metric of 0 and 1; alpha-comet>=0.5, alpha-comet:bins others."
        )
    out.print("Names that end in -printed follow the paper to the letter: --json lists them.")
