"""Clopper and Pearson's interval for a share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betaincinv

from fewgold._arrays import IntArray
from fewgold.bounds._binary import BinaryBound
from fewgold.estimate import Interval


@dataclass(frozen=True)
class ClopperPearson(BinaryBound):
    """Clopper–Pearson interval for scores of two values and the mean of a simple random sample.

    Exact for independent draws, and wider than need be without replacement, where the tails are
    lighter than the binomial's (Uhlmann 1966): `Hypergeometric` knows the size of the pool. Only
    what cannot be is cut off, so that it is a point at n = N.

    References
    ----------
    Clopper and Pearson (1934), The use of confidence or fiducial limits, Biometrika 26.
    Uhlmann (1966), Vergleich der hypergeometrischen mit der Binomial-Verteilung, Metrika 10.
    """

    name: ClassVar[str] = "clopper-pearson"

    def _shares(self, count: IntArray, n: int, size: int, miss: float) -> Interval:
        k, tail = count.astype(np.float64), miss / 2
        low = np.where(k > 0, betaincinv(np.maximum(k, 1), n - k + 1, tail), 0.0)
        high = np.where(k < n, betaincinv(k + 1, np.maximum(n - k, 1), 1 - tail), 1.0)
        reach = k / size, (k + size - n) / size
        return Interval(np.maximum(low, reach[0]), np.minimum(high, reach[1]))
