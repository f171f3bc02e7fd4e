"""A simulation as one self-contained page, and as files: page, tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.common.text import counted
from fewgold.report.sections import figures_of, save_result
from fewgold.simulation.result import shown, span

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.simulation.result import Simulation

# Figures that tables show, in their order, and what they are called there.
_NAMES = {
    "abs_error": "error",
    "abs_error_sd": "sdev",
    "win": "win",
    "reduction": "reduction",
    "ess_ratio": "worth",
    "bias": "bias",
    "coverage": "covers",
    "half_width": "half-width",
    "slack": "slack",
}
_SHARES = ("win", "reduction", "coverage")


def _table(title: str, frame: pd.DataFrame, caption: str, without: tuple[str, ...] = ()) -> Any:
    """Figures with their Monte-Carlo errors; what tells cells apart comes first."""
    figures = {name: shown for name, shown in _NAMES.items() if name not in without}
    facts = [c for c in ("strategy", "budget", "n", "cells") if c in frame and c not in without]
    return report.Table(
        title,
        frame[[*facts, *figures, *(f"{name}_mc" for name in figures)]],
        caption,
        formats=dict.fromkeys(_SHARES, "%") | {c: ".0f" for c in ("n", "cells") if c in facts},
        errors={name: f"{name}_mc" for name in figures},
        names=figures,
    )


#: Title, caption and text alternative of each plot, in the order of the page.
PLOTS = {
    "ranking": (
        "Ranking",
        "Error less than the baseline's, over all pools and budgets; whiskers: ± 2 Monte-Carlo "
        "errors. At the right the share of cells won.",
        "Strategies by how much lower their error is than the baseline's.",
    ),
    "error": (
        "Error by budget",
        "Mean of |estimate − truth|, averaged over pools; bands: ± 2 Monte-Carlo errors.",
        "Mean absolute error of each strategy against the share of segments rated.",
    ),
    "relative": (
        "Error against the baseline",
        "The same over the baseline's error with as many ratings.",
        "Error of each strategy over that of the baseline, against the share rated.",
    ),
    "coverage": (
        "Coverage",
        "Intervals that hold the truth; bands: ± 2 Monte-Carlo errors.",
        "Share of intervals that hold the truth, against the share of segments rated.",
    ),
    "bounds": (
        "Coverage of the bounds",
        "Intervals of the baseline that hold the truth, by bound; own: the estimator's.",
        "Share of each bound's intervals that hold the truth, against the share rated.",
    ),
    "widths": (
        "Width of the bounds",
        "Half of the width of these intervals, averaged over pools.",
        "Half-width of each bound's intervals, against the share of segments rated.",
    ),
}


def _figures(simulation: Simulation) -> dict[str, Any]:
    kinds = [k for k in PLOTS if simulation.bounds or k not in ("bounds", "widths")]
    return figures_of(simulation.plot, kinds)


def page(simulation: Simulation) -> str:
    """The whole result as one HTML page."""
    ranking = simulation.ranking()
    best, level = ranking.iloc[0], f"{simulation.confidence:.0%}"
    # A count of cells tells something only where a strategy failed in some.
    many = ("cells",) if ranking["cells"].nunique() == 1 else ()
    few = ("n", "bias", "slack", *many)
    lead = (
        f"{counted(len(simulation.pools), 'fully rated pool')}, "
        f"{len(simulation.strategies)} strategies, budgets {span(simulation.budgets)}, "
        f"{simulation.draws} repetitions of each study."
    )
    if best["reduction"] > 0 and best["strategy"] != simulation.baseline:
        gain = report.number(best["reduction"], best["reduction_mc"], percent=True)
        lead += (
            f" Closest to the truth: {best['strategy']}, whose error is {gain} below that of "
            f"{simulation.baseline} at the same budget."
        )
    drawn = []
    for kind, ax in _figures(simulation).items():
        title, caption, alt = PLOTS[kind]
        drawn.append(report.Figure(title, plots.to_svg(ax, alt=alt), caption))
    sections: list[Any] = [
        _table("Strategies", ranking, "Over all pools and budgets, ± Monte-Carlo error.", few),
        report.Text("How to read it", _LEGEND.format(simulation.baseline, level)),
        *drawn,
        _table("By budget", _with_budget(simulation.by_budget()), "Averaged over pools.", many),
    ]
    if len(simulation.pools) > 1:
        caption = "Error reduction, averaged over budgets."
        table = simulation.by_pool().pivot(index="strategy", columns="pool", values="reduction")
        table = table.reindex(index=ranking["strategy"], columns=simulation.pools)
        table.columns.name = None
        # A pool may be called "strategy", too.
        table = table.rename(columns={"strategy": "pool strategy"}).reset_index()
        formats = dict.fromkeys(table.columns[1:], "%")
        sections.append(report.Table("By pool", table, caption, formats))
    if simulation.bounds:
        caption = "cal: intervals that hold the truth; t: half-width; slack: t less the error."
        columns = {"coverage": "cal", "half_width": "t", "slack": "slack"}
        table = _with_budget(simulation.by_bound())[["strategy", "budget", "bound", *columns]]
        table = table.rename(columns=columns)
        sections.append(report.Table("Bounds", table, caption, {"cal": "%"}))
    failures = simulation.failures
    if len(failures):
        caption = "The other strategies and bounds went on."
        sections.append(report.Table("What failed, and why", _with_budget(failures), caption))
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


def _with_budget(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(budget=[shown(b) for b in frame["budget"]])


def save(simulation: Simulation, folder: str | Path) -> list[Path]:
    """Write ``cells.csv``, ``ranking.csv``, ``by_budget.csv``, plots and ``report.html``."""
    frames = {
        "cells": simulation.to_frame(),
        "ranking": simulation.ranking(),
        "by_budget": simulation.by_budget(),
    }
    (Path(folder) / "failures.csv").unlink(missing_ok=True)  # of an earlier run
    if len(simulation.failures):
        frames["failures"] = simulation.failures
    return save_result(folder, frames, {"report.html": page(simulation)}, _figures(simulation))
