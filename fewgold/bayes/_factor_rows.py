"""The factor S of `_mixture` in rows, and a bound on what of it lies outside of them."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

from fewgold._arrays import FloatArray, IntArray
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._urn_rows import around_one


def bound_beyond(shape: Shapes, first: IntArray, size: int, factor: FloatArray) -> FloatArray:
    """A bound on the sum of S over all s outside a row, in the units of ``factor``.

    S is a product of two factors, each of which only rises or only falls with s.
    """
    n = shape.total

    def logs(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        up = gammaln(shape.a0 + s) - gammaln(shape.ar + shape.br + s)
        return up, gammaln(shape.b0 + n - s) - gammaln(shape.ae + shape.be + n - s)

    middle = np.clip((first + size // 2).astype(np.float64), 0.0, n)
    at = (middle - first).astype(np.int64)
    here = factor[np.arange(len(first)), at]
    bound = np.zeros(len(first))
    for end, edge in ((np.zeros_like(n), np.maximum(first, 0.0)), (n, np.minimum(first + size, n))):
        pairs = zip(logs(end), logs(edge), logs(middle), strict=True)
        rise = sum((np.maximum(a, b) - c for a, b, c in pairs), np.zeros(len(first)))
        bound += np.abs(edge - end) * np.exp(rise)
    return np.asarray(bound * here)


def factor_rows(shape: Shapes, first: IntArray, size: int) -> FloatArray:
    """S(s) of s = first, …, first + size − 1, but for a constant; 0 where there is no such s."""
    a0, b0, ar, br, ae, be, m, k = (x[:, None] for x in shape)
    total = m + k
    if np.all(a0 + 1 == ar + br) and np.all(b0 + 1 == ae + be):
        # Uniform priors and all human ratings paired: Γ(a0 + s) / Γ(a0 + s + 1), and so for b0.
        s = first[:, None] + np.arange(size)
        inside = (s >= 0) & (s <= total)
        s = np.where(inside, s, 0)
        return np.asarray(inside / ((a0 + s) * (b0 + total - s)))
    middle = np.clip(first + size // 2, 0, shape.total).astype(np.int64)
    mid = middle[:, None].astype(np.float64)
    right, left = size - int((middle - first).min()), int((middle - first).max())
    s = np.minimum(mid + np.arange(right), total)
    rest = total - 1 - s
    inside = (s < total).astype(np.float64)
    up = inside * (a0 + s) * (ae + be + rest) / ((ar + br + s) * np.maximum(b0 + rest, 1e-300))
    s = np.maximum(mid - 1 - np.arange(left), -1)
    rest = total - 1 - s
    inside = (s >= 0).astype(np.float64)
    down = inside * (ar + br + s) * (b0 + rest) / (np.maximum(a0 + s, 1e-300) * (ae + be + rest))
    values = around_one(up, down)
    at = (first - middle)[:, None] + left + np.arange(size)
    return np.asarray(np.take_along_axis(values, np.clip(at, 0, values.shape[1] - 1), axis=1))
