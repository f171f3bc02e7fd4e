"""Queries of samplers and estimators about a pool on disk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.arrays import FloatArray, IntArray
from fewgold.errors import DataError
from fewgold.io.columns import known_orientation
from fewgold.pool import lacks_documents, lacks_metrics, oriented
from fewgold.stored.groups import (
    Groups,
    Located,
    MergedGroups,
    Wanted,
    fetch_numbers,
    fetch_rows,
    locate,
    score_bins,
    score_cells,
)
from fewgold.stored.sources import NUMBERS, TableView

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PoolMoments:
    """Size of the pool, and mean, standard deviation (divisor N) and ends of its numbers.

    Metrics come in the order of `ColumnRoles.metrics`, then the expected spread and the cost, if
    there are any.
    """

    size: int
    mean: FloatArray
    sd: FloatArray
    low: FloatArray
    high: FloatArray
    first_id: str
    last_id: str
    #: Deviations are taken from here and then from `above`, since a mean far from 0 has too few
    #: digits for a small spread.
    pivot: FloatArray
    above: FloatArray

    @property
    def scale(self) -> FloatArray:
        """The divisor of deviations: constant metrics become 0, as in `Pool.standardised`."""
        top = np.maximum(np.abs(self.low), np.abs(self.high))
        return np.where(self.sd > 1e-13 * top, self.sd, np.inf)


def moments(view: TableView, *, whole: bool = True) -> PoolMoments:
    """One pass over ids and numbers. Refuses what a pool in memory would refuse.

    In a part of a pool (not ``whole``) a metric may be constant.
    """
    columns = view.columns
    names = columns.numbers
    called = [f"metric {m!r}" for m in columns.metrics]
    if columns.spread is not None:
        what = "probability" if columns.probability else "expected spread"
        called.append(f"{what} {columns.spread!r}")
    called += ["cost"] * (columns.cost is not None)
    labels = {"id_": "ids"} | ({"doc_": "documents"} if columns.document is not None else {})
    row = _ends(view, [*labels, *names], names)
    size = int(row["size"])
    if not size:
        raise DataError("the pool is empty; expected at least one segment.")
    for c, what in labels.items():
        if int(row[f"known_{c}"]) < size:
            raise DataError(
                f"{what} are missing for {size - int(row[f'known_{c}'])} of {size} rows. Fill "
                "them in, or remove those rows."
            )
    low, high = (np.array([row[f"{k}_{c}"] for c in names], dtype=np.float64) for k in _ENDS)
    whole_numbers = all(int(row[f"known_{c}"]) == size for c in names)
    if not (whole_numbers and np.isfinite(low).all() and np.isfinite(high).all()):
        _refuse_broken(view, dict(zip(names, called, strict=True)))
    at = len(columns.metrics)
    if columns.probability:
        if low[at] < 0 or high[at] > 1:
            raise DataError(
                f"probabilities lie between 0 and 1; those of {columns.spread!r} range from "
                f"{low[at]:g} to {high[at]:g}. If they are spreads, leave out ':probability'."
            )
        low[at], high[at] = 0.0, 0.5  # the range of √(q(1−q)); its own pass is more precise
    mean, sd, pivot, above = _sums(view, names, low, high, size)
    if not np.isfinite(mean).all():  # not every writer records NaN in its footers
        _refuse_broken(view, dict(zip(names, called, strict=True)))
    for k, name in enumerate(columns.metrics):
        if whole and size > 1 and low[k] == high[k]:
            raise DataError(
                f"metric {name!r} is constant ({low[k]:g} for all {size} segments), so it "
                "carries no information. Leave it out, or check the column."
            )
    if columns.spread is not None and (low[at] < 0 or not mean[at] > 0):
        raise DataError(
            f"the expected spread {columns.spread!r} must be at least 0 for every segment and "
            f"above 0 for some; the least is {low[at]:g}, the mean {mean[at]:g}."
        )
    if columns.cost is not None and low[-1] <= 0:
        raise DataError(f"cost must be above 0 for every segment; the least is {low[-1]:g}.")
    ends = str(row["first_id"]), str(row["last_id"])
    return PoolMoments(size, mean, sd, low, high, *ends, pivot, above)


_ENDS = ("low", "high")


def _ends(view: TableView, known: list[str], numbers: list[str]) -> dict[str, Any]:
    """Counts, first and last id, and min/max of numbers, from the Parquet footers."""
    inner = {"size": ("sum", "count(*)")}
    inner |= {"first_id": ("min", "min(id_)"), "last_id": ("max", "max(id_)")}
    inner |= {f"known_{c}": ("sum", f"count({c}raw)") for c in known}
    for c in numbers:
        inner |= {f"low_{c}": ("min", f"min({c}raw)"), f"high_{c}": ("max", f"max({c}raw)")}
    one = ", ".join(f"{what} AS {name}" for name, (_, what) in inner.items())
    tables = view.files or (view.table,)
    each = " UNION ALL ".join(f"SELECT {one} FROM {table} AS t" for table in tables)
    both = ", ".join(f"{how}({name}) AS {name}" for name, (how, _) in inner.items())
    row = view.row(f"SELECT {both} FROM ({each}) AS f", "Reading the metrics")
    return {str(k): v for k, v in row.items()}


def _refuse_broken(view: TableView, numbers: dict[str, str]) -> None:
    """Say which numbers are missing or infinite, and how many."""
    parts = ["count(*) AS size"]
    for c in numbers:
        broken = f"{c} IS NULL OR isnan({c}) OR isinf({c})"
        parts.append(f"sum(CASE WHEN {broken} THEN 1 ELSE 0 END) AS broken_{c}")
    row = view.row(f"SELECT {', '.join(parts)} FROM {view.table}", "Reading the metrics")
    for c, what in numbers.items():
        if int(row[f"broken_{c}"]):
            raise DataError(
                f"{what} has {int(row[f'broken_{c}'])} missing or infinite values of "
                f"{int(row['size'])}. Score every segment, or leave {what} out."
            )


def _sums(
    view: TableView, names: list[str], low: FloatArray, high: FloatArray, size: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Means and standard deviations, and the pivots of deviations, in two steps.

    Relative to the middle of each range and in units of half its width, numbers are between −1 and
    1, so plain sums neither overflow nor lose digits, unless nearly all are close together and a
    few far off: then a second pass is relative to the mean.
    """
    pivot = low / 2 + high / 2
    half = np.maximum(high / 2 - low / 2, np.finfo(float).tiny)
    unit = np.exp2(np.ceil(np.log2(half)).clip(-1000, 1000))
    first, second = _about(view, names, pivot, unit, size)
    spread = second - first**2
    close = np.flatnonzero((spread < 1e-6) & (low < high))
    if close.size:
        pivot[close] += unit[close] * first[close]
        spread_in = np.sqrt(np.maximum(spread[close], 1e-30))
        unit[close] *= np.exp2(np.ceil(np.log2(spread_in)))
        some = [names[k] for k in close]
        first[close], second[close] = _about(view, some, pivot[close], unit[close], size)
        spread[close] = second[close] - first[close] ** 2
    above = unit * first
    sd = unit * np.sqrt(np.maximum(spread, 0.0))
    return pivot + above, sd, pivot, above


