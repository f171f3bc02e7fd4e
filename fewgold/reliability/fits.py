"""Curves through standard deviations by number of documents, and what is read off them."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from fewgold.common.arrays import FloatArray

EPSILON = 1e-4  # 0.01 %, which fits Table 2 of Estrella et al.; elsewhere they print 0.001


@dataclass(frozen=True)
class PowerFit:
    """f(x) = a·x^(−b), fitted by least squares to the logarithms.

    ``r2`` is the share of variance that it explains, in the logarithms as spreadsheets have it,
    ``r2_raw`` in the values themselves, which compares with that of a `CubicFit`.

    Examples
    --------
    >>> fit = PowerFit(a=0.06, b=0.5)
    >>> fit.x_min(), round(fit.x_max(1e-4), 1)
    (3.0, 44.8)
    """

    a: float
    b: float
    r2: float = nan
    r2_raw: float = nan

    def __call__(self, x: ArrayLike) -> FloatArray:
        return np.asarray(self.a * np.asarray(x, dtype=float) ** -self.b)

    def slope(self, x: ArrayLike) -> FloatArray:
        """f′(x) = −a·b·x^(−b−1)."""
        return np.asarray(-self.a * self.b * np.asarray(x, dtype=float) ** (-self.b - 1))

    def x_min(self, x_i: float = 1.0) -> float:
        """Where the tangent at ``x_i`` meets the x axis: x_i·(1 + 1/b). ``a`` has no part in it."""
        return x_i * (1 + 1 / self.b) if self.b > 0 else nan

    def x_max(self, epsilon: float = EPSILON) -> float:
        """Where the curve falls by less than ``epsilon`` a document: (a·b/ε)^(1/(b+1)).

        The paper prints f′ = +ε, which a falling curve never reaches; |f′| = ε is meant.
        """
        return (self.a * self.b / epsilon) ** (1 / (self.b + 1)) if self.b > 0 else nan


@dataclass(frozen=True)
class CubicFit:
    """f(x) = a + b·x + c·x² + d·x³, fitted by least squares.

    Examples
    --------
    >>> fit = CubicFit(a=0.05, b=-0.01, c=0.0009, d=-0.00002)
    >>> round(fit.x_min(), 2), round(fit.x_max(), 2)
    (5.95, 7.36)
    """

    a: float
    b: float
    c: float
    d: float
    r2: float = nan

    def __call__(self, x: ArrayLike) -> FloatArray:
        x = np.asarray(x, dtype=float)
        return np.asarray(self.a + x * (self.b + x * (self.c + x * self.d)))

    def slope(self, x: ArrayLike) -> FloatArray:
        """f′(x) = b + 2c·x + 3d·x²."""
        x = np.asarray(x, dtype=float)
        return np.asarray(self.b + x * (2 * self.c + x * 3 * self.d))

    def x_min(self, x_i: float = 1.0) -> float:
        """Where the tangent at ``x_i`` meets the x axis: x_i − f(x_i)/f′(x_i)."""
        slope = float(self.slope(x_i))
        return x_i - float(self(x_i)) / slope if slope < 0 else nan

    def x_max(self) -> float:
        """Where the curve is lowest: the root of f′ with f″ > 0, if it is positive.

        That is (−c + √(c² − 3db))/(3d), the sign being the same whatever d is: the other root is
        the maximum. The paper prints −c/(2d) for the first term, and takes the smaller of two
        positive roots, which is the maximum if d < 0.
        """
        inside = self.c**2 - 3 * self.d * self.b
        if not inside > 0:
            return nan
        root = sqrt(inside)
        if self.c >= 0:  # the same root without the difference of two near numbers
            x = -self.b / (self.c + root)
        elif self.d != 0:
            x = (-self.c + root) / (3 * self.d)
        else:
            return nan
        return x if x > 0 else nan


def power_fit(x: ArrayLike, y: ArrayLike) -> PowerFit:
    """Fit a power law to the points above 0; all NaN with fewer than three of them.

    Examples
    --------
    >>> fit = power_fit([1, 2, 4, 8], [8, 4, 2, 1])
    >>> round(fit.a, 6), round(fit.b, 6), round(fit.r2, 6)
    (8.0, 1.0, 1.0)
    """
    x, y = _points(x, y)
    x, y = x[y > 0], y[y > 0]
    if x.size < 3:
        return PowerFit(nan, nan)
    slope, start = np.polynomial.Polynomial.fit(np.log(x), np.log(y), 1).convert().coef[::-1]
    fit = PowerFit(float(np.exp(start)), float(-slope))
    r2 = _r_squared(np.log(y), np.log(fit(x)))
    return PowerFit(fit.a, fit.b, r2, _r_squared(y, fit(x)))


def cubic_fit(x: ArrayLike, y: ArrayLike) -> CubicFit:
    """Fit a cubic; all NaN with fewer than five points, as four are met by any."""
    x, y = _points(x, y)
    if x.size < 5:
        return CubicFit(nan, nan, nan, nan)
    coefficients = np.zeros(4)
    found = np.polynomial.Polynomial.fit(x, y, 3).convert().coef
    coefficients[: found.size] = found
    fit = CubicFit(*coefficients.tolist())
    return CubicFit(fit.a, fit.b, fit.c, fit.d, _r_squared(y, fit(x)))


def _r_squared(y: FloatArray, fitted: FloatArray) -> float:
    """R²: 1 less the squared residuals over the squared deviations from the mean."""
    total = float(((y - y.mean()) ** 2).sum())
    return 1 - float(((y - fitted) ** 2).sum()) / total if total > 0 else nan


def _points(x: ArrayLike, y: ArrayLike) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known]
