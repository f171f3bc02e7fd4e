"""Look after every rating, and stop when the interval is narrow enough.

`path` gives the interval after each rating of a sample, `Monitor` follows ratings as they come in,
`expected` tells beforehand what a tolerance will cost.
"""

from fewgold.bounds.sequence._expected import Expected, expected, remaining
from fewgold.bounds.sequence._monitor import Monitor, first
from fewgold.bounds.sequence._path import Path, path
from fewgold.bounds.sequence._rules import RULES
from fewgold.bounds.sequence._similar import guess

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
