"""Balanced sampling by the cube method: documents spread out, sample means of the metrics right.

Inclusion probabilities are moved to 0 or 1 by a martingale, so that each keeps its expectation.
A step goes along a direction that leaves all totals as they are, as far as it can in one of the
two senses, chosen so that the expected move is 0; it decides at least one unit. When too few
undecided units are left for all totals, the last variates are given up first. Many samples are
drawn at once.

Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91; Hasler and
Tillé (2014), Fast balanced sampling for highly stratified population, CSDA 74.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator

from fewgold.common.arrays import BoolArray, FloatArray, IntArray
from fewgold.common.checks import check_count
from fewgold.design import Design, DesignKind, neighbours
from fewgold.pool import Pool
from fewgold.samplers.base import Sampler, batch_design, shuffled
from fewgold.samplers.strata import ByDocument, Stratifier, strata_of
from fewgold.samplers.systematic import NEIGHBOURS, spread_documents

# Segments in a zone, at the least, where documents must be cut to have zones enough.
_ZONE = 12
# Zones for each slot of the cube, below which documents are cut: the last zones land unbalanced.
_ZONES_PER_SLOT = 6
# Ratings for each balanced variate, at the least: the variance loses a degree of freedom for each.
_RATINGS_PER_VARIATE = 8
_EPS = 1e-9
# Lines longer than this are balanced in several stretches side by side, to save steps.
_STRETCH = 4000


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

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
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
        more = spread_documents(pool, rows, self.by is None and pool.documents is not None)
        return rows, replace(batch_design(one, draws), balance=balance, **more)


def document_counts(
    codes: IntArray, variates: FloatArray, n: int, draws: int, rng: Generator
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
        axes = vectors[:, lead].T
        # The largest part of each is positive: libraries differ in the sense of an axis.
        largest = np.argmax(np.abs(axes).round(9), axis=-1)[:, None]
        axes = axes * np.sign(np.take_along_axis(axes, largest, axis=-1))
        parts.extend(axes / np.sqrt(values[lead])[:, None] @ z)
    # Rounded, so that a seed gives the same sample on every machine: the last digits of matrix
    # products differ between them, and who is decided first may hang on such a digit.
    return np.asarray(np.round(np.stack(parts), 9)) if parts else np.empty((0, size))


def cube(columns: FloatArray, chance: FloatArray, rng: Generator) -> BoolArray:
    """Draw units with a fixed total: (draws, units), True for those taken.

    ``columns`` (draws, units, p) are the variates to balance, most important first; ``chance``
    (draws, units) the inclusion probabilities, with a whole number in total.
    """
    state = chance.copy()
    draws, size = state.shape
    slots = columns.shape[-1] + 2
    window = np.zeros((draws, slots), dtype=np.int64)
    filled = np.zeros((draws, slots), dtype=bool)
    coming = np.zeros(draws, dtype=np.int64)
    line = np.arange(draws)[:, None]
    while True:
        # Fill free slots with the next undecided unit of each draw.
        while (free := ~filled & (coming < size)[:, None]).any():
            row = np.flatnonzero(free.any(-1))
            slot = free[row].argmax(-1)
            window[row, slot] = coming[row]
            p = state[row, coming[row]]
            filled[row, slot] = (p > _EPS) & (p < 1 - _EPS)
            coming[row] += 1
        live = np.flatnonzero(filled.any(-1))
        if not live.size:
            return np.asarray(state > 0.5)
        opened, unit = filled[live], window[live]
        ones = np.ones((*unit.shape, 1))
        u = _direction(np.concatenate([ones, columns[line[live], unit]], axis=-1), opened)
        p = np.where(opened, state[line[live], unit], 0.5)
        alone = opened.sum(-1) == 1
        p = np.where(alone[:, None], np.round(p), _step(u, 1 - p, p, p, rng))
        rows, slot = np.nonzero(opened)
        state[live[rows], unit[rows, slot]] = p[rows, slot]
        filled[live] = opened & (p > 0) & (p < 1)


def cube_in_zones(
    columns: FloatArray, chance: FloatArray, bounds: IntArray, rng: Generator
) -> BoolArray:
    """Draw from zones of a line, a fixed number in each: (draws, N), True for the units taken.

    In each of p + 1 zones a pair of undecided units trades probability, one up and one down: zone
    totals hold, and p balance equations leave one direction for the p + 1 trades.

    Along the line ``columns`` (draws, N, p) are the variates, most important first, and ``chance``
    (draws, N) the inclusion probabilities, with a whole number in each zone; ``bounds``
    (draws, G + 1) are the borders of the zones, which may be empty.
    """
    size = columns.shape[1]
    zones_cube = _ZoneCube(columns, chance.copy(), bounds, max(1, size // _STRETCH))
    while zones_cube.open.any():
        zones_cube.step(rng)
    return np.asarray(zones_cube.state > 0.5)


class _ZoneCube:
    """The state of all draws: which pairs trade, and which zones are still to come."""

    def __init__(
        self, columns: FloatArray, state: FloatArray, bounds: IntArray, stretches: int
    ) -> None:
        self.state, self.bounds = state, bounds
        # One long line of all draws: a single index is quicker than two.
        self.long, self.columns = state.reshape(-1), columns.reshape(state.size, -1)
        draws, zones = bounds.shape[0], bounds.shape[1] - 1
        stretches = max(1, min(stretches, zones // 8))
        cuts = np.linspace(0, zones, stretches + 1).astype(np.int64)
        self.line = np.repeat(np.arange(draws), stretches)
        self.start = self.line * state.shape[1]
        self.zone, self.last = np.tile(cuts[:-1], draws), np.tile(cuts[1:], draws)
        shape = (self.line.size, columns.shape[-1] + 1)
        self.first = np.zeros(shape, dtype=np.int64)
        self.second = np.zeros(shape, dtype=np.int64)
        self.end = np.zeros(shape, dtype=np.int64)
        self.open = np.zeros(shape, dtype=bool)
        self._refill()

    def _refill(self) -> None:
        """Give each free slot the next zone that still has something to decide."""
        while (free := ~self.open & (self.zone < self.last)[:, None]).any():
            row = np.flatnonzero(free.any(-1))
            slot = free[row].argmax(-1)
            line, zone = self.line[row], self.zone[row]
            start, end = self.bounds[line, zone], self.bounds[line, zone + 1]
            p = self.state[line, np.minimum(start, self.state.shape[1] - 1)]
            self.first[row, slot], self.second[row, slot] = start, start + 1
            self.end[row, slot] = end
            self.open[row, slot] = (end - start > 1) & (p > _EPS) & (p < 1 - _EPS)
            self.zone[row] += 1

    def step(self, rng: Generator) -> None:
        live = np.flatnonzero(self.open.any(-1))
        opened, first, second = self.open[live], self.first[live], self.second[live]
        shut = ~opened
        some = shut.any()
        if some:
            first[shut] = second[shut] = 0
        start = self.start[live, None]
        a, b = start + first, start + second
        gap = self.columns.take(a, axis=0)
        gap -= self.columns.take(b, axis=0)
        u = _direction(gap, opened)
        pa, pb = self.long.take(a), self.long.take(b)
        total = pa + pb
        pa = _step(u, np.minimum(1 - pa, pb), np.minimum(pa, 1 - pb), pa, rng)
        pb = _snap(total - pa)
        if some:
            self.long[a[opened]], self.long[b[opened]] = pa[opened], pb[opened]
        else:
            self.long[a], self.long[b] = pa, pb
        # The decided units of each pair give way to the next ones of its zone.
        done_a, done_b = ((pa == 0) | (pa == 1)) & opened, ((pb == 0) | (pb == 1)) & opened
        first = np.where(done_a, second + done_b, first)
        second = second + done_a + done_b
        end = self.end[live]
        over = opened & (second >= end)
        self.first[live], self.second[live] = first, second
        if over.any():
            # What is left of a finished zone is whole up to rounding errors.
            where = (start + first)[over & (first < end)]
            self.long[where] = np.round(self.long[where])
            self.open[live] = opened & ~over
            self._refill()


def _step(
    u: FloatArray, rise: FloatArray, fall: FloatArray, p: FloatArray, rng: Generator
) -> FloatArray:
    """Probabilities after a random step along ``u`` that has no drift.

    ``rise`` and ``fall`` say how far each may go up and down.
    """
    size = np.abs(u)
    still = size <= 1e-12
    if some := still.any():
        size[still] = 1.0
    up, down = rise / size, fall / size
    if some:
        up[still] = down[still] = np.inf
    ahead = u > 0
    forward = np.where(ahead, up, down).min(-1)
    backward = np.where(ahead, down, up).min(-1)
    ahead = rng.random(len(u)) * (forward + backward) < backward
    return _snap(p + np.where(ahead, forward, -backward)[:, None] * u)


def _snap(p: FloatArray) -> FloatArray:
    return np.asarray(np.where(p < _EPS, 0.0, np.where(p > 1 - _EPS, 1.0, p)))


def _direction(equations: FloatArray, opened: BoolArray) -> FloatArray:
    """Unit vectors (rows, slots) orthogonal to the columns of (rows, slots, slots - 1).

    Rows with k < slots open slots keep the first k - 1 equations and drop the others; closed slots
    get an equation of their own that holds them still.
    """
    rows, slots = opened.shape
    if slots == 1:
        return np.ones((rows, 1))
    count = opened.sum(-1)
    if (count == slots).all():
        return _orthogonal(equations)
    order = np.argsort(~opened, axis=-1, kind="stable")
    equations = np.take_along_axis(equations, order[..., None], axis=1)
    column = np.arange(slots - 1)
    shut = np.arange(slots)[:, None] == column + 1
    keep = column < (count - 1)[:, None]
    equations = np.where(
        keep[:, None, :],
        np.where((np.arange(slots) < count[:, None])[..., None], equations, 0.0),
        shut[None].astype(np.float64),
    )
    null = _orthogonal(equations)
    u = np.empty_like(null)
    np.put_along_axis(u, order, null, axis=-1)
    return np.where(opened, u, 0.0)


def _orthogonal(equations: FloatArray) -> FloatArray:
    """Unit vectors (rows, slots) orthogonal to all columns of (rows, slots, slots - 1)."""
    # The last column of a complete QR, whatever the rank: only the reflections are asked for, and
    # applied to the last axis.
    vectors, scale = np.linalg.qr(equations, mode="raw")
    u = np.zeros(equations.shape[:2])
    u[:, -1] = 1.0
    for j in range(equations.shape[-1] - 1, -1, -1):
        below = vectors[:, j, j + 1 :]
        part = np.vecdot(below, u[:, j + 1 :])
        part *= scale[:, j]
        u[:, j] = -part
        u[:, j + 1 :] -= part[:, None] * below
    return u
