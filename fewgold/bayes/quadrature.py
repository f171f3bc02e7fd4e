"""The density of α by integrating ρ and η out, at any number of ratings.

For fixed α the three rates x = ρ, y = 1 − η and z = p lie on the plane αx + (1 − α)y = z, and the
integrand is a product of three Beta kernels, one of each, so its logarithm is concave where the
shapes are 1 or more. The narrowest of the three is integrated outside: seen along it, the ends of
the other two are smooth. Inside is the segment of the plane that is left, along which all rates
are linear. Both use the arcsine coordinate, in which shapes of ½, 1, 1½, … have no singularity at
the ends, and Gauss–Legendre rules on windows outside which nothing matters.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, logsumexp, xlog1py, xlogy

from fewgold._arrays import FloatArray, batches
from fewgold.bayes.density import (
    Bank,
    LogDensity,
    LogFunction,
    Panels,
    density_window,
    gauss_legendre,
    interpolated,
    panel_nodes,
    shrink,
)
from fewgold.bayes.mixture import Shapes, factors, product
from fewgold.errors import DataError, FewgoldError

_DROP = 30.0
_NODES = 32
_HALF_PI = 0.5 * np.pi
_TINY = 1e-290

# A rate and its complement, without the cancellation of 1 − x.
Rate = tuple[FloatArray, FloatArray]


class Segment(NamedTuple):
    """What is inside for a given outer rate: factors (u + v s)^c and (u + v (1 − s))^c of s."""

    rising: list[tuple[float, FloatArray, FloatArray]]
    falling: list[tuple[float, FloatArray, FloatArray]]
    log_measure: FloatArray

    def log(self, theta: FloatArray) -> FloatArray:
        """Log integrand at s = sin² θ, with the measure of θ, for θ (..., n)."""
        s, c = np.sin(theta) ** 2, np.cos(theta) ** 2
        out = np.asarray(0.5 * np.log(np.maximum(s * c, _TINY)))
        for terms, at in ((self.rising, s), (self.falling, c)):
            for power, u, v in terms:
                if power:
                    value = u[..., None] + v[..., None] * at
                    out += power * np.log(np.maximum(value, _TINY))
        return out


def segment_at(shape: Shapes, outer: int, alpha: Rate, rate: Rate) -> Segment:
    """The segment that is left when x (0), y (1) or z (2) has the value ``rate``."""
    a, b = alpha
    one, none = np.ones_like(rate[0]), np.zeros_like(rate[0])
    if outer < 2:  # the other of x and y is s itself, z follows
        up, down = (shape.be, shape.ae) if outer == 0 else (shape.ar, shape.br)
        mine, other = (a, b) if outer == 0 else (b, a)
        rising = [(float(up - 1), none, one), (float(shape.m), mine * rate[0], other * one)]
        falling = [(float(down - 1), none, one), (float(shape.k), mine * rate[1], other * one)]
        return Segment(rising, falling, none)
    length = np.minimum(np.minimum(*rate), np.minimum(a, b))  # of the segment, in units of z
    dx, dy = length / a, length / b
    x_low, x_rest = (np.maximum(0.0, 1 - r / a) for r in (rate[1], rate[0]))
    y_low, y_rest = (np.maximum(0.0, 1 - r / b) for r in (rate[1], rate[0]))
    rising = [(float(shape.ar - 1), x_low, dx), (float(shape.ae - 1), y_rest, dy)]
    falling = [(float(shape.br - 1), x_rest, dx), (float(shape.be - 1), y_low, dy)]
    return Segment(rising, falling, np.log(np.maximum(length, _TINY)) - np.log(a) - np.log(b))


def _inner(segment: Segment, like: FloatArray) -> FloatArray:
    """Log terms (..., n) of the integral along each segment, (...) of the shape of ``like``."""
    x, w = gauss_legendre(_NODES)
    low, high = shrink(segment.log, np.zeros_like(like), np.full_like(like, _HALF_PI), _DROP)
    theta = low[..., None] + (high - low)[..., None] * x
    return np.asarray(segment.log(theta) + np.log(w) + np.log(high - low)[..., None])


def log_inside(shape: Shapes, outer: int, alpha: Rate, rate: Rate) -> FloatArray:
    """Log of the inner integral at α and a value of the outer rate, arrays that broadcast."""
    a, b, one, zero = (np.array(x) for x in np.broadcast_arrays(*alpha, *rate))
    segment = segment_at(shape, outer, (a, b), (one, zero))
    values = _inner(segment, a)
    top = values.max(-1)
    return np.asarray(top + np.log(np.exp(values - top[..., None]).sum(-1)) + segment.log_measure)


def _outer_powers(shape: Shapes, outer: int) -> tuple[float, float]:
    """Exponents of the outer rate and its complement, with the measure of θ."""
    up, down = ((shape.ar, shape.br), (shape.be, shape.ae), (shape.m + 1, shape.k + 1))[outer]
    return float(up) - 0.5, float(down) - 0.5


def outer_rule(
    shape: Shapes, outer: int, alpha: FloatArray, beta: FloatArray
) -> tuple[FloatArray, Segment, FloatArray]:
    """Nodes θ (n, …) of the outer integral at each α (n,), what is inside, and log weights."""
    up, down = _outer_powers(shape, outer)

    def line(theta: FloatArray) -> tuple[Segment, FloatArray]:
        s, c = np.sin(theta) ** 2, np.cos(theta) ** 2
        ends = (alpha[:, None], beta[:, None])
        segment = segment_at(shape, outer, ends, (s, c))
        mine = xlogy(up, np.maximum(s, _TINY)) + xlogy(down, np.maximum(c, _TINY))
        return segment, mine + segment.log_measure

    def profile(theta: FloatArray) -> FloatArray:
        """Largest value inside, or nearly."""
        segment, mine = line(theta)
        low, high = np.zeros_like(theta), np.full_like(theta, _HALF_PI)
        low, high = shrink(segment.log, low, high, 1.0)
        return mine + segment.log(0.5 * (low + high)[..., None])[..., 0]

    edges = np.zeros_like(alpha), np.full_like(alpha, _HALF_PI)
    low, high = shrink(profile, *edges, _DROP)
    cuts = [low, high]
    if outer == 2:  # where an end of the segment jumps from one side of the square to the next
        kinks = np.arcsin(np.sqrt(np.stack([np.minimum(alpha, beta), np.maximum(alpha, beta)])))
        inside = (kinks > low) & (kinks < high)
        if inside.any():
            cuts = [low, *np.clip(kinks, low, high), high]
    x, w = gauss_legendre(_NODES)
    pieces = list(pairwise(cuts))
    theta = np.concatenate([a[:, None] + (b - a)[:, None] * x for a, b in pieces], axis=1)
    weight = np.concatenate([(b - a)[:, None] * w for a, b in pieces], axis=1)
    segment, mine = line(theta)
    return theta, segment, np.asarray(mine + np.log(np.maximum(weight, _TINY)))


def _log_terms(shape: Shapes, outer: int, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Log terms (n, …) of the integral over ρ and η at each α (n,), with ``outer`` outside."""
    theta, segment, log_weight = outer_rule(shape, outer, alpha, beta)
    terms = _inner(segment, theta) + log_weight[..., None]
    return np.asarray(terms.reshape(alpha.size, -1))


