"""The old name of `fewgold.missing`, deprecated since 0.1."""

import warnings

from fewgold.missing import CHOICES, GapBounds, PartialRatings, estimate, ratings_for

__all__ = ["CHOICES", "GapBounds", "PartialRatings", "estimate", "ratings_for"]

warnings.warn(
    "fewgold.gaps is deprecated since 0.1; use fewgold.missing", DeprecationWarning, stacklevel=2
)
