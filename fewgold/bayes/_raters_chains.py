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

#: Chains have met where R-hat is no larger (Vehtari et al. 2021).
MET = 1.01
_LEAST = 400
_LONGEST = 32_000
_MEMORY = 40_000_000  # rates that are kept
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


class Health(NamedTuple):
    """Split R-hat and effective number of draws of each quantity."""

    rhat: FloatArray
    ess: FloatArray


def health(draws: FloatArray) -> Health:
    """R-hat and effective draws of chains (..., C, T), as Gelman et al. (2013, section 11.4–5).

    Each chain is halved. Autocorrelations are summed in pairs while these are positive, and never
    let rise (Geyer 1992).
    """
    half = draws.shape[-1] // 2
    x = np.concatenate([draws[..., :half], draws[..., half : 2 * half]], axis=-2)
    means = x.mean(-1)
    within = x.var(-1, ddof=1).mean(-1)
    pooled = (half - 1) / half * within + means.var(-1, ddof=1)
    flat = pooled <= 0  # every draw the same: nothing to tell
    safe = np.where(flat, 1.0, pooled)
    rhat = np.sqrt(np.where(flat, 1.0, safe / np.where(within > 0, within, np.nan)))
    spectrum = np.fft.rfft(x - means[..., None], 2 * half)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2)[..., :half].mean(-2) / half
    correlation = 1 - (within[..., None] - covariance) / safe[..., None]
    pairs = correlation[..., : half // 2 * 2].reshape(*correlation.shape[:-1], -1, 2).sum(-1)
    pairs = np.where(np.logical_and.accumulate(pairs > 0, axis=-1), pairs, 0.0)
    pairs[..., 0] = np.maximum(pairs[..., 0], 1.0)
    time = 2 * np.minimum.accumulate(pairs, axis=-1).sum(-1) - 1
    count = float(x.shape[-2] * half)
    return Health(np.nan_to_num(rhat, nan=np.inf), np.where(flat, count, count / time))


def run(
    model: Model, *, effective: int, seed: int, chains: int = 16, first: int = 500
) -> tuple[Draws, Health, int]:
    """Sweeps, doubled until every R-hat is at most 1.01 and there are enough effective draws.

    Enough is ``effective`` of the number of adequate items, and 400 of each rate. The last half of
    all sweeps is what counts. Returns it, its health, (B, 1 + 2R) each, and how many sweeps were
    made: 32,000 at the most, or fewer where there are so many raters that memory would end.
    """
    rng = np.random.default_rng(seed)
    longest = min(_LONGEST, _MEMORY // (model.counts.shape[0] * chains * 2 * model.raters))
    theta, _ = sweep(model, model.start(chains, rng), first, rng)
    length = first
    while True:
        theta, draws = sweep(model, theta, length, rng)
        rates = np.moveaxis(draws.rates, -1, 1)
        found = health(np.concatenate([draws.adequate[:, None].astype(np.float64), rates], axis=1))
        enough = np.all(found.ess[:, 0] >= effective) and np.all(found.ess >= _LEAST)
        if (enough and np.all(found.rhat <= MET)) or 2 * length > longest // 2:
            return draws, found, 2 * length
        length *= 2
