"""The least sum of unrated scores that bets do not refuse, for many draws at once."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, batches
from fewgold.bounds._sides import Side

# Ends are found to this share of the scale, and on the safe side.
PRECISION = 1e-6
# Numbers that are worked on at once: they should stay in the cache.
_BLOCK = 1 << 15


def least_unrated(
    side: Side,
    bets: FloatArray,
    goal: FloatArray,
    cap: float,
    within: tuple[FloatArray, FloatArray],
    guess: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """The least sum of unrated scores that the bets do not refuse, on the safe side: (rows,).

    A sum is refused if the logarithm of its capital ever reaches ``goal``.

    ``within`` are the ends of the search: nothing is looked for beyond them. ``guess`` is where to
    start, and by how much to move at first.
    """
    low, high = (np.asarray(end, dtype=np.float64) for end in within)
    start, step = guess or (low + (high - low) / 2, (high - low) / 4)
    found = np.empty(len(low))
    for block in batches(len(low), max(1, _BLOCK // side.rest.shape[-1])):
        part = (low[block], high[block], start[block], step[block])
        found[block] = _search(side.rows(block), bets[block], goal[block], cap, *part)
    return found


def _search(
    side: Side,
    bets: FloatArray,
    goal: FloatArray,
    cap: float,
    low: FloatArray,
    high: FloatArray,
    start: FloatArray,
    step: FloatArray,
) -> FloatArray:
    """Where the highest capital falls below its goal: the end of the last bracket that is refused.

    Steps that double until the place is between two points, then false position (Anderson and
    Björck 1973), and halving where three of its steps did not do as much. Each draw goes by
    itself, so that a batch gives what its draws give.
    """
    near = PRECISION * side.size
    found = low.copy()
    live = np.arange(len(low))
    a, b = low, high
    f_a, f_b = np.full((2, len(low)), np.nan)  # capital over its goal; not known yet
    x = np.clip(start, low, high)
    step = np.maximum(step, near)
    turn, last, before = np.zeros((3, len(low)))
    while live.size:
        f = side.best(x, bets, cap) - goal
        up = f >= 0
        # Where the same end moves again, the value at the other one is scaled down.
        old = np.where(up, f_a, f_b)
        shrink = 1 - f / np.where(old == 0, 1.0, old)
        shrink = np.where(shrink > 0, shrink, 0.5)
        shrink = np.where(last == np.where(up, 1, -1), shrink, 1.0)
        f_a, f_b = np.where(up, f, f_a * shrink), np.where(up, f_b * shrink, f)
        at_end = np.where(up, x >= b, x <= a)
        a, b = np.where(up, x, a), np.where(up, b, x)
        last = np.where(up, 1, -1)
        done = at_end | (b - a <= near)
        if done.any():
            found[live[done]] = a[done]
            keep = np.flatnonzero(~done)
            live, side, bets, goal = live[keep], side.rows(keep), bets[keep], goal[keep]
            a, b, f_a, f_b, x = a[keep], b[keep], f_a[keep], f_b[keep], x[keep]
            step, turn, before = step[keep], turn[keep], before[keep]
            last, up = last[keep], up[keep]
        between = ~(np.isnan(f_a) | np.isnan(f_b))
        outward = np.where(up, np.minimum(x + step, b), np.maximum(x - step, a))
        step = step * 2
        inner = b - f_b * (b - a) / np.where(between, f_b - f_a, 1.0)
        inner = np.clip(inner, a + near / 2, b - near / 2)
        turn = turn + between
        check = between & (turn % 3 == 1)
        inner = np.where(check & (turn > 1) & (b - a > before / 2), (a + b) / 2, inner)
        before = np.where(check, b - a, before)
        x = np.where(between, inner, outward)
    return found
