"""The density of α by integrating ρ and η out, at any number of ratings.

For fixed α the three rates x = ρ, y = 1 − η and z = p lie on the plane αx + (1 − α)y = z, and the
integrand is a product of three Beta kernels, one of each, so its logarithm is concave where the
shapes are 1 or more. The narrowest of the three is integrated outside: seen along it, the ends of
the other two are smooth. Inside is the segment of the plane that is left, along which all rates
are linear. Both use the arcsine coordinate, in which shapes of ½, 1, 1½, … have no singularity at
the ends, and Gauss–Legendre rules on windows outside which nothing matters.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from fewgold._arrays import FloatArray
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._windows import gauss_legendre, shrink

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
        for factors, at in ((self.rising, s), (self.falling, c)):
            for power, u, v in factors:
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
