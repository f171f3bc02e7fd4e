"""Estimating where some segments of a sample have not been rated.

Nobody but the user can say why answers are missing, so nothing is done about it silently. There are
three choices: wait for the rest (`PartialRatings.complete`), take the gaps for chance
(`PartialRatings.at_random`), or reckon with the worst (`PartialRatings.bounds`).
`PartialRatings.diagnosis` says whether they look like chance.
"""

from fewgold.gaps._choice import CHOICES, estimate, ratings_for
from fewgold.gaps._partial import PartialRatings
from fewgold.gaps._worst import GapBounds

__all__ = ["CHOICES", "GapBounds", "PartialRatings", "estimate", "ratings_for"]
