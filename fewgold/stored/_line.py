"""Documents of a pool on disk in a line in random order, and which of them holds a position."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import IntArray
from fewgold.stored._engine import Engine
from fewgold.stored._groups import hashed


class Located(NamedTuple):
    """For each position the document, its size and the offset inside it."""

    label: NDArray[Any]
    size: IntArray
    offset: IntArray


def locate(
    engine: Engine, groups: str, salt: str, positions: IntArray, most: int | None = None
) -> Located:
    """Which document of the line each position falls on.

    ``groups`` is a table of labels and sizes. The line is in the order of the md5 of salt and
    label; ``most`` keeps documents of that many rows and more out of it. Sizes are summed up by the
    first digits of the md5, so that only the documents near the positions are ever sorted.
    """
    import pandas as pd

    only = "" if most is None else f"WHERE size < {most}"
    engine.keep(
        "line_",
        f"SELECT label, size, substr({hashed(salt, 'label')}, 1, 12) AS key_ FROM {groups} {only}",
        "Putting documents in a line",
    )
    buckets = engine.frame(
        "SELECT substr(key_, 1, 4) AS bucket_, sum(size) AS size_ FROM line_ GROUP BY 1",
        "Putting documents in a line",
    ).sort_values("bucket_")
    ends = buckets["size_"].to_numpy().astype(np.int64).cumsum()
    which = np.searchsorted(ends, positions, side="right")
    first = ends - buckets["size_"].to_numpy().astype(np.int64)
    names = buckets["bucket_"].to_numpy()
    engine.add("buckets_", pd.DataFrame({"bucket_": names[np.unique(which)]}))
    near = engine.frame(
        "SELECT l.label, l.size, l.key_ FROM line_ AS l "
        "INNER JOIN buckets_ AS b ON substr(l.key_, 1, 4) = b.bucket_",
        "Putting documents in a line",
    ).sort_values(["key_", "label"])
    engine.drop("buckets_")
    engine.drop("line_")
    sizes = near["size"].to_numpy().astype(np.int64)
    bucket = near["key_"].str[:4].to_numpy()
    # Where each document starts on the line: the start of its bucket, and those before it there.
    before = sizes.cumsum() - sizes
    new = np.concatenate([[True], bucket[1:] != bucket[:-1]])
    start = before - before[new][new.cumsum() - 1] + first[np.searchsorted(names, bucket)]
    at = np.searchsorted(start, positions, side="right") - 1
    return Located(near["label"].to_numpy()[at], sizes[at], positions - start[at])
