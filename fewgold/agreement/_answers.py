"""All answers as they came: who rated which segment, when, and how."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import FloatArray, IntArray, codes_of
from fewgold._validate import check_choice
from fewgold.agreement._agreement import Agreement, agree
from fewgold.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

REPEATS = ("last", "first", "mean")
RATERS = ("mean", "median")


@dataclass(frozen=True, eq=False)
class Answers:
    """A long table of ratings, in the order of time: nothing is overwritten.

    Parameters
    ----------
    segments
        (m,) ids.
    raters
        (m,) names.
    ratings
        (m,) finite numbers.
    times
        (m,) anything that can be sorted; the order of the rows if None. Equal times keep the order
        of the rows.

    Examples
    --------
    >>> answers = Answers(["a", "a", "a", "b"], ["ann", "bob", "ann", "ann"], [3, 4, 5, 1])
    >>> answers.scores(repeats="last", raters="mean")
    {'a': 4.5, 'b': 1.0}
    >>> answers.scores(repeats="first", raters="mean")
    {'a': 3.5, 'b': 1.0}
    """

    segments: Sequence[Any]
    raters: Sequence[Any]
    ratings: Sequence[float]
    times: Sequence[Any] | None = None

    def __post_init__(self) -> None:
        size = len(self.segments)
        if not size:
            raise DataError("there are no answers. Expected at least one rating.")
        lengths = {len(self.segments), len(self.raters), len(self.ratings)}
        lengths |= set() if self.times is None else {len(self.times)}
        if len(lengths) > 1:
            raise DataError(
                "segments, raters, ratings and times must be equally long; got lengths "
                f"{', '.join(map(str, sorted(lengths)))}."
            )
        try:
            scores = np.array([np.nan if s is None else s for s in self.ratings], dtype=np.float64)
        except (TypeError, ValueError):
            raise DataError("ratings must be numbers. Correct those that are not.") from None
        if not np.isfinite(scores).all():
            row = int(np.flatnonzero(~np.isfinite(scores))[0])
            raise DataError(
                f"{int((~np.isfinite(scores)).sum())} answers have no score, first that of rater "
                f"{self.raters[row]!s} to segment {self.segments[row]!s}. Leave such rows out."
            )
        object.__setattr__(self, "ratings", scores)

    @classmethod
    def from_table(
        cls, frame: pd.DataFrame, *, segment: str, rater: str, score: str, time: str | None = None
    ) -> Answers:
        """From a data frame with a row for each answer."""
        wanted = [segment, rater, score, *([time] if time else [])]
        for name in wanted:
            if name not in frame.columns:
                raise UnknownNameError("column", name, [str(c) for c in frame.columns])
        columns = [frame[name].tolist() for name in wanted]
        return cls(columns[0], columns[1], columns[2], columns[3] if time else None)

    @cached_property
    def _order(self) -> IntArray:
        """Rows in the order of time."""
        if self.times is None:
            return np.arange(len(self.segments))
        times = list(self.times)
        try:
            return np.array(sorted(range(len(times)), key=times.__getitem__), dtype=np.int64)
        except TypeError:
            raise DataError("times must be of one kind, so that they can be sorted.") from None

    @cached_property
    def _coded(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Segment, rater and score of each answer in the order of time."""
        at = self._order
        scores = np.asarray(self.ratings)[at]
        return _codes(self.segments)[at], _codes(self.raters)[at], scores

    @cached_property
    def ids(self) -> list[Any]:
        """Segments, in the order of their first row."""
        return list(dict.fromkeys(self.segments))

    @cached_property
    def names(self) -> list[Any]:
        """Raters, in the order of their first row."""
        return list(dict.fromkeys(self.raters))

    def once(self, repeats: str = "last") -> tuple[IntArray, IntArray, FloatArray]:
        """Segment, rater and score with one answer a rater and segment: (k,) each.

        Of repeats the ``last``, the ``first`` or their ``mean`` counts.
        """
        check_choice("repeats", repeats, REPEATS)
        segment, rater, score = self._coded
        cell, inverse = np.unique(segment * len(self.names) + rater, return_inverse=True)
        if repeats == "mean":
            found = np.bincount(inverse, score) / np.bincount(inverse)
        else:
            found = np.empty(cell.size)
            step = 1 if repeats == "last" else -1  # of several to one place the last one stays
            found[inverse[::step]] = score[::step]
        return cell // len(self.names), cell % len(self.names), found

    def scores(self, *, repeats: str = "last", raters: str = "mean") -> dict[Any, float]:
        """One score a segment: repeats of a rater first, then the mean or median of the raters."""
        check_choice("raters", raters, RATERS)
        segment, _, score = self.once(repeats)
        middle = np.mean if raters == "mean" else np.median
        ends = np.flatnonzero(np.diff(segment)) + 1
        return {
            i: float(middle(part)) for i, part in zip(self.ids, np.split(score, ends), strict=True)
        }

    def agreement(self, repeats: str = "last") -> Agreement:
        """How far raters agree with each other and with themselves."""
        return agree(self.ids, self.names, self.once(repeats), self._coded)


def _codes(labels: Sequence[Any]) -> IntArray:
    """Whole numbers in the order of first appearance, for labels of any kind."""
    place: dict[Any, int] = {}
    found: NDArray[Any] = np.array([place.setdefault(k, len(place)) for k in labels])
    return codes_of(found)
