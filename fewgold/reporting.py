"""The old name of the study's report in `fewgold.report`, deprecated since 0.1."""

import warnings

from fewgold.report import StudyReport, study_report

__all__ = ["StudyReport", "study_report"]

warnings.warn(
    "fewgold.reporting is deprecated since 0.1; use fewgold.report",
    DeprecationWarning,
    stacklevel=2,
)
