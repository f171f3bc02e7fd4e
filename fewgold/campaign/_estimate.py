"""Which estimator a campaign estimates by."""

from __future__ import annotations

from dataclasses import replace

from fewgold import registry
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
