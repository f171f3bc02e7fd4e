"""How the rated segments stand for what the comparison is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fewgold._arrays import BoolArray, IntArray, codes_of
from fewgold.comparison._table import Table
from fewgold.design import Design
from fewgold.errors import DataError
from fewgold.sample import Sample


def plain_design(n: int, size: int, units: IntArray | None, whole: bool, target: str) -> Design:
    """Equal weights: n of ``size`` segments at random, or whole documents if ``units``.

    ``whole`` says that documents were rated from the first segment to the last. For the target
    "process" nothing is taken off for the size of the pool.
    """
    weights = np.full(n, 1 / n)
    return Design(
        kind="process" if target == "process" else "simple" if units is None else "clusters",
        size=size,
        weights=weights,
        inclusion=np.full(n, n / size),
        groups=np.zeros(n, dtype=np.int64),
        influence=weights if target == "process" or not (units is None or whole) else None,  # type: ignore[arg-type]
        units=units,
    )


def for_process(design: Design, units: IntArray | None) -> Design:
    """The design of a drawn sample where new segments are meant: no part of them was rated."""
    return replace(
        design,
        kind="process",
        groups=np.zeros_like(design.groups),
        influence=np.array(design.weights),
        units=design.units if units is None else units,
        balance=None,
        strata=None,
    )


def part(design: Design, keep: BoolArray, *, correct: bool = True) -> Design:
    """The design of some of the segments, had chance decided which: one group, no balance.

    ``correct=False`` takes nothing off for the size of the pool.
    """
    weights = design.weights[keep] / design.weights[keep].sum()
    inclusion = design.inclusion[keep] * keep.mean()
    corrected = correct and design.kind != "process"
    units = None if design.units is None else codes_of(design.units[keep])
    return Design(
        kind="process" if not corrected else "simple" if units is None else "clusters",
        size=design.size,
        weights=weights,
        inclusion=inclusion,
        groups=np.zeros(weights.size, dtype=np.int64),
        influence=None if corrected else weights,  # type: ignore[arg-type]
        units=units,
        unbiased=design.unbiased,
    )


def whole_documents(codes: IntArray, rated: BoolArray) -> bool:
    """True where some documents were rated, each from its first segment to its last."""
    sizes = np.bincount(codes)
    taken = np.bincount(codes, weights=rated, minlength=sizes.size)
    touched = taken > 0
    return bool((taken[touched] == sizes[touched]).all() and not touched.all() and sizes.max() > 1)


def rows_of(sample: Sample, table: Table) -> tuple[IntArray, Design, dict[str, Any]]:
    """Where the sampled segments lie in the table, and the design of the whole sample."""
    if sample.indices.ndim != 1:
        raise DataError("compare takes one sample. Of a batch of draws give one: sample.draw(k).")
    if sample.given is not None:  # a top-up: its design is that of both waves together
        sample = sample.rate(np.zeros(sample.n)).sample
    place = {str(i): k for k, i in enumerate(table.ids.tolist())}
    ids = [str(i) for i in sample.ids.tolist()]
    missing = [i for i in ids if i not in place]
    if missing:
        raise DataError(
            f"{len(missing)} segments of the sample are not in the table, first {missing[0]}. Give "
            "the table that the sample was drawn from, or its sample."
        )
    if len(sample.pool) != table.ids.size:
        raise DataError(
            f"the sample was drawn from {len(sample.pool)} segments, and the table has "
            f"{table.ids.size}. Give the whole table, with empty scores where nobody rated."
        )
    rows = np.array([place[i] for i in ids], dtype=np.int64)
    rated = np.isfinite(table.human).any(0)
    beside = np.setdiff1d(np.flatnonzero(rated), rows)
    if beside.size:
        raise DataError(
            f"{beside.size} rated segments are not in the sample, first "
            f"{table.ids[beside[0]]}. Leave their scores out, or give the sample that they are in."
        )
    return rows, sample.design, dict(sample.info)
