"""Answers of several raters, given once or twice, as one score a segment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold.campaign._settings import Settings

if TYPE_CHECKING:
    import pandas as pd


def in_time(answers: pd.DataFrame) -> pd.DataFrame:
    """Answers in the order of their own times where all of a rater's have one, else of arrival."""
    import pandas as pd

    if answers.empty:
        return answers
    times = pd.to_datetime(answers["time"], errors="coerce", utc=True, format="ISO8601")
    pairs = [answers["segment"], answers["rater"]]
    known = times.notna().groupby(pairs).transform("all")
    late = times.where(known)
    order = pd.DataFrame({"late": late, "place": range(len(answers))}, index=answers.index)
    return answers.loc[order.sort_values(["late", "place"], na_position="first").index]


def scores(answers: pd.DataFrame, settings: Settings) -> dict[str, float]:
    """One score for every segment that has an answer."""
    if answers.empty:
        return {}
    ordered = in_time(answers)
    own = ordered.groupby(["segment", "rater"], sort=False)["score"].agg(settings.repeats)
    return {str(k): float(v) for k, v in own.groupby("segment").agg(settings.among).items()}


def repeats(answers: pd.DataFrame) -> int:
    """Segments that a rater rated twice, and not alike."""
    if answers.empty:
        return 0
    kinds = answers.groupby(["segment", "rater"])["score"].nunique()
    return int((kinds > 1).groupby("segment").any().sum())
