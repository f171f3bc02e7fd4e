"""Several systems: differences on shared segments, tests, a ranking, and the raters."""

from fewgold.comparison.analysis import compare, compare_samples
from fewgold.comparison.bradley_terry import PairRanking, bradley_terry
from fewgold.comparison.result import Comparison
from fewgold.comparison.slices import SlicedComparison, compare_by
from fewgold.comparison.table import joint_pool

__all__ = [
    "Comparison", "PairRanking", "SlicedComparison", "bradley_terry", "compare", "compare_by",
    "compare_samples", "joint_pool",
]  # fmt: skip
