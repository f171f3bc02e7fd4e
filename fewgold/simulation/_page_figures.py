"""Figures of the page on a simulation, and what is said of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    from fewgold.simulation._simulation import Simulation


ALT = {
    "error": "Mean absolute error of each strategy against the share of segments rated.",
    "relative": "Error of each strategy over that of the baseline, against the share rated.",
    "coverage": "Share of intervals that hold the truth, against the share of segments rated.",
    "bounds": "Share of each bound's intervals that hold the truth, against the share rated.",
    "widths": "Half-width of each bound's intervals, against the share of segments rated.",
    "ranking": "Strategies by how much lower their error is than the baseline's.",
}
CAPTION = {
    "error": "Mean of |estimate − truth|, averaged over pools; bands: ± 2 Monte-Carlo errors.",
    "relative": "The same over the baseline's error with as many ratings.",
    "coverage": "Intervals that hold the truth; bands: ± 2 Monte-Carlo errors.",
    "bounds": "Intervals of the baseline that hold the truth, by bound; own: the estimator's.",
    "widths": "Half of the width of these intervals, averaged over pools.",
    "ranking": "Error less than the baseline's, over all pools and budgets; whiskers: ± 2 "
    "Monte-Carlo errors. At the right the share of cells won.",
}
TITLE = {
    "ranking": "Ranking",
    "error": "Error by budget",
    "relative": "Error against the baseline",
    "coverage": "Coverage",
    "bounds": "Coverage of the bounds",
    "widths": "Width of the bounds",
}


def figures(simulation: Simulation) -> dict[str, Any]:
    """Axes by kind; none where matplotlib is not installed."""
    try:
        kinds = [k for k in TITLE if simulation.bounds or k not in ("bounds", "widths")]
        return {kind: simulation.plot(kind) for kind in kinds}
    except FewgoldError:
        try:
            import matplotlib  # noqa: F401
        except ImportError:
            return {}
        raise
