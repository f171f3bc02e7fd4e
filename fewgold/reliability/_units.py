"""Rows as segments that all systems share, with sentences for tables where that cannot be."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import FloatArray, IntArray
from fewgold.errors import DataError


def positions(doc: IntArray, team: IntArray) -> IntArray:
    """The place of each row among those of its document and system: 0, 1, …"""
    cell = doc * (int(team.max()) + 1) + team
    order = np.argsort(cell, kind="stable")
    starts = np.flatnonzero(np.diff(cell[order], prepend=-1))
    lengths = np.diff(np.append(starts, cell.size))
    place = np.empty(cell.size, dtype=np.int64)
    place[order] = np.arange(cell.size) - np.repeat(starts, lengths)
    return place


def check_paired(doc: IntArray, team: IntArray, docs: NDArray[Any]) -> None:
    counts = np.zeros((int(doc.max()) + 1, int(team.max()) + 1), dtype=np.int64)
    np.add.at(counts, (doc, team), 1)
    uneven = np.flatnonzero((counts != counts[:, :1]).any(1))
    if uneven.size:
        name = docs[int(np.argmax(doc == uneven[0]))]
        raise DataError(
            f"systems have different numbers of segments in {uneven.size} documents, first in "
            f"{str(name)!r}, so which belong together cannot be told. Name the column of segment "
            "ids (segment=, --segment)."
        )


def cube_of(values: FloatArray, team: IntArray, unit: IntArray, repeat: str, alone: bool) -> Any:
    """Scores (scores, rows) as (scores, systems, segments), NaN where there is no row."""
    shape = int(team.max()) + 1, int(unit.max()) + 1
    cell = team * shape[1] + unit
    twice = cell.size - np.unique(cell).size
    if twice:
        hint = "Name the column of systems (system=)." if alone else "Average over raters first."
        raise DataError(
            f"{twice} rows repeat a segment ({repeat}) of the same document and system. {hint}"
        )
    cube = np.full((len(values), shape[0] * shape[1]), np.nan)
    cube[:, cell] = values
    return cube.reshape(len(values), *shape)


def refuse_gaps(cube: FloatArray, names: tuple[str, ...], gaps: str) -> None:
    if gaps == "drop":
        return
    missing = np.isnan(cube).any(1).sum(1)
    parts = ", ".join(f"{name!r} {m}" for name, m in zip(names, missing, strict=True) if m)
    raise DataError(
        f"segments without a score for every system: {parts} of {cube.shape[-1]}. All numbers of "
        "documents must be compared on the same footing: fill the gaps, or leave these segments "
        "out with gaps='drop' (--drop-gaps)."
    )


def check_enough(documents: int, segments: int) -> None:
    if segments < 2:
        raise DataError(
            f"expected at least two segments with scores in every system; got {segments}. One "
            "segment has no spread to learn from."
        )
    if documents < 2:
        raise DataError(
            f"expected at least two documents; got {documents} with {segments} segments. With one "
            "document there is nothing to add. Is it the right column?"
        )
