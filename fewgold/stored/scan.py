"""Questions that samplers and estimators ask about a pool on disk, each one query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.errors import DataError
from fewgold.io.columns import known_orientation
from fewgold.stored.engine import Engine
from fewgold.stored.groups import Groups, Located, MergedGroups, locate, score_bins
from fewgold.stored.sources import Columns

# What estimators must know of the whole pool: its size, and the moments of its metrics.


@dataclass(frozen=True)
class Moments:
    """Size of the pool, and mean, standard deviation (divisor N) and ends of its numbers.

    Metrics come in the order of `Columns.metrics`, the cost after them, if there is one.
    """

    size: int
    mean: FloatArray
    sd: FloatArray
    low: FloatArray
    high: FloatArray
    first_id: str
    last_id: str
    #: Deviations are counted from here and then from `above`: a mean far from 0 has too few digits
    #: for a small spread.
    pivot: FloatArray
    above: FloatArray

    @property
    def scale(self) -> FloatArray:
        """What deviations are divided by: constant metrics become 0, as in `Pool.standardised`."""
        top = np.maximum(np.abs(self.low), np.abs(self.high))
        return np.where(self.sd > 1e-13 * top, self.sd, np.inf)


def moments(
    engine: Engine,
    table: str,
    columns: Columns,
    *,
    whole: bool = True,
    files: Sequence[str] = (),
) -> Moments:
    """One pass over ids and numbers. Refuses what a pool in memory would refuse.

    In a part of a pool (not ``whole``) a metric may be constant. ``files`` are the parts of the
    table, each of which its footer knows the ends of.
    """
    names = [f"m{k}_" for k in range(len(columns.metrics))]
    called = [f"metric {m!r}" for m in columns.metrics]
    if columns.cost is not None:
        names.append("cost_")
        called.append("cost")
    labels = {"id_": "ids"} | ({"doc_": "documents"} if columns.document is not None else {})
    row = _ends(engine, files or (table,), [*labels, *names], names)
    size = int(row["size"])
    if not size:
        raise DataError("the pool is empty. Expected at least one segment.")
    for c, what in labels.items():
        if int(row[f"known_{c}"]) < size:
            raise DataError(
                f"{what} are missing for {size - int(row[f'known_{c}'])} of {size} rows. Give "
                "every row one, or leave those rows out."
            )
    low, high = (np.array([row[f"{k}_{c}"] for c in names], dtype=np.float64) for k in _ENDS)
    whole_numbers = all(int(row[f"known_{c}"]) == size for c in names)
    if not (whole_numbers and np.isfinite(low).all() and np.isfinite(high).all()):
        _refuse_broken(engine, table, dict(zip(names, called, strict=True)))
    mean, sd, pivot, above = _sums(engine, table, names, low, high, size)
    if not np.isfinite(mean).all():  # not every writer tells of what is no number in its footers
        _refuse_broken(engine, table, dict(zip(names, called, strict=True)))
    for k, name in enumerate(columns.metrics):
        if whole and size > 1 and low[k] == high[k]:
            raise DataError(
                f"metric {name!r} is constant ({low[k]:g} for all {size} segments), so it says "
                "nothing. Leave it out, or check the column."
            )
    if columns.cost is not None and low[-1] <= 0:
        raise DataError(f"cost must be above 0 for every segment; the least is {low[-1]:g}.")
    ends = str(row["first_id"]), str(row["last_id"])
    return Moments(size, mean, sd, low, high, *ends, pivot, above)


_ENDS = ("low", "high")


def _ends(
    engine: Engine, tables: Sequence[str], known: list[str], numbers: list[str]
) -> dict[str, Any]:
    """How many rows, the first and last id, what is there and its ends: told by the footers."""
    inner = {"size": ("sum", "count(*)")}
    inner |= {"first_id": ("min", "min(id_)"), "last_id": ("max", "max(id_)")}
    inner |= {f"known_{c}": ("sum", f"count({c}raw)") for c in known}
    for c in numbers:
        inner |= {f"low_{c}": ("min", f"min({c}raw)"), f"high_{c}": ("max", f"max({c}raw)")}
    one = ", ".join(f"{what} AS {name}" for name, (_, what) in inner.items())
    each = " UNION ALL ".join(f"SELECT {one} FROM {table} AS t" for table in tables)
    both = ", ".join(f"{how}({name}) AS {name}" for name, (how, _) in inner.items())
    row = engine.frame(f"SELECT {both} FROM ({each}) AS f", "Reading the metrics")
    return {str(k): v for k, v in row.iloc[0].items()}


def _refuse_broken(engine: Engine, table: str, numbers: dict[str, str]) -> None:
    """Say which numbers are missing or infinite, and how many."""
    parts = ["count(*) AS size"]
    for c in numbers:
        broken = f"{c} IS NULL OR isnan({c}) OR isinf({c})"
        parts.append(f"sum(CASE WHEN {broken} THEN 1 ELSE 0 END) AS broken_{c}")
    row = engine.frame(f"SELECT {', '.join(parts)} FROM {table}", "Reading the metrics").iloc[0]
    for c, what in numbers.items():
        if int(row[f"broken_{c}"]):
            raise DataError(
                f"{what} has {int(row[f'broken_{c}'])} missing or infinite values of "
                f"{int(row['size'])}. Score every segment, or leave it out."
            )


def _sums(
    engine: Engine, table: str, names: list[str], low: FloatArray, high: FloatArray, size: int
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Means and standard deviations, and what deviations are counted from, in two steps.

    Counted from the middle of each range and in units of its half, numbers lie from −1 to 1, so
    that plain sums neither overflow nor lose digits, unless nearly all lie close together and few
    far off: those are counted once more, from the mean.
    """
    pivot = low / 2 + high / 2
    half = np.maximum(high / 2 - low / 2, np.finfo(float).tiny)
    unit = np.exp2(np.ceil(np.log2(half)).clip(-1000, 1000))
    first, second = _about(engine, table, names, pivot, unit, size)
    spread = second - first**2
    close = np.flatnonzero((spread < 1e-6) & (low < high))
    if close.size:
        pivot[close] += unit[close] * first[close]
        spread_in = np.sqrt(np.maximum(spread[close], 1e-30))
        unit[close] *= np.exp2(np.ceil(np.log2(spread_in)))
        some = [names[k] for k in close]
        first[close], second[close] = _about(engine, table, some, pivot[close], unit[close], size)
        spread[close] = second[close] - first[close] ** 2
    above = unit * first
    sd = unit * np.sqrt(np.maximum(spread, 0.0))
    return pivot + above, sd, pivot, above


