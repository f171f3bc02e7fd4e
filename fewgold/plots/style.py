"""The style of figures, and saving them. Matplotlib's own settings are not changed."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache, partial, wraps
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.text import shorter
from fewgold.errors import DataError, FewgoldError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.transforms import Transform


P = ParamSpec("P")
T = TypeVar("T")

INK = "#1b1f24"
SOFT = "#59616b"  # axes and notes
GREY = "#c3c9d0"  # lines in the background
GRID = "#e9ecef"
# Okabe and Ito's colours, darkened so that text is readable on white (contrast of 4.5).
PALETTE = ("#0072b2", "#bf4a00", "#007a5a", "#a33e7c", "#8a6100", "#5a55c8")
MARKERS = ("o", "s", "^", "D", "v", "P")  # a second cue besides colour
WIDTH = 7.2  # inches
SMALL, NORMAL, LARGE = 8.5, 9.5, 11.0  # points
SOLID: Any = "-"
DOTTED: Any = (0, (1, 2))
DASHED: Any = (0, (4, 1.6))
_DASHES = (SOLID, DASHED, (0, (1, 1.2)))  # the next one once all colours are used

_OWN_FONT = "DejaVu Sans"  # comes with matplotlib: the same figure everywhere
# Fonts of common systems for letters that matplotlib's own font lacks, such as Chinese.
_OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans CJK TC",
    "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback",
    "PingFang SC", "Hiragino Sans", "Hiragino Sans GB", "Apple SD Gothic Neo", "Microsoft YaHei",
    "Yu Gothic", "Malgun Gothic", "SimHei", "Arial Unicode MS",
)  # fmt: skip

_SETTINGS: dict[str, Any] = {
    "font.family": ["sans-serif"],
    "font.sans-serif": [_OWN_FONT],
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


def settings(**more: Any) -> AbstractContextManager[None]:
    """The style, as a context manager. ``svg_fonttype`` sets svg.fonttype.

    If matplotlib is missing, the error says what to install.
    """
    try:
        import matplotlib
    except ImportError:
        raise FewgoldError(
            'figures need matplotlib. Install it with: pip install "fewgold[plots]".',
            code="needs-matplotlib",
        ) from None
    style: Any = dict(_SETTINGS)
    style |= {name.replace("_", ".", 1): value for name, value in more.items()}
    return matplotlib.rc_context(style)


def available() -> bool:
    """Whether matplotlib is installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return False
    return True


def styled(draw: Callable[P, T]) -> Callable[P, T]:
    """Make a function draw in this style."""

    @wraps(draw)
    def in_style(*args: P.args, **kwargs: P.kwargs) -> T:
        with settings():
            return draw(*args, **kwargs)

    return in_style


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
    """Axes of a figure whose 9-point text is readable at the width of a phone."""
    return axes_for(ax, height, 3.9)


def name_axes(ax: Axes, x: str, y: str, title: str | None, pad: float = 10.0) -> None:
    """Label both axes, and put the title, if any, flush left, ``pad`` points above the axes."""
    ax.set_xlabel(x, fontsize=NORMAL, color=SOFT)
    ax.set_ylabel(y, fontsize=NORMAL, color=SOFT, parse_math=False)
    if title:
        ax.set_title(
            title, loc="left", fontsize=LARGE, fontweight="bold", color=INK, pad=pad,
            parse_math=False,
        )  # fmt: skip


def plain(name: str, longest: int = 30) -> str:
    """A name for a legend or tick, where ``$`` would otherwise begin a formula."""
    return shorter(name, longest).replace("$", r"\$")


