"""From differences of pairs to significant ones, groups and ranks."""

from __future__ import annotations

import numpy as np

from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.comparison.pairs import Pairs

DRAWS = 20_000


def order_of(value: FloatArray, higher: bool) -> IntArray:
    """Systems from best to worst by their mean difference to the others: (..., S)."""
    mean = value.mean(-1)
    return np.asarray(np.argsort(-mean if higher else mean, axis=-1, kind="stable"))


def groups_of(beats: BoolArray, order: IntArray) -> IntArray:
    """Group of each system, 1 the best: (..., S), in the order of the systems.

    A new group starts only where every system above is significantly better than every one below.
    """
    size = order.shape[-1]
    rows = np.take_along_axis(beats, order[..., :, None], axis=-2)
    ranked = np.take_along_axis(rows, order[..., None, :], axis=-1)
    groups = np.ones(order.shape, dtype=np.int64)
    for k in range(1, size):
        groups[..., k:] += np.asarray(ranked[..., :k, k:].all((-1, -2)))[..., None]
    found = np.empty_like(groups)
    np.put_along_axis(found, order, groups, axis=-1)
    return found


def rank_intervals(beats: BoolArray) -> tuple[IntArray, IntArray]:
    """First and last rank that each system may have: (..., S) both.

    All these intervals contain the true ranks with the family-wise confidence of the tests: a
    system is behind those that beat it, and before those that it beats.
    """
    size = beats.shape[-1]
    return np.asarray(1 + beats.sum(-2)), np.asarray(size - beats.sum(-1))


def rank_probabilities(pairs: Pairs, higher: bool, seed: int = 0) -> FloatArray:
    """P(system has rank k), systems as rows: (S, S), by draws around the estimates.

    The systems' true scores are drawn from the multivariate Student distribution about the
    estimates whose differences have the variances of the pairs. Pairs with the same scores
    everywhere are drawn as equal, and ties are broken at random.
    """
    value = pairs.value
    size = len(value)
    known = np.isfinite(pairs.variance)
    finite = np.where(known, pairs.variance, 0.0)
    unknown = 1e8 * (float(np.abs(value).max()) ** 2 + float(finite.max())) + 1e-300
    spread = np.where(known, finite, unknown)  # any order is as likely
    # Covariance of the scores about their mean, from the variances of differences (Torgerson 1952);
    # with gaps it may have negative eigenvalues, which are set to 0.
    centre = np.eye(size) - 1 / size
    values, axes = np.linalg.eigh(-0.5 * centre @ spread @ centre)
    root = axes * np.sqrt(np.clip(values, 0.0, None))
    off = ~np.eye(size, dtype=bool)
    df = max(float(pairs.df[off].min()), 1.0)
    rng = np.random.default_rng(seed)
    scale = np.sqrt(rng.chisquare(df, (DRAWS, 1)) / df)
    drawn = value.mean(-1) + rng.standard_normal((DRAWS, size)) @ root.T / scale
    drawn = drawn + rng.random(drawn.shape) * 1e-9 * (np.abs(drawn).max() + 1e-300)
    places = np.argsort(-drawn if higher else drawn, axis=-1)
    counts = np.zeros((size, size))
    for k in range(size):
        counts[:, k] = np.bincount(places[:, k], minlength=size)
    return counts / DRAWS


CORRECTIONS = ("holm", "fdr", "none")


def better(value: FloatArray, adjusted: FloatArray, level: float, higher: bool) -> BoolArray:
    """True where the row is significantly better than the column: (..., S, S)."""
    ahead = value > 0 if higher else value < 0
    return np.asarray((adjusted <= level) & ahead)
