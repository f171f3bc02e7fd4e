"""How the figures look. Nothing here changes matplotlib's settings for good."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from fewgold.errors import FewgoldError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1b1f24"
SOFT = "#59616b"  # axes and notes
GREY = "#c3c9d0"  # lines in the background
GRID = "#e9ecef"
# Okabe and Ito's colours, darkened until text in them is readable on white (contrast of 4.5).
PALETTE = ("#0072b2", "#bf4a00", "#007a5a", "#a33e7c", "#8a6100", "#5a55c8")
MARKERS = ("o", "s", "^", "D", "v", "P")  # a second cue beside colour
WIDTH = 7.2  # inches
SMALL, NORMAL, LARGE = 8.5, 9.5, 11.0  # points

_SETTINGS: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": ["DejaVu Sans"],  # comes with matplotlib: the same figure everywhere
    "font.size": NORMAL,
    "text.usetex": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.facecolor": "white",
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "path.simplify": False,
}


def need_matplotlib() -> None:
    """Raise an error that says what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise FewgoldError(
            'figures need matplotlib. Install it with: pip install "fewgold[plots]".'
        ) from None


def settings(**more: Any) -> AbstractContextManager[None]:
    """The style, for the length of a ``with`` block. ``svg_fonttype`` stands for svg.fonttype."""
    need_matplotlib()
    import matplotlib

    style: Any = dict(_SETTINGS)
    style |= {name.replace("_", ".", 1): value for name, value in more.items()}
    return matplotlib.rc_context(style)


def axes_for(ax: Axes | None, height: float, width: float = WIDTH) -> Axes:
    """The axes given, or those of a new figure; either way with quiet spines and ticks."""
    if ax is None:
        from matplotlib.figure import Figure

        ax = Figure(figsize=(width, height), dpi=100, layout="constrained").add_subplot()
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GREY)
    ax.tick_params(color=GREY, labelcolor=SOFT, labelsize=SMALL, length=3)
    ax.tick_params(which="minor", color=GREY, length=2)
    ax.grid(True, color=GRID, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def phone_axes(ax: Axes | None, height: float = 2.9) -> Axes:
    """Axes of a figure in which text of 9 points is readable when it is as wide as a phone."""
    return axes_for(ax, height, 3.9)


def name_axes(ax: Axes, x: str, y: str, title: str | None) -> None:
    """Label both axes, and put the title, if any, flush left."""
    ax.set_xlabel(x, fontsize=NORMAL, color=SOFT)
    ax.set_ylabel(y, fontsize=NORMAL, color=SOFT, parse_math=False)
    if title:
        ax.set_title(
            title, loc="left", fontsize=LARGE, fontweight="bold", color=INK, pad=10,
            parse_math=False,
        )  # fmt: skip


def percent_axis(axis: Any) -> None:
    """Write the fractions on an axis as per cent."""
    axis.set_major_formatter(lambda x, _: f"{100 * x:.6g}%".replace("-", "\N{MINUS SIGN}"))


def figure_of(thing: Figure | Axes) -> Figure:
    """The whole figure that a figure or axes belong to."""
    figure: Any = thing
    while getattr(figure, "figure", None) not in (None, figure):  # axes and subfigures
        figure = figure.figure
    found: Figure = figure
    return found


def shorten(name: str, longest: int = 34) -> str:
    """A name that leaves room for the figure: a long one loses its middle."""
    if len(name) <= longest:
        return name
    half = (longest - 1) // 2
    return f"{name[:half]}…{name[-half:]}"
