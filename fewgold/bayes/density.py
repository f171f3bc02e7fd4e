"""A density on [0, 1] as polynomials on panels: its CDF, quantiles and moments follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.polynomial import chebyshev, legendre
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.errors import DataError

# Where a function has its mass, and Gauss–Legendre rules.


LogFunction = Callable[[FloatArray], FloatArray]


@lru_cache(maxsize=16)
def gauss_legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (1 + x), 0.5 * w


def shrink(
    log_f: LogFunction,
    low: FloatArray,
    high: FloatArray,
    drop: float,
    points: int = 16,
    passes: int = 12,
) -> tuple[FloatArray, FloatArray]:
    """The part of [low, high] (...) where ``log_f`` is within ``drop`` of its maximum.

    ``log_f`` takes (..., points). A grid is laid over each interval, all of it that lies lower is
    cut off, and a finer grid over the rest, until no interval shrinks by much. Of a function with
    one peak nothing within the drop is ever lost: the peak lies next to the highest grid point.
    """
    steps = (np.arange(points) + 0.5) / points
    done = np.zeros(np.shape(low), dtype=bool)
    for _ in range(passes):
        width = high - low
        values = log_f(low[..., None] + width[..., None] * steps)
        near = values >= values.max(-1, keepdims=True) - drop
        first = near.argmax(-1)
        last = points - 1 - near[..., ::-1].argmax(-1)
        upto = np.where(last == points - 1, high, low + width * ((last + 1.5) / points))
        since = np.where(first == 0, low, low + width * ((first - 0.5) / points))
        # Each goes by itself, so that an interval does not depend on the others of its batch.
        low, high = np.where(done, low, since), np.where(done, high, upto)
        done = done | (high - low > 0.5 * width)
        if done.all():
            break
    return low, high


#: Log density, up to a constant, at x and 1 − x.
LogDensity = Callable[[FloatArray, FloatArray], FloatArray]

ORDER = 16
_DROP = 40.0
_START = 4  # panels
_DEEPEST = 48
_GRID = 16  # points of a panel, to find the mode from
NEWTON = 40
_FINE = 32  # nodes for products of two densities
_HALF_PI = 0.5 * np.pi
_END = 1e-9  # ω: nearer to an end a density is a power of the distance
_TINY = np.finfo(np.float64).tiny


@lru_cache(maxsize=1)
def to_legendre() -> FloatArray:
    """From values at the Gauss nodes to Legendre coefficients."""
    x, w = gauss_legendre(ORDER)
    j = np.arange(ORDER)
    return np.asarray((legendre.legvander(2 * x - 1, ORDER - 1) * w[:, None] * (2 * j + 1)).T)


@dataclass(frozen=True, eq=False)
class Panels:
    """Density of ω = arcsin √x: Legendre coefficients (panels, order) between ``edges``.

    Next to 0 and 1 it may be infinite, c x^(a − 1) with a < 1, which no polynomial follows. Then
    the panels end just before, and ``ends`` holds the masses outside them and the powers.
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
        """Halve panels until what their polynomials miss is below ``tolerance`` of the mass.

        ``window`` holds all of the mass that matters; the density is like x^(a − 1) next to 0 and
        like (1 − x)^(b − 1) next to 1, with ``powers`` (a, b).
        """

        def log_f(omega: FloatArray) -> FloatArray:
            s, c = np.sin(omega).ravel(), np.cos(omega).ravel()
            values = log_density(s * s, c * c) + np.log(2 * s * c)
            return np.asarray(values.reshape(omega.shape))

        low, high = (np.array(np.arcsin(np.sqrt(end))) for end in window)
        rough = singular(powers)
        low = np.maximum(low, _END) if rough[0] else low
        high = np.minimum(high, _HALF_PI - _END) if rough[1] else high
        low, high = shrink(log_f, low, high, _DROP, points=48)
        edges, values = _halved(log_f, low, high, tolerance)
        highest = values.max()
        coefficients = np.exp(values - highest) @ to_legendre().T
        mass = float(coefficients[:, 0] @ np.diff(edges))
        ends = [0.0, 0.0]
        for side, (end, gap) in enumerate(((low, low), (high, _HALF_PI - high))):
            if rough[side] and gap <= 2 * _END:
                # ∫ c x^(a − 1) from 0 to sin² ω, from the density of ω at ω.
                at = float(np.exp(log_f(end[None]) - highest)[0])
                ends[side] = at * float(gap) / (2 * powers[side])
        total = mass + sum(ends)
        return cls(edges, coefficients / total, (ends[0] / total, ends[1] / total), powers)

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
        """Coefficients of the mass from the start of the panel: (panels, order + 1)."""
        return integrals(self.coefficients)

    def _locate(self, omega: FloatArray) -> tuple[IntArray, FloatArray]:
        """Panel of each ω and the place in it, from −1 to 1."""
        panel = np.clip(np.searchsorted(self.edges, omega) - 1, 0, self._widths.size - 1)
        place = 2 * (omega - self.edges[panel]) / self._widths[panel] - 1
        return panel, np.clip(place, -1, 1)

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density at x."""
        omega = angle(x)
        first, last = self.edges[0], self.edges[-1]
        inside = (omega >= first) & (omega <= last)
        # At 0 and 1 the density of ω vanishes with dx/dω: take their ratio a hair away.
        hair = 1e-3 * (last - first)
        low, high = (first if self.ends[0] else hair), (last if self.ends[1] else _HALF_PI - hair)
        omega = np.clip(omega, low, high)
        panel, place = self._locate(omega)
        value = evaluate(self.coefficients[panel], place) / np.sin(2 * omega)
        value = np.where(inside, np.maximum(value, 0.0), 0.0)
        if self.ends[0]:  # infinite at 0, and cut there
            edge, power = np.sin(first) ** 2, self.powers[0]
            share = np.maximum(np.asarray(x, dtype=np.float64), _TINY) / edge
            beyond = self.ends[0] * power / edge * share ** (power - 1)
            value = np.where(share < 1, beyond, value)
        if self.ends[1]:
            value = np.where(angle(x) > last, np.exp(700.0), value)
        return np.asarray(value)

    def cdf(self, x: FloatArray) -> FloatArray:
        """Mass up to x."""
        mass = self._mass(angle(x))
        if self.ends[0]:
            share = np.clip(np.asarray(x, dtype=np.float64) / np.sin(self.edges[0]) ** 2, 0, 1)
            mass = np.where(share < 1, self.ends[0] * share ** self.powers[0], mass)
        return np.asarray(np.where(np.asarray(x) >= 1, 1.0, mass))

    def _mass(self, omega: FloatArray) -> FloatArray:
        panel, place = self._locate(omega)
        part = evaluate(self._integrals[panel], place) * self._widths[panel]
        return np.asarray(np.clip(self._before[panel] + part, 0.0, 1.0))

    def at_angle(self, omega: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Density of ω between the edges, and the mass up to ω: keeps the digits of 1 − x."""
        panel, place = self._locate(omega)
        mass = self._mass(omega)
        for side, (edge, of) in enumerate(((self.edges[0], np.sin), (self.edges[-1], np.cos))):
            if self.ends[side]:
                share = np.minimum((of(omega) / of(edge)) ** 2, 1.0)
                rest = self.ends[side] * share ** self.powers[side]
                mass = np.where(share < 1, rest if side == 0 else 1 - rest, mass)
        return evaluate(self.coefficients[panel], place), np.asarray(mass)

    def quantile(self, p: FloatArray) -> FloatArray:
        """Where the mass below is ``p``: Newton within a panel, or halving where that leaves it."""
        p = np.asarray(p, dtype=np.float64)
        panel = np.clip(np.searchsorted(self._before, p) - 1, 0, self._widths.size - 1)
        low, high = self.edges[panel], self.edges[panel + 1]
        omega = 0.5 * (low + high)
        for _ in range(NEWTON):
            _, place = self._locate(omega)
            over = self._mass(omega) - p
            low, high = np.where(over < 0, omega, low), np.where(over < 0, high, omega)
            slope = evaluate(self.coefficients[panel], place)
            step = over / np.where(slope > 0, slope, np.inf)
            inside = (omega - step >= low) & (omega - step <= high) & (slope > 0)
            before, omega = omega, np.where(inside, omega - step, 0.5 * (low + high))
            if np.all(np.abs(omega - before) < 1e-13):
                break
        x = np.sin(omega) ** 2
        if self.ends[0]:
            share = np.minimum(p / self.ends[0], 1.0)
            beyond = np.sin(self.edges[0]) ** 2 * share ** (1 / self.powers[0])
            x = np.where(share < 1, beyond, x)
        return np.asarray(np.where(p > 1 - self.ends[1], 1.0, x) if self.ends[1] else x)

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        nodes, w = gauss_legendre(ORDER)
        x = np.sin(self.edges[:-1, None] + self._widths[:, None] * nodes) ** 2
        density = self.coefficients @ legendre.legvander(2 * nodes - 1, ORDER - 1).T
        weight = density * w * self._widths[:, None]
        below, above = self.ends  # at 0 and 1, or all but
        weight = weight * ((1 - below - above) / weight.sum())
        mean = float((weight * x).sum()) + above
        variance = float((weight * (x - mean) ** 2).sum())
        return mean, variance + below * mean**2 + above * (1 - mean) ** 2

    @cached_property
    def mode(self) -> float:
        """Where the density of x is highest: a root of its slope, next to the top of a grid."""
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
        top = int((evaluate(self.coefficients[panel], place) / np.sin(2 * omega)).argmax())
        low = omega[top - 1] if top else first + 1e-4 * (omega[0] - first)
        high = omega[top + 1] if top + 1 < omega.size else last - 1e-4 * (last - omega[-1])
        if self._slope(low) <= 0:
            return float(np.sin(first) ** 2) if top == 0 else float(np.sin(low) ** 2)
        if self._slope(high) >= 0:
            return float(np.sin(last) ** 2) if top + 1 == omega.size else float(np.sin(high) ** 2)
        from scipy.optimize import brentq

        return float(np.sin(brentq(self._slope, low, high, xtol=1e-14)) ** 2)

    def _slope(self, omega: float) -> float:
        """Slope of the density of x along ω, but for a positive factor."""
        panel, place = self._locate(np.array([omega]))
        series, width = self.coefficients[panel[0]], float(self._widths[panel[0]])
        value = float(legendre.legval(place[0], series))
        slope = float(legendre.legval(place[0], legendre.legder(series))) * 2 / width
        return float(slope * np.sin(2 * omega) - 2 * value * np.cos(2 * omega))


