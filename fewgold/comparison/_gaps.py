"""Differences where systems were not all rated on the same segments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fewgold._arrays import FloatArray, IntArray
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
    units = [_spread_out(design, row, one) for row, one in zip(scores, alone, strict=True)]
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
                    apart = _finite(design, scores[[i, j]], (alone[i], alone[j]))
                    if apart is None:
                        apart = float(np.square(units[i] - units[j]).sum())
                one = _welch(alone[i], alone[j], apart)
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


def _spread_out(design: Design, scores: FloatArray, made: LinearEstimate) -> FloatArray:
    """Deviations of an estimate, each in the place of its segment or document among all: (u,)."""
    rated = np.isfinite(scores)
    if design.units is None:
        place, size = np.flatnonzero(rated), rated.size
    else:
        place, size = _first_seen(design.units[rated]), int(design.units.max()) + 1
    found = np.zeros(size)
    found[place] = made.deviations()
    return found


def _finite(
    design: Design, scores: FloatArray, made: tuple[LinearEstimate, LinearEstimate]
) -> float | None:
    """Variance of a difference of two partly overlapping samples of a finite pool, else None.

    For samples of n and m of N segments with k in common it is
    A (1/n − 1/N) + B (1/m − 1/N) − 2 C (k/nm − 1/N), C being the covariance on the shared ones.
    """
    if design.kind == "process" or design.units is not None:
        return None
    rated = np.isfinite(scores)
    both = np.asarray(rated.all(0))
    n, m, k = int(rated[0].sum()), int(rated[1].sum()), int(both.sum())
    own = [one.residuals for one in made]
    a, b = (float(np.var(x, ddof=1)) for x in own)
    c = float(np.cov(*(x[both[r]] for x, r in zip(own, rated, strict=True)))[0, 1])
    most = float(np.sqrt(a * b))
    c = min(max(c, -most), most)
    over = 1 / design.size
    found = a * (1 / n - over) + b * (1 / m - over) - 2 * c * (k / (n * m) - over)
    return max(found, 1e-3 * (a * (1 / n - over) + b * (1 / m - over)))


def _first_seen(labels: IntArray) -> IntArray:
    """Labels without repetition, in the order of their first appearance."""
    values, first = np.unique(labels, return_index=True)
    return np.asarray(values[np.argsort(first)])


def _welch(a: LinearEstimate, b: LinearEstimate, apart: float | None) -> tuple[float, float, float]:
    """Difference of two estimates, its variance (``apart`` if not the sum) and Welch's df."""
    va, vb = float(a.se) ** 2, float(b.se) ** 2
    total = va + vb
    if not (0 < total < np.inf):
        return float(a.value - b.value), np.inf, 1.0
    df = total**2 / (va**2 / max(float(a.df), 1.0) + vb**2 / max(float(b.df), 1.0))
    return float(a.value - b.value), total if apart is None else float(apart), df
