"""Sections that stand out: the number itself, warnings, text to copy, and parts put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from fewgold.errors import DataError
from fewgold.report._markdown import fenced, inline_markdown, paragraphs_markdown
from fewgold.report._sections import Section, code_html, paragraphs_html


@dataclass(frozen=True)
class Headline:
    """The one number, large, with what it is above and how sure it is below."""

    title: str
    value: str
    lines: Sequence[str] = ()

    def body(self) -> str:
        lines = "".join(f"<p>{code_html(line)}</p>\n" for line in self.lines)
        return (
            f'<div class="headline">\n<p class="what">{code_html(self.title)}</p>\n'
            f'<p class="value">{escape(self.value)}</p>\n{lines}</div>\n'
        )

    def markdown(self) -> str:
        value = f"**{inline_markdown(self.value)}**"
        return f"{inline_markdown(self.title)}: {value}\n\n{paragraphs_markdown(self.lines)}"


@dataclass(frozen=True)
class Notes:
    """What a reader must know before using the number: a box that is hard to miss."""

    title: str
    notes: Sequence[str]

    def body(self) -> str:
        items = "".join(f"<li>{code_html(note)}</li>\n" for note in self.notes)
        return (
            f'<aside class="notes">\n<p class="what">{code_html(self.title)}</p>\n'
            f"<ul>\n{items}</ul>\n</aside>\n"
        )

    def markdown(self) -> str:
        items = "".join(f"> - {inline_markdown(note)}\n" for note in self.notes)
        return f"> **{inline_markdown(self.title)}**\n>\n{items}\n"


@dataclass(frozen=True)
class Items:
    """A plain list."""

    title: str
    items: Sequence[str]

    def body(self) -> str:
        items = "".join(f"<li>{code_html(item)}</li>\n" for item in self.items)
        return f'<ul class="items">\n{items}</ul>\n'

    def markdown(self) -> str:
        return "".join(f"- {inline_markdown(item)}\n" for item in self.items) + "\n"


@dataclass(frozen=True)
class Code:
    """Text to copy: a click selects all of it, and where scripts run there is a button."""

    title: str
    text: str
    language: str = "text"

    def body(self) -> str:
        return f'<div class="copy"><pre tabindex="0"><code>{escape(self.text)}</code></pre></div>\n'

    def markdown(self) -> str:
        return fenced(self.text, self.language)


@dataclass(frozen=True)
class Group:
    """Parts under one heading, each under a smaller one of its own if it has a title.

    ``beside`` puts figures next to each other where there is room.
    """

    title: str
    parts: Sequence[Section]
    lead: str | Sequence[str] = ()
    beside: bool = False

    def body(self) -> str:
        parts = "".join(f"<div>\n{_heading(p.title)}{p.body()}</div>\n" for p in self.parts)
        kind = "parts beside" if self.beside else "parts"
        return f'{paragraphs_html(self.lead)}<div class="{kind}">\n{parts}</div>\n'

    def markdown(self) -> str:
        told = [paragraphs_markdown(self.lead)]
        for part in self.parts:
            if part.title:
                told.append(f"### {inline_markdown(part.title)}\n\n")
            told.append(markdown_of(part))
        return "".join(told)


def _heading(title: str) -> str:
    return f"<h3>{code_html(title)}</h3>\n" if title else ""


def markdown_of(section: Section) -> str:
    """A section as Markdown, or a sentence about the method that it lacks."""
    made = getattr(section, "markdown", None)
    if made is None:
        raise DataError(
            f"the section {section.title!r} ({type(section).__name__}) cannot stand in a Markdown "
            "document. Give it a method markdown() that returns text, or write HTML."
        )
    return str(made())
