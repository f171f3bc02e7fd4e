"""Batches of a stream (days, weeks, releases), each with its own rated sample."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.chosen import Labelled
from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import Limits, as_limits, check_choice
from fewgold.common.text import counted
from fewgold.design import Design
from fewgold.errors import DataError
from fewgold.io.cells import is_empty
from fewgold.missing import PartialRatings
from fewgold.sample import Assumption, Ratings, Sample, SampleInfo

#: Periods by which dates can be grouped.
GROUPS = ("day", "week", "month")
_DATE = re.compile(r"\d{4}(-W\d{2}|-\d{2}(-\d{2})?([T ].*)?)?")


@dataclass(frozen=True, eq=False)
class Batch:
    """One batch: its segments, and the ratings of some of them.

    Parameters
    ----------
    label
        Name, such as ``2026-W07`` or ``release 4``.
    rows
        (N_b,) its rows in the pool that all batches share.
    ratings
        Its rated sample, with the batch as pool; None if nothing is rated, or if the design of
        the whole sample does not split into batches.
    rated
        Number of rated segments.
    """

    label: str
    rows: IntArray
    ratings: Ratings | None
    rated: int

    @property
    def size(self) -> int:
        """Number of all its segments."""
        return int(self.rows.size)


@dataclass(frozen=True, eq=False)
class Batches:
    """All batches, oldest first.

    ``whole`` is the sample shared by all batches, if its design does not split into batches;
    scores are then those of parts of one pool, as for slices.
    """

    parts: tuple[Batch, ...]
    by: str
    size: int
    whole: Ratings | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        rated = sum(b.rated for b in self.parts)
        return f"Batches({len(self.parts)} by {self.by}, {rated} of {self.size} segments rated)"

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(b.label for b in self.parts)


def batch_labels(
    values: Any, every: str | None = None, name: str = "batch"
) -> tuple[NDArray[Any], list[str], str]:
    """The batch of each row, the batches from oldest to newest, and how they were ordered.

    Numbers and dates are sorted, other labels (names of releases) keep the order of the table.
    ``every`` groups dates by day, week (ISO: from Monday) or month.

    >>> batch_labels(["2026-02-03", "2026-01-30", "2026-02-08"], "week")[:2]
    (array(['2026-W06', '2026-W05', '2026-W06'], dtype='<U8'), ['2026-W05', '2026-W06'])
    >>> batch_labels(["10", "9", "10"])[1], batch_labels(["v1.9", "v1.10"])[1:]
    (['9', '10'], (['v1.9', 'v1.10'], 'in the order of the table'))
    """
    cells = np.asarray(values, dtype=object).tolist()
    bare = [k for k, v in enumerate(cells) if is_empty(v) or v != v]
    if bare:
        raise DataError(
            f"the column {name!r} is empty in {counted(len(bare), 'row')}, first in row "
            f"{bare[0] + 1}. "
            f"Every row needs a batch."
        )
    if every is not None:
        return _grouped(cells, check_choice("every", every, GROUPS), name)
    texts = [_text(v) for v in cells]
    seen = list(dict.fromkeys(texts))
    try:
        order, how = sorted(seen, key=float), "by number"
    except ValueError:
        if all(_DATE.fullmatch(text) for text in seen):
            order, how = sorted(seen), "by date"
        else:
            order, how = seen, "in the order of the table"
    return np.array(texts), order, how


def _text(value: Any) -> str:
    """A label as written: dates without midnight, whole numbers without a decimal point."""
    if hasattr(value, "isoformat"):
        return str(value.isoformat()).removesuffix("T00:00:00")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()


def _grouped(cells: list[Any], every: str, name: str) -> tuple[NDArray[Any], list[str], str]:
    import pandas as pd

    known: dict[Any, str] = {}
    for row, value in enumerate(cells):
        if value in known:
            continue
        day = None if isinstance(value, int | float) else pd.to_datetime(value, errors="coerce")
        if day is None or pd.isna(day):
            raise DataError(
                f"the column {name!r} must hold dates such as 2026-03-31 to be grouped by {every}; "
                f"row {row + 1} has {str(value)!r}."
            )
        year, week, _ = day.isocalendar()
        known[value] = {
            "day": f"{day:%Y-%m-%d}", "week": f"{year:04d}-W{week:02d}", "month": f"{day:%Y-%m}"
        }[every]  # fmt: skip
    texts = [known[value] for value in cells]
    return np.array(texts), sorted(set(texts)), "by date"


def from_labelled(
    found: Labelled,
    column: str,
    *,
    every: str | None = None,
    limits: Limits | None = None,
    gaps: str = "wait",
    adequate: Any = None,
) -> Batches:
    """Batches of a table in which some rows of each batch are labelled.

    How the rows were chosen (``found.chosen``) holds within each batch: ``random`` means at
    random among the rows of the batch, whatever share of them.
    """
    frame = found.roles.table
    if column not in frame.columns:
        from fewgold.errors import UnknownNameError

        raise UnknownNameError("column", column, [str(c) for c in frame.columns])
    labels, order, how = batch_labels(frame[column].tolist(), every, column)
    scores = np.full(len(found.pool), np.nan)
    scores[found.rows] = found.scores
    if limits is None and np.isin(scores[np.isfinite(scores)], (0.0, 1.0)).all():
        limits = (0.0, 1.0)
    parts = []
    for k, label in enumerate(order):
        rows = np.flatnonzero(labels == label)
        mask = np.isfinite(scores[rows])
        ratings = None
        if mask.any():
            ratings = _own(found, frame.iloc[rows], rows, scores[rows], mask, k, limits, gaps)
            ratings = ratings if adequate is None else ratings.cut(adequate)
        parts.append(Batch(label, rows, ratings, 0 if ratings is None else ratings.n))
    return Batches(tuple(parts), _by(column, every), len(found.pool), None, _said(how, order))


def _own(
    found: Labelled, frame: Any, rows: IntArray, scores: FloatArray, mask: BoolArray, k: int,
    limits: Limits | None, gaps: str,
) -> Ratings:  # fmt: skip
    """The labels of one batch, as a sample of the batch."""
    how = found.chosen
    chosen, design = how.design(frame.reset_index(drop=True), mask)
    sentence = how.sentence(int(mask.sum()), rows.size).replace("of the table", "of their batch")
    info = SampleInfo(chosen=Assumption(sentence, how.code))
    sample = Sample(found.pool.take(rows), chosen, design, info=info)
    partial = PartialRatings(sample, scores[chosen], as_limits(limits))
    return _shuffled(partial.complete() if gaps == "wait" else partial.at_random(), k)


def _shuffled(ratings: Ratings, k: int) -> Ratings:
    """A simple random sample in random order, as betting requires; the order ignores the scores."""
    sample = ratings.sample
    if not sample.design.drawn_as("simple"):
        return ratings
    size = len(sample.pool)
    order = np.random.default_rng([size, ratings.n, k]).permutation(ratings.n)
    mixed = replace(sample, indices=sample.indices[order])
    return Ratings(mixed, ratings.scores[order], ratings.limits)


def from_ratings(
    ratings: Ratings, values: Any, *, every: str | None = None, name: str = "batch"
) -> Batches:
    """Split one sample into batches, by a label for every segment of its pool.

    A simple random sample is also one of each batch, given its number of segments in each. For
    other designs each batch is a part of the pool (`fewgold.quantities.weighted_mean`).
    """
    sample = ratings.sample
    labels, order, how = batch_labels(values, every, name)
    if labels.size != len(sample.pool):
        raise DataError(
            f"every segment of the pool needs its batch: {len(sample.pool)} labels; got "
            f"{labels.size}."
        )
    simple = sample.design.drawn_as("simple")
    place = np.full(len(sample.pool), -1)
    place[sample.indices] = np.arange(sample.n)
    parts = []
    for k, label in enumerate(order):
        rows = np.flatnonzero(labels == label)
        own = place[rows]
        taken = np.flatnonzero(own >= 0)
        made = None
        if simple and taken.size:
            part = Sample(
                sample.pool.take(rows), taken, Design.simple(taken.size, rows.size),
                info=sample.info,
            )  # fmt: skip
            made = _shuffled(Ratings(part, ratings.scores[own[taken]], ratings.limits), k)
        parts.append(Batch(label, rows, made, int(taken.size)))
    whole = None if simple else ratings
    return Batches(tuple(parts), _by(name, every), labels.size, whole, _said(how, order))


def _by(name: str, every: str | None) -> str:
    return name if every is None else f"{every} of {name}"


def _said(how: str, order: Sequence[str]) -> tuple[str, ...]:
    if how != "in the order of the table" or len(order) < 2:
        return ()
    return (
        f"batches are in the order of the table: {order[0]} is the first, {order[-1]} the last",
    )


__all__ = ["GROUPS", "Batch", "Batches", "batch_labels", "from_labelled", "from_ratings"]
