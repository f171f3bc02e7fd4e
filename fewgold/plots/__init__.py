"""Figures of simulations and studies, drawn on axes. They need matplotlib (``fewgold[plots]``).

Each function takes a plain dataframe and optionally the axes to draw on; without axes it creates a
new figure, independent of windows and global state.
"""

# Names with "as" are for fewgold's own reports and pages.
from fewgold.plots.documents import (
    documents_for_half_width,
    mean_by_documents,
    rank_stability,
    reliability_curves,
    tangent,
)
from fewgold.plots.heatmap import heat
from fewgold.plots.heatmap import significance_matrix as significance_matrix
from fewgold.plots.judge import confusion_matrix, reliability_diagram
from fewgold.plots.lines import budget_curves as budget_curves
from fewgold.plots.lines import coverage_curves, curves, error_curves
from fewgold.plots.lines import width_curves as width_curves
from fewgold.plots.monitor import score_line
from fewgold.plots.ranks import corrected_forest as corrected_forest
from fewgold.plots.ranks import forest, rank_intervals, ranking
from fewgold.plots.roc import roc_curves, roc_panels
from fewgold.plots.study import interval_path as interval_path
from fewgold.plots.study import interval_rows as interval_rows
from fewgold.plots.study import posterior_area as posterior_area
from fewgold.plots.study import scatter_fit as scatter_fit
from fewgold.plots.study import two_distributions as two_distributions
from fewgold.plots.style import PALETTE as PALETTE
from fewgold.plots.style import save, to_svg

__all__ = [
    "confusion_matrix",
    "coverage_curves",
    "curves",
    "documents_for_half_width",
    "error_curves",
    "forest",
    "heat",
    "mean_by_documents",
    "rank_intervals",
    "rank_stability",
    "ranking",
    "reliability_curves",
    "reliability_diagram",
    "roc_curves",
    "roc_panels",
    "save",
    "score_line",
    "tangent",
    "to_svg",
]
