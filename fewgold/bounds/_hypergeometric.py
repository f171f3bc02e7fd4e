"""The exact interval for the share of a finite pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import IntArray
from fewgold.bounds._binary import BinaryBound
from fewgold.estimate import Interval

# Chances closer than this to each other, as a share, are equal: 1 − 0.95 is not quite 1/20.
_TIE = 1e-10


@dataclass(frozen=True)
class Hypergeometric(BinaryBound):
    """Exact interval for scores of two values and the plain mean of a simple random sample.

    Holds each number K of ones in the pool that neither tail rejects: P(X ≥ k | K) and
    P(X ≤ k | K) both above δ/2, where X, the ones among n of N, is hypergeometric. Guaranteed for
    drawing without replacement; a point at n = N.

    References
    ----------
    Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations, The
    American Statistician 41.
    """

    name: ClassVar[str] = "hypergeometric"
    reference: ClassVar[str] = (
        "Buonaccorsi (1987), A note on confidence intervals for proportions in finite populations"
    )

    def _shares(self, count: IntArray, n: int, size: int, miss: float) -> Interval:
        low = least_ones(count, n, size, miss / 2)
        high = size - least_ones(n - count, n, size, miss / 2)  # ones and zeros change places
        return Interval(low / size, high / size)


def least_ones(count: IntArray, n: int, size: int, tail: float) -> IntArray:
    """Smallest number of ones in the pool under which ``count`` or more has a chance above tail.

    By bisection: the chance grows with the number of ones. It is 1 at what surely holds, all that
    were not rated being ones. A chance of just ``tail`` is refused, rounding or not.
    """
    from scipy.stats import hypergeom

    low = count.astype(np.int64)  # at least those that were seen
    high = low + (size - n)
    while (low < high).any():
        middle = (low + high) // 2
        likely = hypergeom.sf(count - 1, size, middle, n) > tail * (1 + _TIE)
        low, high = np.where(likely, low, middle + 1), np.where(likely, middle, high)
    return low
