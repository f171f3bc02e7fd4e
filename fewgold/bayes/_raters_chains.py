"""Chains of raters' rates, as long as it takes until they have met."""

from __future__ import annotations

import numpy as np

from fewgold.bayes._chain_health import Health, health
from fewgold.bayes._raters_gibbs import Draws, Model, sweep

#: Chains have met where R-hat is no larger (Vehtari et al. 2021).
MET = 1.01
_LEAST = 400
_LONGEST = 32_000
_MEMORY = 40_000_000  # rates that are kept


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