def _about(
    engine: Engine, table: str, names: list[str], pivot: FloatArray, unit: FloatArray, size: int
) -> tuple[FloatArray, FloatArray]:
    """Means of deviations and of their squares."""
    if not names:
        return np.empty(0), np.empty(0)
    inner, outer = [], []
    for k, c in enumerate(names):
        inner.append(f"({c} - ({pivot[k]:.17e})) / ({unit[k]:.17e}) AS d{k}")
        outer.append(f"sum(d{k}) AS s{k}, sum(d{k} * d{k}) AS q{k}")
    sql = f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM {table}) AS d"
    row = engine.frame(sql, "Reading the metrics").iloc[0]
    found = [[float(row[f"{w}{k}"]) for k in range(len(names))] for w in "sq"]
    return np.array(found[0]) / size, np.array(found[1]) / size


def correlations(engine: Engine, table: str, names: list[str]) -> FloatArray:
    """Correlations of standardised metrics over the pool: (p, p)."""
    p = len(names)
    pairs = [(i, j) for i in range(p) for j in range(i)]
    matrix = np.eye(p)
    if pairs:
        inner = [f"{z} AS z{k}" for k, z in enumerate(names)]
        parts = [f"sum(z{i} * z{j}) AS r{k}" for k, (i, j) in enumerate(pairs)]
        row = engine.frame(
            f"SELECT count(*) AS size, {', '.join(parts)} "
            f"FROM (SELECT {', '.join(inner)} FROM {table}) AS z",
            "Comparing the metrics",
        ).iloc[0]
        for k, (i, j) in enumerate(pairs):
            matrix[i, j] = matrix[j, i] = float(row[f"r{k}"]) / float(row["size"])
    return matrix


#: Numbers for the names of tables, so that pools of one engine do not meet.
NUMBERS = count()


