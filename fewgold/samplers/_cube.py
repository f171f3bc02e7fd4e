"""The cube method with a fixed number of segments in each zone, for many draws at once.

Inclusion probabilities are moved to 0 or 1 by a martingale that keeps the zone totals exactly
and the balanced totals for as long as there is room. In each of p + 1 zones a pair of undecided
segments trades probability, one up and one down; p balance equations leave one direction for
the p + 1 trades, and a random step along it decides at least one segment.
"""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray

_EPS = 1e-9
# Lines longer than this are balanced in several stretches side by side, to save steps.
_STRETCH = 4000


def cube(
    columns: FloatArray, chance: FloatArray, bounds: IntArray, rng: np.random.Generator
) -> BoolArray:
    """Draw from zones of a line.

    Parameters
    ----------
    columns
        (draws, N, p) balanced variates along the line, already weighted.
    chance
        (N,) inclusion probabilities along the line, with a whole number in each zone.
    bounds
        (G + 1,) borders of the zones.
    rng
        Source of randomness.

    Returns
    -------
    (draws, N) True for the segments taken.
    """
    draws, size, _ = columns.shape
    state = np.tile(chance, (draws, 1))
    stretches = max(1, min(size // _STRETCH, (bounds.size - 1) // 8))
    cuts = np.linspace(0, bounds.size - 1, stretches + 1).astype(np.int64)
    line = np.repeat(np.arange(draws), stretches)
    walk = _Walk(columns, state, bounds, line, np.tile(cuts[:-1], draws), np.tile(cuts[1:], draws))
    while walk.open.any():
        walk.step(rng)
    return np.asarray(state > 0.5)


class _Walk:
    """The state of all draws: which pairs trade, and which zones are still to come."""

    def __init__(
        self,
        columns: FloatArray,
        state: FloatArray,
        bounds: IntArray,
        line: IntArray,
        zone: IntArray,
        last: IntArray,
    ) -> None:
        self.columns, self.state, self.bounds, self.line = columns, state, bounds, line
        self.zone, self.last = zone.copy(), last
        rows, slots = line.size, columns.shape[-1] + 1
        self.first = np.zeros((rows, slots), dtype=np.int64)
        self.second = np.zeros((rows, slots), dtype=np.int64)
        self.end = np.zeros((rows, slots), dtype=np.int64)
        self.open = np.zeros((rows, slots), dtype=bool)
        self._refill()

    def _refill(self) -> None:
        """Give each free slot the next zone that still has something to decide."""
        while True:
            free = ~self.open & (self.zone < self.last)[:, None]
            row = np.flatnonzero(free.any(-1))
            if not row.size:
                return
            slot = free[row].argmax(-1)
            start, end = self.bounds[self.zone[row]], self.bounds[self.zone[row] + 1]
            undecided = self.state[self.line[row], start] < 1 - _EPS
            self.first[row, slot], self.second[row, slot] = start, start + 1
            self.end[row, slot] = end
            self.open[row, slot] = undecided & (end - start > 1)
            self.zone[row] += 1

    def step(self, rng: np.random.Generator) -> None:
        live = np.flatnonzero(self.open.any(-1))
        line, opened = self.line[live, None], self.open[live]
        a = np.where(opened, self.first[live], 0)
        b = np.where(opened, self.second[live], 0)
        trade = self.columns[line, a] - self.columns[line, b]
        u = _direction(trade, opened)
        pa, pb = self.state[line, a], self.state[line, b]
        size = np.abs(u)
        moves = size > 1e-12
        safe = np.where(moves, size, 1.0)
        rise = np.where(moves, np.minimum(1 - pa, pb) / safe, np.inf)  # a goes up, b goes down
        fall = np.where(moves, np.minimum(pa, 1 - pb) / safe, np.inf)
        forward = np.where(u > 0, rise, fall).min(-1)
        backward = np.where(u > 0, fall, rise).min(-1)
        ahead = rng.random(live.size) * (forward + backward) < backward
        shift = np.where(ahead, forward, -backward)[:, None] * u
        pa, pb = _snap(pa + shift), _snap(pb - shift)
        rows, slots = np.nonzero(opened)
        where = (self.line[live[rows]], a[rows, slots])
        self.state[where] = pa[rows, slots]
        self.state[where[0], b[rows, slots]] = pb[rows, slots]
        self._advance(live[rows], slots, pa[rows, slots], pb[rows, slots])

    def _advance(self, row: IntArray, slot: IntArray, pa: FloatArray, pb: FloatArray) -> None:
        done_a, done_b = (pa == 0) | (pa == 1), (pb == 0) | (pb == 1)
        a, b = self.first[row, slot], self.second[row, slot]
        both = done_a & done_b
        next_a = np.where(both, b + 1, np.where(done_a, b, a))
        next_b = np.where(both, b + 2, np.where(done_a | done_b, b + 1, b))
        self.first[row, slot], self.second[row, slot] = next_a, next_b
        over = next_b >= self.end[row, slot]
        if over.any():
            # What is left of a finished zone is whole up to rounding errors.
            rest = over & (next_a < self.end[row, slot])
            where = (self.line[row[rest]], next_a[rest])
            self.state[where] = np.round(self.state[where])
            self.open[row[over], slot[over]] = False
            self._refill()


def _snap(p: FloatArray) -> FloatArray:
    return np.asarray(np.where(p < _EPS, 0.0, np.where(p > 1 - _EPS, 1.0, p)))


def _direction(trade: FloatArray, opened: BoolArray) -> FloatArray:
    """Unit vectors (rows, slots) of trades that leave the balanced totals as they are.

    Rows with k < slots open slots keep the first k - 1 balance equations and drop the others;
    closed slots get an equation of their own that holds them still.
    """
    rows, slots = opened.shape
    if slots == 1:
        return np.ones((rows, 1))
    order = np.argsort(~opened, axis=-1, kind="stable")
    equations = np.take_along_axis(trade, order[..., None], axis=1)
    count = opened.sum(-1)
    if (count < slots).any():
        column = np.arange(slots - 1)
        shut = np.arange(slots)[:, None] == column + 1
        keep = column < (count - 1)[:, None]
        equations = np.where(
            keep[:, None, :],
            np.where((np.arange(slots) < count[:, None])[..., None], equations, 0.0),
            shut[None].astype(np.float64),
        )
    # The last column of a complete QR is orthogonal to all equations, whatever their rank.
    null = np.linalg.qr(equations, mode="complete")[0][..., -1]
    u = np.empty_like(null)
    np.put_along_axis(u, order, null, axis=-1)
    return np.where(opened, u, 0.0)
