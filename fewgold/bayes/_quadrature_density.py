"""The density of α of one study by nested quadrature, interpolated where that is exact enough."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy.special import xlogy

from fewgold._arrays import FloatArray
from fewgold.bayes import _quadrature
from fewgold.bayes._panels import LogDensity, Panels, density_window, interpolated
from fewgold.bayes._shapes import Shapes

# Values of α to interpolate the quadrature from, and by how much this may be wrong.
_INTERPOLATED, _INTERPOLATES = (24, 48), 3e-8


def by_quadrature(shape: Shapes) -> Panels:
    """The density of α of one study by nested quadrature.

    The quadrature is dear and right to the same relative error everywhere: so what it adds to the
    prior is asked for at a few α and its logarithm interpolated, where that is exact enough.
    """
    return _by_quadrature(*(float(x) for x in shape))


@lru_cache(maxsize=16)
def _by_quadrature(*values: float) -> Panels:
    """Kept: after the moments comes the interval."""
    shape = Shapes(*(np.array(x) for x in values))

    def exact(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        return _quadrature.log_density(shape, alpha, beta)

    def prior(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        return np.asarray(xlogy(shape.a0 - 1, alpha) + xlogy(shape.b0 - 1, beta))

    powers = float(shape.a0), float(shape.b0)
    low, high = density_window(exact)
    for nodes in _INTERPOLATED:
        rest = interpolated(lambda a, b: exact(a, b) - prior(a, b), low, high, nodes)
        between = low + (high - low) * (np.arange(1, 10) / 10 + 0.013)
        alpha, beta = np.sin(between) ** 2, np.cos(between) ** 2
        true, found = exact(alpha, beta), prior(alpha, beta) + rest(alpha, beta)
        if np.max(np.abs(true - found) * np.exp(true - true.max())) < _INTERPOLATES:
            window = float(np.sin(low) ** 2), float(np.sin(high) ** 2)

            def quick(alpha: FloatArray, beta: FloatArray, rest: LogDensity = rest) -> FloatArray:
                return prior(alpha, beta) + rest(alpha, beta)

            return Panels.fit(quick, window, powers=powers)
    return Panels.fit(exact, powers=powers)
