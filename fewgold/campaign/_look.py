"""Looks at a campaign: how far it has come, and what it would still take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fewgold.campaign._advice import advice
from fewgold.campaign._goal import so_far, stopping
from fewgold.campaign._scores import repeats
from fewgold.campaign._status import Status

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign._campaign import Campaign


def status(campaign: Campaign) -> Status:
    """Look at everything once."""
    settings, waves = campaign.settings, campaign.waves
    answers, aside = campaign.answers(), campaign.set_aside()
    notes: list[str] = []
    made = goal = stop = None
    unrated = campaign.unrated if waves else ()
    sampled = sum(wave.n for wave in waves)
    rated = sampled - len(unrated)
    if rated:
        partial = campaign.partial(campaign.begun)
        made, goal = so_far(campaign, partial, notes)
        stop = stopping(campaign, partial)
    each = answers.groupby("segment")["rater"].nunique() if len(answers) else None
    full = 0 if each is None else int((each >= settings.each).sum())
    found = Status(
        name=settings.name,
        strategy=settings.strategy,
        confidence=settings.confidence,
        pool_size=len(campaign.pool),
        sampled=sampled,
        rated=rated,
        unrated=unrated,
        waves=tuple(wave.to_dict() for wave in waves),
        answers=len(answers),
        raters=_counts(answers, "rater"),
        each=settings.each,
        wanting=sampled - full,
        changed=repeats(answers),
        set_aside=_counts(aside, "why"),
        adoptable=campaign.adoptable(),
        rejected=len(campaign.rejected()),
        estimate=made,
        goal=goal,
        stop=stop,
        notes=(),
    )
    object.__setattr__(found, "notes", (*notes, *advice(found, settings.repeats)))
    return found


def _counts(frame: pd.DataFrame, column: str) -> dict[str, int]:
    return {str(k): int(v) for k, v in frame[column].value_counts(sort=False).items()}
