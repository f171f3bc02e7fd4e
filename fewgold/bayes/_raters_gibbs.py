"""Gibbs sampling of raters' hit rates and of the number of adequate items, by pattern.

Given the rates, the items with the same answers are adequate independently with one chance, so how
many of them are is binomial. Given those numbers all rates are Beta. A sweep costs a draw for each
pattern, not for each item. Many chains run side by side.

Rates are kept above chance on average over the human raters: a draw from the Betas that violates
it is refused and the last one kept, which is a Metropolis step whose target is the prior cut off
there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from fewgold._arrays import BoolArray, FloatArray, IntArray

_EDGE = 1e-12  # no rate is nearer to 0 or 1, where logarithms end


@dataclass(frozen=True, eq=False)
class Model:
    """A batch of B studies with the same P patterns of R raters.

    Parameters
    ----------
    patterns
        (P, R) answers, NaN where there is none.
    counts
        (B, P) items with each.
    a, b
        (B, 1 + 2R) shapes of the Betas of α, of ρ and of η of each rater, gold items counted in.
    humans
        The first so many raters are better than chance on average; 0 asks it of none.
    """

    patterns: FloatArray
    counts: IntArray
    a: FloatArray
    b: FloatArray
    humans: int

    @property
    def raters(self) -> int:
        return int(self.patterns.shape[-1])

    def allowed(self, theta: FloatArray) -> BoolArray:
        """Whether Σ(ρ + η) of the human raters exceeds their number."""
        r, h = self.raters, self.humans
        total = theta[..., 1 : 1 + h].sum(-1) + theta[..., 1 + r : 1 + r + h].sum(-1)
        return np.asarray((total > h) | (h == 0))

    def start(self, chains: int, rng: np.random.Generator) -> FloatArray:
        """Rates from the prior: (B, chains, 1 + 2R)."""
        size = (self.counts.shape[0], chains, self.a.shape[-1])
        theta = rng.beta(self.a[:, None], self.b[:, None], size)
        for _ in range(100):
            bad = ~self.allowed(theta)
            if not bad.any():
                break
            theta = np.where(
                bad[..., None], rng.beta(self.a[:, None], self.b[:, None], size), theta
            )
        # A prior far below chance, or gold that says so: start at its edge.
        theta[..., 1:] = np.where(self.allowed(theta)[..., None], theta[..., 1:], 0.5 + 1e-6)
        return np.clip(theta, _EDGE, 1 - _EDGE)


class Draws(NamedTuple):
    """What chains of T sweeps left: (B, C, T) adequate items of unknown class, (B, C, T, 2R) rates,
    and (B, P) mean chances that an item of a pattern is adequate."""

    adequate: IntArray
    rates: FloatArray
    chance: FloatArray


def sweep(
    model: Model, theta: FloatArray, length: int, rng: np.random.Generator
) -> tuple[FloatArray, Draws]:
    """``length`` sweeps on from ``theta`` (B, C, 1 + 2R): the last rates, and the draws."""
    r = model.raters
    one, zero = (np.asarray(v == model.patterns.T, dtype=np.float64) for v in (1, 0))
    counts = model.counts[:, None, :]
    a, b = model.a[:, None], model.b[:, None]
    studies, chains = theta.shape[:2]
    adequate = np.empty((studies, chains, length), dtype=np.int64)
    rates = np.empty((studies, chains, length, 2 * r))
    chance = np.zeros((studies, chains, counts.shape[-1]))
    up, down = np.empty_like(theta), np.empty_like(theta)
    for t in range(length):
        right, wrong = np.log(theta), np.log1p(-theta)
        odds = (
            (right[..., :1] - wrong[..., :1])
            + (right[..., 1 : 1 + r] - wrong[..., 1 + r :]) @ one
            + (wrong[..., 1 : 1 + r] - right[..., 1 + r :]) @ zero
        )
        share = expit(odds)
        chance += share
        hits = rng.binomial(counts, share)
        rest = counts - hits
        up[..., 0], down[..., 0] = hits.sum(-1), rest.sum(-1)
        up[..., 1 : 1 + r], down[..., 1 : 1 + r] = hits @ one.T, hits @ zero.T
        up[..., 1 + r :], down[..., 1 + r :] = rest @ zero.T, rest @ one.T
        new = np.clip(rng.beta(a + up, b + down), _EDGE, 1 - _EDGE)
        kept = ~model.allowed(new)
        if kept.any():
            new[kept, 1:] = theta[kept, 1:]
        theta = new
        adequate[..., t] = up[..., 0]
        rates[..., t, :] = theta[..., 1:]
    return theta, Draws(adequate, rates, chance.mean(1) / length)
