"""Which waves an estimate goes by while answers are still coming."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import numpy as np

from fewgold.errors import DataError

if TYPE_CHECKING:
    from fewgold.campaign._campaign import Campaign

# An answer that was there before the wave was drawn says nothing about whether raters are at it.
_LAST = """
SELECT COALESCE(MAX(waves.number), 0) FROM waves
WHERE EXISTS (
    SELECT 1 FROM drawn JOIN ratings USING (segment)
    WHERE wave = waves.number AND stored_at >= drawn_at
) OR n = (SELECT COUNT(DISTINCT segment) FROM drawn JOIN ratings USING (segment)
          WHERE wave = waves.number)
"""


def last_begun(database: sqlite3.Connection) -> int:
    """The last wave with an answer that came after it was drawn, or with all of them; else 0."""
    return int(database.execute(_LAST).fetchone()[0])


def begun(campaign: Campaign, last: int) -> int:
    """Of the first waves, up to ``last``, those that tell most with the answers that are there.

    A wave has the weight of its size from the moment that it is joined to those before. While few
    of its segments are rated these carry all of that weight, and the waves before tell more by
    themselves: the estimate would get worse with the first answers of a new wave. What counts is
    the effective size, 1/Σ influence² with gaps taken as chance, which depends on how segments were
    drawn and which of them are rated, and never on a score.
    """
    best, most = last, -1.0
    for count in range(last, 0, -1):
        try:
            design = campaign.partial(count).at_random().sample.design
        except DataError:  # no answers, or a strategy that learns and keeps the whole only
            break
        spent = float(np.square(design.influence).sum())
        size = np.inf if spent <= 0 else 1 / spent
        if size > most * (1 + 1e-9):
            best, most = count, size
        if design.kind.removesuffix(" with gaps") in ("simple", "adaptive"):
            break  # waves of a simple sample are one sample: more of it tells more
    return best
