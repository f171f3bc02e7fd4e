"""The estimate so far, what the goal would still take, and what the stopping rule says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.bounds import sequence
from fewgold.errors import FewgoldError
from fewgold.gaps import PartialRatings, estimate

if TYPE_CHECKING:
    from fewgold.campaign._campaign import Campaign
    from fewgold.sample import Ratings


def so_far(
    campaign: Campaign, partial: PartialRatings, notes: list[str]
) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """The estimate so far; gaps are taken as made by chance, and it says so."""
    settings = campaign.settings
    try:
        found = estimate(partial, campaign.estimator(), "at-random")
        made = found.to_dict(settings.confidence)
    except FewgoldError as error:
        notes.append(f"no estimate yet: {error}")
        return None, None
    made["gaps"] = int(partial.missing.size)
    if settings.tolerance is None or made["low"] is None or made["high"] is None:
        return made, None
    half = (made["high"] - made["low"]) / 2
    goal = {"tolerance": settings.tolerance, "half_width": half, "needed": None, "more": None}
    size, n = len(campaign.pool), partial.rated
    if half <= settings.tolerance:
        return made, goal | {"needed": n, "more": 0}
    if n < size and made["se"]:
        goal["needed"] = _needed(half / settings.tolerance, n, size)
        goal["more"] = max(goal["needed"] - campaign.sample.n, 0)
    return made, goal


def _needed(ratio: float, n: int, size: int) -> int:
    """Ratings for an interval that is narrower by ``ratio``, all else the same.

    Widths go with √(1/n − 1/N): the metrics explain as much of the further scores as of these.
    """
    return min(math.ceil(1 / ((1 / n - 1 / size) / ratio**2 + 1 / size) - 1e-9), size)


def stopping(campaign: Campaign, partial: PartialRatings) -> dict[str, Any] | None:
    """What the rule says of the answers that came in the order of drawing, up to the first gap.

    A segment that still wants a rater is a gap: its score may change.
    """
    settings, sample = campaign.settings, partial.sample
    if settings.tolerance is None or settings.limits is None or sample.design.kind != "simple":
        return None
    raters = campaign.answers().groupby("segment")["rater"].nunique()
    enough = set(raters.index[raters >= settings.each])
    gaps = np.flatnonzero([str(i) not in enough for i in sample.ids.tolist()])
    upto = int(gaps[0]) if gaps.size else sample.n
    if not upto:
        return None
    ratings: Ratings = sequence.first(sample, upto).rate(
        partial.scores[:upto], limits=settings.limits
    )
    path = sequence.path(ratings, settings.tolerance, settings.confidence, rule=settings.rule)
    at = (path.stopped or upto) - 1 if settings.rule == "hall" else upto - 1
    rule = sequence.RULES[settings.rule]
    return {
        "rule": settings.rule, "kind": rule.kind, "promise": rule.promise,
        "fired": bool(path.stopped > 0), "after": int(path.stopped) or None, "looked_at": upto,
        "low": float(path.low[at]), "high": float(path.high[at]),
        "half_width": float(path.half_width[at]), "signature": path.signature(),
    }  # fmt: skip
