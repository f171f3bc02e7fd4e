"""How many plain random ratings would have told as much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from fewgold.estimate import Estimate, LinearEstimate
from fewgold.sample import Ratings

# Ratings below which two standard errors cannot be compared in earnest.
_LEAST = 10


@dataclass(frozen=True)
class Saved:
    """The ratings that a plain random sample would need for the standard error of this study.

    A rough figure: both errors come from the same ratings. Over repeated studies of the embedded
    data it varied by 6 to 31 per cent, and with balanced samples, whose standard error is on the
    safe side, it came out about a seventh too small.

    Parameters
    ----------
    n
        Ratings of this study.
    plain
        Plain random ratings with the same standard error; None where that cannot be said.
    random_se
        Standard error of the mean of ``n`` plain random ratings, about.
    spread
        Standard deviation of the scores over the pool, about.
    why
        Why ``plain`` is None.
    """

    n: int
    plain: float | None = None
    random_se: float | None = None
    spread: float | None = None
    why: str = ""

    @property
    def saved(self) -> float | None:
        """Ratings saved; below 0 if plain random sampling would have done with fewer."""
        return None if self.plain is None else self.plain - self.n

    def to_dict(self) -> dict[str, Any]:
        return {
            "plain_random_ratings": self.plain,
            "saved": self.saved,
            "random_se": self.random_se,
            "score_sd": self.spread,
            "why_not": self.why or None,
        }


def pool_variance(ratings: Ratings) -> float:
    """S², the variance of the scores over the pool (divisor N − 1), from the sample.

    The mean of the squares less the square of the mean, with the variance of the mean put back,
    since the squared mean of a sample is too large by just that. Unbiased wherever the mean and
    its variance are; the usual s² on a simple random sample.
    """
    design, scores = ratings.sample.design, ratings.scores
    shift = float(scores.mean())  # squares of large scores would drown the spread
    around = scores - shift
    mean, cov = design.moments(around[None, :])
    own = float(cov[0, 0])
    within = float(design.weights @ (around - mean[0]) ** 2)
    if bool(design.blind) or not math.isfinite(own):
        own = within / max(ratings.n - 1, 1)
    size = len(ratings.sample.pool)
    return (within + own) * size / max(size - 1, 1)


def same_error(se: float, variance: float, size: float) -> float:
    """The n at which S²(1/n − 1/N) = se²; ``size`` may be infinite.

    >>> round(same_error(0.5, 25.0, math.inf), 6), round(same_error(0.5, 25.0, 100), 6)
    (100.0, 50.0)
    """
    return 1.0 / (se**2 / variance + 1.0 / size)


def saved(ratings: Ratings, estimate: Estimate) -> Saved:
    """What the strategy was worth against the mean of a plain random sample."""
    n, size = ratings.n, len(ratings.sample.pool)
    linear = estimate if isinstance(estimate, LinearEstimate) else None
    if n < 2:
        return Saved(n, why="one rating does not show how much scores vary")
    process = getattr(estimate, "target", "pool") == "process"
    whole = math.inf if process else float(size)
    variance = pool_variance(ratings)
    if linear is None:  # shares: their spread follows from their mean
        share = float(estimate.value)
        variance = share * (1 - share) * (1.0 if process else size / max(size - 1, 1))
    spread = math.sqrt(variance)
    error = math.sqrt(variance * max(1 / n - 1 / whole, 0.0))
    told: dict[str, Any] = {"random_se": error, "spread": spread}
    if n == size and not process:
        return Saved(n, why="every segment was rated", **told)
    if n < _LEAST:
        return Saved(n, why=f"{n} ratings are too few to tell", **told)
    se = float(estimate.se)
    if not math.isfinite(se):
        return Saved(n, why="the ratings are too few for a standard error", **told)
    if variance <= 0 or se <= 0 or (linear is not None and bool(linear.spreadless)):
        return Saved(n, why="the ratings show no spread to go by", **told)
    printed = linear is not None and linear.method.endswith("-printed")
    if printed or not ratings.sample.design.unbiased:
        why = "this way of estimating is biased, and a standard error does not show a bias"
        return Saved(n, why=why, **told)
    return Saved(n, same_error(se, variance, whole), **told)
