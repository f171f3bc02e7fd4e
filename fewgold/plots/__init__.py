"""Figures of simulations and studies: axes in, axes out. They need matplotlib (``fewgold[plots]``).

Each function takes a plain frame and, if you like, the axes to draw on; without axes it makes a
figure of its own, which no window or global state knows of.
"""

from fewgold.plots._budget import budget_curves
from fewgold.plots._curves import curves
from fewgold.plots._figures import coverage_curves, error_curves, width_curves
from fewgold.plots._forest import forest
from fewgold.plots._heat import heat
from fewgold.plots._intervals import interval_path, interval_rows
from fewgold.plots._matrix import significance_matrix
from fewgold.plots._output import save, to_svg
from fewgold.plots._rank_intervals import rank_intervals
from fewgold.plots._ranking import ranking
from fewgold.plots._reliability import reliability_curves
from fewgold.plots._reliability_means import documents_for_half_width, mean_by_documents
from fewgold.plots._reliability_ranks import rank_stability
from fewgold.plots._reliability_tangent import tangent
from fewgold.plots._roc import roc_curves
from fewgold.plots._roc_panels import roc_panels
from fewgold.plots._sampled import scatter_fit, two_distributions
from fewgold.plots._style import PALETTE

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
