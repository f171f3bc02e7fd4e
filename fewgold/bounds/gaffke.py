"""Gaffke's bound: unrated scores resampled from the rated ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fewgold.bounds.base import (
    TwoTailedBound,
    checked_limits,
    interval_of_totals,
    tail_misses,
    to_unit,
)
from fewgold.bounds.exact import least_ones
from fewgold.common.arrays import FloatArray, batches
from fewgold.estimate import Interval, LinearEstimate

# Number of simulated fillings of the urn. The quantile is moved outwards by twice its Monte Carlo
# error: with 16,384 fillings this costs about 1 % of the width at 95 %.
FILLINGS = 1 << 14
_SEED = 20050101
# Fillings to draw and multiply at once, and draws that share them.
_BLOCK, _DRAWS = 1 << 11, 1 << 8
# How many numbers of fillings to keep at most for the next call.
_KEEP = 1 << 24
# Beyond this many segments, visiting every position takes too long.
_PLACES = 1 << 13


@dataclass(frozen=True)
class Gaffke(TwoTailedBound):
    """Gaffke's bound (2005), adapted to samples without replacement.

    The N − n unrated scores are drawn from an urn with the n ratings and one guard ball, at the
    lower limit for the lower end and at the upper limit for the upper end; each drawn ball is
    returned together with a copy. The ends are quantiles of the pool's mean under such fillings.
    How often each ball is drawn depends only on n and N, so all samples of a size share the same
    fillings, drawn with a fixed seed: the interval is a function of the ratings alone.

    Conjectured, on simple random samples: no proof is known, and no counterexample (Learned-Miller
    and Thomas 2019, for independent draws). If all ratings are at the limits, it is the exact
    hypergeometric interval, without simulation. This is guaranteed only if *all* scores of the pool
    are known to be at the limits, which ratings alone do not show; then use `Hypergeometric`.

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
    assumes: ClassVar[str] = (
        "simple random samples, any estimate, and any scores between the limits; exact if the pool "
        "has scores at the limits only, conjectured otherwise"
    )
    reference: ClassVar[str] = (
        "Gaffke (2005), Three test statistics for a nonparametric one-sided hypothesis on the mean "
        "of a nonnegative variable"
    )

    def interval(self, estimate: LinearEstimate, confidence: float) -> Interval:
        limits = checked_limits(self.name, estimate)
        n, size = estimate.n, estimate.design.size
        least = most = np.zeros(estimate.value.shape)
        if n < size:
            scores = to_unit(estimate.ratings.scores.reshape(-1, n), limits)
            below, above = tail_misses(confidence, self.upper).tolist()
            least, most = _least(scores, size, below), _least(1.0 - scores, size, above)
        return interval_of_totals(estimate, limits, least, size - n - most)


def _least(scores: FloatArray, size: int, miss: float) -> FloatArray:
    """The ``miss`` quantile of the sum of the unrated scores, with the guard at 0: (draws,)."""
    draws, n = scores.shape
    found = np.empty(draws)
    binary = ((scores == 0) | (scores == 1)).all(-1)
    if binary.any():  # the urn's count of ones is beta-binomial, and its tail a hypergeometric one
        ones = scores[binary].sum(-1).astype(np.int64)
        distinct, which = np.unique(ones, return_inverse=True)
        found[binary] = (least_ones(distinct, n, size, miss) - distinct)[which]
    if not binary.all():
        # Sorted, so that neither the order of the ratings nor the direction of the scale matters.
        found[~binary] = _simulated(np.sort(scores[~binary], axis=-1), size, miss)
    return found


def _simulated(scores: FloatArray, size: int, miss: float) -> FloatArray:
    draws, n = scores.shape
    safe = int(np.floor(miss * FILLINGS - 2 * np.sqrt(miss * (1 - miss) * FILLINGS)))
    if safe < 0:
        return np.zeros(draws)  # no filling is that rare: use the smallest possible value
    found, fill = np.empty(draws), _kept if FILLINGS * n <= _KEEP else _fill
    for block in batches(draws, _DRAWS):
        sums = np.empty((len(found[block]), FILLINGS))
        for part in batches(FILLINGS, _BLOCK):
            times = fill(n, size, part.start).T.astype(np.float64)
            np.matmul(scores[block], times, out=sums[:, part])
        found[block] = np.partition(sums, safe, axis=-1)[:, safe]
    return found


def _fill(n: int, size: int, start: int) -> NDArray[Any]:
    """How often each rating is drawn from the urn, in fillings from number ``start``: (block, n).

    All ways to divide N − n draws among n + 1 balls are equally likely: they are the gaps between n
    positions drawn at random from N, found in one pass over all positions. For large N, the shares
    of the balls are drawn first.
    """
    rng = np.random.default_rng([_SEED, n, size, start])
    small = np.int16 if size - n < 1 << 15 else np.int64
    if size > 16 * n or size > _PLACES:
        share = rng.standard_exponential((_BLOCK, n + 1))
        share /= share.sum(-1, keepdims=True)
        return rng.multinomial(size - n, share)[:, :n].astype(small)
    taken, lacking = np.empty((size, _BLOCK), dtype=bool), np.full(_BLOCK, float(n))
    for place in range(size):
        np.less(rng.random(_BLOCK) * (size - place), lacking, out=taken[place])
        lacking -= taken[place]
    places = np.flatnonzero(np.ascontiguousarray(taken.T)).reshape(_BLOCK, n)
    places -= size * np.arange(_BLOCK)[:, None]
    return (np.diff(places, axis=-1, prepend=-1) - 1).astype(small)


_kept = lru_cache(maxsize=2 * FILLINGS // _BLOCK)(_fill)
