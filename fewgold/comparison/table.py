"""Tables with one row per segment and system: as arrays, or as one pool for all systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold import io
from fewgold.common.arrays import FloatArray, IntArray, codes_of
from fewgold.common.checks import no_number
from fewgold.common.statistics import correlation
from fewgold.common.text import counted
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import known_orientation
from fewgold.pool import Pool


@dataclass(frozen=True, eq=False)
class Scored:
    """Single ratings: which segment, system and rater, and the score; all (m,)."""

    segment: IntArray
    system: IntArray
    rater: IntArray
    score: FloatArray
    raters: tuple[str, ...]

    def outputs(self) -> tuple[IntArray, IntArray]:
        """The system of each output that was rated, and the output of each rating: (m,)."""
        wide = int(self.segment.max()) + 1
        cell, output = np.unique(self.system * wide + self.segment, return_inverse=True)
        return cell // wide, output


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of S systems on N segments; NaN if unrated.

    Parameters
    ----------
    ids
        (N,) segments in the order of their first row.
    systems
        S names in the order of their first row.
    documents
        (N,) or None.
    human
        (S, N) mean over raters.
    metrics
        (S, N) each, NaN where missing.
    present
        (S, N) True if the table has a row.
    ratings
        The single ratings, if raters are known.
    """

    ids: NDArray[Any]
    systems: tuple[str, ...]
    documents: NDArray[Any] | None
    human: FloatArray
    metrics: Mapping[str, FloatArray]
    present: NDArray[np.bool_]
    ratings: Scored | None = None

    def with_scores(self, scores: FloatArray) -> ScoreTable:
        """The same ratings with other scores, such as those without the bias of their raters."""
        assert self.ratings is not None
        rated = replace(self.ratings, score=scores)
        return replace(self, ratings=rated, human=_means(rated, self.human.shape))


def columns_of(frame: Any) -> dict[str, NDArray[Any]]:
    """The columns of any dataframe (pandas, polars, pyarrow, …) as arrays."""
    import narwhals.stable.v2 as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(
            f"expected a dataframe with one row per segment and system; got {type(frame)!r}."
        ) from None
    return {str(name): np.asarray(table[name].to_numpy()) for name in table.columns}


def read(
    frame: Any,
    *,
    human: str | Sequence[str],
    system: str,
    id: str,
    document: str | None = None,
    metrics: Sequence[str] = (),
    rater: str | None = None,
) -> ScoreTable:
    """Read a long table into arrays; errors say what is wrong with it.

    ``human`` may name several columns, one per rater, or none if there are no ratings yet.
    """
    columns = columns_of(frame)
    named = [human] if isinstance(human, str) else list(human)
    asked = [*named, system, id, *metrics, *(c for c in (document, rater) if c is not None)]
    for name in asked:
        if name not in columns:
            raise UnknownNameError("column", name, columns)
    twice = sorted({name for name in asked if asked.count(name) > 1})
    if twice:
        raise DataError(
            f"the column {twice[0]!r} is used for two roles. Each needs its own column."
        )
    if rater is not None and len(named) > 1:
        raise DataError(
            f"several score columns mean one rater each, but the column {rater!r} names raters "
            "too. Give only one of the two."
        )
    names = [label(system, v) for v in columns[system].tolist()]
    ids = columns[id]
    labels = np.array([label(id, v) for v in ids.tolist()])
    seg, sys = codes_of(labels), codes_of(np.array(names))
    systems = tuple(dict.fromkeys(names))
    first = np.unique(seg, return_index=True)[1]
    if len(systems) < 2:
        raise DataError(
            f"the column {system!r} holds one system only, {systems[0]!r}. Comparing needs two or "
            "more; for the score of one system use fewgold estimate."
        )
    shape = (len(systems), first.size)
    ratings = _ratings(columns, named, rater, seg, sys, labels, names) if named else None
    # The first row of each system and segment, −1 if there is none: (S, N).
    row = np.full(shape, -1, dtype=np.int64)
    row[sys[::-1], seg[::-1]] = np.arange(seg.size)[::-1]
    extra = np.flatnonzero(row[sys, seg] != np.arange(seg.size))
    if extra.size and rater is None:
        at = extra[0]
        raise DataError(
            f"segment {labels[at]} has more than one row for the system {names[at]} "
            f"({counted(extra.size, 'row')} too many in all). If ids start again in each "
            "document, combine "
            "document and segment into one id.",
            hints={
                "python": "If several people rated it, name the column of raters (rater=…).",
                "cli": "If several people rated it, name the column of raters with --rater.",
                "web": "If several people rated it, choose the column of raters.",
            },
        )
    present = row >= 0
    return ScoreTable(
        ids=ids[first],
        systems=systems,
        documents=None if document is None else _documents(document, columns, seg, labels),
        human=np.full(shape, np.nan) if ratings is None else _means(ratings, shape),
        metrics={m: _metric(m, columns[m], row, present, labels) for m in metrics},
        present=present,
        ratings=ratings if ratings is not None and ratings.raters else None,
    )


