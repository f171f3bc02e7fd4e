"""Figures of simulations and studies: axes in, axes out. They need matplotlib (``fewgold[plots]``).

Each function takes a plain frame and, if you like, the axes to draw on; without axes it makes a
figure of its own, which no window or global state knows of.
"""

from fewgold.plots.documents import (
    documents_for_half_width,
    mean_by_documents,
    rank_stability,
    reliability_curves,
    tangent,
)
from fewgold.plots.heatmap import heat, significance_matrix
from fewgold.plots.lines import budget_curves, coverage_curves, curves, error_curves, width_curves
from fewgold.plots.ranks import forest, rank_intervals, ranking
from fewgold.plots.roc import roc_curves, roc_panels
from fewgold.plots.study import interval_path, interval_rows, scatter_fit, two_distributions
from fewgold.plots.style import PALETTE, save, to_svg

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
