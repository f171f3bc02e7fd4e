"""Integrals over the rates α, ρ and η by Gauss–Legendre rules, at any number of ratings.

The density of α, with ρ and η integrated out: for fixed α the three rates x = ρ, y = 1 − η and z =
p are on the plane αx + (1 − α)y = z, and the integrand is a product of three Beta kernels, one for
each, so its logarithm is concave if the shapes are 1 or more. The outer integral is over the
narrowest of the three, along which the ends of the other two are smooth. The inner integral is over
the remaining segment of the plane, along which all rates are linear. Both use the arcsine
coordinate.

Also here: the density of α if ρ and η are known, the joint and marginal densities of ρ and η, and
the probability that ρ + η > 1.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.special import betaln, logsumexp, xlog1py, xlogy

from fewgold.bayes.density import (
    TINY,
    BetaCurve,
    Curve,
    LogDensity,
    LogFunction,
    PanelBatch,
    Panels,
    arcsine,
    chance_greater,
    gauss_legendre,
    interpolated,
    log_integral,
    log_sum,
    mass_window,
    panel_nodes,
    to_omega,
)
from fewgold.bayes.mixture import Shapes, log_factors, log_weights
from fewgold.common.arrays import FloatArray, batches
from fewgold.errors import DataError, FewgoldError

# Log drop below which values are left out, and the nodes of the rule: for the nested integrals,
_DROP, _NODES = 30.0, 32
# for the single one if ρ and η are known (with its panels),
_KNOWN_DROP, _KNOWN_NODES, _KNOWN_PANELS = 40.0, 24, 6
# for the joint density of ρ and η, for the marginal one of ρ,
_JOINT_DROP, _JOINT_NODES, _JOINT_PANELS = 36.0, 20, 4
_RHO_NODES, _RHO_PANELS, _RHO_AT_ONCE = 16, 6, 16
# and for the probability that ρ + η > 1.
_ALPHAS, _CHANCE_NODES = 40, 24
# Values of α from which the nested integrals are interpolated, and the tolerated error.
_INTERPOLATED, _INTERPOLATES = (24, 48), 3e-8

# The density of α by nested integrals ---

# A rate and its complement, without the cancellation of 1 − x.
Rate = tuple[FloatArray, FloatArray]


# Powers from which a kernel's logarithm is computed relative to its peak, to keep precision.
_HUGE = 1e5
_LEAST = -1 + 1e-16  # so that no logarithm is infinite


def _log_kernel(up: float, down: float, s: FloatArray, c: FloatArray) -> FloatArray:
    """log s^up c^down for s = 1 − c, minus `_log_peak`.

    With a billion ratings the two logarithms have errors of 1e-7 that do not cancel. Relative to
    the peak at s₀ = up / (up + down) both come from one difference, and its error cancels.
    """
    if up + down < _HUGE or min(up, down) <= 0:
        return np.asarray(xlogy(up, np.maximum(s, TINY)) + xlogy(down, np.maximum(c, TINY)))
    s0, c0 = up / (up + down), down / (up + down)
    gap = s - s0 if s0 <= c0 else c0 - c  # from the smaller of the two, which is more precise
    one, rest = (np.log1p(np.maximum(x, _LEAST)) for x in (gap / s0, -gap / c0))
    return np.asarray(up * one + down * rest)


def _log_peak(up: float, down: float) -> float:
    """The constant that `_log_kernel` subtracts."""
    if up + down < _HUGE or min(up, down) <= 0:
        return 0.0
    return float(xlogy(up, up / (up + down)) + xlogy(down, down / (up + down)))


class LineSegment(NamedTuple):
    """The inner integrand for a given outer rate: factors (u + v s)^c and (u + v (1 − s))^c of s.

    ``ratings`` are the powers of the metric-only ratings, if they are in the inner integral.
    """

    rising: list[tuple[float, FloatArray, FloatArray]]
    falling: list[tuple[float, FloatArray, FloatArray]]
    log_measure: FloatArray
    ratings: tuple[tuple[float, FloatArray, FloatArray], ...] = ()

    def log(self, theta: FloatArray) -> FloatArray:
        """Log integrand at s = sin² θ, with the measure of θ, for θ (..., n)."""
        s, c = np.sin(theta) ** 2, np.cos(theta) ** 2
        out = np.asarray(0.5 * np.log(np.maximum(s * c, TINY)))
        for terms, at in ((self.rising, s), (self.falling, c)):
            for power, u, v in terms:
                if power:
                    value = u[..., None] + v[..., None] * at
                    out += power * np.log(np.maximum(value, TINY))
        if self.ratings:
            (m, *one), (k, *zero) = self.ratings
            z, rest = (u[..., None] + v[..., None] * at for (u, v), at in ((one, s), (zero, c)))
            out += _log_kernel(m, k, z, rest)
        return out


def _segment_at(shape: Shapes, outer: int, alpha: Rate, rate: Rate) -> LineSegment:
    """The remaining segment when x (0), y (1) or z (2) has the value ``rate``."""
    a, b = alpha
    one, none = np.ones_like(rate[0]), np.zeros_like(rate[0])
    if outer < 2:  # the other of x and y is s itself, z follows
        up, down = (shape.be, shape.ae) if outer == 0 else (shape.ar, shape.br)
        mine, other = (a, b) if outer == 0 else (b, a)
        rising, falling = [(float(up - 1), none, one)], [(float(down - 1), none, one)]
        ones = float(shape.m), mine * rate[0], other * one
        zeros = float(shape.k), mine * rate[1], other * one
        return LineSegment(rising, falling, none, (ones, zeros))
    length = np.minimum(np.minimum(*rate), np.minimum(a, b))  # of the segment, in units of z
    dx, dy = length / a, length / b
    x_low, x_rest = (np.maximum(0.0, 1 - r / a) for r in (rate[1], rate[0]))
    y_low, y_rest = (np.maximum(0.0, 1 - r / b) for r in (rate[1], rate[0]))
    rising = [(float(shape.ar - 1), x_low, dx), (float(shape.ae - 1), y_rest, dy)]
    falling = [(float(shape.br - 1), x_rest, dx), (float(shape.be - 1), y_low, dy)]
    return LineSegment(rising, falling, np.log(np.maximum(length, TINY)) - np.log(a) - np.log(b))


def _inner(segment: LineSegment, like: FloatArray) -> FloatArray:
    """Log terms (..., n) of the integral along each segment, with the shape (...) of ``like``."""
    x, w = gauss_legendre(_NODES)
    low, high = mass_window(segment.log, like.shape, _DROP)
    theta = low[..., None] + (high - low)[..., None] * x
    return np.asarray(segment.log(theta) + np.log(w) + np.log(high - low)[..., None])


def _outer_powers(shape: Shapes, outer: int) -> tuple[float, float]:
    """Powers of sin² θ and cos² θ in the kernel of the outer rate, with the measure of θ."""
    kernels = ((shape.ar, shape.br), (shape.be, shape.ae), (shape.m + 1, shape.k + 1))
    up, down = kernels[outer]
    return float(up) - 0.5, float(down) - 0.5


def _outer_rule(
    shape: Shapes, outer: int, alpha: FloatArray, beta: FloatArray
) -> tuple[FloatArray, LineSegment, FloatArray]:
    """Nodes θ (n, …) of the outer integral at each α (n,), inner integrands, and log weights."""
    up, down = _outer_powers(shape, outer)

    def line(theta: FloatArray) -> tuple[LineSegment, FloatArray]:
        s, c = np.sin(theta) ** 2, np.cos(theta) ** 2
        ends = (alpha[:, None], beta[:, None])
        segment = _segment_at(shape, outer, ends, (s, c))
        return segment, _log_kernel(up, down, s, c) + segment.log_measure

    def profile(theta: FloatArray) -> FloatArray:
        """The (approximately) largest value of the inner integrand."""
        segment, mine = line(theta)
        low, high = mass_window(segment.log, theta.shape, 1.0)
        return mine + segment.log(0.5 * (low + high)[..., None])[..., 0]

    low, high = mass_window(profile, alpha.shape, _DROP)
    cuts = [low, high]
    if outer == 2:  # where an end of the segment jumps from one side of the square to the next
        kinks = to_omega(np.stack([np.minimum(alpha, beta), np.maximum(alpha, beta)]))
        inside = (kinks > low) & (kinks < high)
        if inside.any():
            cuts = [low, *np.clip(kinks, low, high), high]
    x, w = gauss_legendre(_NODES)
    pieces = list(pairwise(cuts))
    theta = np.concatenate([a[:, None] + (b - a)[:, None] * x for a, b in pieces], axis=1)
    weight = np.concatenate([(b - a)[:, None] * w for a, b in pieces], axis=1)
    segment, mine = line(theta)
    return theta, segment, np.asarray(mine + np.log(np.maximum(weight, TINY)))


def _narrowest(shape: Shapes, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Which of x, y and z the outer integral is over: the one that moves p the least."""
    spread = [
        np.sqrt(a * b / (a + b + 1)) / (a + b)
        for a, b in ((shape.ar, shape.br), (shape.be, shape.ae), (shape.m + 1, shape.k + 1))
    ]
    moves = [alpha * spread[0], beta * spread[1], np.full_like(alpha, spread[2])]
    return np.asarray(np.argmin(moves, axis=0))


