"""What the segments that were not rated may be, drawn from those that were."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln

from fewgold._arrays import FloatArray, batches
from fewgold.bounds._ordered import assemble, check_share, checked_limits, ordered
from fewgold.estimate import Bound, Interval, LinearEstimate

# Fillings of the urn. The quantile is taken on the safe side by twice its Monte-Carlo error: of
# 16,384 that costs about 1 % of the width at 95 %.
FILLINGS = 1 << 14
_SEED = 20050101
# Fillings that are drawn and multiplied at once, and draws that share them.
_BLOCK, _DRAWS = 1 << 11, 1 << 8
# Fillings that are kept for the next call, at most this many numbers of them.
_KEEP = 1 << 24


@dataclass(frozen=True)
class Gaffke(Bound):
    """Gaffke's bound (2005), adapted to samples without replacement.

    The N − n unrated scores are drawn from an urn of the n ratings and one guard, at the lower
    limit for the lower end and at the upper limit for the upper one: whatever is drawn goes back
    with a copy. The ends are quantiles of the pool's mean under such fillings. How often each
    ball is drawn depends on n and N alone, so that all samples of a size share the same fillings,
    from a seed of their own: the interval is a pure function of the ratings.

    Guaranteed where all ratings lie at the limits: there it is the exact interval of the
    hypergeometric distribution, and worked out without simulation. Conjectured for all other
    scores, on simple random samples. No counterexample is known (Learned-Miller and Thomas 2019).

    Parameters
    ----------
    upper
        Share of the misses that the upper end may have. Fix it before the ratings come.

    References
    ----------
    Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable; Learned-Miller and Thomas (2019), A new confidence interval for the mean
    of a bounded random variable.
    """

    upper: float = 0.5

    name: ClassVar[str] = "gaffke"
    kind: ClassVar[str] = "conjectured"

    def __post_init__(self) -> None:
        check_share(self.upper)

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        limits = checked_limits(self.name, estimate)
        if estimate.n == estimate.design.size:
            return assemble(estimate, limits, None)
        data = ordered(estimate, limits)
        scores = np.sort(data.scores, axis=-1)  # their order must not matter
        miss = (1 - confidence) * np.array([1 - self.upper, self.upper])
        least = _least(scores, data.size, float(miss[0]))
        most = _least(1.0 - scores, data.size, float(miss[1]))
        return assemble(estimate, limits, (least, data.size - data.n - most))


def _least(scores: FloatArray, size: int, miss: float) -> FloatArray:
    """The quantile ``miss`` of the sum of the unrated scores, the guard at 0: (draws,)."""
    draws, n = scores.shape
    found = np.empty(draws)
    binary = ((scores == 0) | (scores == 1)).all(-1)
    ones, which = np.unique(scores[binary].sum(-1).astype(int), return_inverse=True)
    found[binary] = np.array([_binary(int(k), n, size, miss) for k in ones])[which]
    if not binary.all():
        found[~binary] = _simulated(scores[~binary], size, miss)
    return found


def _binary(ones: int, n: int, size: int, miss: float) -> float:
    """The first count of ones among the unrated with more than ``miss`` of the chance up to it.

    The urn holds ``ones`` ones and n − ones + 1 noughts, so that the count is beta-binomial.
    """
    if ones == 0:
        return 0.0
    left = size - n
    a, b = float(ones), float(n - ones + 1)
    count = np.arange(left + 1.0)
    ways = -np.log(left + 1) - betaln(left - count + 1, count + 1)
    chance = np.cumsum(np.exp(ways + betaln(count + a, left - count + b) - betaln(a, b)))
    return float(np.argmax(chance > miss * (1 - 1e-9)))


def _simulated(scores: FloatArray, size: int, miss: float) -> FloatArray:
    draws, n = scores.shape
    safe = int(np.floor(miss * FILLINGS - 2 * np.sqrt(miss * (1 - miss) * FILLINGS)))
    if safe < 0:
        return np.zeros(draws)  # no filling is that rare: what is possible at all
    found, fill = np.empty(draws), _kept if FILLINGS * n <= _KEEP else _fill
    for block in batches(draws, _DRAWS):
        sums = np.empty((len(found[block]), FILLINGS))
        for part in batches(FILLINGS, _BLOCK):
            times = fill(n, size, part.start).T.astype(np.float64)
            np.matmul(scores[block], times, out=sums[:, part])
        found[block] = np.partition(sums, safe, axis=-1)[:, safe]
    return found


def _fill(n: int, size: int, start: int) -> NDArray[Any]:
    """How often each rating is drawn from the urn, in fillings from ``start`` on: (block, n).

    All ways to share N − n draws among n + 1 balls are equally likely: they are the gaps between n
    places drawn at random from N. Where N is far more than n, the shares are drawn first.
    """
    rng = np.random.default_rng([_SEED, n, size, start])
    small = np.int16 if size - n < 1 << 15 else np.int64
    if size > 16 * n:
        share = rng.standard_exponential((_BLOCK, n + 1))
        share /= share.sum(-1, keepdims=True)
        return rng.multinomial(size - n, share)[:, :n].astype(small)
    taken = np.zeros((_BLOCK, size), dtype=bool)
    taken[:, :n] = True
    places = np.nonzero(rng.permuted(taken, axis=1))[1].reshape(_BLOCK, n)
    return (np.diff(places, axis=-1, prepend=-1) - 1).astype(small)


_kept = lru_cache(maxsize=2 * FILLINGS // _BLOCK)(_fill)
