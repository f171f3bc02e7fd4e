"""The report of a study: the number, how sure it is, how it was made, and what to cite."""

from fewgold.reporting._report import StudyReport, study_report

__all__ = ["StudyReport", "study_report"]
