"""Densities on [0, 1]: integrals in the arcsine coordinate, and polynomials on panels.

With ω = arcsin √x, so that x = sin² ω and 1 − x = cos² ω, a density like x^(a − 1) (1 − x)^(b − 1)
becomes 2 sin^(2a − 1) ω cos^(2b − 1) ω: without singularity at the ends for a and b of ½, 1, 1½, …
All integrals here are Gauss–Legendre sums over ω, on a window with practically all of the mass.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

from fewgold.common.arrays import BoolArray, FloatArray, IntArray, batches
from fewgold.errors import DataError

# Integrals over ω ---

#: Log of a function of ω.
LogFunction = Callable[[FloatArray], FloatArray]
#: Log density, up to a constant, at x and 1 − x.
LogDensity = Callable[[FloatArray, FloatArray], FloatArray]

HALF_PI = 0.5 * np.pi
#: Keeps logarithms finite.
TINY = 1e-290


@lru_cache(maxsize=16)
def gauss_legendre(n: int, panels: int = 1) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, 1]: n points on each of some equal panels."""
    x, w = legendre.leggauss(n)
    nodes = (np.arange(panels)[:, None] + 0.5 * (1 + x)) / panels
    return nodes.ravel(), np.tile(0.5 * w, panels) / panels


def log_sum(values: FloatArray) -> FloatArray:
    """Log of the sum of exp(values) along the last axis."""
    top = values.max(-1)
    return np.asarray(top + np.log(np.exp(values - top[..., None]).sum(-1)))


def arcsine(log_density: LogDensity) -> LogFunction:
    """Log density of ω = arcsin √x, from that of x."""

    def log_f(omega: FloatArray) -> FloatArray:
        s, c = np.sin(omega), np.cos(omega)
        return np.asarray(log_density(s * s, c * c) + np.log(2 * s * c))

    return log_f


def to_omega(x: ArrayLike) -> FloatArray:
    """ω = arcsin √x."""
    return np.asarray(np.arcsin(np.sqrt(np.clip(np.asarray(x, dtype=np.float64), 0, 1))))


def mass_window(
    log_f: LogFunction,
    shape: tuple[int, ...],
    drop: float,
    points: int = 16,
    start: tuple[FloatArray, FloatArray] | None = None,
) -> tuple[FloatArray, FloatArray]:
    """The part of [0, π/2], or of ``start``, where ``log_f`` is within ``drop`` of its maximum.

    One window for each of a batch of functions: ``log_f`` takes (*shape, points). A grid over each
    interval shows which parts are below the drop; these are cut off and a finer grid covers the
    rest, until no interval shrinks by much. With a single peak nothing within the drop is ever
    lost, since the peak is next to the highest grid point.
    """
    low, high = start or (np.zeros(shape), np.full(shape, HALF_PI))
    steps = (np.arange(points) + 0.5) / points
    done = np.zeros(np.shape(low), dtype=bool)
    for _ in range(12):
        width = high - low
        values = log_f(low[..., None] + width[..., None] * steps)
        near = values >= values.max(-1, keepdims=True) - drop
        first = near.argmax(-1)
        last = points - 1 - near[..., ::-1].argmax(-1)
        upto = np.where(last == points - 1, high, low + width * ((last + 1.5) / points))
        since = np.where(first == 0, low, low + width * ((first - 0.5) / points))
        # Each is refined separately, so that an interval does not depend on the others in its
        # batch.
        low, high = np.where(done, low, since), np.where(done, high, upto)
        done = done | (high - low > 0.5 * width)
        if done.all():
            break
    return low, high


def log_integral(
    log_f: LogFunction, shape: tuple[int, ...], drop: float, nodes: int, panels: int
) -> FloatArray:
    """Log of the integrals of exp(log_f) over [0, π/2], for a batch of the given shape."""
    low, high = mass_window(log_f, shape, drop, points=24)
    x, w = gauss_legendre(nodes, panels)
    values = log_f(low[..., None] + (high - low)[..., None] * x) + np.log(w)
    return np.asarray(log_sum(values) + np.log(high - low))


def interpolated(log_density: LogDensity, low: float, high: float, nodes: int) -> LogDensity:
    """A polynomial of ω through the values at Chebyshev nodes between low and high."""

    def values(place: FloatArray) -> FloatArray:
        omega = low + 0.5 * (high - low) * (place + 1)
        return log_density(np.sin(omega) ** 2, np.cos(omega) ** 2)

    places = chebyshev.chebpts1(nodes)
    series = chebyshev.chebfit(places, values(places), nodes - 1)

    def smooth(alpha: FloatArray, beta: FloatArray) -> FloatArray:
        omega = np.arctan2(np.sqrt(alpha), np.sqrt(beta))
        place = np.clip(2 * (omega - low) / (high - low) - 1, -1, 1)
        return np.asarray(chebyshev.chebval(place, series))

    return smooth


