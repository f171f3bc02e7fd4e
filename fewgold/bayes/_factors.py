"""Sequences of beta-binomial chances, from the ratios of their neighbours.

`_mixture` says what f, g and S are. The logarithms are summed up step by step, which loses fewer
digits than differences of log Γ.
"""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bayes._shapes import Shapes

_SURE = 1e-15  # a known rate of 0 or 1 is off by no more than rounding


def factors(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Logarithms of f, g and S."""
    a0, b0, ar, br, ae, be, m, k = (float(x) for x in shape)
    i, j, s = (np.arange(n, dtype=np.float64) for n in (m, k, m + k))
    rest = m + k - 1 - s
    if rates is None:
        return (
            _running((m - i) * (ar + i), (i + 1) * (be + (m - 1 - i))),
            _running((k - j) * (br + j), (j + 1) * (ae + (k - 1 - j))),
            _running((a0 + s) * (ae + be + rest), (ar + br + s) * (b0 + rest)),
        )
    # f and g are binomial, and nothing of ρ and η is integrated.
    rho, eta = (min(max(rate, _SURE), 1 - _SURE) for rate in rates)
    return (
        _running((m - i) * rho, (i + 1) * (1 - eta)),
        _running((k - j) * (1 - rho), (j + 1) * eta),
        _running(a0 + s, b0 + rest),
    )


def urn(a: float, b: float, n: int) -> FloatArray:
    """Chances of 0, 1, …, n of BetaBinomial(n; a, b)."""
    i = np.arange(n, dtype=np.float64)
    logs = _running((n - i) * (a + i), (i + 1) * (b + (n - 1 - i)))
    chance = np.exp(logs - logs.max())
    return np.asarray(chance / chance.sum())


def _running(up: FloatArray, down: FloatArray) -> FloatArray:
    """Logarithms of a sequence from the ratios of its neighbours; more exact than log Γ."""
    return np.concatenate([[0.0], np.cumsum(np.log(up / down))])
