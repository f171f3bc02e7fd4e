"""Reports: sections in, one HTML file out that needs nothing beside it, or one of Markdown.

`study_report` writes the report of a study: the number, how sure it is, how it was made, and what
to cite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Those with "as" are for the pages of fewgold itself.
from fewgold.common.text import number as number
from fewgold.report.sections import BulletList as BulletList
from fewgold.report.sections import Code as Code
from fewgold.report.sections import Facts as Facts
from fewgold.report.sections import Figure, Section, Table, Text, page
from fewgold.report.sections import Group as Group
from fewgold.report.sections import Headline as Headline
from fewgold.report.sections import Notes as Notes
from fewgold.report.sections import markdown as markdown
from fewgold.report.sections import write as write

if TYPE_CHECKING:
    from fewgold.report.study_page import StudyReport, study_report

__all__ = [
    "Figure",
    "Section",
    "StudyReport",
    "Table",
    "Text",
    "page",
    "study_report",
]


def __getattr__(name: str) -> Any:
    # Loaded when first used: simulations and plans make pages without knowing any study.
    if name in ("StudyReport", "study_report"):
        from fewgold.report import study_page

        return getattr(study_page, name)
    raise AttributeError(f"module 'fewgold.report' has no attribute {name!r}")
