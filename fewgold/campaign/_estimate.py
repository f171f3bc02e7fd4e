"""From the answers of a campaign to the score of its pool."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from fewgold import registry
from fewgold.bayes import BinaryPosterior
from fewgold.estimate import Estimate
from fewgold.estimator import Estimator
from fewgold.gaps import GapBounds

if TYPE_CHECKING:
    from fewgold.campaign._campaign import Campaign


def chosen_estimator(campaign: Campaign, estimator: Estimator | str | None) -> Estimator:
    """The estimator that was asked for, else the strategy's own, with the campaign's bound."""
    if isinstance(estimator, Estimator):
        return estimator
    chosen = campaign.strategy
    if estimator is not None:
        chosen = registry.estimator(estimator.rpartition("+")[2], campaign.pool)
    bound = campaign.settings.bound
    if bound is None:
        return chosen
    by = bound if bound in ("equal", "hdi") else registry.bound(bound)
    return replace(chosen, bound=by)  # type: ignore[type-var]


def estimate(
    campaign: Campaign, gaps: str, estimator: Estimator | str | None, cut: str | None
) -> Estimate | GapBounds:
    """The score, with gaps treated as the caller chose."""
    chosen = chosen_estimator(campaign, estimator)
    found = campaign.partial()
    if cut is not None:
        found = found.cut(cut)
    if gaps == "bounds" and found.missing.size:
        return found.bounds(chosen, campaign.settings.confidence)
    if gaps == "wait":
        return chosen.estimate(found.complete())
    # The binary model knows one chance for all segments, so gaps have one as well.
    within = "sample" if isinstance(chosen, BinaryPosterior) else "groups"
    return chosen.estimate(found.at_random(within=within))
