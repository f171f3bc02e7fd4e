"""Several systems: differences on shared segments, tests, a ranking, and the raters."""

from fewgold.comparison.analysis import compare
from fewgold.comparison.joint import joint_pool
from fewgold.comparison.pairs import shared_pairs
from fewgold.comparison.raters import Raters
from fewgold.comparison.result import Comparison

__all__ = ["Comparison", "Raters", "compare", "joint_pool", "shared_pairs"]
