"""Questions that samplers and estimators ask about a pool on disk, each one query."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold._orientation import known_orientation
from fewgold.errors import DataError
from fewgold.stored._engine import Engine
from fewgold.stored._groups import Groups, MergedGroups, score_bins
from fewgold.stored._line import Located, locate
from fewgold.stored._moments import Moments, correlations, moments
from fewgold.stored._roles import Columns

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

    def everywhere(self, metric: str) -> FloatArray:
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
