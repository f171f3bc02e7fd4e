"""Reports: sections in, one HTML file out that needs nothing beside it."""

from fewgold.report._number import number
from fewgold.report._page import page, write
from fewgold.report._sections import Facts, Figure, Section, Table, Text

__all__ = ["Facts", "Figure", "Section", "Table", "Text", "number", "page", "write"]
