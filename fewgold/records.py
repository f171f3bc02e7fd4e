"""Designs and pools as plain records: what every file of a study stores, its floats exact."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fewgold.design import Design
from fewgold.errors import DataError
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.stored import Excerpt, StoredPool
from fewgold.tables import refuse

# Fields of a Design that have a value for each segment, by the name of one such value.
_FLOATS = {"weight": "weights", "inclusion": "inclusion", "influence": "influence"}
_WHOLE = {"group": "groups", "unit": "units", "stratum": "strata"}


def drawn(pool: Pool, indices: NDArray[Any], design: Design) -> dict[str, Any]:
    """A design, with one entry a segment in the order of drawing."""
    columns = {"id": [str(i) for i in pool.ids[indices]], "index": indices.tolist()}
    for key, name in (_FLOATS | _WHOLE).items():
        if getattr(design, name) is not None:
            columns[key] = getattr(design, name).tolist()
    if design.balance is not None:
        columns["balance"] = design.balance.T.tolist()
    segments = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    head = {"kind": design.kind, "size": design.size, "unbiased": design.unbiased}
    return {**head, "segments": segments}


def rated(given: Ratings) -> dict[str, Any]:
    record = drawn(given.sample.pool, given.sample.indices, given.sample.design)
    limits = None if given.limits is None else list(given.limits)
    return {
        **record, "scores": given.scores.tolist(), "limits": limits, "info": dict(given.sample.info)
    }  # fmt: skip


def design_of(record: Mapping[str, Any], pool: Pool) -> tuple[NDArray[np.int64], Design]:
    segments = record["segments"]
    indices = np.array([s["index"] for s in segments], dtype=np.int64)
    if indices.size and not (indices.min() >= 0 and indices.max() < len(pool)):
        raise DataError("the design speaks of rows that the pool does not have.")
    ids = [str(i) for i in pool.ids[indices]]
    wrong = [s["id"] for s, i in zip(segments, ids, strict=True) if s["id"] != i]
    refuse("of the design do not match the pool's rows", wrong, "Is it the same pool?")
    arrays: dict[str, Any] = {}
    for names, dtype in ((_FLOATS, np.float64), (_WHOLE, np.int64)):
        for key, name in names.items():
            if key in segments[0]:
                arrays[name] = np.array([s[key] for s in segments], dtype=dtype)
    if "balance" in segments[0]:
        arrays["balance"] = np.array([s["balance"] for s in segments], dtype=np.float64).T
    return indices, Design(
        kind=record["kind"], size=record["size"], unbiased=record["unbiased"], **arrays
    )


def digests(pool: Pool | StoredPool) -> dict[str, str]:
    """A digest of each part of a pool, to say later which one changed."""
    if isinstance(pool, Excerpt):
        pool = pool.store
    if isinstance(pool, StoredPool):
        return pool.digests()
    labels = {"ids": pool.ids, "documents": pool.documents}
    found = {
        k: "\x1f".join(map(str, v.tolist())).encode() for k, v in labels.items() if v is not None
    }
    found |= {f"metric {k}": v.tobytes() for k, v in pool.metrics.items()}
    if pool.cost is not None:
        found["cost"] = pool.cost.tobytes()
    return {k: hashlib.sha256(v).hexdigest()[:12] for k, v in found.items()}


def check_pool(stored: Mapping[str, Any], pool: Pool | StoredPool) -> None:
    if stored["fingerprint"] == pool.fingerprint:
        return
    then, now = stored["digests"], digests(pool)
    reasons = [f"{k} changed" for k in then if k in now and now[k] != then[k]]
    reasons += [f"{k} is gone" for k in then if k not in now]
    reasons += [f"{k} is new" for k in now if k not in then]
    if stored["size"] != len(pool):
        reasons.insert(0, f"it has {len(pool)} segments now and had {stored['size']}")
    raise DataError(
        f"this is not the pool that the sample was drawn from (fingerprint {pool.fingerprint} now, "
        f"{stored['fingerprint']} then): {'; '.join(reasons) or 'its order changed'}. Give the "
        "pool of that time: an estimate from another one would be wrong."
    )
