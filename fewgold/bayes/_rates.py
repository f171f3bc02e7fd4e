"""What the ratings tell about the metric: the posteriors of ρ and η.

Ratings by the metric alone tell about ρ and η too, since p = αρ + (1 − α)(1 − η) ties them to α.
"""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from fewgold._arrays import FloatArray
from fewgold.bayes._curve import BetaCurve, Curve, PanelCurve
from fewgold.bayes._hidden import draw_hidden
from fewgold.bayes._panels import Panels
from fewgold.bayes._quadrature import log_inside
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._windows import gauss_legendre, shrink

_PANELS, _NODES, _DROP = 6, 16, 30.0
_AT_ONCE = 16
_HALF_PI = 0.5 * np.pi
# Above so many metric-only ratings, joint samples come by weighting where the weights are flat.
_LARGE, _FLAT = 1_000_000, 20.0
_PROPOSALS = 50  # for each draw


def rho_curve(shape: Shapes) -> Curve:
    """The marginal posterior of ρ."""
    if not shape.total:
        return BetaCurve(float(shape.ar), float(shape.br))

    def log_density(rho: FloatArray, rest: FloatArray) -> FloatArray:
        return _log_marginal(shape, rho, rest)

    powers = float(shape.ar), float(shape.br)
    return PanelCurve(Panels.fit(log_density, tolerance=1e-8, powers=powers))


def _log_marginal(shape: Shapes, rho: FloatArray, rest: FloatArray) -> FloatArray:
    """Log density of ρ, α and η integrated out: α outside, η inside."""
    out = np.asarray(xlogy(shape.ar - 1, rho) + xlogy(shape.br - 1, rest))
    x, w = gauss_legendre(_NODES)
    steps = ((np.arange(_PANELS)[:, None] + x) / _PANELS).ravel()
    log_w = np.log(np.tile(w, _PANELS))
    for start in range(0, rho.size, _AT_ONCE):
        rows = slice(start, start + _AT_ONCE)
        rate = rho[rows, None], rest[rows, None]

        def log_f(omega: FloatArray, rate: tuple[FloatArray, FloatArray] = rate) -> FloatArray:
            s, c = np.sin(omega), np.cos(omega)
            inside = log_inside(shape, 0, (s * s, c * c), rate)
            return (2 * shape.a0 - 1) * np.log(s) + (2 * shape.b0 - 1) * np.log(c) + inside

        low, high = np.zeros(rate[0].shape[0]), np.full(rate[0].shape[0], _HALF_PI)
        low, high = shrink(log_f, low, high, _DROP, points=24)
        values = log_f(low[:, None] + (high - low)[:, None] * steps) + log_w
        top = values.max(-1)
        out[rows] += top + np.log(np.exp(values - top[:, None]).sum(-1)) + np.log(high - low)
    return out


def sample_rates(
    shape: Shapes, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draws of α, ρ and η from their joint posterior, each (size,).

    Exact: draw the hidden numbers of adequate items, then α, ρ and η, which are Betas given these.
    With many metric-only ratings by weighting draws of the reverse factorisation instead.
    """
    up = float(shape.a0 - shape.ar - shape.br)
    down = float(shape.b0 - shape.ae - shape.be)
    if shape.total <= _LARGE or max(abs(up), abs(down)) > _FLAT:
        i, j = draw_hidden(shape, size, rng)
        hidden = i + j, shape.total - i - j
        alpha = rng.beta(shape.a0 + hidden[0], shape.b0 + hidden[1])
        rho = rng.beta(shape.ar + i, shape.br + j)
        eta = rng.beta(shape.ae + shape.k - j, shape.be + shape.m - i)
        return alpha, rho, eta
    many = _PROPOSALS * size
    psi = rng.beta(shape.m + shape.ar + shape.be, shape.k + shape.br + shape.ae, many)
    hit, miss = rng.beta(shape.ar, shape.be, many), rng.beta(shape.br, shape.ae, many)
    alpha = psi * hit + (1 - psi) * miss
    log_w = up * np.log(alpha) + down * np.log1p(-alpha)
    weight = np.exp(log_w - log_w.max())
    chosen = rng.choice(many, size, p=weight / weight.sum())
    alpha, psi, hit, miss = (x[chosen] for x in (alpha, psi, hit, miss))
    return alpha, psi * hit / alpha, (1 - psi) * (1 - miss) / (1 - alpha)
