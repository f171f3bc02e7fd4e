"""Several systems: differences on shared segments, tests, a ranking, and the raters."""

from fewgold.comparison.analysis import compare
from fewgold.comparison.result import Comparison
from fewgold.comparison.table import joint_pool

__all__ = ["Comparison", "compare", "joint_pool"]