class Scan:
    """A table of an engine and the roles of its columns."""

    engine: Engine
    columns: Columns
    _table: str
    #: The same table file by file, where the footers of the files are worth asking.
    _files: tuple[str, ...] = ()
    _whole = True  # False for what is left of a pool

    def __len__(self) -> int:
        return self.moments.size

    @cached_property
    def moments(self) -> Moments:
        """Size, and mean, standard deviation and ends of every metric: one pass."""
        return moments(self.engine, self._table, self.columns, whole=self._whole, files=self._files)

    @cached_property
    def orientation(self) -> Mapping[str, int]:
        """Which way each metric points, where it is known; see `Pool`."""
        known = {}
        for k, name in enumerate(self.columns.metrics):
            ends = np.array([self.moments.low[k], self.moments.high[k]])
            sign = known_orientation(name, ends)
            if sign is not None:
                known[name] = sign
        return known | dict(self.columns.orientation)

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
        found = self.engine.frame(f"SELECT {', '.join(parts)} FROM {self._table}", "Reading judges")
        return tuple(m for m, other in zip(asked, found.iloc[0], strict=True) if other == 0)

    @property
    def has_documents(self) -> bool:
        """Whether it is known which document each segment belongs to."""
        return self.columns.document is not None

    @property
    def counted_documents(self) -> bool:
        """Whether documents have been counted already, so that asking costs nothing."""
        return "doc_" in self._tables

    @cached_property
    def n_documents(self) -> int:
        """How many documents there are."""
        found = self.engine.frame(f"SELECT count(*) AS n FROM {self._documents}", "Counting")
        return int(found["n"].iloc[0])

    @cached_property
    def _documents(self) -> str:
        return self._counted("doc_" if self.columns.document is not None else None)

    def _counted(self, label: str | None) -> str:
        """A table of the values of a column and how many segments have each."""
        if label is None:
            raise DataError(
                "this needs documents, and the pool has none. Name their column "
                "(document=…, or --document on the command line) or take another strategy."
            )
        if label not in self._tables:
            name = f"groups_{next(NUMBERS)}"
            self.engine.keep(
                name,
                f"SELECT {_known(label)} AS label, count(*) AS size FROM {self._table} GROUP BY 1",
                "Counting documents" if label == "doc_" else "Counting strata",
            )
            self._tables[label] = name
        return self._tables[label]

    @cached_property
    def _tables(self) -> dict[str, str]:
        return {}

    def line(self, column: str, salt: str, positions: IntArray, most: int | None = None) -> Located:
        """What stands at some positions of the line of documents in random order."""
        return locate(self.engine, self._counted(self._label(column)), salt, positions, most)

    def _label(self, column: str) -> str | None:
        if column == "document" and self.columns.document is None:
            return None
        return self.columns.label(column)

    def label(self, column: str) -> str:
        """SQL that tells the stratum of a row, the same as in `groups` and `line`."""
        label = self._label(column)
        self._counted(label)
        return _known(str(label))

    def groups(self, column: str, least: int = 0, *, detailed: bool = False) -> Groups:
        """The strata that a column makes, those of at least ``least`` segments, sorted by label.

        ``detailed`` ones come with the spread of the composite and with costs.
        """
        by = self.label(column)
        if not detailed:
            sql = f"SELECT label, size FROM {self._counted(self._label(column))}"
            found = self.engine.frame(f"{sql} WHERE size >= {least}", "Counting strata")
        else:
            parts = [f"{by} AS label", "count(*) AS size"]
            if self.metrics:
                parts.append(f"stddev_pop({self.score(None)}) AS sd")
            if self.columns.cost is not None:
                parts += ["avg(cost_) AS cost", "stddev_pop(cost_) AS cost_sd"]
            found = self.engine.frame(
                f"SELECT {', '.join(parts)} FROM {self._table} GROUP BY 1", "Counting strata"
            )
        found = found.sort_values("label")
        more = {k: found[k].to_numpy() for k in ("sd", "cost", "cost_sd") if k in found}
        return Groups(by, found["label"].to_numpy(), found["size"].to_numpy(np.int64), **more)

    def bins(self, metric: str | None, bins: int) -> MergedGroups:
        """Bins of about as many segments of similar scores."""
        return score_bins(self.engine, self._table, self.score(metric), bins, len(self))

    def spread_in(self, merged: MergedGroups) -> tuple[FloatArray, FloatArray | None]:
        """Standard deviation of the composite in each bin, and the mean cost, if there is one."""
        sd = self._in_bins(merged, self.score(None))[1]
        return sd, None if self.columns.cost is None else self._in_bins(merged, "cost_")[0]

    def cost_in(self, merged: MergedGroups) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the cost in each bin."""
        return self._in_bins(merged, "cost_")

    def _in_bins(self, merged: MergedGroups, value: str) -> tuple[FloatArray, FloatArray]:
        found = self.engine.frame(
            f"SELECT {merged.parts.by} AS cell_, avg({value}) AS mean_, var_pop({value}) AS var_ "
            f"FROM {self._table} GROUP BY 1",
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
        """Σ weight · standardised metric as SQL.

        Threads sum up in any order, and the last digits of moments differ between two runs. What
        decides on bins must not, so its numbers are ``rounded``, which does bins no harm. Means are
        rounded to multiples of 1/π of a digit: at those of a digit itself, means of scores with
        few digits would often lie at a tie.
        """
        parts = []
        for name, weight in zip(names, weights, strict=True):
            column = self.columns.metric(name)
            k = self.metrics.index(name)
            mean, scale = self.moments.mean[k], self.moments.scale[k]
            slope = weight / scale
            if rounded and slope:
                digits = int(np.ceil(-np.log10(scale))) + 4
                unit = 10.0 ** -np.clip(digits, -300, 300) / np.pi
                mean = np.round(mean / unit) * unit if abs(digits) < 300 else mean
                slope = float(f"{slope:.6e}")
            elif slope:
                column = f"({column} - ({self.moments.pivot[k]:.17e}))"
                mean = self.moments.above[k]
            parts.append(f"({column} - ({mean:.17e})) * ({slope:.17e})")
        return " + ".join(parts)

    @cached_property
    def composite_weights(self) -> tuple[list[str], FloatArray]:
        """Metrics of the composite and their weights, as `Pool.composite` has them."""
        if not self.metrics:
            raise DataError(
                "this needs automatic metrics, and the pool has none. Name their columns "
                "(metrics=[…], or --metrics on the command line) or take another strategy."
            )
        names = [m for m in self.metrics if self.orientation.get(m) != 0] or list(self.metrics)
        signs = np.array([float(self.orientation.get(m, 0)) for m in names])
        if not signs.any() or not signs.all():
            signs = _turned(signs, self.correlation(names))
        return names, signs / len(names)

    def correlation(self, names: Sequence[str]) -> FloatArray:
        """Correlations of metrics over the pool: (p, p)."""
        flat = ~np.isfinite(self.moments.scale)
        one = np.ones(1)
        columns = [self._linear([name], one, rounded=False) for name in names]
        matrix = correlations(self.engine, self._table, columns)
        matrix[[flat[self.metrics.index(name)] for name in names]] = 0.0
        return matrix

    def range_of(self, names: Sequence[str], weights: FloatArray) -> tuple[float, float]:
        """Least and largest value that a weighted sum of standardised metrics takes."""
        score = self._linear(names, weights, rounded=False)
        row = self.engine.frame(
            f"SELECT min({score}) AS low, max({score}) AS high FROM {self._table}",
            "Comparing",
        )
        return float(row["low"].iloc[0]), float(row["high"].iloc[0])

    def _metric_values(self, metric: str) -> FloatArray:
        """A metric of all segments, or the composite (``"mean"``), in memory: (N,)."""
        return self.column(metric, ())

    def column(self, name: str, but: Sequence[str]) -> FloatArray:
        """A metric, or the composite as ``mean``, of all segments but some, in memory."""
        if name == "mean":
            expression = self._linear(*self.composite_weights, rounded=False)
        else:
            expression = self.columns.metric(name)
        self._taken("but_", but)
        sql = f"""SELECT {expression} AS value_ FROM {self._table} AS p
            WHERE NOT EXISTS (SELECT 1 FROM but_ AS b WHERE b.id_ = p.id_)"""
        values = self.engine.frame(sql, f"Reading {name}")["value_"].to_numpy(np.float64)
        self.engine.drop("but_")
        return np.asarray(values)

    def _taken(self, name: str, ids: Sequence[str]) -> None:
        import pandas as pd

        self.engine.add(name, pd.DataFrame({"id_": np.asarray(ids, dtype=object)}))

    def chunks(self, names: Sequence[str] | None = None) -> Iterator[FloatArray]:
        """Metrics of all segments, some at a time, standardised: (m, p), in any order."""
        names = list(self.metrics) if names is None else list(names)
        which = [self.metrics.index(m) for m in names]
        listed = ", ".join(self.columns.metric(m) for m in names)
        m = self.moments
        pivot, above, scale = m.pivot[which], m.above[which], m.scale[which]
        seen, doing = 0, "Predicting"
        for part in self.engine.chunks(f"SELECT {listed} FROM {self._table}", doing):
            yield (part.to_numpy(np.float64) - pivot - above) / scale
            seen += len(part)
            if self.engine.progress is not None:
                self.engine.progress(doing, seen / len(self))

    @cached_property
    def document_cost_variance(self) -> float:
        """Variance over documents of what one costs beyond its share by size."""
        mean = float(self.moments.mean[-1])
        found = self.engine.frame(
            f"SELECT var_pop(over_) AS v FROM (SELECT sum(cost_ - ({mean:.17e})) AS over_ "
            f"FROM {self._table} GROUP BY {self.label('document')}) AS d",
            "Reading costs",
        )
        return float(found["v"].iloc[0])


def _known(label: str) -> str:
    """A label as SQL; rows without one share one. Documents were checked to be there."""
    return label if label == "doc_" else f"coalesce({label}, '')"


def _turned(signs: FloatArray, correlation: FloatArray) -> FloatArray:
    """Signs for metrics of unknown orientation: the way they correlate with the others."""
    if not signs.any():
        values, vectors = np.linalg.eigh(correlation)
        first = vectors[:, int(values.argmax())]
        signs = np.sign(first) * (np.sign(first.sum()) or 1.0)
    else:
        signs = np.where(signs == 0, np.sign(correlation @ signs), signs)
    return np.where(signs == 0, 1.0, signs)