def singular(power: ArrayLike) -> BoolArray:
    """Whether a density like x^(power − 1) is no polynomial of ω next to 0, and is felt there."""
    twice = 2 * np.asarray(power, dtype=np.float64)
    return np.asarray((twice < 16) & (twice != np.round(twice)))


def _halved(
    log_f: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, tolerance: float
) -> tuple[FloatArray, FloatArray]:
    """Edges of the panels, and the values of ``log_f`` at their Gauss nodes (panels, order)."""
    grid = np.linspace(low, high, _START + 1)
    left, right = grid[:-1], grid[1:]
    done: list[tuple[FloatArray, FloatArray, FloatArray]] = []
    highest, mass = -np.inf, 0.0  # of what is done, relative to the highest
    x, _ = gauss_legendre(ORDER)
    for depth in range(_DEEPEST):
        values = log_f(left[:, None] + (right - left)[:, None] * x)
        before, highest = highest, max(highest, float(values.max()))
        if not np.isfinite(highest):
            raise DataError("the data are impossible under these rates; check rho and eta.")
        mass *= np.exp(before - highest)
        coefficients = np.exp(values - highest) @ to_legendre().T
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


def density_window(log_density: LogDensity) -> tuple[float, float]:
    """Where the density of ω has all of its mass but e^−36."""

    def log_f(omega: FloatArray) -> FloatArray:
        s, c = np.sin(omega), np.cos(omega)
        return np.asarray(log_density(s * s, c * c) + np.log(2 * s * c))

    low, high = shrink(log_f, np.array(0.0), np.array(_HALF_PI), 36.0, points=16)
    return float(low), float(high)


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


