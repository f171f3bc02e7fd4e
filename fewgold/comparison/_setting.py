"""What a comparison is about: new text or this pool, and what varies independently."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold._arrays import IntArray, codes_of
from fewgold.comparison import _designs
from fewgold.comparison._table import Table
from fewgold.design import Design
from fewgold.errors import DataError
from fewgold.sample import Sample


def setting(
    table: Table,
    sample: Sample | None,
    target: str | None,
    unit: str | None,
    notes: list[str],
) -> tuple[IntArray, Design, dict[str, Any], dict[str, Any]]:
    """Rated rows, their design, and what was decided about target and unit."""
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
        raise DataError("unit 'document' needs the documents: name their column (document=…).")
    whole = codes is not None and sample is None and _designs.whole_documents(codes, rated)
    if sample is not None and target == "pool":
        drawn = "segment" if sample.design.units is None else "document"
        if unit not in (None, drawn):
            notes.append(f"the unit is the {drawn}, as the sample was drawn, not the {unit}")
        unit = drawn
    elif unit is None:
        by_document = codes is not None and (target == "process" or whole)
        unit = "document" if by_document else "segment"
        if by_document:
            why = "were rated as a whole" if whole else "are what new text comes in"
            notes.append(f"documents {why}, so they are the unit, not segments")
    # By name, so that intervals by resampling do not depend on the order of the table.
    rows = np.flatnonzero(rated)
    rows = rows[np.argsort(table.ids[rows].astype(str), kind="stable")]
    info: dict[str, Any] = {}
    if sample is not None:
        rows, design, info = _designs.rows_of(sample, table)
    units = None
    if codes is not None and unit == "document":
        units = codes_of(codes[rows])
    if units is not None and units.max() < 1:
        raise DataError(
            "all rated segments lie in one document, which shows nothing of how documents differ. "
            "Rate segments of two or more, or give unit='segment'."
        )
    if sample is None:
        design = _designs.plain_design(rows.size, table.ids.size, units, whole, target)
        if target == "pool" and not rated.all():
            what = "documents" if units is not None else "segments"
            notes.append(
                f"the rated {what} are taken for a simple random sample of the pool; give the "
                "sample (sample=…) if they were drawn otherwise"
            )
    elif target == "process":
        design = _designs.for_process(design, units)
    facts = {
        "target": target, "unit": unit, "n": int(rows.size),
        "design": info.get("sampler", design.kind),
    }  # fmt: skip
    return rows, design, info, facts
