"""Answers of several raters, given once or twice, as one score a segment."""

from __future__ import annotations

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast

from fewgold.agreement import Answers
from fewgold.campaign._settings import Settings

if TYPE_CHECKING:
    import pandas as pd

_EPOCH = re.compile(r"\d{9,19}(\.\d+)?")


def moments(times: pd.Series[str]) -> pd.Series[pd.Timestamp]:
    """Times as tools write them: ISO 8601, seconds since 1970 or parts of them, and as in mail.

    Without a zone they are taken as UTC. What has no clear order, such as 03/04/2026, is no time.

    >>> import pandas as pd
    >>> told = pd.Series(["2026-11-16T12:00:00+02:00", "1794823200", "1794823200000", "soon"])
    >>> [str(t) for t in moments(told)]  # doctest: +NORMALIZE_WHITESPACE
    ['2026-11-16 10:00:00+00:00', '2026-11-16 10:00:00+00:00', '2026-11-16 10:00:00+00:00',
     'NaT']
    """
    import pandas as pd

    found = pd.to_datetime(times, errors="coerce", utc=True, format="ISO8601").dt.as_unit("us")
    other = [k for k, t in enumerate(times) if _EPOCH.fullmatch(t) or pd.isna(found.iloc[k])]
    for k in other:
        found.iloc[k] = _moment(times.iloc[k]).as_unit("us")
    return found


def _moment(text: str) -> pd.Timestamp:
    import pandas as pd

    try:
        if _EPOCH.fullmatch(text):
            # 9 to 11 digits are seconds; thousandths, millionths and billionths have more.
            digits = len(text.partition(".")[0])
            unit: Any = (
                "s" if digits < 12 else "ms" if digits < 15 else "us" if digits < 18 else "ns"
            )
            return pd.Timestamp(float(text), unit=unit, tz="UTC")
        told = parsedate_to_datetime(text)
        return pd.Timestamp(told if told.tzinfo else told.replace(tzinfo=UTC)).tz_convert("UTC")
    except (ValueError, OverflowError, IndexError, TypeError):
        return cast("pd.Timestamp", pd.NaT)


def in_time(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers in the order of their own times where all of a rater's have one, else of arrival."""
    import pandas as pd

    times = moments(answers["time"])
    pairs = [answers["segment"], answers["rater"]]
    known = times.notna().groupby(pairs).transform("all")
    order = pd.DataFrame({"time": times.where(known), "place": range(len(answers))})
    return answers.loc[order.sort_values(["time", "place"]).index]


def scores(answers: pd.DataFrame, settings: Settings) -> dict[str, float]:
    """One score for every segment that has an answer."""
    if answers.empty:
        return {}
    ordered = in_time(answers)
    told = Answers.from_table(ordered, segment="segment", rater="rater", score="score")
    return told.scores(repeats=settings.repeats, raters=settings.among)


def repeats(answers: pd.DataFrame) -> int:
    """Segments that a rater rated twice, and not alike."""
    if answers.empty:
        return 0
    kinds = answers.groupby(["segment", "rater"])["score"].nunique()
    return int((kinds > 1).groupby("segment").any().sum())
