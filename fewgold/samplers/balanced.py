"""Balanced sampling by the cube method: spread over documents, with the pool's metric means.

Inclusion probabilities are moved to 0 or 1 by a martingale, so that each keeps its expectation. A
step follows a direction that keeps all totals, forwards or backwards as far as possible, at random
with an expected move of 0; it decides at least one unit. When too few undecided units are left to
keep all totals, steps go where the totals change least. Steps are vectorised over many small blocks
of many samples.

Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91; Chauvet and
Tillé (2006), A fast algorithm for balanced sampling, Computational Statistics 21; Hasler and Tillé
(2014), Fast balanced sampling for highly stratified population, CSDA 74.
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
from fewgold.samplers.chances import RATINGS_PER_VARIATE, Chances, uneven_design
from fewgold.samplers.phases import draw_in_phases
from fewgold.samplers.strata import ByDocument, Stratifier, strata_of
from fewgold.samplers.systematic import NEIGHBOURS, spread_documents
from fewgold.stored import StoredPool

_EPS = 1e-9
_CLOSE = 1e-15
# Fewest trades (see `cube`) in a block, if there are few balance equations.
_TRADES = 8
# Blocks to process at once: their tables should fit into the processor's cache.
_SIDE_BY_SIDE = 1024


@dataclass(frozen=True)
class Balanced(Sampler):
    """A random sample with the metric means of the pool, spread evenly over documents.

    The cube method draws twice: first how many segments each document gets (its expected number
    rounded up or down), then which. Both times the sample means of the leading principal components
    of the metrics (and of the cost, if there is one) are kept at their pool means, as nearly as
    whole segments allow. A control variate must estimate its slope from few ratings, but a balanced
    sample needs no slope: the part of the scores that is linear in the metrics is no longer left to
    chance.

    Every segment has exactly its inclusion probability: n/N, so that the mean is unbiased, or one
    in proportion to the expected spread of its rating (``chances``). Weights are then in proportion
    to one over the chance, and what is balanced are the weighted means and the sum of the weights.

    Parameters
    ----------
    by
        The groups to spread the sample over; None means documents, if the pool has them.
    components
        Largest number of variates to balance: the sum of uneven weights, the cost (if there is
        one), then principal components.
    chances
        Uneven chances; None for equal ones.

    References
    ----------
    Deville and Tillé (2004), Efficient balanced sampling: the cube method, Biometrika 91.
    Hasler and Tillé (2014), Fast balanced sampling for highly stratified population, CSDA 74.
    """

    by: Stratifier | None = None
    components: int = 8
    chances: Chances | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("components", self.components, least=0)

    @property
    def name(self) -> str:
        by = "docs" if self.by is None else getattr(self.by, "label", "strata")
        return f"{by}-{'balanced' if self.chances is None else self.chances.name}"

    def _codes(self, pool: Pool) -> IntArray:
        if self.by is not None:
            return strata_of(self.by, pool)
        if pool.documents is None:
            return np.zeros(len(pool), dtype=np.int64)
        return strata_of(ByDocument(), pool)

    def _draw(self, pool: Pool, n: int, draws: int, rng: Generator) -> tuple[IntArray, Design]:
        size, codes = len(pool), self._codes(pool)
        most = min(self.components, n // RATINGS_PER_VARIATE)
        inclusion = np.full(size, n / size)
        if self.chances is not None:
            inclusion = self.chances.inclusion(pool, n)
        uneven = bool(np.ptp(inclusion) > _EPS)
        variates = balance_variates(pool, most - uneven)
        parts = contributions(variates, inclusion) if uneven and most else variates
        dues = Dues.of(codes, inclusion)
        more = dues.rounded_up(parts, draws, rng)
        order = shuffled(codes, draws, rng)
        zone = codes[order]
        up = np.take_along_axis(more, zone, axis=-1)
        chosen = cube(parts, order, np.where(up, dues.high[order], dues.low[order]), zone, rng)
        rows = order[chosen].reshape(draws, n)
        if uneven:
            # One group for all, since a few neighbours with very different weights say little about
            # each other, and one for segments taken with certainty, which have no sampling error.
            # These come last.
            sure = inclusion >= 1 - _EPS
            last = np.argsort(sure[rows], axis=-1, kind="stable")
            rows = np.take_along_axis(rows, last, axis=-1)
            groups = (np.arange(n) >= n - int(sure.sum())).astype(np.int64)
            design = uneven_design(DesignKind.BALANCED, inclusion, rows, groups, variates)
        else:
            one = Design(
                kind=DesignKind.BALANCED,
                size=size,
                weights=np.full(n, 1 / n),
                inclusion=np.full(n, n / size),
                groups=neighbours(n, NEIGHBOURS),
            )
            balance = np.moveaxis(variates[:, rows], 0, -2) if len(variates) else None
            design = replace(batch_design(one, draws), balance=balance)
        by_document = self.by is None and pool.documents is not None
        return rows, replace(design, **spread_documents(pool, rows, by_document))

    def _draw_stored(self, pool: StoredPool, n: int, rng: Generator) -> tuple[Pool, Design]:
        return draw_in_phases(self, pool, n, rng)


@dataclass(frozen=True)
class Dues:
    """Expected number of segments per document, and inclusion probabilities given the number.

    With d the sum of the chances π in a document and f the fractional part of d, the document gets
    ⌈d⌉ with chance f and ⌊d⌋ otherwise. Given ⌈d⌉ chances are min(1, c π), with c such that they
    sum to it; given ⌊d⌋ they are (π − f min(1, c π)) / (1 − f), so that the mixture is π. These lie
    between 0 and π: if k are capped, the others sum to at least d − k, so that f c ≤ f (⌈d⌉ − k) /
    (d − k) ≤ 1, since d = ⌈d⌉ − 1 + f; and c ≥ 1.
    """

    codes: IntArray
    part: FloatArray  # (H,) f, the chance that a document is rounded up
    low: FloatArray  # (N,) chances in a document rounded down
    high: FloatArray  # (N,) chances in a document rounded up

    @classmethod
    def of(cls, codes: IntArray, inclusion: FloatArray) -> Dues:
        due = np.bincount(codes, inclusion)
        least = np.floor(due + 1e-9)
        part = np.clip(due - least, 0.0, 1.0)
        part[part < 1e-9] = 0.0
        high = capped_within(inclusion, codes, least + (part > 0))
        f = part[codes]
        low = np.clip((inclusion - f * high) / (1 - f), 0.0, 1.0)
        return cls(codes, part, low, high)

    def rounded_up(self, variates: FloatArray, draws: int, rng: Generator) -> BoolArray:
        """Documents that get one more segment, chosen so as to keep balance: (draws, H)."""
        step = self.high - self.low
        means = np.array([np.bincount(self.codes, v * step) for v in variates])
        line = rng.permuted(np.tile(np.arange(self.part.size), (draws, 1)), axis=-1)
        means = means.reshape(-1, self.part.size)
        more = cube(means, line, self.part[line], np.zeros_like(line), rng)
        out = np.zeros(line.shape, dtype=bool)
        np.put_along_axis(out, line, more, axis=-1)
        return out


def capped_within(mass: FloatArray, codes: IntArray, counts: FloatArray) -> FloatArray:
    """Chances proportional to ``mass``, at most 1, that sum to each document's count: (N,).

    Water-filling as in `fewgold.samplers.chances.capped`, for all documents at once.
    """
    order = np.lexsort((-mass, codes))
    falling, own = mass[order], codes[order]
    sizes = np.bincount(codes)
    start = np.cumsum(sizes) - sizes
    rank = np.arange(mass.size) - start[own]
    total = np.append(0.0, np.cumsum(falling))
    left = total[(start + sizes)[own]] - total[:-1]  # mass of this segment and all after it
    over = (counts[own] - rank) * falling > left * (1 + 1e-9)
    sure = np.minimum.reduceat(np.where(over, sizes[own], rank), start)
    rest = np.bincount(own, np.where(rank < sure[own], 0.0, falling))
    scale = (counts - sure) / np.where(rest > 0, rest, 1.0)
    out = np.empty(mass.size)
    out[order] = np.where(rank < sure[own], 1.0, np.minimum(falling * scale[own], 1.0))
    return out


def contributions(variates: FloatArray, inclusion: FloatArray) -> FloatArray:
    """Contributions of a segment to the sum of weights and to weighted means: 1/π, z/π, (p, N).

    Centred, since the number of segments is fixed, and orthogonalised as in `balance_variates`.
    """
    inverse = inclusion.mean() / inclusion
    parts = np.concatenate([inverse[None], variates * inverse])
    parts -= parts.mean(-1, keepdims=True)
    spread = parts.std(-1, keepdims=True)
    return np.round(_independent(parts / np.where(spread > 0, spread, 1.0)), 9)


def balance_variates(pool: Pool, most: int) -> FloatArray:
    """The cost and the leading principal components of the metrics, standardised: (p, N).

    Each is orthogonalised to those before it, and left out if nothing remains: otherwise, rounding
    errors would choose the direction of a redundant equation.
    """
    size = len(pool)
    if most < 1 or not (pool.metrics or pool.cost is not None):
        return np.empty((0, size))
    parts: list[FloatArray] = []
    cost = pool._standardised_cost()
    if cost is not None:  # first, since the cost matters most
        parts.append(cost)
    if pool.metrics:
        z = pool.standardised()
        values, vectors = np.linalg.eigh(z @ z.T / size)
        lead = np.argsort(-values, kind="stable")[: most - len(parts)]
        lead = lead[values[lead] > 1e-9]
        axes = vectors[:, lead].T
        # Make the largest entry of each positive: libraries differ in the sign of an axis.
        largest = np.argmax(np.abs(axes).round(9), axis=-1)[:, None]
        axes = axes * np.sign(np.take_along_axis(axes, largest, axis=-1))
        parts.extend(axes / np.sqrt(values[lead])[:, None] @ z)
    # Rounded, so that a seed gives the same sample on every machine: the last digits of matrix
    # products differ between machines, and could change which unit is decided first.
    return np.round(_independent(np.array(parts).reshape(-1, size)), 9)


def _independent(variates: FloatArray) -> FloatArray:
    """Standardised variates, each orthogonalised to those before; redundant ones are left out."""
    kept: list[FloatArray] = []
    for variate in variates:
        rest = variate.copy()
        for other in kept:
            rest -= np.mean(rest * other) * other
        spread = np.sqrt(np.mean(rest**2))
        if spread > 1e-3:
            kept.append(rest / spread)
    return np.array(kept).reshape(-1, variates.shape[-1])


def cube(
    variates: FloatArray, unit: IntArray, chance: FloatArray, zone: IntArray, rng: Generator
) -> BoolArray:
    """Draw positions on lines, a fixed number in each zone: (draws, L), True where drawn.

    A *trade* moves probability between two places of a zone.

    Each round cuts the undecided places along the lines into blocks with about twice as many trades
    as balance equations, and decides as many places in each block as its equations leave free.
    Blocks are processed together. The places left undecided form the blocks of the next round, so
    balance is lost only with the last p trades of a draw.

    Parameters
    ----------
    variates
        (p, U) what to balance, most important first.
    unit
        (draws, L) the column of ``variates`` for each place.
    chance
        (draws, L) inclusion probabilities, with a whole number in each zone.
    zone
        (draws, L) number of the zone of each place, nondecreasing along a line.
    rng
        The random generator that decides.
    """
    draws, size = chance.shape
    # One long line of all draws, with an extra place at the end that pads blocks.
    state = np.append(chance.ravel(), 0.0)
    unit = np.append(unit.ravel(), 0)
    zone = (zone + np.arange(draws)[:, None] * (int(zone.max(initial=0)) + 1)).ravel()
    left, p = np.arange(draws * size), len(variates)
    trades = max(-(-5 * p // 2), _TRADES)
    # Rounds while there are more trades than equations, then the last p trades.
    for least, work in ((p, _decide), (0, _land)):
        while True:
            left = _undecided(left, zone, state)
            blocks = _blocks(left, zone[left], left // size, least, trades, state.size - 1)
            count = blocks.free.shape[-1]
            if not count:
                break
            for start in range(0, count, _SIDE_BY_SIDE):
                part = slice(start, start + _SIDE_BY_SIDE)
                own = _Blocks(blocks.free[:, part], blocks.zone[:, part], blocks.held[:, part])
                work(state, variates, unit, own, rng)
    return np.asarray(state[:-1].reshape(draws, size) > 0.5)


def _undecided(left: IntArray, zone: IntArray, state: FloatArray) -> IntArray:
    """The positions of ``left`` that are still undecided; a lone one in its zone is decided."""
    chance = state[left]
    left = left[(chance > _EPS) & (chance < 1 - _EPS)]
    first = _changes(zone[left])
    alone = first & np.append(first[1:], True)
    if not alone.any():
        return left
    # The rest of a zone is a whole number up to rounding errors.
    state[left[alone]] = np.round(state[left[alone]])
    return np.asarray(left[~alone])


def _changes(label: IntArray) -> BoolArray:
    """True where a label differs from the one before, and for the first."""
    return np.append(np.ones(min(label.size, 1), dtype=bool), label[1:] != label[:-1])


@dataclass
class _Blocks:
    """Places by block, padded to the same number: (places, blocks).

    In each zone of a block one place is held: a trade moves probability between it and one of the
    free places of its zone, which keeps the totals of zones.
    """

    free: IntArray
    zone: IntArray  # of each free place: a row of ``held``
    held: IntArray


def _blocks(
    left: IntArray, zone: IntArray, line: IntArray, least: int, size: int, filler: int
) -> _Blocks:
    """Cut what is left of draws with more than ``least`` trades into blocks of about ``size``."""
    first = _changes(zone)
    trades = np.bincount(line[~first], minlength=int(line.max(initial=-1)) + 1)
    trades[trades <= least] = 0
    count = np.where(trades > 0, np.maximum(trades // size, 1), 0)
    going = count > 0
    if not going.all():
        own = going[line]
        left, line, first = left[own], line[own], first[own]
    # A zone's held place belongs to the block of the zone's first trade.
    places = np.bincount(line, minlength=count.size)
    rank = np.cumsum(~first, dtype=np.int64) - ~first
    rank -= np.repeat(np.cumsum(trades) - trades, places)
    share = np.repeat(count / np.maximum(trades, 1), places)
    block = (rank * share).astype(np.int64)
    block += np.repeat(np.cumsum(count) - count, places)
    held = first | _changes(block)
    alone = held & np.append(held[1:], True)
    if alone.any():
        left, block, held = left[~alone], block[~alone], held[~alone]
    blocks = int(count.sum())
    # Held and free places are numbered within their blocks.
    mine, rest = np.flatnonzero(held), np.flatnonzero(~held)
    zones, frees = (np.bincount(block[own], minlength=blocks) for own in (mine, rest))
    start = np.cumsum(zones) - zones
    row = np.arange(mine.size) - np.repeat(start, zones)
    place = np.arange(rest.size) - np.repeat(np.cumsum(frees) - frees, frees)
    most, largest = int(zones.max(initial=0)), int(frees.max(initial=0))
    made = _Blocks(
        free=np.full((largest, blocks), filler),
        zone=np.full((largest, blocks), most),
        held=np.full((most + 1, blocks), filler),
    )
    made.held[row, block[mine]] = left[mine]
    where = place * blocks + block[rest]
    made.free.reshape(-1)[where] = left[rest]
    made.zone.reshape(-1)[where] = np.repeat(row, np.diff(mine, append=held.size) - 1)
    return made


def _decide(
    state: FloatArray, variates: FloatArray, unit: IntArray, blocks: _Blocks, rng: Generator
) -> None:
    """Decide as many places of each block as there are trades beyond the p balance equations.

    As in the simplex method, p trades and the held places are basic: they follow from the others,
    x_basic = constant − T x_other. The others take a random step without drift one after another,
    which decides that trade or a basic place. In the latter case the two swap roles.
    """
    free, zone, held = blocks.free.copy(), blocks.zone.copy(), blocks.held
    p, (trades, count) = len(variates), free.shape
    lane = np.arange(count)
    table = variates.take(unit[free], axis=1)
    # Reused as working memory: allocating it in each step would cost more than the sums.
    product = variates.take(unit[held.take(zone * count + lane)], axis=1)
    table -= product
    # Gauss–Jordan elimination, solving each equation for the trade that it depends on most.
    for i in range(p):
        size = np.abs(table[i, i:], out=product[i, i:])
        best = (_first(size == size.max(0))[0] + i) * count + lane
        for array in (*table, free, zone):
            long = array.reshape(-1)
            largest = long.take(best)
            long[best] = array[i]
            array[i] = largest
        pivot = table[i, i]
        # A redundant equation is skipped, and its trade waits for the next round.
        sound = np.abs(pivot) > _EPS
        scale = 1 / np.where(sound, pivot, 1.0)
        factor = np.where(sound, table[:, i] * scale, 0.0)
        factor[i] = np.where(sound, 1 - scale, 1.0)
        later = table[:, i + 1 :]
        later -= np.multiply(factor[:, None], later[i], out=product[:, i + 1 :])
    t = np.zeros((trades - p, p + len(held), count))
    flat = t.reshape(trades - p, -1)
    t[:, :p] = table[:, p:].swapaxes(0, 1)
    at = (p + zone) * count + lane
    for row, own, mine in zip(flat, t, at[p:], strict=True):
        row[mine] = 1.0
        for i in range(p):
            row[at[i]] -= own[i]
    product = np.empty_like(t)
    basic, other = np.concatenate([free[:p], held]), free[p:]
    x, y = state.take(basic), state.take(other)
    work = np.empty_like(x)
    for j in range(trades - p):
        column = t[j]
        np.clip(x, _CLOSE, 1 - _CLOSE, out=x)
        inverse, to_0, to_1 = _reach(x, column)
        forward = np.minimum(np.maximum(to_0, to_1, out=work).min(0), 1 - y[j])
        backward = np.minimum(-np.minimum(to_0, to_1, out=work).max(0), y[j])
        ahead = rng.random(count) * (forward + backward) < backward
        step = np.where(ahead, forward, -backward)
        which, swap = _first((to_0 == step) | (to_1 == step))
        which = which * count + lane
        x -= np.multiply(step, column, out=work)
        y[j] += step
        scale = np.where(swap, inverse.take(which), 0.0)
        change = np.multiply(column, scale, out=work)
        change.reshape(-1)[which] -= scale
        later = flat[j + 1 :].take(which, axis=-1)
        t[j + 1 :] -= np.multiply(later[:, None], change, out=product[j + 1 :])
        for inside, outside in ((basic, other), (x, y)):
            leaving = inside.take(which)
            inside.reshape(-1)[which] = np.where(swap, outside[j], leaving)
            outside[j] = np.where(swap, leaving, outside[j])
    state[other] = np.round(y)
    state[basic] = x
    state[-1] = 0.0


def _first(true: BoolArray) -> tuple[IntArray, BoolArray]:
    """The first true row of each column, or 0, and whether there is one; faster than argmax."""
    rows = len(true)
    # Small integers where they suffice: the processor handles more of them at once.
    down = np.arange(rows, 0, -1)
    if rows < 256:
        largest = (true.view(np.uint8) * down.astype(np.uint8)[:, None]).max(0).astype(np.int64)
    else:
        largest = (true * down[:, None]).max(0)
    some = largest > 0
    return np.where(some, rows - largest, 0), some


def _land(
    state: FloatArray, variates: FloatArray, unit: IntArray, blocks: _Blocks, rng: Generator
) -> None:
    """One step of the last trades of each draw, in the direction that changes the totals least.

    An earlier variate counts twice as much as the next one.
    """
    free, zone, held = blocks.free, blocks.zone, blocks.held
    lane, filled = np.arange(free.shape[-1]), free < state.size - 1
    scaled = variates * np.sqrt(0.5 ** np.arange(len(variates)))[:, None]
    gap = scaled.take(unit[free], axis=1) - scaled.take(unit[held[zone, lane]], axis=1)
    gap = np.moveaxis(gap, -1, 0)
    gram = np.swapaxes(gap, -1, -2) @ gap
    rank = np.arange(len(free))
    # Among equally good directions the first trades decide, not rounding errors.
    gram[:, rank, rank] += np.where(filled, 1e-6 * rank[:, None], 1e9).T
    u = np.linalg.eigh(gram)[1][..., 0].T * filled
    # Make the largest entry positive: libraries differ in the sign of a vector.
    u *= np.sign(u[np.abs(u).round(6).argmax(0), lane])
    back = np.zeros(held.shape)
    for k in rank:
        back[zone[k], lane] -= u[k]
    place, u = np.concatenate([free, held]), np.concatenate([u, back])
    x = np.clip(state[place], _CLOSE, 1 - _CLOSE)
    _, to_0, to_1 = _reach(x, -u)
    forward, backward = np.maximum(to_0, to_1).min(0), -np.minimum(to_0, to_1).max(0)
    ahead = rng.random(lane.size) * (forward + backward) < backward
    state[place] = x + np.where(ahead, forward, -backward) * u
    state[-1] = 0.0


def _reach(x: FloatArray, column: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """1/column, and the steps at which x − step · column reaches 0 and 1.

    x is strictly between 0 and 1, so one of the two is a step forwards and the other one
    backwards, and a place that the step does not move sets no limit.
    """
    inverse = 1 / np.where(np.abs(column) > _EPS, column, 1e-40)
    to_0 = x * inverse
    return inverse, to_0, to_0 - inverse