def whole_ticks(axis: Axis) -> None:
    """Ticks at whole numbers only, for counts."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1, steps=(1, 2, 5, 10)))


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


def numbers(frame: pd.DataFrame, *names: str) -> list[FloatArray]:
    """Columns of a frame as arrays of floats."""
    return [frame[name].to_numpy(dtype=np.float64) for name in names]


# Distinguishable lines, named rows, cells and legends


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


def legend(ax: Axes, entries: Mapping[str, Any], loc: Any, **more: Any) -> None:
    """A plain legend, or None if there are no entries."""
    if entries:
        ax.legend(
            list(entries.values()), list(entries), loc=loc, frameon=False, fontsize=SMALL,
            labelcolor=SOFT, **more,
        )  # fmt: skip


def band_patch() -> Any:
    """The legend symbol of a band."""
    from matplotlib.patches import Patch

    return Patch(color=SOFT, alpha=0.2, linewidth=0)


def name_rows(ax: Axes, names: Sequence[str], longest: int = 30, bold: Sequence[str] = ()) -> None:
    """Rows from top to bottom, named at the left."""
    ax.set_yticks(range(len(names)), [shorter(name, longest) for name in names])
    for name, tick in zip(names, ax.get_yticklabels(), strict=True):
        tick.set(parse_math=False, color=INK, fontsize=SMALL)
        if name in bold:
            tick.set_fontweight("bold")
    ax.tick_params(axis="y", length=0, pad=6)
    ax.spines["left"].set_visible(False)
    ax.set_ylim(len(names) - 0.4, -0.6)


def part_cells(ax: Axes, rows: int, columns: int, linewidth: float) -> None:
    """White lines between the cells of a matrix, and no spines."""
    ax.set_xticks(np.arange(columns + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(rows + 1) - 0.5, minor=True)
    ax.tick_params(which="minor", length=0)
    ax.grid(True, which="minor", color="white", linewidth=linewidth)
    ax.set_axisbelow(False)
    for spine in ax.spines.values():
        spine.set_visible(False)


# Names at the ends of lines, pushed apart so that none covers another.


_LINE = 1.35  # height of a line of text, in font sizes
_AWAY = 14.0  # from the edge of the axes to the text, in points


class Labels:
    """A column of names to the right of the axes.

    Their positions are computed whenever the figure is drawn, so they also stay apart if its size
    or limits change.
    """

    def __init__(self, ax: Axes) -> None:
        self.ax = ax
        self.points: list[tuple[float, float]] = []

    def add(self, name: str, x: float, y: float, colour: str, weight: str = "normal") -> None:
        """Name the line that ends at (x, y)."""
        place: Any = partial(self._place, len(self.points))
        self.points.append((x, y))
        self.ax.annotate(
            shorter(name, 34), (x, y), xytext=(0, 0), textcoords=place,
            ha="left", va="center", fontsize=SMALL, color=colour, fontweight=weight,
            parse_math=False, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": colour, "linewidth": 0.7, "alpha": 0.6,
                "shrinkA": 1.5, "shrinkB": 4, "relpos": (0, 0.5),
            },
        )  # fmt: skip

    def _place(self, which: int, renderer: object) -> Transform:
        """The position of a name at the current size and limits of the figure."""
        from matplotlib.transforms import Affine2D

        box, pixel = self.ax.bbox, self.ax.figure.dpi / 72
        wanted = self.ax.transData.transform(self.points)[:, 1]
        gap = SMALL * _LINE * pixel
        heights = push_apart(np.clip(wanted, box.y0, box.y1), gap, box.y0, box.y1)
        return Affine2D().translate(float(box.x1 + _AWAY * pixel), heights[which])


def push_apart(wanted: FloatArray, gap: float, low: float, high: float) -> FloatArray:
    """The positions closest to the wanted ones (least squares) that are at least ``gap`` apart.

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


# Checks of frames


def check_columns(frame: pd.DataFrame, columns: Iterable[str]) -> None:
    """Check that all columns are present, with at least one row."""
    missing = [c for c in columns if c not in frame.columns]
    if missing:
        have = ", ".join(map(str, frame.columns)) or "none"
        raise DataError(f"the dataframe lacks the columns {', '.join(missing)}; it has {have}.")
    if frame.empty:
        raise DataError("the dataframe has no rows, so there is nothing to draw.")


def check_names(kind: str, names: Iterable[str], known: Sequence[str]) -> None:
    """Check that every name is known."""
    for name in names:
        if name not in known:
            raise UnknownNameError(kind, name, known)


# Figures as files and as page elements


class FontWarning(UserWarning):
    """A figure has letters that no font of this machine has."""