def label(name: str, value: Any) -> str:
    """The label of a segment, system or document in the column ``name``."""
    if io.is_empty(value):
        raise DataError(f"the column {name!r} has empty cells. Every row needs a name there.")
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)


def _ratings(
    columns: Mapping[str, NDArray[Any]],
    human: Sequence[str],
    rater: str | None,
    seg: IntArray,
    sys: IntArray,
    labels: NDArray[Any],
    names: Sequence[str],
) -> Scored:
    several = len(human) > 1
    parts: list[tuple[IntArray, IntArray, FloatArray]] = []
    who = np.zeros(seg.size, dtype=np.int64)
    raters: tuple[str, ...] = tuple(human) if several else ()
    if rater is not None:
        told = ["" if io.is_empty(v) else str(v) for v in columns[rater].tolist()]
        raters = tuple(sorted(set(told) - {""}))
        place = {name: k for k, name in enumerate(raters)}
        who = np.array([place.get(name, -1) for name in told], dtype=np.int64)
    for k, name in enumerate(human):
        values = columns[name].tolist()
        rows = np.array([i for i, v in enumerate(values) if not io.is_gap(v)], dtype=np.int64)
        where = [f"{labels[i]} of {names[i]}" for i in rows]
        scores = io.scores_of(name, where, [values[i] for i in rows], "")
        parts.append((rows, np.full(rows.size, k) if several else who[rows], np.array(scores)))
    rows, by, scores_of_all = (np.concatenate(p) for p in zip(*parts, strict=True))
    if not rows.size:
        raise DataError(
            f"no row has a score in {', '.join(map(repr, human))}. Name the column with the human "
            "scores, or have some segments rated."
        )
    if rater is not None and (by < 0).any():
        at = rows[by < 0][0]
        raise DataError(
            f"{counted(int((by < 0).sum()), 'rating')} without a rater in {rater!r}, the first for "
            f"segment {labels[at]} of {names[at]}. Fill in the rater."
        )
    return Scored(seg[rows], sys[rows], by, scores_of_all.astype(np.float64), raters)


def _means(ratings: Scored, shape: tuple[int, int]) -> FloatArray:
    cell = ratings.system * shape[1] + ratings.segment
    if ratings.raters:
        own = cell * len(ratings.raters) + ratings.rater
        values, counts = np.unique(own, return_counts=True)
        if (counts > 1).any():
            name = ratings.raters[int(values[counts > 1][0]) % len(ratings.raters)]
            raise DataError(
                f"{counted(int((counts > 1).sum()), 'output')} rated twice by the same rater, "
                "first by "
                f"{name!r}. Keep one rating of each."
            )
    total = np.bincount(cell, ratings.score, minlength=shape[0] * shape[1])
    count = np.bincount(cell, minlength=shape[0] * shape[1])
    mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return np.asarray(mean.reshape(shape))


def _documents(
    name: str, columns: Mapping[str, NDArray[Any]], seg: IntArray, labels: NDArray[Any]
) -> NDArray[Any]:
    told = np.array([label(name, v) for v in columns[name].tolist()])
    first = np.unique(seg, return_index=True)[1]
    wrong = np.flatnonzero(told != told[first][seg])
    if wrong.size:
        at = wrong[0]
        raise DataError(
            f"segment {labels[at]} is in two documents, {told[first][seg[at]]} and {told[at]}. "
            "If ids start again in each document, combine document and segment into one id."
        )
    return told[first]


def _metric(
    name: str,
    values: NDArray[Any],
    row: IntArray,
    present: NDArray[np.bool_],
    labels: NDArray[Any],
) -> FloatArray:
    column = io.column_of(values, name)
    wrong = [k for sort, rows in column.sorts.items() if sort != "infinite" for k in rows]
    if wrong:
        value = values.tolist()[min(wrong)]
        raise DataError(
            f"metric {name!r} must hold numbers; segment {labels[min(wrong)]} has {value!r}. "
            f"{no_number(value)}"
        )
    numbers = column.values
    return np.where(present & np.isfinite(numbers[row]), numbers[row], np.nan)


# Words in the names of scores that are error counts.
_ERRORS = {"mqm", "penalty", "penalties", "error", "errors", "hter", "ter", "wer", "edits"}
# A correlation of this many standard errors is clear enough to decide.
_CLEAR = 2.5


