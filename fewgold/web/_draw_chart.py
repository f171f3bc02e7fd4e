"""Lines in a frame, as plain numbers that templates turn into SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fewgold.web._draw_axis import Axis

# Colour-blind-safe, 3:1 or more against white; dashes tell lines apart without colour.
COLOURS = ("#0550ae", "#a83200", "#116329", "#6a3d9a")
DASHES = ("none", "8 4", "2 4", "10 3 2 3")


@dataclass(frozen=True)
class Line:
    """A line, how it looks and what it is called."""

    name: str
    points: str
    colour: str
    dash: str
    mark: tuple[float, float] | None = None


@dataclass(frozen=True)
class Chart:
    """Lines in a frame."""

    width: int
    height: int
    left: int
    bottom: int
    x: Axis
    y: Axis
    lines: tuple[Line, ...]
    x_label: str
    y_label: str
    level: float | None = None
    area: str = ""


def chart(
    series: Sequence[tuple[str, Sequence[tuple[float, float]], tuple[float, float] | None]],
    x_label: str,
    y_label: str,
    *,
    log: bool = False,
    level: float | None = None,
    band: tuple[float, float] | None = None,
    width: int = 640,
    height: int = 300,
) -> Chart:
    """Lines through points, each with a name and perhaps a marked point.

    Parameters
    ----------
    level
        A horizontal line.
    band
        The area below the first line between these two values is filled.
    """
    xs = [x for _, points, _ in series for x, _ in points]
    ys = [y for _, points, _ in series for _, y in points] + ([level] if level else [])
    left, top, bottom = 78, 14, height - 52
    across = Axis(min(xs), max(xs), left, width - 16, log)
    up = Axis(0.0, max(ys) * 1.05 or 1.0, bottom, top)
    lines = tuple(
        Line(
            name, " ".join(f"{across(x)},{up(y)}" for x, y in points), COLOURS[k % len(COLOURS)],
            DASHES[k % len(DASHES)], mark and (across(mark[0]), up(mark[1])),
        )
        for k, (name, points, mark) in enumerate(series)
    )  # fmt: skip
    area = ""
    if band is not None:
        inside = [(x, y) for x, y in series[0][1] if band[0] <= x <= band[1]]
        if inside:
            path = [(inside[0][0], 0.0), *inside, (inside[-1][0], 0.0)]
            area = " ".join(f"{across(x)},{up(y)}" for x, y in path)
    at = None if level is None else up(level)
    return Chart(width, height, left, bottom, across, up, lines, x_label, y_label, at, area)
