"""Beta-binomial chances of many studies, a row each, around their peaks.

They are built outwards from a place near the peak by products of the ratios of neighbours, so that
nothing overflows where it matters and no logarithm is needed.
"""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray

_REACH, _SKEW = 9.0, 36.0


def span_of(a: FloatArray, b: FloatArray, n: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """A place near the peak of BetaBinomial(n; a, b), and how far it goes to either side.

    Beyond, less than e^−40 of it is left: a normal tail ends at 9 sd, an exponential one at 41.
    """
    total = a + b
    sd = np.sqrt(n * a * b * (total + n) / (total + 1)) / total
    reach = sd * (_REACH + _SKEW / np.sqrt(np.minimum(np.minimum(a, b), total))) + 10
    centre = np.floor(np.clip(n * a / total, 0, n))
    left, right = np.minimum(centre, reach), np.minimum(n - centre, reach)
    return centre.astype(np.int64), left.astype(np.int64), right.astype(np.int64)


def around_one(up: FloatArray, down: FloatArray) -> FloatArray:
    """Values around a 1 in the middle, from the ratios of neighbours going up and going down."""
    left = np.cumprod(down, axis=-1)[:, ::-1]
    return np.concatenate([left, np.ones((len(up), 1)), np.cumprod(up, axis=-1)], axis=-1)


def urns(
    a: FloatArray, b: FloatArray, n: FloatArray, span: tuple[IntArray, ...] | None = None
) -> tuple[IntArray, FloatArray]:
    """Where each row starts, and BetaBinomial(n; a, b) from there, of which the sum is 1."""
    centre, left, right = span_of(a, b, n) if span is None else span
    a, b, n, mid = (np.asarray(x, dtype=np.float64)[:, None] for x in (a, b, n, centre))
    i = mid + np.arange(right.max())
    up = np.maximum(n - i, 0.0) * (a + i) / ((i + 1) * np.maximum(b + n - 1 - i, 1e-300))
    i = mid - 1 - np.arange(left.max())
    down = np.maximum(i + 1, 0.0) * (b + n - 1 - i) / ((n - i) * np.maximum(a + i, 1e-300))
    values = around_one(up, down)
    return centre - left.max(), values / values.sum(-1, keepdims=True)