def direction(
    names: Sequence[str], table: ScoreTable, orientation: dict[str, int], scale: object = None
) -> tuple[bool, str]:
    """Whether higher human scores are better, with a sentence on why that was assumed.

    Inferred from the name of the column or of the scale (such as "mqm"), otherwise from the
    correlation with metrics known to be larger for better output, otherwise yes.
    """
    rated = np.isfinite(table.human)
    scores = table.human[rated]
    told = [*names, scale] if isinstance(scale, str) else names
    words = {word for name in told for word in io.parts(name)}
    if words & _ERRORS:
        higher = bool((scores <= 0).all() and (scores < 0).any())
        how = "counts errors, and is negative" if higher else "counts errors"
        which = next(name for name in told if set(io.parts(name)) & _ERRORS)
        return higher, f"{_way(higher)}, as {which!r} {how}"
    if isinstance(scale, str):
        return True, f"{_way(True)}, as on the scale {scale!r}"
    from scipy.stats import rankdata

    followed = 0.0
    for name, values in table.metrics.items():
        seen = values[rated]
        good = np.isfinite(seen)
        sign = orientation.get(name, known_orientation(name, values[np.isfinite(values)])) or 0
        if sign and good.sum() > 2:
            # By ranks: one typing error, 250 for 2.5, must not reverse the ranking.
            r = correlation(rankdata(seen[good]), rankdata(scores[good]))
            ratio = sign * r * np.sqrt(good.sum())
            followed = ratio if abs(ratio) > abs(followed) else followed  # not if NaN
    if abs(followed) > _CLEAR:
        higher = bool(followed > 0)
        return higher, f"{_way(higher)}, as the scores follow the metrics"
    return True, "higher scores are assumed to be better; say so if they are not"


def _way(higher: bool) -> str:
    return f"{'higher' if higher else 'lower'} scores are better"


def joint_pool(
    frame: Any,
    *,
    id: str,
    system: str,
    document: str | None = None,
    metrics: Sequence[str] | str = (),
    cost: str | None = None,
    texts: Sequence[str] | str = (),
    orientation: Mapping[str, int] | None = None,
    per_system: bool = False,
) -> Pool:
    """A pool with one row per segment, from a table with one row per segment and system.

    Any sampler then picks segments suited to all systems at once; rating these for every system
    makes differences two to five times as precise as separate samples.

    Parameters
    ----------
    frame
        Any dataframe.
    id, system, document
        Column names; ids identify segments and are the same for all systems.
    metrics
        Averaged over the systems. A metric that some outputs lack is an error.
    cost
        Cost of rating one output; a segment costs their sum.
    texts
        Columns that are the same for all systems, such as the source.
    orientation
        As in `Pool`.
    per_system
        Keep each metric of each system as a separate column, called ``metric:system``.

    Examples
    --------
    >>> from fewgold.datasets import demo_frame
    >>> joint_pool(demo_frame(), id="segment", system="system", document="document",
    ...            metrics=["comet", "ter"])
    Pool(1418 segments, 130 documents, metrics: comet, ter)
    """
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    columns = columns_of(frame)
    known = dict(orientation or {})
    extra = [*names, *([cost] if cost is not None else [])]
    table = read(frame, human=(), system=system, id=id, document=document, metrics=extra)
    if len(table.systems) > 1 and not (table.present.sum(0) > 1).any():
        raise DataError(
            f"no segment occurs for two systems, so none can be rated for all: does {id!r} hold "
            "segment ids, the same for all systems?"
        )
    for name in extra:
        gaps = table.present & ~np.isfinite(table.metrics[name])
        if gaps.any():
            at, count = np.argwhere(gaps)[0], int(gaps.sum())
            raise DataError(
                f"{name!r} has {count} gap{'' if count == 1 else 's'}, first for segment "
                f"{table.ids[at[1]]} of {table.systems[at[0]]}. Score every output, or leave "
                "this metric out."
            )
    joint: dict[str, FloatArray] = {}
    signs: dict[str, int] = {}
    for name in names:
        values = table.metrics[name]
        sign = known.get(name, known_orientation(name, values[np.isfinite(values)]))
        if per_system:
            if not table.present.all():
                raise DataError("metrics per system need every system on every segment.")
            parts = {f"{name}:{s}": row for s, row in zip(table.systems, values, strict=True)}
        else:
            parts = {name: np.nansum(values, 0) / table.present.sum(0)}
        joint |= parts
        signs |= {part: sign for part in parts if sign is not None}
    labels = [texts] if isinstance(texts, str) else list(texts)
    return Pool(
        ids=table.ids,
        metrics=joint,
        documents=table.documents,
        cost=None if cost is None else np.nansum(table.metrics[cost], 0),
        texts={name: _same(name, columns, columns[id]) for name in labels},
        orientation=signs,
    )


def _same(name: str, columns: Mapping[str, NDArray[Any]], ids: NDArray[Any]) -> NDArray[Any]:
    """A text of each segment, which must not depend on the system."""
    if name not in columns:
        raise UnknownNameError("column", name, columns)
    codes = codes_of(np.array([str(i) for i in ids.tolist()]))
    first = np.unique(codes, return_index=True)[1]
    values = columns[name]
    wrong = np.flatnonzero(values != values[first][codes])
    if wrong.size:
        raise DataError(
            f"the text {name!r} of segment {ids[wrong[0]]} differs between systems. Only texts "
            "that all systems share belong in the pool."
        )
    return np.asarray(values[first])
