"""Clopper and Pearson's interval for a share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from fewgold._arrays import IntArray
from fewgold.bounds._binary import BinaryBound
from fewgold.errors import DesignError
from fewgold.estimate import Interval


@dataclass(frozen=True)
class ClopperPearson(BinaryBound):
    """Clopper–Pearson interval for scores of two values and the mean of a simple random sample.

    Exact for independent draws, and wider than need be without replacement: `Hypergeometric` knows
    the size of the pool. Only what cannot be is cut off, so that it is a point at n = N.

    Guaranteed from 50 % confidence on; below, it is refused. Without replacement, the tail beyond
    c is lighter than the binomial's if the pool's share p is at most c N/((n−1)(N+1)) (Uhlmann
    1966). An end misses on at most δ/2 ≤ 1/4 of the binomial, so that c ≥ n p, which is enough;
    but for p < 1/n (Greenberg and Mohri 2014), where it misses if any one is seen. That has a
    chance of n p ≤ −ln(1 − δ/2) ≤ δ, and the other end then never misses. So the interval keeps
    its promise, though one end alone may miss a hair more often than δ/2.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits, Biometrika 26.
    Uhlmann (1966), Vergleich der hypergeometrischen mit der Binomial-Verteilung, Metrika 10.
    Greenberg and Mohri (2014), Tight lower bound on the probability of a binomial exceeding its
    expectation, Statistics and Probability Letters 86.
    """

    name: ClassVar[str] = "clopper-pearson"
    reference: ClassVar[str] = (
        "Clopper and Pearson (1934), The use of confidence or fiducial limits; Uhlmann (1966) for "
        "samples without replacement"
    )

    def _shares(self, count: IntArray, n: int, size: int, miss: float) -> Interval:
        if miss > 0.5 * (1 + 1e-12):
            raise DesignError(
                f"{self.name} is proved for a confidence of 50 % and more, and {1 - miss:.0%} was "
                "asked for. Use bound=Hypergeometric() or bound=Betting()."
            )
        k, tail = count.astype(np.float64), miss / 2
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
        reach = k / size, (k + size - n) / size
        return Interval(np.maximum(low, reach[0]), np.minimum(high, reach[1]))
