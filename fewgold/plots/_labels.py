"""Names at the ends of lines, pushed apart so that none covers another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.plots._style import SMALL, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

_LINE = 1.35  # height of a line of text, in font sizes
_AWAY = 14.0  # from the edge of the axes to the text, in points


class Labels:
    """A column of names to the right of the axes.

    Where they go is worked out whenever the figure is drawn, so they also stay apart when the
    figure gets another size or other limits.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.points: list[tuple[float, float]] = []

    def add(self, name: str, x: float, y: float, colour: str, weight: str = "normal") -> None:
        """Name the line that ends at (x, y)."""
        place: Any = _Place(self, len(self.points))
        self.points.append((x, y))
        self.ax.annotate(
            shorten(name), (x, y), xytext=(0, 0), textcoords=place,
            ha="left", va="center", fontsize=SMALL, color=colour, fontweight=weight,
            parse_math=False, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.7, "alpha": 0.6,
                "shrinkA": 1.5, "shrinkB": 4, "relpos": (0, 0.5),
            },
        )  # fmt: skip

    def heights(self) -> FloatArray:
        """Pixels from the bottom for each name, at the present size and limits."""
        box, pixel = self.ax.bbox, self.ax.figure.dpi / 72
        wanted = self.ax.transData.transform(self.points)[:, 1]
        gap = SMALL * _LINE * pixel
        return push_apart(np.clip(wanted, box.y0, box.y1), gap, box.y0, box.y1)

    def left(self) -> float:
        """Pixels from the left for all names."""
        return float(self.ax.bbox.x1 + _AWAY * self.ax.figure.dpi / 72)


class _Place:
    """Where matplotlib shall put one name, asked for at each drawing."""

    def __init__(self, labels: Labels, which: int) -> None:
        self.labels, self.which = labels, which

    def __call__(self, renderer: object) -> Transform:
        from matplotlib.transforms import Affine2D

        return Affine2D().translate(self.labels.left(), self.labels.heights()[self.which])


def push_apart(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """The places nearest to those wanted (least squares) that are ``gap`` apart or more.

    They stay within ``low`` and ``high`` if there is room for all.
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(wanted.size)
    blocks: list[tuple[float, int]] = []  # isotonic regression by pooling adjacent violators
    for value in wanted[order] - steps:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] > mean:
            before, count = blocks.pop()
            mean = (mean * size + before * count) / (size + count)
            size += count
        blocks.append((mean, size))
    level = np.repeat([b[0] for b in blocks], [b[1] for b in blocks])
    spare = (high - low) - (steps[-1] if steps.size else 0.0)
    level = np.clip(level, low, low + spare) if spare >= 0 else np.full_like(level, low + spare / 2)
    placed = np.empty_like(wanted)
    placed[order] = level + steps
    return placed
