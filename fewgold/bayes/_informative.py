"""Does a 1 of the metric speak for an adequate item? The chance that ρ + η > 1.

At a given α the quadrature of `_quadrature` runs over x = ρ and y = 1 − η; each segment inside is
cut where x = y, and both parts are summed.
"""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bayes._curve import BetaCurve
from fewgold.bayes._panels import Panels, between
from fewgold.bayes._quadrature import Segment, narrowest, outer_rule
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._windows import gauss_legendre, shrink

_ALPHAS, _NODES = 40, 24
_DROP = 30.0
_HALF_PI = 0.5 * np.pi


def chance_informative(shape: Shapes, panels: Panels | None) -> float:
    """P(ρ + η > 1) for one set of shapes.

    ``panels`` are those of the density of α; not needed without ratings by the metric alone.
    """
    if panels is None:
        return float(_independent(shape))
    edges = panels.edges if max(panels.ends) > 0 else panels.edges[[0, -1]]
    x, w = gauss_legendre(_ALPHAS)
    omega = (edges[:-1, None] + np.diff(edges)[:, None] * x).ravel()
    mass = panels.at_angle(omega)[0] * (w * np.diff(edges)[:, None]).ravel()
    omega = np.concatenate([edges[:1], omega, edges[-1:]])
    mass = np.concatenate([[panels.ends[0]], mass, [panels.ends[1]]])
    omega, mass = omega[mass > 1e-12 * mass.max()], mass[mass > 1e-12 * mass.max()]
    alpha, beta = np.sin(omega) ** 2, np.cos(omega) ** 2
    choice = narrowest(shape, alpha, beta)
    chance = np.empty(alpha.size)
    for outer in np.unique(choice):
        rows = choice == outer
        chance[rows] = _given(shape, int(outer), alpha[rows], beta[rows])
    return float(np.clip(mass @ chance / mass.sum(), 0.0, 1.0))


def _independent(shape: Shapes) -> float:
    """Without ratings by the metric alone ρ and η are two Betas: P(ρ > 1 − η)."""
    one = BetaCurve(float(shape.ar), float(shape.br))
    two = BetaCurve(float(shape.be), float(shape.ae))
    return between(one.panels, two.panels)


def _given(shape: Shapes, outer: int, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """P(x > y) at each α (n,)."""
    theta, segment, log_weight = outer_rule(shape, outer, alpha, beta)
    low, high = np.zeros_like(theta), np.full_like(theta, _HALF_PI)
    low, high = shrink(segment.log, low, high, _DROP)
    cut, above = _cut(segment, outer, theta)
    middle = np.clip(cut, low, high)
    parts = [_part(segment, *ends) + log_weight for ends in ((low, middle), (middle, high))]
    top = np.max(parts, axis=(0, 2))[:, None]
    sums = [np.exp(part - top).sum(-1) for part in parts]
    return np.asarray(sums[above] / (sums[0] + sums[1]))


def _cut(segment: Segment, outer: int, theta: FloatArray) -> tuple[FloatArray, int]:
    """The θ inside at which x = y, and whether x > y before (0) or after it (1)."""
    if outer < 2:  # s is y, or x, and is cut at the other rate, which is the outer one
        return theta, outer
    (_, x_low, dx), _ = segment.rising
    (_, y_low, dy) = segment.falling[1]
    share = (y_low + dy - x_low) / np.maximum(dx + dy, 1e-300)
    return np.asarray(np.arcsin(np.sqrt(np.clip(share, 0.0, 1.0)))), 1


def _part(segment: Segment, low: FloatArray, high: FloatArray) -> FloatArray:
    """Log of the integral over a part of each segment; very low where the part is empty."""
    x, w = gauss_legendre(_NODES)
    width = high - low
    values = segment.log(low[..., None] + width[..., None] * x) + np.log(w)
    top = values.max(-1)
    total = top + np.log(np.exp(values - top[..., None]).sum(-1))
    return np.asarray(total + np.log(np.maximum(width, 1e-290)))
