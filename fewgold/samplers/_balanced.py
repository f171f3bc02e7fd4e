"""Balanced sampling: documents spread out, and the metrics' sample means right from the start."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold._validate import check_count
from fewgold.design import Design, neighbours
from fewgold.pool import Pool
from fewgold.samplers._base import Sampler, shuffled
from fewgold.samplers._cube import cube
from fewgold.samplers._strata import ByDocument, Stratifier, strata_of
from fewgold.samplers._systematic import NEIGHBOURS

# Segments in a zone, at the least: with fewer, zones of whole segments would get uneven rates.
_ZONE = 12
# Ratings for each balanced variate, at the least: the variance loses a degree of freedom for each.
_RATINGS_PER_VARIATE = 8


@dataclass(frozen=True)
class Balanced(Sampler):
    """A random sample whose metrics average out as in the pool, with documents spread out.

    The documents stand in a line in random order, cut into zones that get a fixed number of
    segments each. The cube method draws within the zones so that the weighted sample means of the
    leading principal components of the metrics (and the cost, where there is one) equal their
    pool means, as nearly as whole segments allow. Where a control variate must estimate its slope
    from few ratings, a balanced sample needs none: what the metrics explain linearly is no longer
    left to chance. Inclusion probabilities are exact, so the mean is unbiased.

    Parameters
    ----------
    by
        What stands together on the line; documents where the pool has them, if None.
    components
        Principal components of the metrics to balance, at most.

    References
    ----------
    Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91.
    Hasler and Tillé (2014), Fast balanced sampling for highly stratified population, CSDA 74.
    """

    by: Stratifier | None = None
    components: int = 5

    def __post_init__(self) -> None:
        check_count("components", self.components, least=0)

    @property
    def name(self) -> str:
        return "docs-balanced"

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        size = len(pool)
        if self.by is not None:
            codes = strata_of(self.by, pool)
        else:
            alone = np.zeros(size, dtype=np.int64)
            codes = alone if pool.documents is None else strata_of(ByDocument(), pool)
        order = shuffled(codes, draws, rng)
        bounds, taken = zones(size, n)
        rates = taken / np.diff(bounds)
        chance = np.repeat(rates, np.diff(bounds))
        weight = 1 / (size * chance)
        variates = balance_variates(pool, min(self.components, n // _RATINGS_PER_VARIATE))
        columns = np.moveaxis(variates[:, order] * weight, 0, -1)
        chosen = cube(columns, chance, bounds, rng)
        position = np.nonzero(chosen)[1].reshape(draws, n)
        rows = np.take_along_axis(order, position, axis=-1)
        group = neighbours(n, max(NEIGHBOURS, int(taken.max())))
        design = Design(
            kind="balanced",
            size=size,
            weights=weight[position],
            inclusion=chance[position],
            groups=np.broadcast_to(group, rows.shape),
            balance=np.moveaxis(variates[:, rows], 0, -2) if len(variates) else None,
        )
        return rows, design


def zones(size: int, n: int) -> tuple[IntArray, IntArray]:
    """Borders of zones on a line (G + 1,), and how many segments to take of each (G,)."""
    each = max(1, -(-_ZONE * n // size))
    count = max(n // each, 1)
    due = np.arange(count + 1) * n // count
    borders = np.round(due * (size / n)).astype(np.int64)
    return borders, np.diff(due)


def balance_variates(pool: Pool, most: int) -> FloatArray:
    """Leading principal components of the metrics, standardised, and the cost: (p, N)."""
    size = len(pool)
    if most < 1 or not (pool.metrics or pool.cost is not None):
        return np.empty((0, size))
    parts: list[FloatArray] = []
    if pool.metrics:
        z = pool.standardised()
        values, vectors = np.linalg.eigh(z @ z.T / size)
        lead = np.argsort(-values, kind="stable")[:most]
        lead = lead[values[lead] > 1e-9]
        parts = list((vectors[:, lead].T @ z) / np.sqrt(values[lead])[:, None])
    if pool.cost is not None and pool.cost.std() > 0:
        parts.append((pool.cost - pool.cost.mean()) / pool.cost.std())
    return np.stack(parts[: max(most, 1)]) if parts else np.empty((0, size))