# Curves: continuous distributions on [0, 1] ---


class Curve(ABC):
    """A continuous distribution on [0, 1]."""

    @abstractmethod
    def pdf(self, x: FloatArray) -> FloatArray: ...
    @abstractmethod
    def cdf(self, x: FloatArray) -> FloatArray: ...
    @abstractmethod
    def quantile(self, p: FloatArray) -> FloatArray: ...
    @abstractmethod
    def moments(self) -> tuple[float, float]:
        """Mean and variance."""

    @property
    @abstractmethod
    def mode(self) -> float: ...
    @property
    @abstractmethod
    def panels(self) -> Panels: ...

    def shortest(self, confidence: float) -> FloatArray:
        """Ends of the shortest interval with mass ``confidence``, by grid refinement.

        For a unimodal density it is the highest-density interval.
        """
        low, high = 0.0, 1 - confidence
        for _ in range(8):
            start = np.linspace(low, high, 33)
            first, last = self.quantile(start), self.quantile(np.minimum(start + confidence, 1.0))
            best = int((last - first).argmin())
            step = (high - low) / 32
            low, high = max(low, start[best] - step), min(high, start[best] + step)
        return np.array([first[best], last[best]])

    def sample(self, size: int, rng: np.random.Generator) -> FloatArray:
        """Independent draws."""
        return self.quantile(rng.random(size))


@dataclass(frozen=True)
class BetaCurve(Curve):
    """Beta(a, b)."""

    a: float
    b: float

    def pdf(self, x: FloatArray) -> FloatArray:
        tiny = np.finfo(np.float64).tiny  # a density may be infinite at an end, and is cut there
        x = np.clip(np.asarray(x, dtype=np.float64), tiny, 1 - 1e-16)
        log = xlogy(self.a - 1, x) + xlog1py(self.b - 1, -x) - betaln(self.a, self.b)
        return np.asarray(np.exp(np.minimum(log, 700.0)))

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.asarray(betainc(self.a, self.b, np.clip(x, 0.0, 1.0)))

    def quantile(self, p: FloatArray) -> FloatArray:
        return np.asarray(betaincinv(self.a, self.b, p))

    def moments(self) -> tuple[float, float]:
        total = self.a + self.b
        return self.a / total, self.a * self.b / total / total / (total + 1)

    @property
    def mode(self) -> float:
        if self.a > 1 and self.b > 1:
            return (self.a - 1) / (self.a + self.b - 2)
        return 0.5 if self.a == self.b else float(self.a > self.b)

    @cached_property
    def panels(self) -> Panels:
        """The same distribution, divided into panels."""
        a, b = self.a, self.b
        return Panels.fit(lambda x, y: np.asarray(xlogy(a - 1, x) + xlogy(b - 1, y)), powers=(a, b))


# Panels: the density of ω as a polynomial on each ---

ORDER = 16
_DROP = 40.0
_START = 4  # panels
_DEEPEST = 48
_GRID = 16  # points per panel in the search for the mode
_NEWTON = 40
_FINE = 32  # nodes for products of two densities
_PAIRS = 64  # pairs compared at once
_END = 1e-9  # in ω: closer to an end, a density is a power of the distance
_BESIDE = 1e-3  # share of the width: where to read a density that vanishes at 0 and 1


@lru_cache(maxsize=1)
def _to_legendre() -> FloatArray:
    """From values at the Gauss nodes to Legendre coefficients."""
    x, w = gauss_legendre(ORDER)
    j = np.arange(ORDER)
    return np.asarray((legendre.legvander(2 * x - 1, ORDER - 1) * w[:, None] * (2 * j + 1)).T)


def _evaluate(coefficients: FloatArray, place: FloatArray) -> FloatArray:
    """Evaluate Legendre series, one for each place."""
    basis = legendre.legvander(place, coefficients.shape[-1] - 1)
    return np.asarray(np.vecdot(coefficients, basis.reshape(coefficients.shape)))


def _integrals(coefficients: FloatArray) -> FloatArray:
    """Series of the mass from the start of a panel, in its widths: (…, order) → (…, order + 1)."""
    last = np.moveaxis(coefficients, -1, 0)
    return np.asarray(np.moveaxis(legendre.legint(last, lbnd=-1) * 0.5, 0, -1))