def _about(
    view: TableView, names: list[str], pivot: FloatArray, unit: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Means of deviations and of their squares."""
    if not names:
        return np.empty(0), np.empty(0)
    inner, outer = [], []
    for k, c in enumerate(names):
        inner.append(f"({c} - ({pivot[k]:.17e})) / ({unit[k]:.17e}) AS d{k}")
        outer.append(f"sum(d{k}) AS s{k}, sum(d{k} * d{k}) AS q{k}")
    sql = f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM {view.table}) AS d"
    row = view.row(sql, "Reading the metrics")
    found = [[float(row[f"{w}{k}"]) for k in range(len(names))] for w in "sq"]
    return np.array(found[0]) / size, np.array(found[1]) / size


# Approximate rows per cell of a fine line of scores, and its largest number of cells as a power of
# two.
_FINE = (20, 22)


class Scan:
    """The queries of samplers and estimators about a pool on disk.

    ``whole`` is False for the rest of a pool after some of its segments were taken.
    """

    def __init__(self, view: TableView, *, whole: bool = True) -> None:
        self.view, self.columns, self._whole = view, view.columns, whole
        #: Tables with the number of segments of each document or stratum, by column.
        self._counts: dict[str, str] = {}

    @cached_property
    def moments(self) -> PoolMoments:
        """Size, and mean, standard deviation and ends of every metric: one pass."""
        return moments(self.view, whole=self._whole)

    @cached_property
    def orientation(self) -> Mapping[str, int]:
        """The orientation of each metric, where known; see `Pool`."""
        ends = np.stack([self.moments.low, self.moments.high], axis=-1)
        known = {m: known_orientation(m, e) for m, e in zip(self.metrics, ends, strict=False)}
        return {m: sign for m, sign in known.items() if sign is not None} | dict(
            self.columns.orientation
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """Names of the metrics."""
        return self.columns.metrics

    @cached_property
    def binary_metrics(self) -> tuple[str, ...]:
        """Metrics that are 0 or 1 for every segment."""
        ends = zip(self.metrics, self.moments.low, self.moments.high, strict=False)
        asked = [name for name, low, high in ends if low == 0 and high == 1]
        if not asked:
            return ()
        parts = [
            f"sum(CASE WHEN {self.columns.metric(m)} IN (0, 1) THEN 0 ELSE 1 END) AS n{k}"
            for k, m in enumerate(asked)
        ]
        row = self.view.row(f"SELECT {', '.join(parts)} FROM {self.view.table}", "Reading judges")
        return tuple(m for m, other in zip(asked, row, strict=True) if other == 0)

    @property
    def counted_documents(self) -> bool:
        """Whether documents have already been counted, so that the number is available at once."""
        return "doc_" in self._counts

    @cached_property
    def n_documents(self) -> int:
        """How many documents there are."""
        table = self._counted("document")
        return int(self.view.row(f"SELECT count(*) AS n FROM {table}", "Counting")["n"])

    def _counted(self, column: str) -> str:
        """A table of the values of a column and their numbers of segments."""
        if column == "document" and self.columns.document is None:
            raise lacks_documents()
        label = self.columns.label(column)
        if label not in self._counts:
            name = f"groups_{next(NUMBERS)}"
            self.view.engine._keep(
                name,
                f"SELECT {_known(label)} AS label, count(*) AS size "
                f"FROM {self.view.table} GROUP BY 1",
                "Counting documents" if label == "doc_" else "Counting strata",
            )
            self._counts[label] = name
        return self._counts[label]

    def sizes(self, column: str) -> tuple[IntArray, IntArray]:
        """The sizes of a column's groups, and how many groups have each size."""
        sql = f"SELECT size, count(*) AS n FROM {self._counted(column)} GROUP BY 1 ORDER BY 1"
        found = self.view.engine._frame(sql, "Counting strata")
        return found["size"].to_numpy(np.int64), found["n"].to_numpy(np.int64)

    def line(self, column: str, salt: str, positions: IntArray, most: int | None = None) -> Located:
        """The rows at some positions of the line of documents in random order."""
        return locate(self.view.engine, self._counted(column), salt, positions, most)

    def label(self, column: str) -> str:
        """SQL for the stratum of a row, the same as in `groups` and `line`."""
        self._counted(column)
        return _known(self.columns.label(column))

    def numbers(self, wanted: Wanted, salt: str) -> tuple[pd.DataFrame, Wanted]:
        """Numbers and documents of the requested rows, in that order, without ids and texts.

        Also returns a key for finding these rows faster, valid until `forget` is called.
        """
        documents = ["doc_"] * (self.columns.document is not None)
        wanted = replace(wanted, ranks=(*self.columns.numbers, *documents))
        keep = f"near_{next(NUMBERS)}" if self.view.placed else None
        found = fetch_numbers(self.view, wanted, salt, keep)
        return found, replace(wanted, near=keep)

    def forget(self, wanted: Wanted) -> None:
        """Drop the tables of rows near the requested ones, which were kept for a second look."""
        if wanted.near is not None:
            self.view.engine._drop(wanted.near)

    def rows(self, wanted: Wanted, salt: str, order: str | None = None) -> pd.DataFrame:
        """The requested rows, in that order."""
        found = fetch_rows(self.view, wanted, salt, order)
        # Chosen ids that occur in other rows are refused, since answers could not be matched.
        self.view.refuse_twice(found["id_raw"])
        return found

    def groups(self, column: str, least: int = 0, *, detailed: bool = False) -> Groups:
        """The strata that a column makes, those of at least ``least`` segments, sorted by label.

        ``detailed`` groups include the spread of the composite and costs.
        """
        by = self.label(column)
        if not detailed:
            sql = f"SELECT label, size FROM {self._counted(column)}"
            found = self.view.engine._frame(f"{sql} WHERE size >= {least}", "Counting strata")
        else:
            parts = [f"{by} AS label", "count(*) AS size"]
            if self.metrics:
                parts.append(f"stddev_pop({self.score(None)}) AS sd")
            if self.columns.cost is not None:
                parts += ["avg(cost_) AS cost", "stddev_pop(cost_) AS cost_sd"]
            found = self.view.engine._frame(
                f"SELECT {', '.join(parts)} FROM {self.view.table} GROUP BY 1", "Counting strata"
            )
        found = found.sort_values("label")
        more = {k: found[k].to_numpy() for k in ("sd", "cost", "cost_sd") if k in found}
        return Groups(by, found["label"].to_numpy(), found["size"].to_numpy(np.int64), **more)

    def bins(self, metric: str | None, bins: int) -> MergedGroups:
        """Bins of similar scores with about equal numbers of segments."""
        return score_bins(self.view, self.score(metric), bins, self.moments.size)

    def score_line(self) -> Groups:
        """All segments in a line by their metrics, or else by spread or cost, in small cells."""
        parts = []
        for k, name in enumerate(self.columns.numbers[: len(self.metrics) or 1]):
            mean, slope = self.rounded(k)
            parts.append(f"({name} - ({mean:.17e})) * ({slope:.17e})")
        score = " + ".join(parts)
        return score_cells(self.view, score, self.moments.size, *_FINE)

    def spread_in(self, merged: MergedGroups) -> tuple[FloatArray, FloatArray | None]:
        """Standard deviation of the composite in each bin, and the mean cost, if there is one."""
        sd = self._in_bins(merged, self.score(None))[1]
        return sd, None if self.columns.cost is None else self._in_bins(merged, "cost_")[0]

    def cost_in(self, groups: Groups | MergedGroups) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the cost in each detailed group, or in each bin."""
        if isinstance(groups, MergedGroups):
            return self._in_bins(groups, "cost_")
        assert groups.cost is not None and groups.cost_sd is not None
        return groups.cost, groups.cost_sd

    def _in_bins(self, merged: MergedGroups, value: str) -> tuple[FloatArray, FloatArray]:
        found = self.view.engine._frame(
            f"SELECT {merged.parts.by} AS cell_, avg({value}) AS mean_, var_pop({value}) AS var_ "
            f"FROM {self.view.table} GROUP BY 1",
            "Comparing bins",
        ).sort_values("cell_")
        own = merged.parts.size
        mean, var = found["mean_"].to_numpy(), found["var_"].to_numpy()
        total = np.bincount(merged.into, own)
        centre = np.bincount(merged.into, own * mean) / total
        square = np.bincount(merged.into, own * (var + (mean - centre[merged.into]) ** 2)) / total
        return centre, np.asarray(np.sqrt(np.maximum(square, 0.0)))

    def score(self, metric: str | None) -> str:
        """A standardised metric, or the composite of all of them, as SQL."""
        if metric is not None:
            return self._linear([metric], np.ones(1))
        names, weights = self.composite_weights
        return self._linear(names, weights)

    def _linear(self, names: Sequence[str], weights: FloatArray, *, rounded: bool = True) -> str:
        """Σ weight · standardised metric as SQL; bins are decided with `rounded` values."""
        parts = []
        for name, weight in zip(names, weights, strict=True):
            column = self.columns.metric(name)
            k = self.metrics.index(name)
            mean, slope = self.rounded(k, weight)
            if not rounded and slope:
                column = f"({column} - ({self.moments.pivot[k]:.17e}))"
                mean, slope = self.moments.above[k], weight / self.moments.scale[k]
            parts.append(f"({column} - ({mean:.17e})) * ({slope:.17e})")
        return " + ".join(parts)

    def rounded(self, k: int, weight: float = 1.0) -> tuple[float, float]:
        """Mean of the k-th number and ``weight`` over its standard deviation, rounded.

        Threads sum in any order, so the last digits of moments differ between runs. Values that
        decide which rows are drawn must not differ. Means are rounded to multiples of 1/π of a
        digit, since with multiples of a digit the means of scores with few digits would often be
        ties.
        """
        mean, scale = float(self.moments.mean[k]), float(self.moments.scale[k])
        slope = weight / scale
        if not slope:
            return mean, slope
        digits = int(np.ceil(-np.log10(scale))) + 4
        unit = 10.0 ** -np.clip(digits, -300, 300) / np.pi
        mean = float(np.round(mean / unit) * unit) if abs(digits) < 300 else mean
        return mean, float(f"{slope:.6e}")

    @cached_property
    def composite_weights(self) -> tuple[list[str], FloatArray]:
        """Metrics of the composite and their weights, as in `Pool.composite`."""
        if not self.metrics:
            raise lacks_metrics()
        names = [m for m in self.metrics if self.orientation.get(m) != 0] or list(self.metrics)
        signs = np.array([float(self.orientation.get(m, 0)) for m in names])
        if not signs.all():
            signs = oriented(signs, self.correlation(names))
        return names, signs / len(names)

    def correlation(self, names: Sequence[str]) -> FloatArray:
        """Correlations of metrics over the pool: (p, p)."""
        flat = ~np.isfinite(self.moments.scale)
        pairs = [(i, j) for i in range(len(names)) for j in range(i)]
        matrix = np.eye(len(names))
        if pairs:
            scores = [self._linear([name], np.ones(1), rounded=False) for name in names]
            inner = ", ".join(f"{z} AS z{k}" for k, z in enumerate(scores))
            parts = [f"sum(z{i} * z{j}) AS r{k}" for k, (i, j) in enumerate(pairs)]
            row = self.view.row(
                f"SELECT count(*) AS size, {', '.join(parts)} "
                f"FROM (SELECT {inner} FROM {self.view.table}) AS z",
                "Comparing the metrics",
            )
            for k, (i, j) in enumerate(pairs):
                matrix[i, j] = matrix[j, i] = float(row[f"r{k}"]) / float(row["size"])
        matrix[[flat[self.metrics.index(name)] for name in names]] = 0.0
        return matrix

    def range_of(self, names: Sequence[str], weights: FloatArray) -> tuple[float, float]:
        """Smallest and largest value of a weighted sum of standardised metrics."""
        score = self._linear(names, weights, rounded=False)
        row = self.view.row(
            f"SELECT min({score}) AS low, max({score}) AS high FROM {self.view.table}", "Comparing"
        )
        return float(row["low"]), float(row["high"])

    def column(self, name: str, but: Sequence[str] = ()) -> FloatArray:
        """A metric, or the composite as ``mean``, of all segments except some, in memory."""
        if name == "mean":
            expression = self._linear(*self.composite_weights, rounded=False)
        else:
            expression = self.columns.metric(name)
        with self.view.ids_table(but) as left_out:
            sql = f"""SELECT {expression} AS value_ FROM {self.view.table} AS p
                WHERE NOT EXISTS (SELECT 1 FROM {left_out} AS b WHERE b.id_ = p.id_)"""
            found = self.view.engine._frame(sql, f"Reading {name}")
        return np.asarray(found["value_"].to_numpy(np.float64))

    def chunks(self, names: Sequence[str] | None = None) -> Iterator[FloatArray]:
        """Metrics of all segments, some at a time, standardised: (m, p), in any order."""
        names = list(self.metrics) if names is None else list(names)
        which = [self.metrics.index(m) for m in names]
        listed = ", ".join(self.columns.metric(m) for m in names)
        m = self.moments
        pivot, above, scale = m.pivot[which], m.above[which], m.scale[which]
        seen, doing = 0, "Predicting"
        engine = self.view.engine
        for part in engine._chunks(f"SELECT {listed} FROM {self.view.table}", doing):
            yield (part.to_numpy(np.float64) - pivot - above) / scale
            seen += len(part)
            if engine.progress is not None:
                engine.progress(doing, seen / m.size)

    @cached_property
    def document_cost_variance(self) -> float:
        """Variance over documents of their cost in excess of the mean cost for their size."""
        mean = float(self.moments.mean[-1])
        row = self.view.row(
            f"SELECT var_pop(over_) AS v FROM (SELECT sum(cost_ - ({mean:.17e})) AS over_ "
            f"FROM {self.view.table} GROUP BY {self.label('document')}) AS d",
            "Reading costs",
        )
        return float(row["v"])


def _known(label: str) -> str:
    """A label as SQL; rows without one share an empty label. Documents are known to be present."""
    return label if label == "doc_" else f"coalesce({label}, '')"
