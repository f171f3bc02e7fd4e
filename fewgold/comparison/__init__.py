"""Several systems: differences on shared segments, tests, a ranking, and the raters."""

from fewgold.comparison.analysis import compare
from fewgold.comparison.pairs import shared_pairs
from fewgold.comparison.raters import Raters
from fewgold.comparison.result import Comparison
from fewgold.comparison.table import joint_pool

__all__ = ["Comparison", "Raters", "compare", "joint_pool", "shared_pairs"]