def _place_of_mass(
    density: FloatArray, mass: FloatArray, width: FloatArray, wanted: FloatArray
) -> FloatArray:
    """Where in its panel, from −1 to 1, the mass since its start is ``wanted``.

    Newton steps, and bisection if these leave the panel.
    """
    whole = density[..., 0] * width
    low, high = np.full(wanted.shape, -1.0), np.ones(wanted.shape)
    place = np.clip(2 * wanted / np.where(whole > 0, whole, 1.0) - 1, -1, 1)
    for _ in range(_NEWTON):
        over = _evaluate(mass, place) * width - wanted
        low, high = np.where(over < 0, place, low), np.where(over < 0, high, place)
        slope = 0.5 * _evaluate(density, place) * width
        moved = place - over / np.where(slope > 0, slope, np.inf)
        inside = (moved >= low) & (moved <= high) & (slope > 0)
        before, place = place, np.where(inside, moved, 0.5 * (low + high))
        if np.all(np.abs(place - before) < 1e-13):
            break
    return place


def singular(power: ArrayLike) -> BoolArray:
    """Whether a density like x^(power − 1) has mass near 0 and is not a polynomial in ω."""
    twice = 2 * np.asarray(power, dtype=np.float64)
    return np.asarray((twice < 16) & (twice != np.round(twice)))


