"""Draws of the hidden counts: how many ones and zeros of the metric are adequate items.

s, the adequate items of both kinds together, comes from the weights of the mixture. Given s, the
chance of i among the ones is f(i) g(s − i), which is log-concave where no shape is below 1. Then
draws are made by rejection, all at once: from a flat top between the places to either side of the
peak where it has fallen by e, and geometric tails through these, which lie above.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray
from fewgold.bayes._convolution import product
from fewgold.bayes._factors import factors
from fewgold.bayes._shapes import Shapes


def draw_hidden(
    shape: Shapes, size: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Draws of i and j, the adequate items among the ones and the zeros of the metric."""
    log_f, log_g, log_s = factors(shape)
    first, log_w = product(log_f, log_g, log_s)
    weights = np.exp(log_w - log_w.max())
    drawn = first + rng.choice(weights.size, size, p=weights / weights.sum())
    concave = min(float(x) for x in (shape.ar, shape.br, shape.ae, shape.be)) >= 1
    i = (_by_rejection if concave else _by_sums)(log_f, log_g, drawn, rng)
    return i.astype(np.float64), (drawn - i).astype(np.float64)


def _by_sums(
    log_f: FloatArray, log_g: FloatArray, drawn: IntArray, rng: np.random.Generator
) -> IntArray:
    """Draws of i given each s, from all of their chances."""
    out = np.empty(drawn.size, dtype=np.int64)
    for s in np.unique(drawn):
        low, high = max(0, s - log_g.size + 1), min(s, log_f.size - 1)
        terms = log_f[low : high + 1] + log_g[s - high : s - low + 1][::-1]
        chance = np.exp(terms - terms.max())
        here = drawn == s
        out[here] = low + rng.choice(chance.size, int(here.sum()), p=chance / chance.sum())
    return out


def _by_rejection(
    log_f: FloatArray, log_g: FloatArray, drawn: IntArray, rng: np.random.Generator
) -> IntArray:
    """The same where the chances are log-concave."""
    low = np.maximum(0, drawn - log_g.size + 1)
    high = np.minimum(drawn, log_f.size - 1)

    def log_chance(i: IntArray, s: IntArray = drawn) -> FloatArray:
        return np.asarray(log_f[i] + log_g[s - i])

    def falls(i: IntArray) -> BoolArray:
        return np.asarray(log_chance(np.minimum(i + 1, high)) <= log_chance(i))

    def fallen_at(i: IntArray) -> BoolArray:
        return np.asarray(log_chance(i) <= top - 1)

    def fallen_back(steps: IntArray) -> BoolArray:
        return fallen_at(np.asarray(mode - steps))

    mode = _first(falls, low, high)
    top = log_chance(mode)
    right = _first(fallen_at, mode, high)
    left = np.asarray(mode - _first(fallen_back, np.zeros_like(mode), np.asarray(mode - low)))
    sides = []
    for end, last in ((left, low), (right, high)):
        gap = np.abs(end - mode)
        fallen = log_chance(end) - top
        slope = fallen / np.maximum(gap, 1)
        open_ = (end != last) & (gap > 0) & (slope < 0)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            mass = np.exp(fallen + slope) / -np.expm1(slope)
        sides.append((fallen, np.where(open_, slope, -1.0), np.where(open_, mass, 0.0)))
    centre = (right - left + 1).astype(np.float64)
    out = np.empty(drawn.size, dtype=np.int64)
    todo = np.arange(drawn.size)
    while todo.size:
        at = rng.random(todo.size) * (centre + sides[0][2] + sides[1][2])[todo]
        i = left[todo] + np.minimum(at, centre[todo] - 1).astype(np.int64)
        bound = top[todo].copy()
        for sign, end, (fallen, slope, mass), start in (
            (-1, left, sides[0], centre),
            (1, right, sides[1], centre + sides[0][2]),
        ):
            here = (at >= start[todo]) & (at < (start + mass)[todo])
            rows = todo[here]
            steps = 1 + np.floor(np.log1p(-rng.random(rows.size)) / slope[rows]).astype(np.int64)
            i[here] = end[rows] + sign * steps
            bound[here] += fallen[rows] + slope[rows] * steps
        inside = (i >= low[todo]) & (i <= high[todo])
        i = np.clip(i, low[todo], high[todo])
        log_odds = log_chance(i, drawn[todo]) - bound
        taken = inside & (np.log1p(-rng.random(todo.size)) <= log_odds)
        out[todo[taken]] = i[taken]
        todo = todo[~taken]
    return out


def _first(holds: Callable[[IntArray], BoolArray], low: IntArray, high: IntArray) -> IntArray:
    """The first place from low to high where a condition holds that stays; or high."""
    low, high = low.copy(), high.copy()
    while np.any(low < high):
        middle = (low + high) // 2
        found = holds(middle)
        high = np.where(found, middle, high)
        low = np.where(found, low, np.minimum(middle + 1, high))
    return np.asarray(low)
