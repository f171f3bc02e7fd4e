"""A simulation as files: one self-contained page, tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold import plots, report
from fewgold.errors import FewgoldError
from fewgold.simulation import _summary
from fewgold.tables import write_texts

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.simulation._simulation import Simulation

_ALT = {
    "error": "Mean absolute error of each strategy against the share of segments rated.",
    "relative": "Error of each strategy over that of the baseline, against the share rated.",
    "coverage": "Share of intervals that hold the truth, against the share of segments rated.",
    "ranking": "Strategies by how much lower their error is than the baseline's.",
}
_CAPTION = {
    "error": "Mean of |estimate − truth|, averaged over pools; bands: ± 2 Monte-Carlo errors.",
    "relative": "The same over the baseline's error with as many ratings.",
    "coverage": "Intervals that hold the truth; bands: ± 2 Monte-Carlo errors.",
    "ranking": "Error less than the baseline's, over all pools and budgets; whiskers: ± 2 "
    "Monte-Carlo errors. At the right the share of cells won.",
}
_TITLE = {
    "ranking": "Ranking",
    "error": "Error by budget",
    "relative": "Error against the baseline",
    "coverage": "Coverage",
}


def figures(simulation: Simulation) -> dict[str, Any]:
    """Axes by kind; none where matplotlib is not installed."""
    try:
        return {kind: simulation.plot(kind) for kind in _TITLE}
    except FewgoldError:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            return {}
        raise


def page(simulation: Simulation) -> str:
    """The whole result as one HTML page."""
    best = simulation.ranking().iloc[0]
    lead = (
        f"{_summary.count(len(simulation.pools), 'fully rated pool')}, "
        f"{len(simulation.strategies)} strategies, budgets {_summary.span(simulation.budgets)}, "
        f"{simulation.draws} repetitions of each study. Closest to the truth: {best['strategy']}, "
        f"whose error is {100 * best['reduction']:.1f} ± {100 * best['reduction_mc']:.1f} % below "
        f"that of {simulation.baseline} with as many ratings."
    )
    drawn = [
        report.Figure(_TITLE[kind], plots.to_svg(ax, alt=_ALT[kind]), _CAPTION[kind])
        for kind, ax in figures(simulation).items()
    ]
    sections: list[Any] = [
        report.Table("Strategies", _ranking(simulation), _LEGEND.format(simulation.baseline)),
        *drawn,
        report.Table("By budget", _by_budget(simulation), "Averaged over pools."),
    ]
    if len(simulation.pools) > 1:
        caption = "Error reduction in %, averaged over budgets."
        sections.append(report.Table("By pool", _by_pool(simulation), caption))
    if simulation.bounds:
        caption = "cal: errors within the bound in %; t: half-width; slack: t less the error."
        sections.append(report.Table("Bounds", _bounds(simulation), caption))
    failures = simulation.failures
    if len(failures):
        caption = "The other strategies and bounds went on."
        sections.append(report.Table("What failed, and why", failures, caption))
    return report.page(
        "Which strategy would have worked best?", lead, sections, _footer(simulation)
    )


_LEGEND = (
    "Over all pools and budgets, ± Monte-Carlo standard error. error: mean of |estimate − truth|; "
    "sdev: its standard deviation; win: cells with a lower error than {}; reduction: of that "
    "error; worth: ratings of the baseline that one rating here replaces; covers: intervals that "
    "hold the truth; half-width and slack (half-width less error) of the interval."
)


def _footer(simulation: Simulation) -> str:
    return simulation.signature


def _ranking(simulation: Simulation) -> pd.DataFrame:
    return _readable(simulation.ranking())


def _by_budget(simulation: Simulation) -> pd.DataFrame:
    table = simulation.by_budget()
    shown = _readable(table)
    shown.insert(1, "budget", [_summary.shown(b) for b in table["budget"]])
    shown.insert(2, "ratings", table["n"].round(1))
    return shown


def _by_pool(simulation: Simulation) -> pd.DataFrame:
    table = simulation.by_pool()
    wide = table.pivot(index="strategy", columns="pool", values="reduction")
    wide = wide.reindex(index=simulation.ranking()["strategy"], columns=simulation.pools)
    return (100 * wide).round(1).reset_index()


def _bounds(simulation: Simulation) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for row in simulation.by_budget().to_dict("records"):
        for bound in ("", *simulation.bounds):
            tail = f"_{bound}" if bound else ""
            rows.append(
                {
                    "strategy": row["strategy"],
                    "budget": _summary.shown(row["budget"]),
                    "bound": bound or "own",
                    "cal %": 100 * row[f"coverage{tail}"],
                    "t": row[f"half_width{tail}"],
                    "slack": row[f"slack{tail}"],
                }
            )
    frame = pd.DataFrame(rows)
    return frame[frame["cal %"].notna()]


def _readable(table: pd.DataFrame) -> pd.DataFrame:
    """Figures with as many digits as their Monte-Carlo errors bear."""
    import pandas as pd

    def column(name: str, scale: float = 1.0) -> list[str]:
        pairs = zip(scale * table[name], scale * table[f"{name}_mc"], strict=True)
        return [report.number(value, error) for value, error in pairs]

    return pd.DataFrame(
        {
            "strategy": table["strategy"],
            "cells": table["cells"].astype(int),
            "error": column("abs_error"),
            "sdev": column("abs_error_sd"),
            "win %": column("win", 100),
            "reduction %": column("reduction", 100),
            "worth": column("ess_ratio"),
            "bias": column("bias"),
            "covers %": column("coverage", 100),
            "half-width": column("half_width"),
            "slack": column("slack"),
        }
    )


def save(simulation: Simulation, folder: Path) -> list[Path]:
    """Write ``cells.csv``, ``ranking.csv``, ``by_budget.csv``, plots and ``report.html``."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = {
        "cells.csv": simulation.to_frame(),
        "ranking.csv": simulation.ranking(),
        "by_budget.csv": simulation.by_budget(),
    }
    if len(simulation.failures):
        frames["failures.csv"] = simulation.failures
    texts = {folder / name: frame.to_csv(index=False) for name, frame in frames.items()}
    texts[folder / "report.html"] = page(simulation)
    write_texts(texts)
    written = list(texts)
    for kind, ax in figures(simulation).items():
        written.append(plots.save(ax, folder / f"{kind}.png"))
    return written
