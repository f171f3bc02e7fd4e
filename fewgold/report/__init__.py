"""Reports: sections in, one HTML file out that needs nothing beside it, or one of Markdown."""

from fewgold.report._boxes import Code, Group, Headline, Items, Notes
from fewgold.report._number import number
from fewgold.report._page import markdown, page, write
from fewgold.report._sections import Facts, Figure, Section, Table, Text

__all__ = [
    "Code",
    "Facts",
    "Figure",
    "Group",
    "Headline",
    "Items",
    "Notes",
    "Section",
    "Table",
    "Text",
    "markdown",
    "number",
    "page",
    "write",
]
