"""Weights of the mixtures of many studies at once.

The convolution f ∗ g and the factor S of `_mixture`, in rows. Each of f, g and S is built outwards
from a place near its peak by products of the ratios of neighbours, so that nothing overflows where
it matters and no logarithm is needed. One FFT without a tilt does when S is nearly flat over the
bulk of f ∗ g, which it is when the human ratings are the paired ones; the round-off that S makes of
the FFT is bounded, and a row in which it may exceed 1e-12 of the mass is handed to `mixture`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import fft
from scipy.special import gammaln

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.bayes._mixture import mixture
from fewgold.bayes._priors import Shapes

_AT_ONCE = 1 << 17  # values, so that they stay in the cache
_ROUNDING = 1e-15  # of an FFT, relative to the norms of what it convolves
_LOST = 1e-12  # share of the mass
_OUTSIDE = 1e-9  # the same for what lies beyond the row, by a bound that is far from sharp
_REACH, _SKEW = 9.0, 36.0
_HUGE = 200_000  # components


class Weights(NamedTuple):
    """Mixtures of a batch: ``mass`` (B, n) of the components s = first, first + 1, … of each."""

    first: IntArray
    mass: FloatArray

    def row(self, k: int) -> tuple[int, FloatArray]:
        """The first component of one study, and the masses from there on."""
        kept = np.flatnonzero(self.mass[k])
        return int(self.first[k]) + int(kept[0]), self.mass[k, kept[0] : kept[-1] + 1]


def weights(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> Iterator[tuple[IntArray, Weights]]:
    """The mixtures of shapes (B,): groups of rows of like size, with the weights of each."""
    if rates is not None:
        yield from _singly(shape, rates, np.arange(shape.a0.size))
        return
    huge = shape.total > _HUGE
    if huge.any():
        for row in np.flatnonzero(huge):
            yield np.array([row]), _huge(*(float(x) for x in shape.draw(row)))
        left = np.flatnonzero(~huge)
        for rows, found in weights(shape.draw(left)):
            yield left[rows], found
        return
    spans = [_span(a, b, n) for a, b, n in _urns(shape)]
    width = np.sum([left + right + 1 for _, left, right in spans], axis=0)
    order = np.argsort(width, kind="stable")
    hard, start = [], 0
    while start < order.size:
        some = order[start : start + max(1, _AT_ONCE // int(width[order[start]]))]
        found, good = _rows(shape.draw(some), [tuple(x[some] for x in span) for span in spans])
        if good.any():
            yield some[good], Weights(found.first[good], found.mass[good])
        hard.append(some[~good])
        start += some.size
    if hard:
        yield from _singly(shape, None, np.concatenate(hard))


@lru_cache(maxsize=1)
def _huge(*values: float) -> Weights:
    """Of one study, kept: the next question is likely to be about the same."""
    shape = Shapes(*(np.array([x]) for x in values))
    spans = [_span(a, b, n) for a, b, n in _urns(shape)]
    found, good = _rows(shape, [*spans])
    if good[0]:
        return found
    part = mixture(shape.draw(0))
    return Weights(np.array([part.first]), part.weights[None])


def _singly(
    shape: Shapes, rates: tuple[float, float] | None, rows: IntArray
) -> Iterator[tuple[IntArray, Weights]]:
    """One by one, by the way that keeps all digits."""
    for row in rows:
        part = mixture(shape.draw(row), rates)
        yield np.array([row]), Weights(np.array([part.first]), part.weights[None])


def _urns(shape: Shapes) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """The two Beta-binomials, as (a, b, n)."""
    return [(shape.ar, shape.be, shape.m), (shape.br, shape.ae, shape.k)]


def _span(a: FloatArray, b: FloatArray, n: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """A place near the peak of BetaBinomial(n; a, b), and how far it goes to either side.

    Beyond, less than e^−40 of it is left: a normal tail ends at 9 sd, an exponential one at 41.
    """
    total = a + b
    sd = np.sqrt(n * a * b * (total + n) / (total + 1)) / total
    reach = sd * (_REACH + _SKEW / np.sqrt(np.minimum(np.minimum(a, b), total))) + 10
    centre = np.floor(np.clip(n * a / total, 0, n))
    left, right = np.minimum(centre, reach), np.minimum(n - centre, reach)
    return centre.astype(np.int64), left.astype(np.int64), right.astype(np.int64)


def _outwards(up: FloatArray, down: FloatArray) -> FloatArray:
    """Values around a 1 in the middle, from the ratios of neighbours going up and going down."""
    left = np.cumprod(down, axis=-1)[:, ::-1]
    return np.concatenate([left, np.ones((len(up), 1)), np.cumprod(up, axis=-1)], axis=-1)


def urns(
    a: FloatArray, b: FloatArray, n: FloatArray, span: tuple[IntArray, ...] | None = None
) -> tuple[IntArray, FloatArray]:
    """Where each row starts, and BetaBinomial(n; a, b) from there, of which the sum is 1."""
    centre, left, right = _span(a, b, n) if span is None else span
    a, b, n, mid = (np.asarray(x, dtype=np.float64)[:, None] for x in (a, b, n, centre))
    i = mid + np.arange(right.max())
    up = np.maximum(n - i, 0.0) * (a + i) / ((i + 1) * np.maximum(b + n - 1 - i, 1e-300))
    i = mid - 1 - np.arange(left.max())
    down = np.maximum(i + 1, 0.0) * (b + n - 1 - i) / ((n - i) * np.maximum(a + i, 1e-300))
    values = _outwards(up, down)
    return centre - left.max(), values / values.sum(-1, keepdims=True)


def _rows(shape: Shapes, spans: list[tuple[IntArray, ...]]) -> tuple[Weights, BoolArray]:
    """Weights of some studies, and where they are good."""
    parts = [urns(*urn, span) for urn, span in zip(_urns(shape), spans, strict=True)]
    (start, f), (other, g) = parts
    first = start + other
    size = f.shape[1] + g.shape[1] - 1
    length = fft.next_fast_len(size, real=True)
    mass = fft.irfft(fft.rfft(f, length) * fft.rfft(g, length), length)[:, :size]
    noise = _ROUNDING * np.sqrt(np.vecdot(f, f) * np.vecdot(g, g))
    mass[mass < noise[:, None]] = 0.0
    held = np.flatnonzero(mass.any(0))
    first, size = first + held[0], int(held[-1] - held[0]) + 1
    mass = mass[:, held[0] : held[-1] + 1]
    s = first[:, None] + np.arange(size)
    mass *= (s >= 0) & (s <= shape.total[:, None])
    if np.any(shape.a0 != shape.ar + shape.br) or np.any(shape.b0 != shape.ae + shape.be):
        with np.errstate(over="ignore", invalid="ignore"):
            factor = _factor(shape, first, size)
            mass *= factor
            outside = noise * _beyond(shape, first, size, factor)
            noise *= factor.sum(-1)
    else:
        outside = noise * shape.total
        noise *= size
    total = mass.sum(-1)
    good = np.isfinite(total) & (noise < _LOST * total) & (outside < _OUTSIDE * total)
    return Weights(first, mass / np.where(good, total, 1.0)[:, None]), good


def _beyond(shape: Shapes, first: IntArray, size: int, factor: FloatArray) -> FloatArray:
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


def _factor(shape: Shapes, first: IntArray, size: int) -> FloatArray:
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
    values = _outwards(up, down)
    at = (first - middle)[:, None] + left + np.arange(size)
    return np.asarray(np.take_along_axis(values, np.clip(at, 0, values.shape[1] - 1), axis=1))
