"""Do gaps depend on what is known of the segments?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray, codes_of
from fewgold.gaps._answered import classes
from fewgold.sample import Sample

if TYPE_CHECKING:
    import pandas as pd

_PERMUTATIONS = 4999
_SEED = 20220101


class Known(NamedTuple):
    """Something known of every sampled segment."""

    name: str
    kind: str  # metric, cost, length or order
    values: FloatArray


def diagnose(sample: Sample, keep: BoolArray) -> pd.DataFrame:
    """Compare unrated with rated segments in all that is known of both.

    One row for each metric, the cost, the length of each text, the place in the sample (raters who
    stop early leave the end), and documents (whether gaps come in bunches).

    ==============  ============================================================================
    ``rated``       mean over the rated segments
    ``unrated``     mean over the unrated ones
    ``difference``  unrated less rated, in standard deviations over the sample; for documents the
                    intraclass correlation of gaps, about 0 by chance and 1 for whole documents
    ``p``           chance of a difference as large if every set of so many gaps were as likely
    ``p_within``    the same with the number of gaps in each group of the design kept: what
                    `at_random` assumes. NaN where no group has both rated and unrated segments
                    that differ
    ``p_holm``      ``p`` for all rows together (Holm): below 0.05 for some row, by chance, in no
                    more than 5 % of studies
    ==============  ============================================================================

    Chances are found by permuting the gaps, with a fixed seed, so they need no assumption about
    the values. That nothing is found does not show that gaps are at random: they may depend on the
    very scores that are missing.
    """
    import pandas as pd

    gone, columns = ~keep, list(_known(sample))
    rows, statistics = [], []
    for known in columns:
        x = known.values
        spread = float(x.std(ddof=1))
        rated, unrated = (float(x[k].mean()) if k.any() else np.nan for k in (keep, gone))
        rows.append((known.name, known.kind, rated, unrated, (unrated - rated) / spread))
        statistics.append(x)
    pool = sample.pool
    documents = None if pool.documents is None else codes_of(pool.documents[sample.indices])
    whole = np.zeros(sample.n, dtype=np.int64)
    table = np.array(statistics).reshape(len(columns), sample.n)
    chances = [
        _chances(table, gone, label, documents) for label in (whole, classes(sample.design)[0])
    ]
    if documents is not None and documents.max() > 0:
        rows.append(("documents", "documents", np.nan, np.nan, _bunching(gone, documents)))
    else:
        chances = [found[: len(columns)] for found in chances]
    names = ("known", "kind", "rated", "unrated", "difference")
    frame = pd.DataFrame(rows, columns=list(names))
    frame["p"], frame["p_within"] = chances
    frame["p_holm"] = _holm(chances[0])
    return frame


def sentences(frame: pd.DataFrame, level: float = 0.05) -> tuple[str, ...]:
    """What a report says of the rows that are significant when all are taken together."""
    found = []
    for row in frame[frame["p_holm"] < level].to_dict("records"):
        chance = f"p = {row['p_holm']:.2g} for all comparisons together"
        if np.isfinite(row["p_within"]):
            chance += f", {row['p_within']:.2g} within groups of the design"
        larger = row["difference"] > 0
        if row["kind"] == "documents":
            what = "come in bunches, by document"
        elif row["kind"] == "order":
            what = f"stand {'later' if larger else 'earlier'} in the list"
        else:
            size = f"by {abs(row['difference']):.2g} standard deviations"
            what = f"have {'higher' if larger else 'lower'} {row['known']}, {size}"
        found.append(f"unrated segments {what} ({chance}): they are not missing at random")
    return tuple(found)


def _known(sample: Sample) -> Iterator[Known]:
    """All that varies over the sample and is a number, or can be counted."""
    pool, rows = sample.pool, sample.indices
    every = [Known(name, "metric", values[rows]) for name, values in pool.metrics.items()]
    if pool.cost is not None:
        every.append(Known("cost", "cost", pool.cost[rows]))
    for name, texts in pool.texts.items():
        if texts.dtype.kind in "OU":
            lengths = [float(len(str(text))) for text in texts[rows].tolist()]
            every.append(Known(f"length of {name}", "length", np.array(lengths)))
    every.append(Known("place in the sample", "order", np.arange(1.0, sample.n + 1)))
    return (known for known in every if np.ptp(known.values) > 0)


def _bunching(gone: BoolArray, documents: IntArray) -> float:
    """Correlation of gaps within documents: intraclass, by the analysis of variance."""
    size, n = np.bincount(documents), gone.size
    count = size.size
    mean = np.bincount(documents, gone) / size
    inside = float((size * mean * (1 - mean)).sum())
    between = float((size * np.square(mean - gone.mean())).sum())
    if n == count or inside + between == 0:
        return float("nan")
    inside, between = inside / (n - count), between / (count - 1)
    usual = (n - np.square(size).sum() / n) / (count - 1)
    return float((between - inside) / (between + (usual - 1) * inside))


def _chances(
    table: FloatArray, gone: BoolArray, label: IntArray, documents: IntArray | None
) -> FloatArray:
    """P-values of the columns (p, n), and of bunching by document: (p + 1,)."""
    rng = np.random.default_rng(_SEED)
    base = np.argsort(label, kind="stable")
    centred = table - table.mean(-1, keepdims=True)
    share = (np.bincount(label, gone) / np.bincount(label))[label]
    seen, more = np.empty((_PERMUTATIONS, len(table))), np.zeros(_PERMUTATIONS)
    for k in range(_PERMUTATIONS):
        moved = np.empty(gone.shape)
        moved[base] = gone[np.argsort(label + rng.random(gone.size))]
        seen[k] = centred @ (moved - share)
        if documents is not None:
            more[k] = _grouped(moved, documents)
    own = centred @ (gone - share)
    hair = 1e-9 * np.abs(centred).sum(-1)
    found = np.append(
        (1 + (np.abs(seen) >= np.abs(own) - hair).sum(0)) / (_PERMUTATIONS + 1.0),
        np.nan if documents is None else _upper(more, _grouped(gone.astype(np.float64), documents)),
    )
    still = np.append(np.ptp(seen, axis=0) <= hair, np.ptp(more) <= 1e-9)
    return np.asarray(np.where(still, np.nan, found))


def _grouped(gone: FloatArray, documents: IntArray) -> float:
    return float((np.square(np.bincount(documents, gone)) / np.bincount(documents)).sum())


def _upper(many: FloatArray, own: float) -> float:
    return float((1 + (many >= own - 1e-9).sum()) / (_PERMUTATIONS + 1.0))


def _holm(p: FloatArray) -> FloatArray:
    """P-values for all that are not NaN together (Holm 1979)."""
    found = np.full(p.shape, np.nan)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    scaled = p[order] * (order.size - np.arange(order.size))
    found[order] = np.minimum(np.maximum.accumulate(scaled), 1.0) if order.size else []
    return found
