"""Weights of many mixtures by one FFT, and where that is exact enough.

One FFT without a tilt does when S is nearly flat over the bulk of f ∗ g, which it is when the human
ratings are the paired ones. The round-off that S makes of the FFT is bounded: a row in which it may
exceed 1e-12 of the mass is not good.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import fft

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.bayes._factor_rows import bound_beyond, factor_rows
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._urn_rows import urns

_ROUNDING = 1e-15  # of an FFT, relative to the norms of what it convolves
_LOST = 1e-12  # share of the mass
_OUTSIDE = 1e-9  # the same for what lies beyond the row, by a bound that is far from sharp


class Weights(NamedTuple):
    """Mixtures of a batch: ``mass`` (B, n) of the components s = first, first + 1, … of each."""

    first: IntArray
    mass: FloatArray

    def row(self, k: int) -> tuple[int, FloatArray]:
        """The first component of one study, and the masses from there on."""
        kept = np.flatnonzero(self.mass[k])
        return int(self.first[k]) + int(kept[0]), self.mass[k, kept[0] : kept[-1] + 1]


def both_urns(shape: Shapes) -> list[tuple[FloatArray, FloatArray, FloatArray]]:
    """The two Beta-binomials, as (a, b, n)."""
    return [(shape.ar, shape.be, shape.m), (shape.br, shape.ae, shape.k)]


def weight_rows(shape: Shapes, spans: list[tuple[IntArray, ...]]) -> tuple[Weights, BoolArray]:
    """Weights of some studies, and where they are good."""
    parts = [urns(*urn, span) for urn, span in zip(both_urns(shape), spans, strict=True)]
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
            factor = factor_rows(shape, first, size)
            mass *= factor
            outside = noise * bound_beyond(shape, first, size, factor)
            noise *= factor.sum(-1)
    else:
        outside = noise * shape.total
        noise *= size
    total = mass.sum(-1)
    good = np.isfinite(total) & (noise < _LOST * total) & (outside < _OUTSIDE * total)
    return Weights(first, mass / np.where(good, total, 1.0)[:, None]), good
