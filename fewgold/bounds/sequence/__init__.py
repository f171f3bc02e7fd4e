"""Look after every rating, and stop when the interval is narrow enough.

`path` returns the interval after each rating of a sample, `Monitor` follows ratings as they come
in, and `expected` predicts how many ratings a tolerance will need.
"""

from fewgold.bounds.sequence.expectation import Expected, expected, guess, remaining
from fewgold.bounds.sequence.monitor import Monitor, first
from fewgold.bounds.sequence.paths import Path, path
from fewgold.bounds.sequence.rules import RULES

__all__ = [
    "RULES",
    "Expected",
    "Monitor",
    "Path",
    "expected",
    "first",
    "guess",
    "path",
    "remaining",
]
