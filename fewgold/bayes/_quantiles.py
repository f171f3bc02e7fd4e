"""Quantiles of mixtures of Betas, exact and for a batch.

Beta(a0 + s, b0 + N − s) is at most x with chance I(s), which falls from 1 to 0 as s grows. With
T = a0 + b0 + N its steps are

    I(s) − I(s + 1) = D(s) = Γ(T) x^a (1 − x)^(T − a − 1) / (Γ(a + 1) Γ(T − a)),    a = a0 + s,

a binomial distribution but for the shifts a0 and b0. Summed by parts, the CDF of the mixture is
Σ C(s) D(s) with C the running sums of its weights W, and x p(x) = Σ (a0 + s) W(s) D(s). Only the s
near T x matter, a window that grows with √N. Newton's steps start from the quantile of s.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betainc, betaln

from fewgold._arrays import FloatArray, IntArray
from fewgold.bayes._weight_rows import Weights

_SDS, _MORE = 8.3, 25
_AT_ONCE = 1 << 16
_STEPS = 100
_SETTLED, _ROUNDING = 1e-6, 3e-16


def quantiles(
    weights: Weights, a0: FloatArray, b0: FloatArray, total: FloatArray, p: FloatArray
) -> FloatArray:
    """Where the CDFs of the mixtures (B,) are p (B, q)."""
    rows, q = p.shape
    row = np.repeat(np.arange(rows), q)
    law = Law(weights, a0, b0, total)
    chance = p.ravel()
    x = law.start(p).ravel()
    low, high = np.zeros(x.size), np.ones(x.size)
    todo = np.flatnonzero((chance > 0) & (chance < 1))
    x[chance <= 0], x[chance >= 1] = 0.0, 1.0
    for _ in range(_STEPS):
        if not todo.size:
            break
        at, here = x[todo], row[todo]
        cdf, density = law.at(here, at)
        over = cdf - chance[todo]
        low[todo] = np.where(over < 0, at, low[todo])
        high[todo] = np.where(over < 0, high[todo], at)
        step = over / np.where(density > 0, density, np.inf)
        moved = at - step
        inside = (moved > low[todo]) & (moved < high[todo]) & (density > 0)
        x[todo] = np.where(inside, moved, 0.5 * (low[todo] + high[todo]))
        # Newton's error goes down with the square of the step, in units of tail / density.
        tail = np.minimum(chance[todo], 1 - chance[todo])
        small = np.maximum(_SETTLED * tail / np.maximum(density, 1e-300), _ROUNDING * at)
        near = (np.abs(step) < small) & (density > 0)
        x[todo[near]] = np.clip(moved[near], 0.0, 1.0)
        todo = todo[~near & (high[todo] - low[todo] > _ROUNDING * at)]
    return np.asarray(x.reshape(rows, q))


class Law:
    """The mixtures of a batch, ready for sums over windows of components."""

    def __init__(self, weights: Weights, a0: FloatArray, b0: FloatArray, total: FloatArray) -> None:
        self.a0, self.b0, self.total = a0, b0, total
        self.first, self.mass = weights.first, weights.mass
        self.below = np.cumsum(self.mass, axis=-1)
        a = (a0 + self.first)[:, None] + np.arange(self.mass.shape[1])
        # With a column more on either side, for all components beyond.
        self._slopes = np.pad(self.mass * a, ((0, 0), (1, 1))).ravel()
        self._sums = np.pad(self.below, ((0, 0), (1, 0)))
        self._sums = np.concatenate([self._sums, self._sums[:, -1:]], axis=-1).ravel()

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Means and variances."""
        size = self.a0 + self.b0 + self.total
        a = (self.a0 + self.first)[:, None] + np.arange(self.mass.shape[1])
        mean = np.vecdot(self.mass, a) / size
        within = np.vecdot(self.mass, a * (size[:, None] - a)) / (size * size * (size + 1))
        gaps = a / size[:, None] - mean[:, None]
        return mean, np.asarray(within + np.vecdot(self.mass, gaps * gaps))

    def start(self, p: FloatArray) -> FloatArray:
        """Quantiles of the means of the components, spread to the sd of the mixture."""
        size = self.a0 + self.b0 + self.total
        s = self.first[:, None] + np.arange(self.mass.shape[1])
        mean = np.vecdot(self.mass, s)
        between = np.vecdot(self.mass, (s - mean[:, None]) ** 2)
        centre = (self.a0 + mean) / size
        within = size * size * centre * (1 - centre) / (size + 1)
        at = (self.below[:, None, :] < p[:, :, None]).sum(-1)
        found = self.first[:, None] + at
        wide = np.sqrt((between + within) / np.maximum(between, 1e-3 * within + 1e-9))
        spread = mean[:, None] + (found - mean[:, None]) * wide[:, None]
        start = (self.a0[:, None] + spread) / size[:, None]
        inner = 0.5 / size[:, None]
        return np.asarray(np.clip(start, inner, 1 - inner))

    def at(self, row: IntArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """CDF and density of the mixtures of these rows at x, one each."""
        size = (self.a0 + self.b0 + self.total)[row]
        spread = np.sqrt(size * x * (1 - x))
        reach = np.minimum(_SDS * spread + _MORE, self.total[row]).astype(np.int64)
        order = np.argsort(reach, kind="stable")
        cdf, density = np.empty(x.size), np.empty(x.size)
        start = 0
        while start < order.size:
            some = order[start : start + max(1, _AT_ONCE // (2 * int(reach[order[start]]) + 1))]
            cdf[some], density[some] = self._window(row[some], x[some], int(reach[some[-1]]))
            start += some.size
        return cdf, density

    def _window(self, row: IntArray, x: FloatArray, reach: int) -> tuple[FloatArray, FloatArray]:
        """The sums over the components within ``reach`` of the peak of D."""
        a0, b0, total, first = (y[row] for y in (self.a0, self.b0, self.total, self.first))
        peak = np.clip(np.floor((a0 + b0 + total - 1) * x - a0), 0, total)
        left, right = min(reach, int(peak.max())), min(reach, int((total - peak).max()))
        odds = (x / (1 - x))[:, None]
        ahead, back = np.arange(right), np.arange(1, left + 1)
        up = odds * ((b0 + total - 1 - peak)[:, None] - ahead) / ((a0 + peak + 1)[:, None] + ahead)
        down = ((a0 + peak + 1)[:, None] - back) / ((b0 + total - 1 - peak)[:, None] + back) / odds
        if np.any(peak + right > total):
            up[peak[:, None] + ahead >= total[:, None]] = 0.0
        if np.any(peak < left):
            down[back > peak[:, None]] = 0.0
        a, b = a0 + peak, b0 + total - peak
        top = np.exp(a * np.log(x) + (b - 1) * np.log1p(-x) - np.log(a) - betaln(a, b))
        steps = np.empty((x.size, left + right + 1))
        np.cumprod(down, axis=-1, out=steps[:, left - 1 :: -1] if left else down)
        steps[:, left] = 1.0
        np.cumprod(up, axis=-1, out=steps[:, left + 1 :])
        width = self.mass.shape[1] + 2
        start = peak.astype(np.int64) - left - first + 1
        at = np.clip(start[:, None] + np.arange(left + right + 1), 0, width - 1)
        at += (row * width)[:, None]
        density = top * np.vecdot(np.take(self._slopes, at), steps) / x
        below = np.take(self._sums, at)
        end = peak + right >= total
        if end.any():  # the last component has no next one: its own I, in place of a step
            last = (total - peak).astype(np.int64)[end] + left
            steps[np.flatnonzero(end), last] = 0.0
        cdf = top * np.vecdot(below, steps)
        cdf[end] += betainc(a0 + total, b0, x)[end]
        return np.asarray(cdf), np.asarray(density)
