"""The sections that compare: with a plain random sample, and with other estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold import report
from fewgold.reporting._phrases import rounded
from fewgold.reporting._study import Study

if TYPE_CHECKING:
    from fewgold.report import Section

_CLOSE = 0.05  # of the ratings: within that nothing was saved or lost to speak of


def saving(study: Study) -> Section:
    result, n = study.saved, study.n
    told = []
    if study.exact:
        told.append("Every segment was rated: none were saved, and nothing is left to chance.")
    elif result.plain is None:
        told.append(f"Nothing can be said about ratings saved: {result.why}.")
    elif study.plain:
        told.append("This is the mean of a plain random sample: there is nothing to compare.")
    elif abs(result.plain - n) <= _CLOSE * n:
        told.append("It came to about the same as the mean of a plain random sample of that size.")
    elif result.plain > n:
        more = rounded(result.plain - n)
        told.append(
            f"The mean of a plain random sample would need about {rounded(result.plain)} ratings "
            f"for the same standard error: these {n} saved about {more} {_rating(more)}."
        )
    else:
        fewer = rounded(n - result.plain)
        told.append(
            f"The mean of a plain random sample would have needed only about "
            f"{rounded(result.plain)} ratings for the same standard error: here the strategy did "
            f"worse than plain random sampling, by about {fewer} {_rating(fewer)}."
        )
    if result.plain is not None and not study.plain:
        assert result.random_se is not None
        told.append(
            f"With {n} plain random ratings the standard error would be about "
            f"{study.shown(result.random_se)}; here it is {study.shown(study.record['se'])}. This "
            "is a rough figure, since both errors are estimated from the same ratings."
        )
    return report.Text("Ratings saved", told)


def _rating(count: str) -> str:
    return "rating" if count == "1" else "ratings"


def others(study: Study) -> Section:
    frame = study.alternatives
    one = len(frame) == 1
    caption = (
        "There is no other estimator to compare with here."
        if one
        else "The first line is the estimate of this report. The others are a check: to choose "
        "among them by the result would spoil the interval."
    )
    names = {"name": "estimator", "se": "standard error", "interval": "kind of interval"}
    formats: dict[str, Any] = dict.fromkeys(
        ("value", "se", "low", "high"), lambda v: _finite(study, v)
    )
    table = report.Table("", frame, caption, formats, names=names)
    return report.Group("Other estimators", [table])


def _finite(study: Study, value: float) -> str:
    return "unknown" if value in (float("inf"), float("-inf")) else study.shown(value)