def integrals(coefficients: FloatArray) -> FloatArray:
    """Series of the mass from the start of a panel, in its widths: (…, order) → (…, order + 1)."""
    last = np.moveaxis(coefficients, -1, 0)
    return np.asarray(np.moveaxis(legendre.legint(last, lbnd=-1) * 0.5, 0, -1))


def angle(x: FloatArray) -> FloatArray:
    """ω = arcsin √x."""
    return np.asarray(np.arcsin(np.sqrt(np.clip(np.asarray(x, dtype=np.float64), 0, 1))))


def evaluate(coefficients: FloatArray, place: FloatArray) -> FloatArray:
    """Legendre series, one for each place."""
    basis = legendre.legvander(place, coefficients.shape[-1] - 1)
    return np.asarray(np.vecdot(coefficients, basis.reshape(coefficients.shape)))


def between(first: Panels, second: Panels) -> float:
    """P(first > second) = ∫ p1 F2.

    By Gauss rules between the edges of both, so that each sees one polynomial.
    """
    start, end = first.edges[0], first.edges[-1]
    edges = np.union1d(first.edges, np.clip(second.edges, start, end))
    nodes, weights = gauss_legendre(_FINE)
    omega = (edges[:-1, None] + np.diff(edges)[:, None] * nodes).ravel()
    density, _ = first.at_angle(omega)
    mass = density * (weights * np.diff(edges)[:, None]).ravel()
    below, above = first.ends
    within = float(mass @ second.at_angle(omega)[1] / mass.sum()) * (1 - below - above)
    # Next to 0 and 1 both may be powers, x^a: then a1 / (a1 + a2) of the mass there is larger.
    ours, theirs = first.powers, second.powers
    low = below * second.ends[0] * ours[0] / (ours[0] + theirs[0])
    high = above * (1 - second.ends[1] * ours[1] / (ours[1] + theirs[1]))
    return within + low + high


