"""Several systems: differences on shared segments, tests, a ranking, and the raters."""

from fewgold.comparison._compare import compare
from fewgold.comparison._comparison import Comparison
from fewgold.comparison._pairs import Pairs, shared_pairs
from fewgold.comparison._pool import joint_pool
from fewgold.comparison._raters import Raters

__all__ = ["Comparison", "Pairs", "Raters", "compare", "joint_pool", "shared_pairs"]
