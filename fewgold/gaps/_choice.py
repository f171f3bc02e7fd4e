"""An estimate from scores with gaps, by the choice that was made about them."""

from __future__ import annotations

from fewgold._validate import check_choice
from fewgold.bayes import BinaryPosterior
from fewgold.estimate import Estimate
from fewgold.estimator import Estimator
from fewgold.gaps._partial import PartialRatings
from fewgold.gaps._worst import GapBounds
from fewgold.sample import Ratings

#: What to do about sampled segments without an answer.
CHOICES = ("wait", "at-random", "bounds")


def estimate(
    partial: PartialRatings, estimator: Estimator, gaps: str = "wait", confidence: float = 0.95
) -> Estimate | GapBounds:
    """The score of the pool.

    Parameters
    ----------
    partial
        Scores with gaps, or without.
    estimator
        Makes the estimate.
    gaps
        ``wait``: refuse while there are any. ``at-random``: take them as made by chance, with a
        warning in the result. ``bounds``: assume nothing, and let them have any score of the scale.
    confidence
        Of the interval of bounds, unless another is asked for.
    """
    check_choice("gaps", gaps, CHOICES)
    if gaps == "bounds" and partial.missing.size:
        return partial.bounds(estimator, confidence)
    return estimator.estimate(ratings_for(partial, estimator, gaps))


def ratings_for(partial: PartialRatings, estimator: Estimator, gaps: str = "wait") -> Ratings:
    """Ratings for an estimator: all of them, or those that are there as chance left them."""
    if gaps == "wait":
        return partial.complete()
    # The binary model knows one chance for all segments, so gaps have one as well.
    within = "sample" if isinstance(estimator, BinaryPosterior) else "groups"
    return partial.at_random(within=within)