def narrowest(shape: Shapes, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Which of x, y and z to integrate outside: the one that moves p the least."""
    spread = [
        np.sqrt(a * b / (a + b + 1)) / (a + b)
        for a, b in ((shape.ar, shape.br), (shape.be, shape.ae), (shape.m + 1, shape.k + 1))
    ]
    moves = [alpha * spread[0], beta * spread[1], np.full_like(alpha, spread[2])]
    return np.asarray(np.argmin(moves, axis=0))


def log_density(shape: Shapes, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Log density of α, but for a constant, at ``alpha`` = 1 − ``beta``, each (n,)."""
    out = xlogy(shape.a0 - 1, alpha) + xlogy(shape.b0 - 1, beta)
    if not shape.total:
        return np.asarray(out)
    choice = narrowest(shape, alpha, beta)
    for outer in range(3):
        here = np.flatnonzero(choice == outer)
        for start in range(0, here.size, 64):  # keeps the arrays in the cache
            rows = here[start : start + 64]
            terms = _log_terms(shape, outer, alpha[rows], beta[rows])
            top = terms.max(-1)
            out[rows] += top + np.log(np.exp(terms - top[:, None]).sum(-1))
    return np.asarray(out)


# The density of α of one study by nested quadrature, interpolated where that is exact enough.


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
        return log_density(shape, alpha, beta)

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


# The posterior of α when the hit rates of the metric are known: one integral, for a batch.
#
# p(α) ∝ α^(a0 − 1) (1 − α)^(b0 − 1) p^m (1 − p)^k with p = αρ + (1 − α)(1 − η) (von Däniken et al.
# 2022, section 3.2). With a uniform prior its mode is their Theorem 1, (m/N + η − 1)/(ρ + η − 1)
# clipped to [0, 1].


_KNOWN_PANELS, _KNOWN_NODES = 6, 24
_KNOWN_DROP = 40.0
_ROUNDING = 1e-12


def log_density_known(
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
    values = log_f(panel_nodes(low, high, _KNOWN_PANELS + 2))
    return Bank.fit(low, high, np.exp(values - values.max(-1, keepdims=True)))


def known_moments(shape: Shapes, rates: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of α for shapes (n,)."""
    log_f, low, high = _window(shape, rates)
    x, w = gauss_legendre(_KNOWN_NODES)
    steps = ((np.arange(_KNOWN_PANELS)[:, None] + x) / _KNOWN_PANELS).ravel()
    omega = low[:, None] + (high - low)[:, None] * steps
    values = log_f(omega)
    weight = np.exp(values - values.max(-1, keepdims=True)) * np.tile(w, _KNOWN_PANELS)
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
        return np.asarray(log_density_known(shape, rates, s * s, c * c) + np.log(s * c))

    low, high = np.zeros(shape.a0.shape), np.full(shape.a0.shape, 0.5 * np.pi)
    low, high = shrink(log_f, low, high, _KNOWN_DROP, points=24)
    return log_f, low, high


# The joint posterior density of the metric's hit rates ρ and η.
#
# At given ρ and η what is left is an integral over α, that of a metric with known rates. It is
# divided by the evidence Z, the sum of all terms of the mixture.


_JOINT_PANELS, _JOINT_NODES = 4, 20
_JOINT_DROP = 36.0
_AT_ONCE = 1000


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

    low, high = shrink(
        log_f, np.zeros(rho.size), np.full(rho.size, _HALF_PI), _JOINT_DROP, points=24
    )
    x, w = gauss_legendre(_JOINT_NODES)
    steps = ((np.arange(_JOINT_PANELS)[:, None] + x) / _JOINT_PANELS).ravel()
    values = log_f(low[:, None] + (high - low)[:, None] * steps)
    values += np.log(np.tile(w, _JOINT_PANELS) * 2 / _JOINT_PANELS)
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
    return float(log_density(shape, at, 1 - at)[0] + np.log(4 / density))
