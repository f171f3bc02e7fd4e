"""What estimators must know of the whole pool: its size, and the moments of its metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.errors import DataError
from fewgold.stored._engine import Engine
from fewgold.stored._roles import Columns


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
