"""Reports: turns sections into one self-contained HTML file, or into a Markdown file.

`study_report` writes the report of a study: the score, its precision, how it was obtained, and
what to cite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

# Names with "as" are used by fewgold's own pages only.
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
    # Loaded on first use: simulations and plans make pages without a study.
    if name in ("StudyReport", "study_report"):
        from fewgold.report import study_page

        return getattr(study_page, name)
    raise AttributeError(f"module 'fewgold.report' has no attribute {name!r}")
