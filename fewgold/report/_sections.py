"""What a report is made of. All text is escaped; only the SVG of a figure is taken as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from fewgold.errors import DataError
from fewgold.report._table import table_html

if TYPE_CHECKING:
    import pandas as pd

Format: TypeAlias = str | Callable[[Any], str]


@runtime_checkable
class Section(Protocol):
    """Anything with a title that can write itself as HTML."""

    @property
    def title(self) -> str: ...

    def body(self) -> str: ...


def paragraphs_html(text: str | Sequence[str]) -> str:
    """Paragraphs, escaped; what stands in `backticks` is set as code."""
    parts = [text] if isinstance(text, str) else text
    return "".join(f"<p>{_code(part)}</p>\n" for part in parts if part)


def _code(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


@dataclass(frozen=True)
class Text:
    """Paragraphs; what stands in `backticks` is set as code."""

    title: str
    paragraphs: str | Sequence[str]

    def body(self) -> str:
        return paragraphs_html(self.paragraphs)


@dataclass(frozen=True)
class Facts:
    """The few figures that matter most, large: pairs of a name and a value."""

    title: str
    items: Sequence[tuple[str, str]]

    def body(self) -> str:
        pairs = (
            f"<div><dt>{_code(name)}</dt><dd>{_code(value)}</dd></div>\n"
            for name, value in self.items
        )
        return f'<dl class="facts">\n{"".join(pairs)}</dl>\n'


@dataclass(frozen=True)
class Table:
    """A frame, with its first column as the heads of the rows.

    Parameters
    ----------
    formats : mapping
        For a column, a format such as ``".3f"``, ``"%"`` for fractions that are shown in per
        cent, or a function from a value to text.
    errors : mapping
        For a column, the column of its standard error: shown together as 0.171 ± 0.004.
    names : mapping
        For a column, the heading to show.

    The download holds all columns and digits of the frame.
    """

    title: str
    frame: pd.DataFrame
    caption: str = ""
    formats: Mapping[str, Format] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> str:
        caption = _code(self.caption or self.title)
        return table_html(self.frame, self.title, caption, self.formats, self.errors, self.names)


@dataclass(frozen=True)
class Figure:
    """A figure as inline SVG, such as `fewgold.plots.to_svg` gives, on a white card.

    ``alt`` is what a screen reader says in its place, if the SVG has no aria-label itself.
    """

    title: str
    svg: str
    caption: str = ""
    alt: str = ""

    def __post_init__(self) -> None:
        if not self.svg.startswith("<svg") or "<script" in self.svg.lower():
            raise DataError(f"expected <svg>…</svg> without scripts; got {self.svg[:40]!r}…")

    def body(self) -> str:
        named = "aria-label" in self.svg.partition(">")[0]
        label = "" if named else f' role="img" aria-label="{escape(self.alt or self.title)}"'
        caption = f"<figcaption>{_code(self.caption)}</figcaption>\n" if self.caption else ""
        return f'<figure>\n<div class="card"{label}>{self.svg}</div>\n{caption}</figure>\n'