@dataclass(frozen=True, eq=False)
class Panels(Curve):
    """Density of ω = arcsin √x: Legendre coefficients (panels, order) between ``edges``.

    Near 0 and 1 it may be infinite, c x^(a − 1) with a < 1, which no polynomial can fit. Then the
    panels end just before, and ``ends`` holds the masses outside them and the powers.
    """

    edges: FloatArray
    coefficients: FloatArray
    ends: tuple[float, float] = (0.0, 0.0)
    powers: tuple[float, float] = (1.0, 1.0)

    @classmethod
    def fit(
        cls,
        log_density: LogDensity,
        window: tuple[float, float] = (0.0, 1.0),
        tolerance: float = 1e-9,
        powers: tuple[float, float] = (1.0, 1.0),
    ) -> Panels:
        """Halve panels until the error of their polynomials is below ``tolerance`` of the mass.

        ``window`` holds all of the mass that matters; the density is like x^(a − 1) next to 0 and
        like (1 − x)^(b − 1) next to 1, with ``powers`` (a, b).
        """
        log_f = arcsine(lambda x, y: log_density(x.ravel(), y.ravel()).reshape(x.shape))
        low, high = (np.array(np.arcsin(np.sqrt(end))) for end in window)
        rough = singular(powers)
        low = np.maximum(low, _END) if rough[0] else low
        high = np.minimum(high, HALF_PI - _END) if rough[1] else high
        low, high = mass_window(log_f, (), _DROP, 48, (low, high))
        edges, values = _halved(log_f, low, high, tolerance)
        highest = values.max()
        coefficients = np.exp(values - highest) @ _to_legendre().T
        mass = float(coefficients[:, 0] @ np.diff(edges))
        ends = [0.0, 0.0]
        for side, (end, gap) in enumerate(((low, low), (high, HALF_PI - high))):
            if rough[side] and gap <= 2 * _END:
                # ∫ c x^(a − 1) from 0 to sin² ω, from the density of ω at ω.
                at = float(np.exp(log_f(end[None]) - highest)[0])
                ends[side] = at * float(gap) / (2 * powers[side])
        total = mass + sum(ends)
        return cls(edges, coefficients / total, (ends[0] / total, ends[1] / total), powers)

    @property
    def panels(self) -> Panels:
        return self

    @cached_property
    def _widths(self) -> FloatArray:
        return np.diff(self.edges)

    @cached_property
    def _before(self) -> FloatArray:
        """Mass below each edge."""
        mass = np.cumsum(self.coefficients[:, 0] * self._widths)
        inside = 1 - sum(self.ends)
        return self.ends[0] + np.concatenate([[0.0], mass * (inside / mass[-1])])

    @cached_property
    def _integrals(self) -> FloatArray:
        return _integrals(self.coefficients)

    def _locate(self, omega: FloatArray) -> tuple[IntArray, FloatArray]:
        """Panel of each ω and the place in it, from −1 to 1."""
        panel = np.clip(np.searchsorted(self.edges, omega) - 1, 0, self._widths.size - 1)
        place = 2 * (omega - self.edges[panel]) / self._widths[panel] - 1
        return panel, np.clip(place, -1, 1)

    def pdf(self, x: FloatArray) -> FloatArray:
        omega = to_omega(x)
        first, last = self.edges[0], self.edges[-1]
        inside = (omega >= first) & (omega <= last)
        # At 0 and 1 the density of ω vanishes with dx/dω: take their ratio slightly further in.
        gap = _BESIDE * (last - first)
        low, high = (first if self.ends[0] else gap), (last if self.ends[1] else HALF_PI - gap)
        omega = np.clip(omega, low, high)
        panel, place = self._locate(omega)
        value = _evaluate(self.coefficients[panel], place) / np.sin(2 * omega)
        value = np.where(inside, np.maximum(value, 0.0), 0.0)
        if self.ends[0]:  # infinite at 0, and cut there
            edge, power = np.sin(first) ** 2, self.powers[0]
            tiny = np.finfo(np.float64).tiny
            share = np.maximum(np.asarray(x, dtype=np.float64), tiny) / edge
            beyond = self.ends[0] * power / edge * share ** (power - 1)
            value = np.where(share < 1, beyond, value)
        if self.ends[1]:
            value = np.where(to_omega(x) > last, np.exp(700.0), value)
        return np.asarray(value)

    def cdf(self, x: FloatArray) -> FloatArray:
        mass = self._mass(to_omega(x))
        if self.ends[0]:
            share = np.clip(np.asarray(x, dtype=np.float64) / np.sin(self.edges[0]) ** 2, 0, 1)
            mass = np.where(share < 1, self.ends[0] * share ** self.powers[0], mass)
        return np.asarray(np.where(np.asarray(x) >= 1, 1.0, mass))

    def _mass(self, omega: FloatArray) -> FloatArray:
        panel, place = self._locate(omega)
        part = _evaluate(self._integrals[panel], place) * self._widths[panel]
        return np.asarray(np.clip(self._before[panel] + part, 0.0, 1.0))

    def at_omega(self, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Density of ω between the edges and the mass up to ω, without losing digits of 1 − x."""
        panel, place = self._locate(omega)
        mass = self._mass(omega)
        for side, (edge, of) in enumerate(((self.edges[0], np.sin), (self.edges[-1], np.cos))):
            if self.ends[side]:
                share = np.minimum((of(omega) / of(edge)) ** 2, 1.0)
                rest = self.ends[side] * share ** self.powers[side]
                mass = np.where(share < 1, rest if side == 0 else 1 - rest, mass)
        return _evaluate(self.coefficients[panel], place), np.asarray(mass)

    def quantile(self, p: FloatArray) -> FloatArray:
        p = np.asarray(p, dtype=np.float64)
        panel = np.clip(np.searchsorted(self._before, p) - 1, 0, self._widths.size - 1)
        width, wanted = self._widths[panel], np.asarray(p - self._before[panel])
        place = _place_of_mass(self.coefficients[panel], self._integrals[panel], width, wanted)
        x = np.sin(self.edges[panel] + 0.5 * (place + 1) * width) ** 2
        if self.ends[0]:
            share = np.minimum(p / self.ends[0], 1.0)
            beyond = np.sin(self.edges[0]) ** 2 * share ** (1 / self.powers[0])
            x = np.where(share < 1, beyond, x)
        return np.asarray(np.where(p > 1 - self.ends[1], 1.0, x) if self.ends[1] else x)

    def moments(self) -> tuple[float, float]:
        nodes, w = gauss_legendre(ORDER)
        x = np.sin(self.edges[:-1, None] + self._widths[:, None] * nodes) ** 2
        density = self.coefficients @ legendre.legvander(2 * nodes - 1, ORDER - 1).T
        weight = density * w * self._widths[:, None]
        below, above = self.ends  # at or almost at 0 and 1
        weight = weight * ((1 - below - above) / weight.sum())
        mean = float((weight * x).sum()) + above
        variance = float((weight * (x - mean) ** 2).sum())
        return mean, variance + below * mean**2 + above * (1 - mean) ** 2

    @cached_property
    def mode(self) -> float:
        """Where the density of x is highest: the root of its slope next to the top of a grid."""
        infinite = [
            mass if power < 1 else 0.0 for mass, power in zip(self.ends, self.powers, strict=True)
        ]
        if max(infinite) > 0:
            return float(infinite[1] > infinite[0])
        first, last = float(self.edges[0]), float(self.edges[-1])
        steps = (np.arange(_GRID) + 0.5) / _GRID
        omega = (self.edges[:-1, None] + self._widths[:, None] * steps).ravel()
        place = np.tile(2 * steps - 1, self._widths.size)
        panel = np.repeat(np.arange(self._widths.size), _GRID)
        top = int((_evaluate(self.coefficients[panel], place) / np.sin(2 * omega)).argmax())
        low = omega[top - 1] if top else first + 1e-4 * (omega[0] - first)
        high = omega[top + 1] if top + 1 < omega.size else last - 1e-4 * (last - omega[-1])
        if self._slope(low) <= 0:
            return float(np.sin(first if top == 0 else low) ** 2)
        if self._slope(high) >= 0:
            return float(np.sin(last if top + 1 == omega.size else high) ** 2)
        from scipy.optimize import brentq

        return float(np.sin(brentq(self._slope, low, high, xtol=1e-14)) ** 2)

    def _slope(self, omega: float) -> float:
        """Slope of the density of x along ω, up to a positive factor."""
        panel, place = self._locate(np.array([omega]))
        series, width = self.coefficients[panel[0]], float(self._widths[panel[0]])
        value = float(legendre.legval(place[0], series))
        slope = float(legendre.legval(place[0], legendre.legder(series))) * 2 / width
        return float(slope * np.sin(2 * omega) - 2 * value * np.cos(2 * omega))


def _halved(
    log_f: LogFunction, low: FloatArray, high: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Edges of the panels, and the values of ``log_f`` at their Gauss nodes (panels, order)."""
    grid = np.linspace(low, high, _START + 1)
    left, right = grid[:-1], grid[1:]
    done: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    highest, mass = -np.inf, 0.0  # log density of finished panels, relative to the highest
    x, _ = gauss_legendre(ORDER)
    for depth in range(_DEEPEST):
        values = log_f(left[:, None] + (right - left)[:, None] * x)
        before, highest = highest, max(highest, float(values.max()))
        if not np.isfinite(highest):
            raise DataError("the data are impossible under these rates; check rho and eta.")
        mass *= np.exp(before - highest)
        coefficients = np.exp(values - highest) @ _to_legendre().T
        part = coefficients[:, 0] * (right - left)
        missed = np.abs(coefficients)[:, -3:].max(-1) * (right - left)
        fine = (missed < tolerance * (mass + part.sum())) | (depth == _DEEPEST - 1)
        mass += part[fine].sum()
        done.append((left[fine], right[fine], values[fine]))
        left, right = left[~fine], right[~fine]
        if not left.size:
            break
        middle = 0.5 * (left + right)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    left, right, values = (np.concatenate(column) for column in zip(*done, strict=True))
    order = np.argsort(left)
    return np.append(left[order], right.max()), values[order]


def chance_greater(first: Panels, second: Panels) -> float:
    """P(first > second) = ∫ p1 F2.

    By Gauss rules between the edges of both, so that each integrates a polynomial.
    """
    start, end = first.edges[0], first.edges[-1]
    edges = np.union1d(first.edges, np.clip(second.edges, start, end))
    nodes, weights = gauss_legendre(_FINE)
    omega = (edges[:-1, None] + np.diff(edges)[:, None] * nodes).ravel()
    density, _ = first.at_omega(omega)
    mass = density * (weights * np.diff(edges)[:, None]).ravel()
    below, above = first.ends
    within = float(mass @ second.at_omega(omega)[1] / mass.sum()) * (1 - below - above)
    # Near 0 and 1 both may be powers, x^a: then the first is larger with probability a1 / (a1 +
    # a2).
    ours, theirs = first.powers, second.powers
    low = below * second.ends[0] * ours[0] / (ours[0] + theirs[0])
    high = above * (1 - second.ends[1] * ours[1] / (ours[1] + theirs[1]))
    return within + low + high


def chances_greater(first: Sequence[Panels], second: Sequence[Panels]) -> FloatArray:
    """`chance_greater` of many pairs, vectorised if panels agree in number and ends are finite."""
    found = np.empty(len(first))
    sizes = np.array([(len(a.edges), len(b.edges)) for a, b in zip(first, second, strict=True)])
    smooth = np.array([a.ends == b.ends == (0.0, 0.0) for a, b in zip(first, second, strict=True)])
    for at in np.flatnonzero(~smooth).tolist():
        found[at] = chance_greater(first[at], second[at])
    for size in np.unique(sizes[smooth], axis=0):
        alike = np.flatnonzero(smooth & (sizes == size).all(-1))
        for rows in batches(alike.size, _PAIRS):
            some = alike[rows]
            found[some] = _chances([first[k] for k in some], [second[k] for k in some])
    return found


def _chances(first: Sequence[Panels], second: Sequence[Panels]) -> FloatArray:
    """The same for pairs with equal numbers of panels: products are polynomials between edges."""
    ours, theirs = (np.stack([p.edges for p in each]) for each in (first, second))
    within = np.clip(theirs, ours[:, :1], ours[:, -1:])
    edges = np.sort(np.concatenate([ours, within], axis=-1), axis=-1)
    x, w = gauss_legendre(ORDER + 1)  # exact for degrees up to 2 · order + 1
    widths = np.diff(edges)[..., None]
    omega = (edges[:, :-1, None] + widths * x).reshape(len(edges), -1)
    density = np.stack([p.coefficients for p in first])
    mass = _evaluate(*_in_panels(ours, density, omega)) * (widths * w).reshape(omega.shape)
    series = np.stack([p.coefficients for p in second])
    parts = series[..., 0] * np.diff(theirs)
    before = np.cumsum(parts, axis=-1) - parts
    at = np.arange(len(edges))[:, None], _panel_of(theirs, omega)
    part = _evaluate(*_in_panels(theirs, _integrals(series), omega)) * np.diff(theirs)[at]
    below = np.clip((before[at] + part) / parts.sum(-1, keepdims=True), 0.0, 1.0)
    return np.asarray(np.vecdot(mass, below) / mass.sum(-1))


def _panel_of(edges: FloatArray, omega: FloatArray) -> IntArray:
    """The panel of each ω (B, n) between edges (B, P + 1)."""
    return np.asarray((omega[..., None] >= edges[:, None, 1:-1]).sum(-1))


def _in_panels(
    edges: FloatArray, series: FloatArray, omega: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The series of the panel of each ω (B, n), and the place there from −1 to 1."""
    panel = _panel_of(edges, omega)
    rows = np.arange(len(edges))[:, None]
    low, high = edges[rows, panel], edges[rows, panel + 1]
    return series[rows, panel], np.clip(2 * (omega - low) / (high - low) - 1, -1.0, 1.0)


# Densities of many posteriors at once, each on the same number of equal panels ---


def panel_nodes(low: FloatArray, high: FloatArray, panels: int) -> FloatArray:
    """Gauss nodes ω (B, panels · order) of equal panels between low and high (B,)."""
    return np.asarray(low[:, None] + (high - low)[:, None] * gauss_legendre(ORDER, panels)[0])


class PanelBatch(NamedTuple):
    """Densities of ω = arcsin √x on equal panels: edges (B, P + 1), coefficients (B, P, order)."""

    edges: FloatArray
    coefficients: FloatArray

    @classmethod
    def fit(
        cls, low: FloatArray, high: FloatArray, density: FloatArray
    ) -> tuple[PanelBatch, FloatArray]:
        """Fit densities of ω at `panel_nodes`, up to constants; returns the error of each as well.

        The error is the largest of the last coefficients, relative to the highest density.
        """
        panels = density.shape[1] // ORDER
        values = (density / density.max(-1)[:, None]).reshape(len(low), panels, ORDER)
        coefficients = values @ _to_legendre().T
        error = np.abs(coefficients[:, :, -2:]).max((1, 2))
        mass = coefficients[:, :, 0].sum(-1) * (high - low) / panels
        edges = low[:, None] + (high - low)[:, None] * (np.arange(panels + 1) / panels)
        return cls(edges, coefficients / mass[:, None, None]), error

    def row(self, k: int) -> Panels:
        """The density of one posterior."""
        return Panels(self.edges[k], self.coefficients[k])

    def quantile(self, p: FloatArray) -> FloatArray:
        """Quantiles at the probabilities p (n,): (B, n)."""
        panels = self.coefficients.shape[1]
        width = (self.edges[:, -1:] - self.edges[:, :1]) / panels
        before = np.pad(np.cumsum(self.coefficients[:, :, 0] * width, axis=-1), ((0, 0), (1, 0)))
        panel = np.clip((before[:, None, :] < p[:, None]).sum(-1) - 1, 0, panels - 1)
        at = np.arange(len(self.edges))[:, None], panel
        mass = _integrals(self.coefficients)[at]
        place = _place_of_mass(self.coefficients[at], mass, width, p - before[at])
        return np.asarray(np.sin(self.edges[at] + 0.5 * (place + 1) * width) ** 2)
