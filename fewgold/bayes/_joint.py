"""The joint posterior density of the metric's hit rates ρ and η.

At given ρ and η what is left is an integral over α, that of a metric with known rates. It is
divided by the evidence Z, the sum of all terms of the mixture.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln, logsumexp, xlog1py, xlogy

from fewgold._arrays import FloatArray, batches
from fewgold.bayes import _quadrature
from fewgold.bayes._convolution import product
from fewgold.bayes._factors import factors
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._windows import gauss_legendre, shrink

_PANELS, _NODES = 4, 20
_DROP = 36.0
_AT_ONCE = 1000
_HALF_PI = 0.5 * np.pi
_TINY = 1e-290


def log_joint(shape: Shapes, rho: FloatArray, eta: FloatArray) -> FloatArray:
    """Log of the joint density at ρ and η (n,), but for the evidence."""
    parts = [_log_inside(shape, rho[rows], eta[rows]) for rows in batches(rho.size, _AT_ONCE)]
    hits = xlogy(shape.ar - 1, rho) + xlog1py(shape.br - 1, -rho)
    misses = xlogy(shape.ae - 1, eta) + xlog1py(shape.be - 1, -eta)
    return np.asarray(np.concatenate([np.empty(0), *parts]) + hits + misses)


def _log_inside(shape: Shapes, rho: FloatArray, eta: FloatArray) -> FloatArray:
    """Log ∫ α^(a0 − 1) (1 − α)^(b0 − 1) p^m (1 − p)^k dα at each pair of rates."""
    hit, right = rho[:, None], eta[:, None]

    def log_f(omega: FloatArray) -> FloatArray:
        s, c = np.sin(omega), np.cos(omega)
        one = s * s * hit + c * c * (1 - right)
        zero = s * s * (1 - hit) + c * c * right
        out = (2 * shape.a0 - 1) * np.log(s) + (2 * shape.b0 - 1) * np.log(c)
        out += xlogy(shape.m, np.maximum(one, _TINY)) + xlogy(shape.k, np.maximum(zero, _TINY))
        return np.asarray(out)

    low, high = shrink(log_f, np.zeros(rho.size), np.full(rho.size, _HALF_PI), _DROP, points=24)
    x, w = gauss_legendre(_NODES)
    steps = ((np.arange(_PANELS)[:, None] + x) / _PANELS).ravel()
    values = log_f(low[:, None] + (high - low)[:, None] * steps)
    values += np.log(np.tile(w, _PANELS) * 2 / _PANELS)
    return np.asarray(logsumexp(values, axis=-1) + np.log(high - low))


def log_evidence(shape: Shapes) -> float:
    """Log of the integral of `log_joint` over ρ and η, by the mixture."""
    _, log_w = product(*factors(shape))
    a0, b0, ar, br, ae, be, m, k = (float(x) for x in shape)
    start = betaln(a0, b0 + m + k) + betaln(ar, br) + betaln(ae + k, be + m)
    return float(start + logsumexp(log_w))


def log_evidence_at(shape: Shapes, alpha: float, density: float) -> float:
    """The same, from the density of α at one value: for very many ratings."""
    at = np.array([alpha])
    return float(_quadrature.log_density(shape, at, 1 - at)[0] + np.log(4 / density))
