"""One order of the documents: a bootstrap for each number of them, and the ranking there."""

from __future__ import annotations

from typing import Any

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.reliability._ranks import agreement
from fewgold.reliability._resample import document_means, segment_means
from fewgold.reliability._scores import DocumentScores

_ROUNDING = 1e-9  # of the range of the scores: a spread below it is none


def one_order(
    scores: DocumentScores,
    order: IntArray,
    steps: IntArray,
    resample: str,
    draws: int,
    confidence: float,
    rng: np.random.Generator,
) -> dict[str, FloatArray]:
    """Figures (scores, systems, steps) of one order of the documents, and of the ranking there."""
    shape = scores.values.shape[:2]
    sizes = scores.sizes[order]
    ends = np.cumsum(sizes)
    rows = np.repeat(scores.starts[order] - ends + sizes, sizes) + np.arange(ends[-1])
    base = scores.values[..., :1].reshape(-1, 1)  # so that what is constant is exactly 0
    values = scores.values.reshape(-1, ends[-1])[:, rows] - base
    totals = np.add.reduceat(values, ends - sizes, axis=-1)
    plain = base + np.cumsum(totals, -1)[:, steps - 1] / ends[steps - 1]
    nothing = _ROUNDING * (values.max(-1) - values.min(-1))
    tail = (1 - confidence) / 2
    found: dict[str, list[Any]] = {
        name: [] for name in ("mean", "sd", "low", "high", "tau", "pairs", "exact", "settled")
    }
    for k, d in enumerate(steps.tolist()):
        if resample == "segments":
            means = segment_means(values[:, : ends[d - 1]], draws, rng)
        else:
            means = document_means(totals[:, :d], sizes[:d], draws, rng)
        spread = means.std(0, ddof=1)
        found["sd"].append(np.where(spread <= nothing, 0.0, spread).reshape(shape))
        means += base.T
        found["mean"].append(means.mean(0).reshape(shape))
        low, high = np.quantile(means, [tail, 1 - tail], axis=0)
        found["low"].append(low.reshape(shape))
        found["high"].append(high.reshape(shape))
        if shape[1] > 1:
            ranks = agreement(means.reshape(-1, *shape), scores.means)
            now = agreement(plain[:, k].reshape(1, *shape), scores.means)
            for name, value in zip(("tau", "pairs", "exact"), ranks, strict=True):
                found[name].append(value)
            found["settled"].append(now.pairs)
    stacked = {name: np.stack(v, axis=-1) for name, v in found.items() if v}
    stacked["first"] = plain.reshape(*shape, steps.size)
    stacked["segments"] = ends[steps - 1].astype(np.float64)
    return {"tau": _none(), "pairs": _none(), "exact": _none(), "settled": _none()} | stacked


def _none() -> FloatArray:
    return np.empty((0, 0))
