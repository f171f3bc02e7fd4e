"""What a report is made of. All text is escaped; only the SVG of a figure is taken as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from fewgold.errors import DataError
from fewgold.report._markdown import inline_markdown, paragraphs_markdown, table_markdown
from fewgold.report._table import table_html, table_text

if TYPE_CHECKING:
    import pandas as pd

Format: TypeAlias = str | Callable[[Any], str]


@runtime_checkable
class Section(Protocol):
    """Anything with a title that can write itself as HTML.

    One that is to stand in a Markdown document too has a method ``markdown() -> str``.
    """

    @property
    def title(self) -> str: ...

    def body(self) -> str: ...


def paragraphs_html(text: str | Sequence[str]) -> str:
    """Paragraphs, escaped; what stands in `backticks` is set as code."""
    parts = [text] if isinstance(text, str) else text
    return "".join(f"<p>{code_html(part)}</p>\n" for part in parts if part)


def code_html(text: str) -> str:
    """One line, escaped; what stands in `backticks` is set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


@dataclass(frozen=True)
class Text:
    """Paragraphs; what stands in `backticks` is set as code."""

    title: str
    paragraphs: str | Sequence[str]

    def body(self) -> str:
        return paragraphs_html(self.paragraphs)

    def markdown(self) -> str:
        return paragraphs_markdown(self.paragraphs)


@dataclass(frozen=True)
class Facts:
    """The few figures that matter most, large: pairs of a name and a value."""

    title: str
    items: Sequence[tuple[str, str]]

    def body(self) -> str:
        pairs = (
            f"<div><dt>{code_html(name)}</dt><dd>{code_html(value)}</dd></div>\n"
            for name, value in self.items
        )
        return f'<dl class="facts">\n{"".join(pairs)}</dl>\n'

    def markdown(self) -> str:
        rows = [[inline_markdown(text) for text in item] for item in self.items]
        return table_markdown(["what", "value"], rows, [False, False])


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
        caption = code_html(self.caption or self.title)
        return table_html(self.frame, self.title, caption, self.formats, self.errors, self.names)

    def markdown(self) -> str:
        caption = paragraphs_markdown(self.caption)
        return caption + table_text(self.frame, self.title, self.formats, self.errors, self.names)


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
        caption = f"<figcaption>{code_html(self.caption)}</figcaption>\n" if self.caption else ""
        return f'<figure>\n<div class="card"{label}>{self.svg}</div>\n{caption}</figure>\n'

    def markdown(self) -> str:
        """What the figure shows, in words: a drawing cannot stand inside a Markdown file."""
        told = inline_markdown(self.caption or self.alt or self.title)
        return f"*Figure, on the HTML page:* {told}\n\n"
