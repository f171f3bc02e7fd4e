"""An axis of what is drawn on a page: where values lie, and round values to mark."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Axis:
    """Where values lie between two ends in pixels, linear or logarithmic."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(at)
        share = (at - low) / (high - low) if high > low else 0.5
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, count: int = 5) -> list[tuple[float, str]]:
        """Positions and labels of round values."""
        found = _log_ticks(self.low, self.high) if self.log else []
        if len(found) < 3:
            found = _round_ticks(self.low, self.high, count)
        return [(self(value), _label(value)) for value in found if value > 0 or not self.log]


def _round_ticks(low: float, high: float, count: int) -> list[float]:
    span = high - low
    if not span > 0:
        return [low]
    rough = span / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(m * size for m in (1, 2, 5, 10) if m * size >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _log_ticks(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [m * 10.0**p for p in powers for m in (1, 2, 5)]
    return [v for v in found if low <= v <= high]


def _label(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"
