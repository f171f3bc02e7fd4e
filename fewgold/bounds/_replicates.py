"""Replicates of a sample: drawn once with a fixed seed, and shared by all draws of that size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from fewgold._arrays import FloatArray, IntArray, batches
from fewgold.bounds._shape import Shape
from fewgold.errors import FewgoldError
from fewgold.estimate import Bound

# Draws whose replicates are held at once.
_DRAWS = 1024
# Pools of more than this many times the sample hardly differ from endless ones.
_LARGEST = 1000


# Replicates beyond each end of an interval, at the least, and replicates at the most.
_BEYOND, _MOST = 10, 20_000


def enough(bound: Bound, replicates: int, confidence: float) -> int:
    """Replicates that tell the tails of an interval: more of them the rarer it may miss."""
    needed = int(np.ceil(2 * _BEYOND / (1 - confidence) - 1e-6))
    if needed > max(_MOST, replicates):
        raise FewgoldError(
            f"{bound.name} would need {needed:,} replicates to tell the tails at a confidence of "
            f"{confidence:.10g}; {_MOST:,} is the most. Use bound=Hall() or bound=Student()."
        )
    return max(replicates, needed)


@lru_cache(maxsize=8)
def pseudo_samples(n: int, size: int, replicates: int) -> tuple[FloatArray, FloatArray]:
    """Samples of n from pseudo-populations made of a sample of n (Booth, Butler and Hall 1994).

    Each pseudo-population holds every unit size // n times, and a random rest of size % n units
    once more. Returned are the shares of each unit in the samples and in the pseudo-populations
    that they come from: (replicates, n) both.
    """
    rng = np.random.default_rng([n, size, replicates])
    copies, rest = divmod(size, n)
    pools = np.full((replicates, n), copies, dtype=np.int64)
    if rest:
        pools += rng.permuted(np.tile(np.arange(n) < rest, (replicates, 1)), axis=-1)
    samples = np.empty((replicates, n))
    for pool, sample in zip(pools, samples, strict=True):
        sample[:] = rng.multivariate_hypergeometric(pool, n, method="marginals")
    return samples / n, pools / size


def by_size(shape: Shape) -> Iterator[tuple[IntArray, FloatArray, int]]:
    """Draws with as many units and as large a pool: which, their units, and the pool's size."""
    members = shape.members.astype(np.int64)
    fraction = np.maximum(shape.fraction, 1 / _LARGEST)
    size = np.maximum(np.rint(members / fraction).astype(np.int64), members + 1)
    for n, pool in np.unique(np.stack([members, size], -1), axis=0):
        which = np.flatnonzero((members == n) & (size == pool))
        for part in batches(which.size, _DRAWS):
            yield which[part], shape.units[which[part], :n], int(pool)


def quantiles(values: FloatArray, chance: FloatArray) -> FloatArray:
    """Quantile of each row at a chance of its own: (draws, replicates), (draws,) -> (draws,)."""
    line = np.sort(values, axis=-1)
    place = np.clip(chance, 0.0, 1.0) * (values.shape[-1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, values.shape[-1] - 1)
    pick = np.take_along_axis(line, np.stack([below, above], -1), axis=-1)
    part = place - below
    return np.asarray(pick[:, 0] * (1 - part) + pick[:, 1] * part)
