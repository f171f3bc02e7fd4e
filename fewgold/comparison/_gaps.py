"""Differences where systems were not all rated on the same segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.comparison._designs import part
from fewgold.comparison._pairs import Pairs, shared_pairs
from fewgold.design import Design
from fewgold.estimate import LinearEstimate

#: Shared segments from which a pair is compared segment by segment.
LEAST_SHARED = 10


class Gapped(NamedTuple):
    """The differences, and which of them are of shared segments: (S, S)."""

    pairs: Pairs
    paired: BoolArray


def shared_counts(scores: FloatArray) -> IntArray:
    """Segments that each pair was rated on: (S, n) -> (S, S)."""
    rated = np.isfinite(scores).astype(np.int64)
    return rated @ rated.T


def factors(design: Design, scores: FloatArray) -> FloatArray:
    """By how much the variance of a difference would grow on different segments: (S, S).

    (Var A + Var B) / Var(A − B) on the segments that a pair shares; NaN for fewer than ten, or
    where the difference is the same everywhere.
    """
    size = len(scores)
    found = np.full((size, size), np.nan)
    for i in range(size):
        for j in range(i):
            both = np.isfinite(scores[i] + scores[j])
            if both.sum() < LEAST_SHARED:
                continue
            dev = part(design, both, correct=False).deviations(scores[[i, j]][:, both])
            apart = np.square(dev[0] - dev[1]).sum()
            if apart > 0:
                found[i, j] = found[j, i] = np.square(dev).sum() / apart
    return found


def gapped_pairs(
    design: Design, scores: FloatArray, alone: Sequence[LinearEstimate], factor: FloatArray
) -> Gapped:
    """Each pair on its shared segments, or as two samples where that says more.

    Which of the two is not decided by the pair's own spread, which would favour the narrower by
    chance, but by its counts and the mean ``factor`` of all pairs: n shared segments are worth
    n · factor separate ones of each.

    Two samples are taken for independent, with Welch's degrees of freedom, and nothing is taken
    off for the size of the pool. Where they have segments in common, and where they come from one
    small pool, that is on the safe side.
    """
    size = len(scores)
    count = shared_counts(scores)
    seen = factor[np.isfinite(factor)]
    gain = float(np.exp(np.log(seen).mean())) if seen.size else 1.0
    value, variance = np.zeros((size, size)), np.zeros((size, size))
    df = np.ones((size, size))
    flat, paired = np.zeros((size, size), dtype=bool), np.zeros((size, size), dtype=bool)
    for i in range(size):
        for j in range(i):
            own = 2 / (1 / count[i, i] + 1 / count[j, j])
            alike = count[i, j] == count[i, i] == count[j, j]
            if alike or (count[i, j] >= LEAST_SHARED and count[i, j] * gain >= own):
                both = np.isfinite(scores[i] + scores[j])
                found = shared_pairs(part(design, both), scores[[i, j]][:, both])
                one = found.value[0, 1], found.variance[0, 1], found.df[0, 1]
                flat[i, j] = flat[j, i] = found.spreadless[0, 1]
                paired[i, j] = paired[j, i] = True
            else:
                one = _welch(alone[i], alone[j])
            value[i, j], value[j, i] = one[0], -one[0]
            variance[i, j] = variance[j, i] = one[1]
            df[i, j] = df[j, i] = one[2]
    nothing = np.zeros(0)
    return Gapped(Pairs(value, variance, df, flat, np.zeros(()), nothing), paired)


def _welch(a: LinearEstimate, b: LinearEstimate) -> tuple[float, float, float]:
    """Difference of two independent estimates, its variance and degrees of freedom."""
    va, vb = float(a.se) ** 2, float(b.se) ** 2
    total = va + vb
    if not (0 < total < np.inf):
        return float(a.value - b.value), np.inf, 1.0
    df = total**2 / (va**2 / max(float(a.df), 1.0) + vb**2 / max(float(b.df), 1.0))
    return float(a.value - b.value), total, df
