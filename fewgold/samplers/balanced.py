"""Balanced sampling: documents spread out, and the metrics' sample means right from the start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold._validate import check_count
from fewgold.design import Design, DesignKind, neighbours
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler, batch_design, shuffled
from fewgold.samplers.cube import cube, cube_in_zones
from fewgold.samplers.strata import ByDocument, Stratifier, strata_of
from fewgold.samplers.systematic import NEIGHBOURS

# Segments in a zone, at the least, where documents must be cut to have zones enough.
_ZONE = 12
# Zones for each slot of the cube, below which documents are cut: the last zones land unbalanced.
_ZONES_PER_SLOT = 6
# Ratings for each balanced variate, at the least: the variance loses a degree of freedom for each.
_RATINGS_PER_VARIATE = 8


@dataclass(frozen=True)
class Balanced(Sampler):
    """A random sample whose metrics average out as in the pool, with documents spread out.

    The cube method draws twice: first how many segments each document gets, its due rounded up or
    down; then which. Both times the sample means of the leading principal components of the
    metrics (and of the cost, where there is one) are kept at their pool means, as nearly as whole
    segments allow. Where a control variate must estimate its slope from few ratings, a balanced
    sample needs none: what the metrics explain linearly is no longer left to chance.

    Every segment has the same chance, exactly n/N, so the mean is unbiased.

    Parameters
    ----------
    by
        What is to be spread; documents where the pool has them, if None.
    components
        Variates to balance, at most: the cost, where there is one, then principal components.

    References
    ----------
    Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91.
    Hasler and Tillé (2014), Fast balanced sampling for highly stratified population, CSDA 74.
    """

    by: Stratifier | None = None
    components: int = 8

    def __post_init__(self) -> None:
        check_count("components", self.components, least=0)

    @property
    def name(self) -> str:
        return f"{'docs' if self.by is None else getattr(self.by, 'label', 'strata')}-balanced"

    def _codes(self, pool: Pool) -> IntArray:
        if self.by is not None:
            return strata_of(self.by, pool)
        if pool.documents is None:
            return np.zeros(len(pool), dtype=np.int64)
        return strata_of(ByDocument(), pool)

    def _draw(
        self, pool: Pool, n: int, draws: int, rng: np.random.Generator
    ) -> tuple[IntArray, Design]:
        size, codes = len(pool), self._codes(pool)
        variates = balance_variates(pool, min(self.components, n // _RATINGS_PER_VARIATE))
        counts = document_counts(codes, variates, n, draws, rng)
        order = shuffled(codes, draws, rng)
        sizes = np.bincount(codes)
        slots = len(variates) + 1
        if sizes.size < _ZONES_PER_SLOT * slots:
            bounds, chance = _cut_documents(codes[order], counts)
        else:
            starts = codes[order][:, 1:] != codes[order][:, :-1]
            inner = np.nonzero(starts)[1].reshape(draws, sizes.size - 1) + 1
            ends = np.full((draws, 1), size)
            bounds = np.concatenate([np.zeros_like(ends), inner, ends], axis=-1)
            chance = np.take_along_axis(counts / sizes, codes[order], axis=-1)
        chosen = cube_in_zones(np.moveaxis(variates[:, order], 0, -1), chance, bounds, rng)
        position = np.nonzero(chosen)[1].reshape(draws, n)
        rows = np.take_along_axis(order, position, axis=-1)
        one = Design(
            kind=DesignKind.BALANCED,
            size=size,
            weights=np.full(n, 1 / n),
            inclusion=np.full(n, n / size),
            groups=neighbours(n, NEIGHBOURS),
        )
        balance = np.moveaxis(variates[:, rows], 0, -2) if len(variates) else None
        return rows, replace(batch_design(one, draws), balance=balance)


def document_counts(
    codes: IntArray, variates: FloatArray, n: int, draws: int, rng: np.random.Generator
) -> IntArray:
    """How many segments each document gets: its due n N_h/N, rounded up or down: (draws, H)."""
    sizes = np.bincount(codes)
    due = n * sizes / codes.size
    least = np.floor(due + 1e-9)
    means = (
        np.stack([np.bincount(codes, v) for v in variates], -1) / sizes[:, None]
        if len(variates)
        else np.empty((sizes.size, 0))
    )
    line = rng.permuted(np.tile(np.arange(sizes.size), (draws, 1)), axis=-1)
    more = cube(means[line], np.clip(due - least, 0.0, 1.0)[line], rng)
    counts = np.tile(least, (draws, 1))
    np.put_along_axis(counts, line, least[line] + more, axis=-1)
    return counts.astype(np.int64)


def _cut_documents(codes: IntArray, counts: IntArray) -> tuple[IntArray, FloatArray]:
    """Borders of zones and chances along the line, with large documents cut into several zones.

    Segments of a document stand in random order, so that a zone is a random part of it and the
    chances, which differ slightly between zones of whole segments, are the same on average.
    """
    draws, size = codes.shape
    bounds, chance = [], np.zeros((draws, size))
    for line, own, p in zip(codes, counts, chance, strict=True):
        borders = [0]
        ends = np.append(np.flatnonzero(np.diff(line)) + 1, size)
        for start, end in zip(np.append(0, ends[:-1]), ends, strict=True):
            cuts, taken = zones(int(end - start), int(own[line[start]]))
            borders.extend((start + cuts[1:]).tolist())
            p[start:end] = np.repeat(taken / np.diff(cuts), np.diff(cuts))
        bounds.append(borders)
    most = max(map(len, bounds))
    return np.array([b + [size] * (most - len(b)) for b in bounds]), chance


def zones(size: int, n: int) -> tuple[IntArray, IntArray]:
    """Borders of zones on a line (G + 1,), and how many segments to take of each (G,)."""
    if n == 0:
        return np.array([0, size]), np.array([0])
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
    if pool.cost is not None and pool.cost.std() > 0:  # first: money is what must come out right
        parts.append((pool.cost - pool.cost.mean()) / pool.cost.std())
    if pool.metrics:
        z = pool.standardised()
        values, vectors = np.linalg.eigh(z @ z.T / size)
        lead = np.argsort(-values, kind="stable")[: most - len(parts)]
        lead = lead[values[lead] > 1e-9]
        axes = _one_sense(vectors[:, lead].T) / np.sqrt(values[lead])[:, None]
        parts.extend(axes @ z)
    # Rounded, so that a seed gives the same sample on every machine: the last digits of matrix
    # products differ between them, and who is decided first may hang on such a digit.
    return np.asarray(np.round(np.stack(parts), 9)) if parts else np.empty((0, size))


def _one_sense(axes: FloatArray) -> FloatArray:
    """Axes (p, m) of which the largest part is positive; libraries differ in the sense of each."""
    largest = np.argmax(np.abs(axes).round(9), axis=-1)[:, None]
    return np.asarray(axes * np.sign(np.take_along_axis(axes, largest, axis=-1)))
