"""One pool for several systems: segments that will be rated for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.common.arrays import FloatArray, codes_of
from fewgold.comparison.table import columns_of, read
from fewgold.errors import DataError, UnknownNameError
from fewgold.io.columns import known_orientation
from fewgold.pool import Pool


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
    """A pool with a row a segment, from a table with a row for each segment and system.

    Any sampler then picks segments that are good for all systems at once, and rating them for every
    system makes differences two to five times as precise as separate samples would.

    Parameters
    ----------
    frame
        Any dataframe.
    id, system, document
        Columns; ids name segments and are the same for all systems.
    metrics
        Averaged over the systems. A metric that some outputs lack is an error.
    cost
        Cost of rating one output; a segment costs their sum.
    texts
        Columns that are the same for all systems, such as the source.
    orientation
        As in `Pool`.
    per_system
        Keep each metric of each system as a column of its own, called ``metric:system``.

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
            f"no segment occurs for two systems, so none can be rated for all: is {id!r} the "
            "column that names segments, the same for all systems?"
        )
    for name in extra:
        gaps = table.present & ~np.isfinite(table.metrics[name])
        if gaps.any():
            at, count = np.argwhere(gaps)[0], int(gaps.sum())
            raise DataError(
                f"{name!r} has {count} gap{'' if count == 1 else 's'}, first for segment "
                f"{table.ids[at[1]]} of {table.systems[at[0]]}. Score every output, or leave it "
                "out."
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
            f"the text {name!r} of segment {ids[wrong[0]]} differs from system to system. Only "
            "what all systems share belongs to the pool."
        )
    return np.asarray(values[first])
