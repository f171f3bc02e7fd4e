"""``fewgold strategies``: what can be chosen, a line each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold.cli import input
from fewgold.cli.console import emit, notes
from fewgold.cli.options import Json, Output, Quiet, argument, option

if TYPE_CHECKING:
    from rich.console import Console

    from fewgold.pool import Pool


def strategies(
    pool_file: str | None = argument(
        None, "[POOL]", "Table of segments: say what is recommended for it."
    ),
    id: str | None = option(None, "COLUMN", "Column of ids, if not called so."),
    output: Output = "text",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the ways to choose segments, to estimate, and to make intervals.

    A strategy is SAMPLER+ESTIMATOR.

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
    emit(how, record, rows, lambda out: _show(out, rows, best, pool))


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