# A posterior distribution of one rate, as a curve: what can be asked of it.


_ZOOMS = 8


class Curve(Protocol):
    """A continuous distribution on [0, 1]."""

    def pdf(self, x: FloatArray) -> FloatArray: ...
    def cdf(self, x: FloatArray) -> FloatArray: ...
    def quantile(self, p: FloatArray) -> FloatArray: ...
    def moments(self) -> tuple[float, float]: ...
    @property
    def mode(self) -> float: ...
    @property
    def panels(self) -> Panels: ...


@dataclass(frozen=True)
class BetaCurve:
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
        """The same, cut into panels."""
        a, b = self.a, self.b
        return Panels.fit(lambda x, y: np.asarray(xlogy(a - 1, x) + xlogy(b - 1, y)), powers=(a, b))


@dataclass(frozen=True, eq=False)
class PanelCurve:
    """A density that was cut into panels, and the function that it came from, if there is one."""

    panels: Panels
    log_density: LogDensity | None = None

    def pdf(self, x: FloatArray) -> FloatArray:
        return self.panels.pdf(x)

    def cdf(self, x: FloatArray) -> FloatArray:
        return self.panels.cdf(x)

    def quantile(self, p: FloatArray) -> FloatArray:
        return self.panels.quantile(p)

    def moments(self) -> tuple[float, float]:
        return self.panels.moments()

    @cached_property
    def mode(self) -> float:
        """Where the density is highest."""
        return self.panels.mode


def shortest(curve: Curve, confidence: float) -> tuple[float, float]:
    """Ends of the shortest interval that holds ``confidence``.

    Of a density with one peak it is that of the highest density.
    """
    low, high = 0.0, 1 - confidence
    for _ in range(_ZOOMS):
        start = np.linspace(low, high, 33)
        first, last = curve.quantile(start), curve.quantile(np.minimum(start + confidence, 1.0))
        best = int((last - first).argmin())
        step = (high - low) / 32
        low, high = max(low, start[best] - step), min(high, start[best] + step)
    return float(first[best]), float(last[best])


# Densities of many posteriors at once: as many panels each, so that all are read in one go.


_HAIR = 1e-3


def panel_nodes(low: FloatArray, high: FloatArray, panels: int) -> FloatArray:
    """Gauss nodes ω (B, panels · order) of equal panels between low and high (B,)."""
    x, _ = gauss_legendre(ORDER)
    steps = ((np.arange(panels)[:, None] + x) / panels).ravel()
    return np.asarray(low[:, None] + (high - low)[:, None] * steps)


