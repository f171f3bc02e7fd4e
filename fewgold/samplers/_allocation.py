"""How many segments each stratum gets."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.errors import BudgetError


def allocate(mass: FloatArray, sizes: IntArray, n: int) -> FloatArray:
    """Share ``n`` in proportion to ``mass``, no stratum above its size (Saldías et al., eq. 2).

    Where a stratum would get more than it holds, the one that is over-full by most is taken whole
    and the rest is shared out again among the others.
    """
    share = np.zeros(sizes.size)
    open_, left = np.ones(sizes.size, dtype=bool), float(n)
    weight = np.where(mass > 0, mass, 0.0).astype(np.float64)
    while open_.any():
        if not weight[open_].any():  # nothing tells the open strata apart: go by their size
            weight = np.where(open_, sizes, 0.0)
        # Divide by the largest first, so that masses near the limits of floats do no harm.
        scaled = weight[open_] / weight[open_].max()
        share[open_] = left * scaled / scaled.sum()
        excess = np.where(open_, share - sizes, -np.inf)
        worst = int(excess.argmax())
        if excess[worst] <= 1e-12 * max(n, 1):
            break
        share[worst], left = sizes[worst], left - sizes[worst]
        open_[worst] = False
    return np.minimum(share, sizes)


def nearest_counts(share: FloatArray, sizes: IntArray, n: int, least: int = 0) -> IntArray:
    """Whole numbers that sum to ``n`` and minimise Σ|n_h − n'_h|: largest remainders first.

    ``least`` keeps every stratum at that many at the least (or whole, where it is smaller).
    """
    if np.minimum(least, sizes).sum() > n:
        raise BudgetError(
            f"{sizes.size} strata of at least {least} segments each do not fit into {n}. "
            "Merge strata, or raise the budget."
        )
    floor = np.maximum(np.floor(share + 1e-9), np.minimum(least, sizes)).astype(np.int64)
    counts: IntArray = np.minimum(floor, sizes)
    while counts.sum() > n:  # the least counts took more than the shares allow
        room = np.where(counts > np.minimum(least, sizes), counts - share, -np.inf)
        counts[int(room.argmax())] -= 1
    while counts.sum() < n:
        short = n - int(counts.sum())
        gap = np.where(counts < sizes, share - counts, -np.inf)
        order = np.argsort(-gap, kind="stable")[:short]
        counts[order[gap[order] > -np.inf]] += 1
    return counts


def optimal_mass(sizes: IntArray, spread: FloatArray, cost: FloatArray | None = None) -> FloatArray:
    """Neyman's N_h σ_h, divided by the root of the mean cost where costs differ."""
    mass = sizes * spread
    return np.asarray(mass if cost is None else mass / np.sqrt(cost))
