"""Densities of many posteriors at once: as many panels each, so that all are read in one go."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.bayes._panels import NEWTON, ORDER, Panels, angle, evaluate, integrals, to_legendre
from fewgold.bayes._windows import gauss_legendre

_HALF_PI = 0.5 * np.pi
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
