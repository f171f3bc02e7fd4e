"""How many segments each stratum gets, and the design that this makes."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.design import Design, collapse
from fewgold.samplers._allocation import optimal_mass

# With two segments a stratum its variance can be estimated, and rounding costs next to nothing.
LEAST = 2
# The least spread of a stratum under optimal allocation, as a share of the pooled one.
_FLOOR = 0.25


def masses(
    sizes: IntArray, spread: FloatArray | None, cost: FloatArray | None, *, floored: bool
) -> FloatArray:
    """What segments are shared out by: sizes, or Neyman's sizes times spreads."""
    if spread is None:
        return sizes.astype(np.float64)
    if floored:
        # A metric that does not vary in a stratum does not prove that scores do not: without
        # a floor such strata would be left to one or two ratings.
        spread = np.maximum(spread, _FLOOR * np.sqrt(sizes @ spread**2 / sizes.sum()))
    return optimal_mass(sizes, spread, cost)


def strata_of_share(share: FloatArray, sizes: IntArray) -> BoolArray:
    """Which strata are due fewer than two segments, though they hold more: (H,)."""
    return np.asarray((share < LEAST - 1e-9) & (share < sizes))


def within_design(sizes: IntArray, counts: IntArray) -> Design:
    """Simple random samples of fixed ``counts`` in each stratum, strata one after the other."""
    stratum = np.repeat(np.arange(sizes.size), counts)
    used = counts > 0
    # Strata with nothing drawn are left out and the rest renormalised: biased, and marked so.
    weights = (sizes / sizes[used].sum() / np.maximum(counts, 1))[stratum]
    groups = collapse(stratum, counts.astype(np.float64), sizes)
    return Design(
        kind="stratified" if used.all() else "stratified with empty strata",
        size=int(sizes.sum()),
        weights=weights,
        inclusion=(counts / sizes)[stratum],
        groups=np.unique(groups, return_inverse=True)[1],
        strata=stratum,
        unbiased=bool(used.all()),
    )


def joined_design(own: Design, line: Design) -> Design:
    """Large strata by themselves, then small ones in a line; the line knows the whole size."""
    return Design(
        kind="systematic",
        size=line.size,
        weights=np.concatenate([own.weights * own.size / line.size, line.weights]),
        inclusion=np.concatenate([own.inclusion, line.inclusion]),
        groups=np.concatenate([own.groups, line.groups + int(own.groups.max()) + 1]),
    )


def merge(share: FloatArray, sizes: IntArray, small: BoolArray) -> IntArray:
    """New stratum of each stratum: small ones of similar rates together until two are due."""
    label = np.full(share.size, -1, dtype=np.int64)
    large = np.flatnonzero(~small)
    label[large] = np.arange(large.size)
    following, held = large.size, 0.0
    for h in np.flatnonzero(small)[np.argsort((share / sizes)[small], kind="stable")]:
        label[h], held = following, held + share[h]
        if held >= LEAST - 1e-9:
            following, held = following + 1, 0.0
    if held > 0 or (label == following).any():  # too little is due to the last: give it away
        last = label == following
        if following > large.size:
            label[last] = following - 1
        elif large.size:
            label[last] = label[large[(share / sizes)[large].argmin()]]
    return np.unique(label, return_inverse=True)[1].astype(np.int64)
