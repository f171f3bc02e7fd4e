"""Line charts and heat maps, as plain numbers that templates (`plan_parts.html`) turn into SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fewgold.report import number


@dataclass(frozen=True)
class Axis:
    """A linear or logarithmic axis: maps values to pixels."""

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
        found: list[float] = []
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [m * 10.0**p for p in powers for m in (1, 2, 5)]
            found = [v for v in found if self.low <= v <= self.high]
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


def _label(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.6g}"


# Safe for colour-blind readers, with a contrast of 3:1 or more on white. Dashes differ too.
COLOURS = ("#0550ae", "#a83200", "#116329", "#6a3d9a", "#8a6100", "#57606a")
DASHES = ("none", "8 4", "2 4", "10 3 2 3", "14 4", "6 3 2 3 2 3")


def chart(
    series: Sequence[tuple[str, Sequence[tuple[float, float]], tuple[float, float] | None]],
    x_label: str, y_label: str, *, height: int, log: bool = False, level: float | None = None,
    band: tuple[float, float] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Lines through points, each with a name and optionally a marked point.

    ``level`` adds a horizontal line. The area below the first line is filled within ``band``.
    """
    xs = [x for _, points, _ in series for x, _ in points]
    ys = [y for _, points, _ in series for _, y in points] + ([level] if level else [])
    width, left, top, bottom = 640, 78, 14, height - 52
    across = Axis(min(xs), max(xs), left, width - 24, log)
    up = Axis(0.0, max(ys) * 1.05 or 1.0, bottom, top)

    def path(points: Sequence[tuple[float, float]]) -> str:
        return " ".join(f"{across(x)},{up(y)}" for x, y in points)

    lines = [
        {
            "name": name, "points": path(points), "colour": COLOURS[k % len(COLOURS)],
            "dash": DASHES[k % len(DASHES)], "mark": mark and (across(mark[0]), up(mark[1])),
        }
        for k, (name, points, mark) in enumerate(series)
    ]  # fmt: skip
    inside = [(x, y) for x, y in series[0][1] if band and band[0] <= x <= band[1]]
    area = path([(inside[0][0], 0.0), *inside, (inside[-1][0], 0.0)]) if inside else ""
    return {
        "width": width, "height": height, "left": left, "bottom": bottom, "x": across, "y": up,
        "lines": lines, "x_label": x_label, "y_label": y_label, "area": area,
        "level": None if level is None else up(level),
    }  # fmt: skip


def heat(
    values: Sequence[Sequence[float]], columns: Sequence[str], rows: Sequence[str],
    x_label: str, y_label: str, here: tuple[int, int],
) -> dict[str, Any]:  # fmt: skip
    """A heat map on a logarithmic scale of colours, the cell (row, column) ``here`` outlined."""
    wide, tall, left, top = 62, 34, 78, 6
    flat = [v for row in values for v in row]
    scale = Axis(min(flat), max(flat), 0.0, 1.0, log=min(flat) > 0)
    cells = []
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            fill, ink = shade(scale(value))
            cells.append({
                "x": left + j * wide, "y": top + i * tall, "text": number(value, digits=2),
                "fill": fill, "ink": ink, "here": (i, j) == here,
            })  # fmt: skip
    return {
        "width": left + wide * len(columns) + 8, "height": top + tall * len(rows) + 54,
        "left": left, "cell": (wide, tall), "cells": cells,
        "columns": [(left + (j + 0.5) * wide, name) for j, name in enumerate(columns)],
        "rows": [(top + (i + 0.5) * tall, name) for i, name in enumerate(rows)],
        "x_label": x_label, "y_label": y_label,
    }  # fmt: skip


def shade(share: float) -> tuple[str, str]:
    """A blue from light (0) to dark (1), and the ink of better contrast on it: 4.5 at least.

    >>> shade(0.0), shade(1.0)
    (('#eff5fc', '#000000'), ('#08306b', '#ffffff'))
    """
    ends = (0xEF, 0xF5, 0xFC), (0x08, 0x30, 0x6B)
    mixed = [round(a + min(max(share, 0.0), 1.0) * (b - a)) for a, b in zip(*ends, strict=True)]
    bright = luminance(mixed)
    ink = "#000000" if (bright + 0.05) / 0.05 >= 1.05 / (bright + 0.05) else "#ffffff"
    return "#" + "".join(f"{part:02x}" for part in mixed), ink


def luminance(colour: Sequence[int]) -> float:
    """Relative luminance as the Web Content Accessibility Guidelines define it."""
    parts = [c / 255 for c in colour]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
