"""Answers of several raters, given once or twice, as one score a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold.agreement import Answers
from fewgold.campaign._settings import Settings

if TYPE_CHECKING:
    import pandas as pd


def in_time(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers in the order of their own times where all of a rater's have one, else of arrival."""
    import pandas as pd

    times = pd.to_datetime(answers["time"], errors="coerce", utc=True, format="ISO8601")
    pairs = [answers["segment"], answers["rater"]]
    known = times.notna().groupby(pairs).transform("all")
    order = pd.DataFrame({"time": times.where(known), "place": range(len(answers))})
    return answers.loc[order.sort_values(["time", "place"], na_position="first").index]


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
