"""The posterior of α when the hit rates of the metric are known: one integral, for a batch.

p(α) ∝ α^(a0 − 1) (1 − α)^(b0 − 1) p^m (1 − p)^k with p = αρ + (1 − α)(1 − η) (von Däniken et al.
2022, section 3.2). With a uniform prior its mode is their Theorem 1, (m/N + η − 1)/(ρ + η − 1)
clipped to [0, 1].
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from fewgold._arrays import FloatArray
from fewgold.bayes._bank import Bank, panel_nodes
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._windows import LogFunction, gauss_legendre, shrink
from fewgold.errors import DataError, FewgoldError

_PANELS, _NODES = 6, 24
_DROP = 40.0
_ROUNDING = 1e-12


def log_density(
    shape: Shapes, rates: tuple[float, float], alpha: FloatArray, beta: FloatArray
) -> FloatArray:
    """Log density of α but for a constant, at ``alpha`` = 1 − ``beta`` (..., n)."""
    rho, eta = rates
    one = alpha * rho + beta * (1 - eta)
    zero = alpha * (1 - rho) + beta * eta
    a0, b0, m, k = (np.asarray(x)[..., None] for x in (shape.a0, shape.b0, shape.m, shape.k))
    return np.asarray(xlogy(a0 - 1, alpha) + xlogy(b0 - 1, beta) + xlogy(m, one) + xlogy(k, zero))


def check_possible(shape: Shapes, rates: tuple[float, float]) -> None:
    """Refuse ratings that a metric with these rates cannot give, and rates the wrong way round.

    A metric with ρ + η < 1 is as good as its opposite, but the rates are more likely mistaken for
    error rates. With ρ + η = 1 the metric tells nothing, and the posterior is that of the human
    ratings: the end of a scale in a table of accuracies, and no mistake.
    """
    rho, eta = rates
    if rho + eta < 1 - _ROUNDING and np.any(shape.total > 0):
        raise FewgoldError(
            f"known rho and eta must add up to 1 or more; got rho={rho:g} and eta={eta:g}, a "
            "metric that is wrong more often than a coin. If these are error rates, give 1 − rate. "
            "If the metric is the wrong way round, turn it: Counts.flipped() and Priors.flipped()."
        )
    never = "ones" if rho == 0 and eta == 1 else "zeros" if rho == 1 and eta == 0 else ""
    if never and np.any(shape.m if never == "ones" else shape.k):
        raise DataError(
            f"a metric with rho={rho:g} and eta={eta:g} gives no {never}, and the counts have "
            "some. Check rho and eta."
        )


def known_bank(shape: Shapes, rates: tuple[float, float]) -> tuple[Bank, FloatArray]:
    """Densities of α for shapes (n,), and the error of each, relative to its peak."""
    log_f, low, high = _window(shape, rates)
    values = log_f(panel_nodes(low, high, _PANELS + 2))
    return Bank.fit(low, high, np.exp(values - values.max(-1, keepdims=True)))


def known_moments(shape: Shapes, rates: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of α for shapes (n,)."""
    log_f, low, high = _window(shape, rates)
    x, w = gauss_legendre(_NODES)
    steps = ((np.arange(_PANELS)[:, None] + x) / _PANELS).ravel()
    omega = low[:, None] + (high - low)[:, None] * steps
    values = log_f(omega)
    weight = np.exp(values - values.max(-1, keepdims=True)) * np.tile(w, _PANELS)
    weight /= weight.sum(-1, keepdims=True)
    alpha = np.sin(omega) ** 2
    mean = np.vecdot(weight, alpha)
    return mean, np.vecdot(weight, (alpha - mean[:, None]) ** 2)


def _window(
    shape: Shapes, rates: tuple[float, float]
) -> tuple[LogFunction, FloatArray, FloatArray]:
    """Log density of ω = arcsin √α, and the window (n,) that holds it."""

    def log_f(omega: FloatArray) -> FloatArray:
        s, c = np.sin(omega), np.cos(omega)
        return np.asarray(log_density(shape, rates, s * s, c * c) + np.log(s * c))

    low, high = np.zeros(shape.a0.shape), np.full(shape.a0.shape, 0.5 * np.pi)
    low, high = shrink(log_f, low, high, _DROP, points=24)
    return log_f, low, high
