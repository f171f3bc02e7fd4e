"""The number of adequate items among the unrated of all categories: sums of beta-binomials.

Given a node of the mixture, the numbers in the categories are independent, so that the
characteristic function of their sum is a product. That of the mixture is the weighted sum of the
products, and turned back once. Only the frequencies that matter are computed.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import fft
from scipy.special import gammaln

from fewgold._arrays import FloatArray, IntArray
from fewgold.bayes._cell_priors import Nodes

_LEFT_OUT = 1e-6  # chance of all nodes that are not looked at
_BLOCK = 32  # frequencies at a time
_NOTHING = 1e-12  # chance below which higher frequencies are noise
_SAFE = 900.0  # 2^900 is still a number
_ROWS = 4096


def total_mass(nodes: Nodes, unrated: IntArray) -> FloatArray:
    """Chances of 0, 1, …, U adequate items among ``unrated`` (J,), for nodes (G,) and (G, J)."""
    order = np.argsort(nodes.weight)
    kept = order[np.cumsum(nodes.weight[order]) > _LEFT_OUT]
    weight = nodes.weight[kept] / nodes.weight[kept].sum()
    some = np.flatnonzero(unrated)
    chances = [urns(nodes.a[kept, j], nodes.b[kept, j], int(unrated[j])) for j in some]
    period = int(unrated.sum()) + 1
    spectrum = np.zeros(period // 2 + 1, dtype=np.complex128)
    for start in range(0, spectrum.size, _BLOCK):
        stop = min(start + _BLOCK, spectrum.size)
        here = np.multiply.outer(weight, np.ones(stop - start, dtype=np.complex128))
        for chance in chances:
            here *= _transform(chance, period, start, stop)
        spectrum[start:stop] = here.sum(0)
        if np.abs(here[:, -4:]).sum(0).max() < _NOTHING:
            break
    mass = np.maximum(fft.irfft(spectrum.conj(), period), 0.0)
    mass[mass < 1e-14] = 0.0
    return np.asarray(mass / mass.sum())


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


def _transform(chance: FloatArray, period: int, start: int, stop: int) -> FloatArray:
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
