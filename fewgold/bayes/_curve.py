"""A posterior distribution of one rate, as a curve: what can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import betainc, betaincinv, betaln, xlog1py, xlogy

from fewgold._arrays import FloatArray
from fewgold.bayes._panels import LogDensity, Panels

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