# Metadata that matplotlib would write into a file: its date and creator.
_SILENT: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save(figure: Figure | Axes, path: str | Path) -> Path:
    """Write a figure as PNG, SVG or PDF, whichever the path ends in.

    Letters that matplotlib's own font lacks are taken from another font of this machine. If none
    has them, an SVG file keeps its text as text, for the fonts of whoever opens it; in the others
    they are boxes, with a warning.
    """
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _SILENT:
        raise DataError(f"expected a path that ends in .png, .svg or .pdf; got {str(path)!r}.")
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r} to write to. Create it.")
    with _fonts_for(figure) as lacking:
        target.write_bytes(_render(figure, kind, "none" if lacking else "path"))
    if lacking and kind != ".svg":
        several = f" and {len(lacking) - 1} others" if len(lacking) > 1 else ""
        warnings.warn(
            f"no font found here has the letter {lacking[0]}{several}, so PNG and PDF figures show "
            "boxes instead. Install a font that has them, such as Noto Sans CJK, or use SVG.",
            FontWarning,
            stacklevel=2,
        )
    return target


@contextmanager
def _fonts_for(figure: Figure | Axes) -> Iterator[list[str]]:
    """Add fonts for letters that matplotlib's own lacks; gives those that no font has."""
    from matplotlib import font_manager
    from matplotlib.text import Text

    def lacking(letters: set[str], font: str) -> set[str]:
        path = font_manager.findfont(font, fallback_to_default=False)
        return {letter for letter in letters if ord(letter) not in _glyphs(path)}

    with settings():
        texts: list[Any] = figure_of(figure).findobj(Text)
        missing = lacking({c for t in texts for c in t.get_text() if c >= " "}, _OWN_FONT)
        chosen = [_OWN_FONT]
        have = set(font_manager.get_font_names()) if missing else set()
        for name in _OTHER_FONTS:
            if name in have and (rest := lacking(missing, name)) != missing:
                missing, chosen = rest, [*chosen, name]
    before = [(text, text.get_fontfamily()) for text in texts if len(chosen) > 1]
    for text, _ in before:
        text.set_fontfamily(chosen)
    try:
        yield sorted(missing)
    finally:
        for text, family in before:
            text.set_fontfamily(family)


@lru_cache(20)
def _glyphs(path: str) -> frozenset[int]:
    from matplotlib.font_manager import get_font

    return frozenset(get_font(path).get_charmap())


def to_svg(figure: Figure | Axes, *, alt: str = "") -> str:
    """A figure as an ``<svg>`` element for an HTML page.

    ``alt`` is the text for screen readers. Text stays text. Ids differ from those of other figures,
    so one page can hold several. Lines show their names on hovering.
    """
    text = _render(figure, ".svg", "none").decode()
    svg = text[text.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>\s*", "", svg, flags=re.DOTALL)  # its * is the whole page
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg, count=2)  # HTML does not need them
    svg = svg.replace("xlink:href", "href")
    for ax in figure_of(figure).axes:  # browsers show titles on hovering
        for line in ax.lines:
            if line.get_gid():
                tag = f'<g id="{line.get_gid()}">'
                title = f"<title>{escape(str(line.get_label()))}</title>"
                svg = svg.replace(tag, tag + title, 1)
    # Prefix ids and references to them with a digest of the figure.
    prefix = "f" + hashlib.sha256(f"{alt}\0{svg}".encode()).hexdigest()[:8]
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    front = f'<svg role="img" aria-label="{escape(alt)}"' if alt else "<svg"
    style = ' style="stroke-linejoin:round;stroke-linecap:butt"'
    return svg.replace("<svg", front + style, 1)


def _render(figure: Figure | Axes, kind: str, fonttype: str) -> bytes:
    buffer = io.BytesIO()
    with settings(svg_hashsalt="fewgold", svg_fonttype=fonttype), warnings.catch_warnings():
        # Browsers have glyphs that matplotlib's own font lacks; `save` tells of them itself.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure_of(figure).savefig(
            buffer, format=kind[1:], metadata=_SILENT[kind], dpi=200, bbox_inches="tight",
            pad_inches=0.08,
        )  # fmt: skip
    return buffer.getvalue()