@dataclass(frozen=True, eq=False)
class Bank:
    """Densities of ω = arcsin √x on equal panels: edges (B, P + 1), coefficients (B, P, order).

    The same as a list of `Panels`; each answer has the shape (B, n) for n questions, which are the
    same for all (n,) or each posterior's own (B, n).
    """

    edges: FloatArray
    coefficients: FloatArray

    @classmethod
    def fit(cls, low: FloatArray, high: FloatArray, density: FloatArray) -> tuple[Bank, FloatArray]:
        """From densities of ω at `panel_nodes`, but for constants; and the error of each.

        The error is the largest of the last coefficients, relative to the highest density.
        """
        panels = density.shape[1] // ORDER
        top = density.max(-1)
        values = (density / top[:, None]).reshape(len(low), panels, ORDER)
        coefficients = values @ to_legendre().T
        error = np.abs(coefficients[:, :, -2:]).max((1, 2))
        mass = coefficients[:, :, 0].sum(-1) * (high - low) / panels
        edges = low[:, None] + (high - low)[:, None] * (np.arange(panels + 1) / panels)
        return cls(edges, coefficients / mass[:, None, None]), error

    def draw(self, rows: IntArray | BoolArray | slice) -> Bank:
        """Some of them."""
        return Bank(self.edges[rows], self.coefficients[rows])

    def row(self, k: int) -> Panels:
        """One of them."""
        return Panels(self.edges[k], self.coefficients[k])

    @cached_property
    def _width(self) -> FloatArray:
        """Of a panel, (B, 1)."""
        panels = self.coefficients.shape[1]
        return np.asarray((self.edges[:, -1:] - self.edges[:, :1]) / panels)

    @cached_property
    def _before(self) -> FloatArray:
        """Mass before each edge, (B, P + 1)."""
        mass = self.coefficients[:, :, 0] * self._width
        return np.pad(np.cumsum(mass, axis=-1), ((0, 0), (1, 0)))

    @cached_property
    def _integrals(self) -> FloatArray:
        return integrals(self.coefficients)

    def _locate(self, omega: FloatArray) -> tuple[IntArray, FloatArray]:
        """Panel of each ω (B, n), and the place in it from −1 to 1."""
        at = (omega - self.edges[:, :1]) / self._width
        panel = np.clip(at.astype(np.int64), 0, self.coefficients.shape[1] - 1)
        return panel, np.asarray(np.clip(2 * (at - panel) - 1, -1, 1))

    def _rows(self, panel: IntArray) -> tuple[IntArray, IntArray]:
        return np.arange(len(self.edges))[:, None], panel

    def _spread(self, x: Any) -> FloatArray:
        """Questions as (B, n)."""
        x = np.asarray(x, dtype=np.float64)
        return np.broadcast_to(x, (len(self.edges), x.shape[-1]))

    def pdf(self, x: Any) -> FloatArray:
        """Density at x."""
        omega = angle(self._spread(x))
        first, last = self.edges[:, :1], self.edges[:, -1:]
        inside = (omega >= first) & (omega <= last)
        hair = _HAIR * (last - first)  # at 0 and 1 see `Panels.pdf`
        omega = np.clip(omega, hair, _HALF_PI - hair)
        panel, place = self._locate(omega)
        value = evaluate(self.coefficients[self._rows(panel)], place) / np.sin(2 * omega)
        return np.asarray(np.where(inside, np.maximum(value, 0.0), 0.0))

    def cdf(self, x: Any) -> FloatArray:
        """Mass up to x."""
        return self._mass(*self._locate(angle(self._spread(x))))

    def _mass(self, panel: IntArray, place: FloatArray) -> FloatArray:
        rows = self._rows(panel)
        part = evaluate(self._integrals[rows], place) * self._width
        return np.asarray(np.clip(self._before[rows] + part, 0.0, 1.0))

    def quantile(self, p: Any) -> FloatArray:
        """Where the mass below is ``p``: Newton within a panel, halving where that leaves it."""
        p = self._spread(p)
        panels = self.coefficients.shape[1]
        panel = np.clip((self._before[:, None, :] < p[:, :, None]).sum(-1) - 1, 0, panels - 1)
        rows = self._rows(panel)
        start, mass = self._before[rows], self.coefficients[(*rows, 0)] * self._width
        coefficients, sums = self.coefficients[rows], self._integrals[rows]
        low, high = np.full(p.shape, -1.0), np.ones(p.shape)
        share = (p - start) / np.where(mass > 0, mass, 1.0)
        place = np.clip(2 * share - 1, -1, 1)
        for _ in range(NEWTON):
            over = start + evaluate(sums, place) * self._width - p
            low, high = np.where(over < 0, place, low), np.where(over < 0, high, place)
            slope = 0.5 * evaluate(coefficients, place) * self._width
            moved = place - over / np.where(slope > 0, slope, np.inf)
            inside = (moved >= low) & (moved <= high) & (slope > 0)
            before, place = place, np.where(inside, moved, 0.5 * (low + high))
            if np.all(np.abs(place - before) < 1e-13):
                break
        omega = self.edges[rows] + 0.5 * (place + 1) * self._width
        return np.asarray(np.sin(omega) ** 2)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances, (B,)."""
        omega, mass = self.points()
        x = np.sin(omega) ** 2
        mean = np.vecdot(mass, x)
        return mean, np.vecdot(mass, (x - mean[:, None]) ** 2)

    def points(self) -> tuple[FloatArray, FloatArray]:
        """The Gauss nodes ω and their masses, (B, P · order): for the mean of any function."""
        x, w = gauss_legendre(ORDER)
        panels = self.coefficients.shape[1]
        omega = panel_nodes(self.edges[:, 0], self.edges[:, -1], panels)
        density = self.coefficients @ np.polynomial.legendre.legvander(2 * x - 1, ORDER - 1).T
        mass = (density * w * self._width[:, :, None]).reshape(omega.shape)
        return omega, np.asarray(mass / mass.sum(-1, keepdims=True))
