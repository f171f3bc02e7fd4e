"""Differences where systems were not all rated on the same segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import FloatArray, IntArray
from fewgold.comparison._apart import finite_variance, unit_deviations, welch
from fewgold.comparison._designs import part
from fewgold.comparison._pairs import Pairs, shared_pairs
from fewgold.design import Design
from fewgold.estimate import LinearEstimate

#: Shared segments from which a pair's covariance is known.
LEAST_SHARED = 10


class Gapped(NamedTuple):
    """The differences, and what each is made of: shared, partly or separate, (S, S)."""

    pairs: Pairs
    basis: NDArray[np.str_]


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
    """Each pair on its shared segments, or by all that each was rated on where that says more.

    Which of the two is not decided by the pair's own spread, which would favour the narrower by
    chance, but by its counts and the mean ``factor`` of all pairs.

    By all ratings, the difference is that of two estimates (``alone``), with Welch's degrees of
    freedom. Segments that both were rated on count with their covariance if there are ten or more.
    Then the pool's size is taken into account as well, which without shared ones cannot be.

    Parameters
    ----------
    design
        How the n segments were drawn that anyone was rated on.
    scores
        (S, n), NaN where a system was not rated.
    alone
        Estimates of the systems, without correction for the size of the pool.
    factor
        (S, S) as `factors` gives it.
    """
    size = len(scores)
    count = shared_counts(scores)
    seen = factor[np.isfinite(factor)]
    alike = 1 - 1 / float(np.exp(np.log(seen).mean())) if seen.size else 0.0
    units = [unit_deviations(design, row, one) for row, one in zip(scores, alone, strict=True)]
    value, variance, df = np.zeros((size, size)), np.zeros((size, size)), np.ones((size, size))
    flat = np.zeros((size, size), dtype=bool)
    basis = np.full((size, size), "", dtype="<U8")
    for i in range(size):
        for j in range(i):
            a, b, m = count[i, i], count[j, j], count[i, j]
            own = 1 / a + 1 / b - 2 * alike * m / (a * b)
            known = m >= LEAST_SHARED
            if m == a == b or (known and 2 * (1 - alike) / m <= own):
                both = np.isfinite(scores[i] + scores[j])
                found = shared_pairs(part(design, both), scores[[i, j]][:, both])
                one = float(found.value[0, 1]), float(found.variance[0, 1]), float(found.df[0, 1])
                flat[i, j] = flat[j, i] = found.spreadless[0, 1]
                how = "shared"
            else:
                apart = None
                if known:
                    apart = finite_variance(design, scores[[i, j]], (alone[i], alone[j]))
                    if apart is None:
                        apart = float(np.square(units[i] - units[j]).sum())
                one = welch(alone[i], alone[j], apart)
                if bool(alone[i].spreadless | alone[j].spreadless):
                    flat[i, j] = flat[j, i] = True
                    if bool(alone[i].spreadless & alone[j].spreadless):
                        one = one[0], np.inf, one[2]
                how = "partly" if known else "separate"
            value[i, j], value[j, i] = one[0], -one[0]
            variance[i, j] = variance[j, i] = one[1]
            df[i, j] = df[j, i] = one[2]
            basis[i, j] = basis[j, i] = how
    return Gapped(Pairs(value, variance, df, flat, np.zeros(()), np.zeros(0)), basis)
