"""A density on [0, 1] as polynomials on panels: its CDF, quantiles and moments follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.polynomial import legendre

from fewgold._arrays import FloatArray, IntArray
from fewgold.bayes._windows import gauss_legendre, shrink
from fewgold.errors import DataError

#: Log density, up to a constant, at x and 1 − x.
LogDensity = Callable[[FloatArray, FloatArray], FloatArray]

_ORDER = 16
_DROP = 40.0
_START = 4  # panels
_DEEPEST = 48
_NEWTON = 40
_HALF_PI = 0.5 * np.pi


@lru_cache(maxsize=1)
def _fit() -> FloatArray:
    """From values at the Gauss nodes to Legendre coefficients."""
    x, w = gauss_legendre(_ORDER)
    j = np.arange(_ORDER)
    return np.asarray((legendre.legvander(2 * x - 1, _ORDER - 1) * w[:, None] * (2 * j + 1)).T)


@dataclass(frozen=True, eq=False)
class Panels:
    """Density of ω = arcsin √x: Legendre coefficients (panels, order) between ``edges``."""

    edges: FloatArray
    coefficients: FloatArray

    @classmethod
    def fit(
        cls,
        log_density: LogDensity,
        window: tuple[float, float] = (0.0, 1.0),
        tolerance: float = 1e-9,
    ) -> Panels:
        """Halve panels until their polynomials are exact to ``tolerance`` of the highest density.

        ``window`` holds all of the mass that matters.
        """

        def log_f(omega: FloatArray) -> FloatArray:
            s, c = np.sin(omega).ravel(), np.cos(omega).ravel()
            values = log_density(s * s, c * c) + np.log(2 * s * c)
            return np.asarray(values.reshape(omega.shape))

        low, high = (np.array(np.arcsin(np.sqrt(end))) for end in window)
        low, high = shrink(log_f, low, high, _DROP, points=48)
        grid = np.linspace(low, high, _START + 1)
        left, right = grid[:-1], grid[1:]
        done: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        highest = -np.inf
        x, _ = gauss_legendre(_ORDER)
        for depth in range(_DEEPEST):
            values = log_f(left[:, None] + (right - left)[:, None] * x)
            highest = max(highest, float(values.max()))
            if not np.isfinite(highest):
                raise DataError("the data are impossible under these rates; check rho and eta.")
            density = np.exp(values - highest)
            tail = np.abs(density @ _fit().T)[:, -3:].max(-1)
            # A panel matters by its share of the window: a singular end is cut ever shorter.
            fine = tail * np.minimum(1.0, 4 * (right - left) / (high - low)) < tolerance
            fine |= depth == _DEEPEST - 1
            done.append((left[fine], right[fine], values[fine]))
            left, right = left[~fine], right[~fine]
            if not left.size:
                break
            middle = 0.5 * (left + right)
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        left, right, values = (np.concatenate(column) for column in zip(*done, strict=True))
        order = np.argsort(left)
        coefficients = np.exp(values[order] - highest) @ _fit().T
        mass = coefficients[:, 0] * (right - left)[order]
        return cls(np.append(left[order], right.max()), coefficients / mass.sum())

    @cached_property
    def _widths(self) -> FloatArray:
        return np.diff(self.edges)

    @cached_property
    def _before(self) -> FloatArray:
        """Mass below each edge."""
        mass = np.cumsum(self.coefficients[:, 0] * self._widths)
        return np.concatenate([[0.0], mass / mass[-1]])

    @cached_property
    def _integrals(self) -> FloatArray:
        """Coefficients of the mass from the start of the panel: (panels, order + 1)."""
        return np.asarray(legendre.legint(self.coefficients.T, lbnd=-1).T * 0.5)

    def _locate(self, omega: FloatArray) -> tuple[IntArray, FloatArray]:
        """Panel of each ω and the place in it, from −1 to 1."""
        panel = np.clip(np.searchsorted(self.edges, omega) - 1, 0, self._widths.size - 1)
        place = 2 * (omega - self.edges[panel]) / self._widths[panel] - 1
        return panel, np.clip(place, -1, 1)

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density at x."""
        omega = _angle(x)
        inside = (omega >= self.edges[0]) & (omega <= self.edges[-1])
        # At 0 and 1 the density of ω vanishes with dx/dω: take their ratio a hair away.
        hair = 1e-3 * (self.edges[-1] - self.edges[0])
        omega = np.clip(omega, hair, _HALF_PI - hair)
        panel, place = self._locate(omega)
        value = _evaluate(self.coefficients[panel], place) / np.sin(2 * omega)
        return np.asarray(np.where(inside, np.maximum(value, 0.0), 0.0))

    def cdf(self, x: FloatArray) -> FloatArray:
        """Mass up to x."""
        return self._mass(_angle(x))

    def _mass(self, omega: FloatArray) -> FloatArray:
        panel, place = self._locate(omega)
        part = _evaluate(self._integrals[panel], place) * self._widths[panel]
        return np.asarray(np.clip(self._before[panel] + part, 0.0, 1.0))

    def quantile(self, p: FloatArray) -> FloatArray:
        """Where the mass below is ``p``: Newton within a panel, or halving where that leaves it."""
        p = np.asarray(p, dtype=np.float64)
        panel = np.clip(np.searchsorted(self._before, p) - 1, 0, self._widths.size - 1)
        low, high = self.edges[panel], self.edges[panel + 1]
        omega = 0.5 * (low + high)
        for _ in range(_NEWTON):
            _, place = self._locate(omega)
            over = self._mass(omega) - p
            low, high = np.where(over < 0, omega, low), np.where(over < 0, high, omega)
            slope = _evaluate(self.coefficients[panel], place)
            step = over / np.where(slope > 0, slope, np.inf)
            inside = (omega - step >= low) & (omega - step <= high) & (slope > 0)
            before, omega = omega, np.where(inside, omega - step, 0.5 * (low + high))
            if np.all(np.abs(omega - before) < 1e-13):
                break
        return np.asarray(np.sin(omega) ** 2)

    def moments(self) -> tuple[float, float]:
        """Mean and variance."""
        nodes, w = gauss_legendre(_ORDER)
        x = np.sin(self.edges[:-1, None] + self._widths[:, None] * nodes) ** 2
        density = self.coefficients @ legendre.legvander(2 * nodes - 1, _ORDER - 1).T
        weight = density * w * self._widths[:, None]
        weight = weight / weight.sum()
        mean = float((weight * x).sum())
        return mean, float((weight * (x - mean) ** 2).sum())


def _angle(x: FloatArray) -> FloatArray:
    return np.asarray(np.arcsin(np.sqrt(np.clip(np.asarray(x, dtype=np.float64), 0, 1))))


def _evaluate(coefficients: FloatArray, place: FloatArray) -> FloatArray:
    """Legendre series, one for each place."""
    basis = legendre.legvander(place, coefficients.shape[-1] - 1)
    return np.asarray(np.vecdot(coefficients, basis.reshape(coefficients.shape)))
