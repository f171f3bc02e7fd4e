"""Lines that can be told apart, and logarithmic axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.plots._style import MARKERS, PALETTE

if TYPE_CHECKING:
    from matplotlib.axis import Axis

SOLID: Any = "-"
_DASHES: tuple[Any, ...] = (SOLID, (0, (4, 1.6)), (0, (1, 1.2)))  # once round the palette each


def line_style(k: int) -> tuple[str, Any, str]:
    """Colour, dashes and marker of the k-th line; the first 18 differ."""
    size = len(PALETTE)
    return PALETTE[k % size], _DASHES[k // size % len(_DASHES)], MARKERS[k % len(MARKERS)]


def log_ticks(axis: Axis) -> None:
    """Round values on a logarithmic axis, written in full."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axis.set_minor_formatter(NullFormatter())
