"""Figures as files and as SVG inside a page, the same bytes in every run."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError
from fewgold.plots.style import figure_of, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What matplotlib would write into a file about when and with what it was made.
_SILENT: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}


def save(figure: Figure | Axes, path: str | Path) -> Path:
    """Write a figure as PNG, SVG or PDF, whichever the path ends in."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in _SILENT:
        raise DataError(f"expected a path that ends in .png, .svg or .pdf; got {str(path)!r}.")
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r} to write to. Make it.")
    target.write_bytes(_render(figure, kind, "path"))
    return target


def to_svg(figure: Figure | Axes, *, alt: str = "") -> str:
    """A figure as an ``<svg>`` element for an HTML page.

    ``alt`` is what a screen reader says. Text stays text. Ids are unlike those of other figures,
    so one page can hold several. Lines tell their names to the pointer.
    """
    with warnings.catch_warnings():
        # A browser has glyphs that matplotlib's own font lacks.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        text = _render(figure, ".svg", "none").decode()
    svg = text[text.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<style.*?</style>\s*", "", svg, flags=re.DOTALL)  # its * is the whole page
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg, count=2)  # HTML knows them
    svg = svg.replace("xlink:href", "href")
    for ax in figure_of(figure).axes:  # browsers show titles on hovering
        for line in ax.lines:
            if line.get_gid():
                tag = f'<g id="{line.get_gid()}">'
                title = f"<title>{escape(str(line.get_label()))}</title>"
                svg = svg.replace(tag, tag + title, 1)
    # A digest of the figure in front of its ids and of what refers to them.
    prefix = "f" + hashlib.sha256(f"{alt}\0{svg}".encode()).hexdigest()[:8]
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
    front = f'<svg role="img" aria-label="{escape(alt)}"' if alt else "<svg"
    style = ' style="stroke-linejoin:round;stroke-linecap:butt"'
    return svg.replace("<svg", front + style, 1)


def _render(figure: Figure | Axes, kind: str, fonttype: str) -> bytes:
    buffer = io.BytesIO()
    with settings(svg_hashsalt="fewgold", svg_fonttype=fonttype):
        figure_of(figure).savefig(
            buffer, format=kind[1:], metadata=_SILENT[kind], dpi=200, bbox_inches="tight",
            pad_inches=0.08,
        )  # fmt: skip
    return buffer.getvalue()
