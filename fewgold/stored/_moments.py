"""What estimators must know of the whole pool: its size, and the moments of its metrics."""

from __future__ import annotations

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


def moments(engine: Engine, table: str, columns: Columns, *, whole: bool = True) -> Moments:
    """One pass over ids and numbers. Refuses what a pool in memory would refuse.

    In a part of a pool (not ``whole``) a metric may be constant.
    """
    names = [f"m{k}_" for k in range(len(columns.metrics))]
    called = [f"metric {m!r}" for m in columns.metrics]
    if columns.cost is not None:
        names.append("cost_")
        called.append("cost")
    labels = {"id_": "ids"} | ({"doc_": "documents"} if columns.document is not None else {})
    parts = ["count(*) AS size", "min(id_) AS first_id", "max(id_) AS last_id"]
    # The raw column: counting what is not null is then answered by the footers of the files.
    parts += [f"count({c}raw) AS known_{c}" for c in labels]
    for c in names:
        broken = f"{c} IS NULL OR isnan({c}) OR isinf({c})"
        parts += [
            f"avg({c}) AS mean_{c}", f"stddev_pop({c}) AS sd_{c}", f"min({c}) AS low_{c}",
            f"max({c}) AS high_{c}", f"sum(CASE WHEN {broken} THEN 1 ELSE 0 END) AS broken_{c}",
        ]  # fmt: skip
    row = _checked(engine, table, parts, dict(zip(names, called, strict=True)))
    size = int(row["size"])
    if not size:
        raise DataError("the pool is empty. Expected at least one segment.")
    for c, what in labels.items():
        if int(row[f"known_{c}"]) < size:
            raise DataError(
                f"{what} are missing for {size - int(row[f'known_{c}'])} of {size} rows. Give "
                "every row one, or leave those rows out."
            )
    mean, sd, low, high = (
        np.array([row.get(f"{k}_{c}", np.nan) for c in names], dtype=np.float64) for k in _KINDS
    )
    pivot, above = _refine(engine, table, names, mean, sd, low, high)
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


_KINDS = ("mean", "sd", "low", "high")


def _checked(
    engine: Engine, table: str, parts: list[str], numbers: dict[str, str]
) -> dict[str, Any]:
    """The one row of an aggregate; numbers that are missing or infinite are refused."""
    try:
        row = engine.frame(f"SELECT {', '.join(parts)} FROM {table}", "Reading the metrics")
    except DataError as error:
        if "STDDEV" not in str(error).upper():
            raise
        # An infinite value: DuckDB gives up before it has counted them. Count them alone.
        counts = [p for p in parts if not p.startswith(("avg(", "stddev_pop("))]
        row = engine.frame(f"SELECT {', '.join(counts)} FROM {table}", "Reading the metrics")
    found = {str(k): v for k, v in row.iloc[0].items()}
    for c, what in numbers.items():
        broken = found[f"broken_{c}"]
        if found["size"] and broken == broken and int(broken):
            raise DataError(
                f"{what} has {int(broken)} missing or infinite values of "
                f"{int(found['size'])}. Score every segment, or leave it out."
            )
    return found


def _refine(
    engine: Engine, table: str, names: list[str], mean: FloatArray, sd: FloatArray,
    low: FloatArray, high: FloatArray,
) -> tuple[FloatArray, FloatArray]:  # fmt: skip
    """Once more from the least value and in its units, where plain sums lose digits or overflow.

    Gives what deviations are counted from, in two steps.
    """
    pivot, above = np.zeros(mean.size), mean.copy()
    top = np.maximum(np.abs(low), np.abs(high))
    odd = ~np.isfinite(sd) | (np.abs(mean) > 1e3 * sd) | (top > 1e100) | (top < 1e-100)
    again = np.flatnonzero(odd & (low < high))
    unit = np.exp2(np.ceil(np.log2(np.where(top > 0, top, 1.0))).clip(-1000, 1000))
    parts = []
    for k in again:
        value = f"({names[k]} / ({unit[k]:.17e}) - ({low[k] / unit[k]:.17e}))"
        parts += [f"avg({value}) AS mean_{k}", f"stddev_pop({value}) AS sd_{k}"]
    if parts:
        row = engine.frame(f"SELECT {', '.join(parts)} FROM {table}", "Reading the metrics")
        for k in again:
            mean[k] = low[k] + unit[k] * float(row[f"mean_{k}"].iloc[0])
            sd[k] = unit[k] * float(row[f"sd_{k}"].iloc[0])
            above[k] = mean[k]
            if top[k] < 1e300:
                pivot[k], above[k] = low[k], unit[k] * float(row[f"mean_{k}"].iloc[0])
    return pivot, above


def correlations(engine: Engine, table: str, names: list[str]) -> FloatArray:
    """Correlations of metrics over the pool: (p, p)."""
    p = len(names)
    pairs = [(i, j) for i in range(p) for j in range(i)]
    matrix = np.eye(p)
    if pairs:
        parts = [f"corr({names[i]}, {names[j]}) AS r{k}" for k, (i, j) in enumerate(pairs)]
        row = engine.frame(f"SELECT {', '.join(parts)} FROM {table}", "Comparing the metrics")
        for k, (i, j) in enumerate(pairs):
            # It is not defined where a metric is constant.
            matrix[i, j] = matrix[j, i] = np.nan_to_num(float(row[f"r{k}"].iloc[0]))
    return matrix
