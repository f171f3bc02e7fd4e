"""Bootstrap means of the first documents, all draws, scores and systems at once."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray, batches

_CELLS = 100_000  # numbers at a time: what fits the cache is counted twice as fast


def segment_means(values: FloatArray, draws: int, rng: np.random.Generator) -> FloatArray:
    """Means of ``draws`` samples of n segments out of n, with replacement.

    ``values`` is (cells, n), and a sample holds the same segments for every cell, so that
    differences between systems are those of paired scores. Gives (draws, cells).

    Notes
    -----
    How often each segment was drawn, times the scores, is the sum of a sample; drawing and
    counting costs the same for one system as for twenty.
    """
    cells, n = values.shape
    out = np.empty((draws, cells))
    pivot = values[:, :1]  # huge means with tiny spreads keep their digits
    centred = (values - pivot).T
    for part in batches(draws, _CELLS // n):
        rows = part.stop - part.start
        drawn = rng.integers(n, size=(rows, n))
        drawn += n * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * n).reshape(rows, n)
        out[part] = counts.astype(np.float64) @ centred / n
    found: FloatArray = out + pivot.T
    return found


def document_means(
    totals: FloatArray, sizes: IntArray, draws: int, rng: np.random.Generator
) -> FloatArray:
    """Means over segments of samples of whole documents, d − 1 out of d with replacement.

    ``totals`` is (cells, d), sums within documents. Gives (draws, cells). With d − 1 rather than d
    documents the variance of a mean comes out unbiased (Rao and Wu 1988, their m = n − 1), which
    matters much where d is 2 or 3. One document tells nothing about the next: NaN.
    """
    cells, d = totals.shape
    if d < 2:
        return np.full((draws, cells), np.nan)
    out = np.empty((draws, cells))
    pivot = totals.sum(-1, keepdims=True) / sizes.sum()
    centred = (totals - pivot * sizes).T
    weights = sizes.astype(np.float64)
    for part in batches(draws, _CELLS // d):
        rows = part.stop - part.start
        drawn = rng.integers(d, size=(rows, d - 1)) + d * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * d).reshape(rows, d).astype(np.float64)
        out[part] = counts @ centred / (counts @ weights)[:, None]
    found: FloatArray = out + pivot.T
    return found
