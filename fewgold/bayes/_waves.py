"""Beta-binomial chances and their characteristic functions, at some of the frequencies."""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from fewgold._arrays import FloatArray

ComplexArray: TypeAlias = NDArray[np.complex128]
_SAFE = 900.0  # 2^900 is still a number
_ROWS = 4096


def phases(mean: FloatArray, period: int, start: int, stop: int) -> ComplexArray:
    """Characteristic functions of the numbers ``mean`` (M, P): (M, P, stop − start)."""
    step = np.exp(2j * np.pi / period * mean)
    out = np.empty((*mean.shape, stop - start), dtype=np.complex128)
    out[..., 0] = np.exp(2j * np.pi * start / period * mean)
    out[..., 1:] = step[..., None]
    return np.asarray(np.cumprod(out, axis=-1))


def urns(a: FloatArray, b: FloatArray, n: int) -> FloatArray:
    """Chances of 0, 1, …, n of BetaBinomial(n; a, b) for a and b (G,): (G, n + 1).

    C(n, i) B(a + i, b + n − i) is a product of a rising and a falling sequence, each a running
    product of ratios; where those are too large for a number, of logarithms.
    """
    i = np.arange(n, dtype=np.float64)
    if a.max() + b.max() + n < _SAFE:
        chance = np.ones((a.size, n + 1))
        np.cumprod((a[:, None] + i) / (i + 1), axis=1, out=chance[:, 1:])
        falling = np.ones_like(chance)
        np.cumprod((b[:, None] + i) / (i + 1), axis=1, out=falling[:, 1:])
        chance *= falling[:, ::-1]
    else:
        i = np.append(i, float(n))
        chance = gammaln(a[:, None] + i) + gammaln(b[:, None] + (n - i))
        chance -= gammaln(1 + i) + gammaln(1 + (n - i))
        chance -= chance.max(1, keepdims=True)
        np.exp(chance, out=chance)
    chance /= chance.sum(1, keepdims=True)
    return chance


def transform(chance: FloatArray, period: int, start: int, stop: int) -> ComplexArray:
    """Characteristic functions (G, stop − start) of chances (G, n + 1)."""
    out = np.zeros((len(chance), 2 * (stop - start)))
    for first in range(0, chance.shape[1], _ROWS):
        rows = chance[:, first : first + _ROWS]
        out += rows @ _waves(period, start, stop, first)[: rows.shape[1]]
    return np.asarray(out[:, : stop - start] + 1j * out[:, stop - start :])


@lru_cache(maxsize=32)
def _waves(period: int, start: int, stop: int, first: int) -> FloatArray:
    """Cosines and sines at the frequencies k of ``period``, one row for each number of items."""
    s = np.arange(first, min(first + _ROWS, period))
    angle = 2 * np.pi / period * (np.multiply.outer(s, np.arange(start, stop)) % period)
    return np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
