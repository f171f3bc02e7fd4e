"""A simulation as files: one self-contained page, tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.simulation import _summary
from fewgold.simulation._page_figures import ALT, CAPTION, TITLE, figures
from fewgold.simulation._page_tables import bounds_table, reductions, table_of, with_budget
from fewgold.tables import write_texts

if TYPE_CHECKING:
    from fewgold.simulation._simulation import Simulation


def page(simulation: Simulation) -> str:
    """The whole result as one HTML page."""
    ranking = simulation.ranking()
    best, level = ranking.iloc[0], f"{simulation.confidence:.0%}"
    # A count of cells tells something only where a strategy failed in some.
    many = ("cells",) if ranking["cells"].nunique() == 1 else ()
    few = ("n", "bias", "slack", *many)
    lead = (
        f"{_summary.count(len(simulation.pools), 'fully rated pool')}, "
        f"{len(simulation.strategies)} strategies, budgets {_summary.span(simulation.budgets)}, "
        f"{simulation.draws} repetitions of each study."
    )
    if best["reduction"] > 0 and best["strategy"] != simulation.baseline:
        gain = report.number(best["reduction"], best["reduction_mc"], percent=True)
        lead += (
            f" Closest to the truth: {best['strategy']}, whose error is {gain} below that of "
            f"{simulation.baseline} at the same budget."
        )
    drawn = [
        report.Figure(TITLE[kind], plots.to_svg(ax, alt=ALT[kind]), CAPTION[kind])
        for kind, ax in figures(simulation).items()
    ]
    sections: list[Any] = [
        table_of("Strategies", ranking, "Over all pools and budgets, ± Monte-Carlo error.", few),
        report.Text("How to read it", _LEGEND.format(simulation.baseline, level)),
        *drawn,
        table_of("By budget", with_budget(simulation.by_budget()), "Averaged over pools.", many),
    ]
    if len(simulation.pools) > 1:
        caption = "Error reduction, averaged over budgets."
        table = reductions(simulation)
        formats = dict.fromkeys(table.columns[1:], "%")
        sections.append(report.Table("By pool", table, caption, formats))
    if simulation.bounds:
        caption = "cal: intervals that hold the truth; t: half-width; slack: t less the error."
        sections.append(report.Table("Bounds", bounds_table(simulation), caption, {"cal": "%"}))
    failures = simulation.failures
    if len(failures):
        caption = "The other strategies and bounds went on."
        sections.append(report.Table("What failed, and why", with_budget(failures), caption))
    return report.page(
        "Which strategy would have worked best?", lead, sections, simulation.signature
    )


_LEGEND = (
    "error is the mean of |estimate − truth| and sdev its standard deviation; win is the share of "
    "cells (a pool at a budget) with a lower mean error than {0}; reduction is how much lower the "
    "error is; worth is how many ratings of {0} one rating here replaces; covers is the share of "
    "{1} intervals that hold the truth, half-width half of their width, and slack the half-width "
    "less the error. After ± is the standard error that comes from a limited number of "
    "repetitions: more draws make it smaller."
)


def save(simulation: Simulation, folder: Path) -> list[Path]:
    """Write ``cells.csv``, ``ranking.csv``, ``by_budget.csv``, plots and ``report.html``."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = {
        "cells.csv": simulation.to_frame(),
        "ranking.csv": simulation.ranking(),
        "by_budget.csv": simulation.by_budget(),
    }
    (folder / "failures.csv").unlink(missing_ok=True)  # of an earlier run
    if len(simulation.failures):
        frames["failures.csv"] = simulation.failures
    texts = {folder / name: frame.to_csv(index=False) for name, frame in frames.items()}
    texts[folder / "report.html"] = page(simulation)
    write_texts(texts)
    written = list(texts)
    for kind, ax in figures(simulation).items():
        written.append(plots.save(ax, folder / f"{kind}.png"))
    return written
