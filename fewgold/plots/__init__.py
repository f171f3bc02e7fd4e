"""Figures of simulations and studies: axes in, axes out. They need matplotlib (``fewgold[plots]``).

Each function takes a plain frame and, if you like, the axes to draw on; without axes it makes a
figure of its own, which no window or global state knows of.
"""

from fewgold.plots._budget import budget_curves
from fewgold.plots._curves import curves
from fewgold.plots._figures import coverage_curves, error_curves, width_curves
from fewgold.plots._heat import heat
from fewgold.plots._matrix import significance_matrix
from fewgold.plots._output import save, to_svg
from fewgold.plots._ranking import ranking
from fewgold.plots._reliability import (
    documents_for_half_width,
    mean_by_documents,
    rank_stability,
    reliability_curves,
    tangent,
)
from fewgold.plots._roc import roc_curves, roc_panels
from fewgold.plots._study import interval_path, interval_rows, scatter_fit, two_distributions
from fewgold.plots._style import PALETTE
from fewgold.plots._systems import forest, rank_intervals

__all__ = [
    "PALETTE",
    "budget_curves",
    "coverage_curves",
    "curves",
    "documents_for_half_width",
    "error_curves",
    "forest",
    "heat",
    "interval_path",
    "interval_rows",
    "mean_by_documents",
    "rank_intervals",
    "rank_stability",
    "ranking",
    "reliability_curves",
    "roc_curves",
    "roc_panels",
    "save",
    "scatter_fit",
    "significance_matrix",
    "tangent",
    "to_svg",
    "two_distributions",
    "width_curves",
]
