"""Which estimator a campaign estimates by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fewgold import registry
from fewgold.campaign._settings import Settings
from fewgold.errors import DesignError, FewgoldError
from fewgold.estimator import Estimator
from fewgold.pool import Pool


def chosen_estimator(
    strategy: Estimator, estimator: Estimator | str | None, bound: str | None, pool: Pool
) -> Estimator:
    """The estimator that was asked for, else the strategy's own, with the campaign's bound."""
    if isinstance(estimator, Estimator):
        return estimator
    chosen = strategy
    if estimator is not None:
        chosen = registry.estimator(estimator.rpartition("+")[2], pool)
    if bound is None:
        return chosen
    by = bound if bound in ("equal", "hdi") else registry.bound(bound)
    return replace(chosen, bound=by)  # type: ignore[type-var]


def check_bound(strategy: Estimator, settings: Settings, pool: Pool) -> None:
    """Try the bound on a sample with made-up scores: better now than after all the rating."""
    if settings.bound is None:
        return
    chosen = chosen_estimator(strategy, None, settings.bound, pool)
    ends = settings.limits or (0.0, 1.0)
    sample = chosen.select(pool, min(20, len(pool)), rng=0)
    scores = np.where(np.arange(sample.n) % 3 == 0, ends[0], ends[1])
    try:
        chosen.estimate(sample.rate(scores, limits=settings.limits)).interval(settings.confidence)
    except DesignError as error:
        raise FewgoldError(
            f"the bound {settings.bound} does not go with {settings.strategy}: {error}"
        ) from None
