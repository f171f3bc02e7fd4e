"""Heat maps, as plain numbers that templates turn into SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fewgold.report import number
from fewgold.web._draw_axis import Axis


@dataclass(frozen=True)
class Cell:
    """A cell of a heat map."""

    x: int
    y: int
    text: str
    fill: str
    ink: str
    here: bool


@dataclass(frozen=True)
class Heat:
    """A heat map: cells with their values, names of rows and columns."""

    width: int
    height: int
    left: int
    cell: tuple[int, int]
    cells: tuple[Cell, ...]
    columns: tuple[tuple[float, str], ...]
    rows: tuple[tuple[float, str], ...]
    x_label: str
    y_label: str


def heat(
    values: Sequence[Sequence[float]],
    columns: Sequence[str],
    rows: Sequence[str],
    x_label: str,
    y_label: str,
    here: tuple[int, int],
) -> Heat:
    """A heat map on a logarithmic scale of colours, the cell (row, column) ``here`` outlined."""
    wide, tall, left, top = 62, 34, 78, 6
    flat = [v for row in values for v in row]
    scale = Axis(min(flat), max(flat), 0.0, 1.0, log=min(flat) > 0)
    cells = []
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            fill, ink = shade(scale(value))
            at = left + j * wide, top + i * tall
            cells.append(Cell(*at, number(value, digits=2), fill, ink, (i, j) == here))
    height, width = top + tall * len(rows) + 54, left + wide * len(columns) + 8
    names = tuple((left + (j + 0.5) * wide, name) for j, name in enumerate(columns))
    sides = tuple((top + (i + 0.5) * tall, name) for i, name in enumerate(rows))
    return Heat(width, height, left, (wide, tall), tuple(cells), names, sides, x_label, y_label)


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