def log_density(shape: Shapes, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """Log density of α, up to a constant, at ``alpha`` = 1 − ``beta``, each (n,).

    The constant includes the peak of the kernel of the metric's ratings.
    """
    out = xlogy(shape.a0 - 1, alpha) + xlogy(shape.b0 - 1, beta)
    if not shape.total:
        return np.asarray(out)
    choice = _narrowest(shape, alpha, beta)
    for outer in range(3):
        here = np.flatnonzero(choice == outer)
        left_out = _log_peak(*_outer_powers(shape, outer))
        if outer == 2:
            left_out -= _log_peak(float(shape.m), float(shape.k))
        for start in range(0, here.size, 64):  # keeps the arrays in the cache
            rows = here[start : start + 64]
            theta, segment, log_weight = _outer_rule(shape, outer, alpha[rows], beta[rows])
            terms = _inner(segment, theta) + log_weight[..., None]
            out[rows] += log_sum(terms.reshape(rows.size, -1)) + left_out
    return np.asarray(out)


def by_quadrature(shape: Shapes) -> Panels:
    """The density of α of one study by nested quadrature.

    The quadrature is expensive and its relative error is the same everywhere, so it is evaluated at
    a few α and the log ratio to the prior is interpolated, if that is accurate enough.
    """
    return _by_quadrature(*(float(x) for x in shape))


@lru_cache(maxsize=16)
def _by_quadrature(*values: float) -> Panels:
    """`by_quadrature`, cached since the interval is usually computed after the moments."""
    shape = Shapes(*(np.array(x) for x in values))

    def exact(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        return log_density(shape, alpha, beta)

    def prior(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        return np.asarray(xlogy(shape.a0 - 1, alpha) + xlogy(shape.b0 - 1, beta))

    powers = float(shape.a0), float(shape.b0)
    low, high = (float(end) for end in mass_window(arcsine(exact), (), 36.0))
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


# The hit rates are known: one integral, for a batch ---
#
# p(α) ∝ α^(a0 − 1) (1 − α)^(b0 − 1) p^m (1 − p)^k with p = αρ + (1 − α)(1 − η) (von Däniken et al.
# 2022, section 3.2). With a uniform prior its mode is their Theorem 1, (m/N + η − 1)/(ρ + η − 1)
# clipped to [0, 1].


def log_density_known(
    shape: Shapes, rates: tuple[float, float] | Rate, alpha: FloatArray, beta: FloatArray
) -> FloatArray:
    """Log density of α, up to a constant, at ``alpha`` = 1 − ``beta`` (..., n)."""
    rho, eta = rates
    one = np.maximum(alpha * rho + beta * (1 - eta), TINY)
    zero = np.maximum(alpha * (1 - rho) + beta * eta, TINY)
    a0, b0, m, k = (np.asarray(x)[..., None] for x in (shape.a0, shape.b0, shape.m, shape.k))
    return np.asarray(xlogy(a0 - 1, alpha) + xlogy(b0 - 1, beta) + xlogy(m, one) + xlogy(k, zero))


def check_possible(shape: Shapes, rates: tuple[float, float]) -> None:
    """Refuse ratings that a metric with these rates cannot give, and reversed rates.

    A metric with ρ + η < 1 is as good as its opposite, but the rates are more likely error rates
    given by mistake. With ρ + η = 1 the metric carries no information, and the posterior is that of
    the human ratings; this is allowed, as the limiting case.
    """
    rho, eta = rates
    if rho + eta < 1 - 1e-12 and np.any(shape.total > 0):
        raise FewgoldError(
            f"known rho and eta must add up to 1 or more; got rho={rho:g} and eta={eta:g}, a "
            "metric that is wrong more often than a coin toss. If these are error rates, give 1 "
            "− rate. If the metric points the wrong way, exchange its 0 and 1 (rho becomes "
            "1 − rho, eta 1 − eta).",
            hints={
                "python": "Counts.flipped() and Priors.flipped() do this.",
                "cli": "",
                "web": "",
            },
        )
    never = "ones" if rho == 0 and eta == 1 else "zeros" if rho == 1 and eta == 0 else ""
    if never and np.any(shape.m if never == "ones" else shape.k):
        raise DataError(
            f"a metric with rho={rho:g} and eta={eta:g} gives no {never}, but the counts have "
            "some. Check rho and eta."
        )


def known_panels(shape: Shapes, rates: tuple[float, float]) -> tuple[PanelBatch, FloatArray]:
    """Densities of α for shapes (n,), and the error of each, relative to its peak."""
    log_f, low, high = _known_window(shape, rates)
    values = log_f(panel_nodes(low, high, _KNOWN_PANELS + 2))
    return PanelBatch.fit(low, high, np.exp(values - values.max(-1, keepdims=True)))


def known_moments(shape: Shapes, rates: tuple[float, float]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of α for shapes (n,)."""
    log_f, low, high = _known_window(shape, rates)
    x, w = gauss_legendre(_KNOWN_NODES, _KNOWN_PANELS)
    omega = low[:, None] + (high - low)[:, None] * x
    values = log_f(omega)
    weight = np.exp(values - values.max(-1, keepdims=True)) * w
    weight /= weight.sum(-1, keepdims=True)
    alpha = np.sin(omega) ** 2
    mean = np.vecdot(weight, alpha)
    return mean, np.vecdot(weight, (alpha - mean[:, None]) ** 2)


def _known_window(
    shape: Shapes, rates: tuple[float, float]
) -> tuple[LogFunction, FloatArray, FloatArray]:
    """Log density of ω = arcsin √α, and the window (n,) that holds it."""
    log_f = arcsine(partial(log_density_known, shape, rates))
    return log_f, *mass_window(log_f, shape.a0.shape, _KNOWN_DROP, points=24)


# The hit rates are estimated: their joint and marginal posteriors ---
#
# Metric-only ratings inform about ρ and η too, since p = αρ + (1 − α)(1 − η) ties them to α. Given
# ρ and η, the remaining integral is over α, as for a metric with known rates. It is divided by the
# evidence Z, the sum of all terms of the mixture.


def log_joint(shape: Shapes, rho: FloatArray, eta: FloatArray) -> FloatArray:
    """Log of the unnormalised joint density at ρ and η (n,)."""
    parts = [np.empty(0)]
    for rows in batches(rho.size, 1000):
        rates = rho[rows, None], eta[rows, None]
        log_f = arcsine(partial(log_density_known, shape, rates))
        shape_of = rates[0].shape[:1]
        parts.append(log_integral(log_f, shape_of, _JOINT_DROP, _JOINT_NODES, _JOINT_PANELS))
    hits = xlogy(shape.ar - 1, rho) + xlog1py(shape.br - 1, -rho)
    misses = xlogy(shape.ae - 1, eta) + xlog1py(shape.be - 1, -eta)
    return np.asarray(np.concatenate(parts) + hits + misses)


def log_evidence(shape: Shapes) -> float:
    """Log of the integral of `log_joint` over ρ and η, by the mixture."""
    _, log_w = log_weights(*log_factors(shape))
    a0, b0, ar, br, ae, be, m, k = (float(x) for x in shape)
    start = betaln(a0, b0 + m + k) + betaln(ar, br) + betaln(ae + k, be + m)
    return float(start + logsumexp(log_w))


def log_evidence_at(shape: Shapes, alpha: float, density: float) -> float:
    """The same from the density of α at one value, for very many ratings."""
    at = np.array([alpha])
    peak = _log_peak(float(shape.m), float(shape.k))
    return float(log_density(shape, at, 1 - at)[0] + peak + np.log(4 / density))


def rho_curve(shape: Shapes) -> Curve:
    """The marginal posterior of ρ."""
    powers = float(shape.ar), float(shape.br)
    if not shape.total:
        return BetaCurve(*powers)
    return Panels.fit(lambda x, y: _log_marginal(shape, x, y), tolerance=1e-8, powers=powers)


def _log_marginal(shape: Shapes, rho: FloatArray, rest: FloatArray) -> FloatArray:
    """Log density of ρ, with α (outer integral) and η (inner integral) integrated out."""
    out = np.asarray(xlogy(shape.ar - 1, rho) + xlogy(shape.br - 1, rest))
    for rows in batches(rho.size, _RHO_AT_ONCE):
        rate = rho[rows, None], rest[rows, None]

        def log_f(omega: FloatArray, rate: Rate = rate) -> FloatArray:
            s, c = np.sin(omega), np.cos(omega)
            a, b, *one = (np.array(x) for x in np.broadcast_arrays(s * s, c * c, *rate))
            segment = _segment_at(shape, 0, (a, b), (one[0], one[1]))
            inside = log_sum(_inner(segment, a)) + segment.log_measure
            return (2 * shape.a0 - 1) * np.log(s) + (2 * shape.b0 - 1) * np.log(c) + inside

        out[rows] += log_integral(log_f, rate[0].shape[:1], _DROP, _RHO_NODES, _RHO_PANELS)
    return out


# The probability that ρ + η > 1, so that a 1 of the metric is evidence of an adequate item ---
#
# At a given α the nested integrals run over x = ρ and y = 1 − η; each inner segment is cut where x
# = y, and both parts are summed.


def chance_informative(shape: Shapes, panels: Panels | None) -> float:
    """P(ρ + η > 1) for one set of shapes.

    ``panels`` is the density of α; not needed without metric-only ratings.
    """
    if panels is None:
        # Without metric-only ratings ρ and η are two Betas: P(ρ > 1 − η).
        one = BetaCurve(float(shape.ar), float(shape.br))
        two = BetaCurve(float(shape.be), float(shape.ae))
        return chance_greater(one.panels, two.panels)
    edges = panels.edges if max(panels.ends) > 0 else panels.edges[[0, -1]]
    x, w = gauss_legendre(_ALPHAS)
    omega = (edges[:-1, None] + np.diff(edges)[:, None] * x).ravel()
    mass = panels.at_omega(omega)[0] * (w * np.diff(edges)[:, None]).ravel()
    omega = np.concatenate([edges[:1], omega, edges[-1:]])
    mass = np.concatenate([[panels.ends[0]], mass, [panels.ends[1]]])
    omega, mass = omega[mass > 1e-12 * mass.max()], mass[mass > 1e-12 * mass.max()]
    alpha, beta = np.sin(omega) ** 2, np.cos(omega) ** 2
    choice = _narrowest(shape, alpha, beta)
    chance = np.empty(alpha.size)
    for outer in np.unique(choice):
        rows = choice == outer
        chance[rows] = _chance_at(shape, int(outer), alpha[rows], beta[rows])
    return float(np.clip(mass @ chance / mass.sum(), 0.0, 1.0))


def _chance_at(shape: Shapes, outer: int, alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """P(x > y) at each α (n,)."""
    theta, segment, log_weight = _outer_rule(shape, outer, alpha, beta)
    low, high = mass_window(segment.log, theta.shape, _DROP)
    if outer < 2:  # s is y, or x, and is cut at the other rate, which is the outer one
        cut, above = theta, outer  # x > y before (0) or after the cut (1)
    else:
        (_, x_low, dx), _ = segment.rising
        (_, y_low, dy) = segment.falling[1]
        cut, above = to_omega((y_low + dy - x_low) / np.maximum(dx + dy, 1e-300)), 1
    middle = np.clip(cut, low, high)
    x, w = gauss_legendre(_CHANCE_NODES)
    parts = []
    for start, end in ((low, middle), (middle, high)):  # very low if a part is empty
        values = segment.log(start[..., None] + (end - start)[..., None] * x) + np.log(w)
        width = np.log(np.maximum(end - start, TINY))
        parts.append(log_sum(values) + width + log_weight)
    top = np.max(parts, axis=(0, 2))[:, None]
    sums = [np.exp(part - top).sum(-1) for part in parts]
    return np.asarray(sums[above] / (sums[0] + sums[1]))
