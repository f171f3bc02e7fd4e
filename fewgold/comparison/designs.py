"""Designs of comparisons: how the rated segments represent the pool, or new text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from fewgold.bounds import Auto
from fewgold.common.arrays import BoolArray, IntArray, codes_of
from fewgold.common.text import counted, verb
from fewgold.comparison.table import ScoreTable
from fewgold.design import Design, DesignKind
from fewgold.errors import DataError
from fewgold.estimate import LinearEstimate
from fewgold.estimators import Mean, Ridge
from fewgold.pool import Pool
from fewgold.sample import Ratings, Sample, SampleInfo


def plain_design(n: int, size: int, units: IntArray | None, whole: bool, target: str) -> Design:
    """Equal weights: n of ``size`` segments at random, or whole documents if ``units``.

    ``whole`` says that documents were rated from the first segment to the last. For the target
    "process" there is no finite population correction.
    """
    weights = np.full(n, 1 / n)
    return Design(
        kind=_kind(target == "process", units),
        size=size,
        weights=weights,
        inclusion=np.full(n, n / size),
        groups=np.zeros(n, dtype=np.int64),
        influence=weights if target == "process" or not (units is None or whole) else None,  # type: ignore[arg-type]
        units=units,
    )


def _kind(process: bool, units: IntArray | None) -> DesignKind:
    if process:
        return DesignKind.PROCESS
    return DesignKind.SIMPLE if units is None else DesignKind.CLUSTERS


def for_process(design: Design, units: IntArray | None) -> Design:
    """The design of a sample as one from an infinite process of new segments."""
    return replace(
        design,
        kind=DesignKind.PROCESS,
        groups=np.zeros_like(design.groups),
        influence=np.array(design.weights),
        units=design.units if units is None else units,
        balance=None,
        strata=None,
        documents=None,
        shares=None,
        gaps=False,
    )


def subset(
    design: Design, keep: BoolArray, *, correct: bool = True, size: int | None = None
) -> Design:
    """The design of some segments, treated as a random subset: one group, no balance.

    ``correct=False`` omits the finite population correction. ``size`` is that of the part of the
    pool that these segments represent, if not the whole.
    """
    weights = design.weights[keep] / design.weights[keep].sum()
    inclusion = design.inclusion[keep] * keep.mean()
    if size is not None:  # the size to which the inverse probabilities must add up
        inclusion = np.minimum(inclusion * (1 / inclusion).sum() / size, 1.0)
    # A design whose influence is its weight omits the finite population correction.
    corrected = correct and not np.array_equal(design.influence, design.weights)
    units = None if design.units is None else codes_of(design.units[keep])
    return Design(
        kind=_kind(design.kind == "process" or not correct, units),
        size=design.size if size is None else size,
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


def rows_of(sample: Sample, table: ScoreTable) -> tuple[IntArray, Design, SampleInfo]:
    """Rows of the sampled segments in the table, and the design of the whole sample."""
    if sample.indices.ndim != 1:
        raise DataError("compare takes one sample. From a batch of draws give one: sample.draw(k).")
    if sample.given is not None:  # a top-up: its design is that of both waves together
        sample = sample.rate(np.zeros(sample.n)).sample
    place = {str(i): k for k, i in enumerate(table.ids.tolist())}
    ids = [str(i) for i in sample.ids.tolist()]
    missing = [i for i in ids if i not in place]
    if missing:
        raise DataError(
            f"{counted(len(missing), 'segment')} of the sample {verb(len(missing), 'are')} not in "
            "the "
            f"table, first {missing[0]}. Give "
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
            f"{counted(beside.size, 'rated segment')} {verb(beside.size, 'are')} not in the "
            f"sample, first {table.ids[beside[0]]}. "
            "Remove their scores, or give the sample that contains them."
        )
    return rows, sample.design, sample.info


def setting(
    table: ScoreTable,
    sample: Sample | None,
    target: str | None,
    unit: str | None,
    notes: list[str],
) -> tuple[IntArray, Design, SampleInfo, dict[str, Any]]:
    """Rated rows, their design, and the choice of target and unit."""
    rated = np.asarray(np.isfinite(table.human).any(0))
    if target is None:
        target = "process" if rated.all() else "pool"
        if target == "process":
            exact = "; for these segments themselves the differences are exact"
            notes.append(
                "every segment is rated: intervals are about new text like this (target 'process')"
                + (exact if np.isfinite(table.human).all() else "")
            )
    codes = None if table.documents is None else codes_of(table.documents)
    if unit == "document" and codes is None:
        raise DataError("the unit is the document, but documents are unknown. Name their column.")
    whole = codes is not None and sample is None and whole_documents(codes, rated)
    if sample is not None and target == "pool":
        drawn = "segment" if sample.design.units is None else "document"
        if unit not in (None, drawn):
            notes.append(f"the unit is the {drawn}, as the sample was drawn, not the {unit}")
        unit = drawn
    elif unit is None:
        by_document = codes is not None and (target == "process" or whole)
        unit = "document" if by_document else "segment"
        if by_document:
            why = "were rated as a whole" if whole else "come as a whole in new text"
            notes.append(f"documents {why}, so they are the unit, not segments")
    # Sorted by name, so that resampling intervals do not depend on the order of the table.
    rows = np.flatnonzero(rated)
    rows = rows[np.argsort(table.ids[rows].astype(str), kind="stable")]
    info = SampleInfo()
    if sample is not None:
        rows, design, info = rows_of(sample, table)
    units = None
    if codes is not None and unit == "document":
        units = codes_of(codes[rows])
    if units is not None and units.max() < 1:
        raise DataError(
            "all rated segments are in one document, so nothing can be learned about how "
            "documents differ. Rate segments of two or more, or use segments as the unit."
        )
    if sample is None:
        design = plain_design(rows.size, table.ids.size, units, whole, target)
        if target == "pool" and not rated.all():
            what = "documents" if units is not None else "segments"
            notes.append(
                f"the rated {what} are treated as a simple random sample of the pool, which is "
                "right only if they were chosen at random"
            )
    elif target == "process":
        design = for_process(design, units)
    facts = {
        "target": target, "unit": unit, "n": int(rows.size),
        "design": info.sampler or design._label,
    }  # fmt: skip
    return rows, design, info, facts


def own_pools(table: ScoreTable) -> BoolArray:
    """The pool of each system's score, as a mask of segments: (S, N).

    A system has its own pool if the table lists unrated outputs of it, but not for every segment.
    If only rated outputs are listed, the pool is assumed to be that of all systems.
    """
    listed = table.present
    more = (listed & ~np.isfinite(table.human)).any(-1, keepdims=True)
    return np.asarray(listed | ~more)


def system_estimates(
    table: ScoreTable,
    rows: IntArray,
    design: Design,
    pools: BoolArray,
    *,
    metrics: Sequence[tuple[str, ...]],
    orientation: Mapping[str, int],
    higher: bool,
    limits: tuple[float, float] | None,
    info: SampleInfo,
) -> list[LinearEstimate]:
    """An estimate for each system, with its own metrics as control variates if there are any.

    ``pools`` (S, N) are the segments that each score is about, ``metrics`` the usable ones of each
    system.
    """
    found = []
    for s, scores in enumerate(table.human[:, rows]):
        rated = np.isfinite(scores)
        mine, names = pools[s], metrics[s]
        pool = Pool(
            ids=table.ids[mine],
            metrics={m: table.metrics[m][s, mine] for m in names},
            orientation={k: v for k, v in orientation.items() if k in names},
        )
        own = design
        if not (rated.all() and mine.all()):
            own = subset(design, rated, size=None if mine.all() else int(mine.sum()))
        place = np.cumsum(mine) - 1
        ratings = Ratings(Sample(pool, place[rows[rated]], own, info=info), scores[rated], limits)
        method = Ridge(higher_is_better=higher, bound=Auto()) if pool.metrics else Mean()
        found.append(method.estimate(ratings))
    return found
