"""The estimate as answers came: what the status would have said after so many of them.

The first k answers are to the rest what those so far are to all: a part that chance chose, as the
estimate of the status takes it. So each look takes the segments without an answer by then for
gaps, just as the status does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from fewgold.bounds import sequence
from fewgold.campaign._begun import begun
from fewgold.campaign._scores import scores
from fewgold.errors import FewgoldError
from fewgold.gaps import PartialRatings, estimate
from fewgold.web._explore_view import View

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.campaign import Campaign

COLUMNS = ("answers", "n", "value", "se", "low", "high", "interval")
_STEPS = (10, 12, 15, 20, 25, 30, 40, 50, 60, 80)
_MOST = 14


def looks(count: int) -> list[int]:
    """Numbers of answers to look after: round ones, the same ones as more answers come.

    >>> looks(72)
    [5, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60]
    """
    grid = [5, 8, *(step * 10**k for k in range(6) for step in _STEPS)]
    return [k for k in grid if k < count][-_MOST:]


def growth(view: View) -> pd.DataFrame:
    """The estimate and its interval after so many answers; the last row is that of the status."""
    return view.shelf.get("growth", lambda: _growth(view))


def _growth(view: View) -> pd.DataFrame:
    import pandas as pd

    campaign, answers, now = view.campaign, view.answers, view.status.estimate
    rows = []
    for k in looks(len(answers)):
        waves = _drawn_by(campaign, answers[:k])
        withdrawn = view.state[-2]  # with the others it tells which answers were the first k
        key = (campaign.settings, withdrawn, k, waves)
        found = view.store.past.get(key, partial(_look, campaign, answers[:k], waves))
        if found is not None:
            rows.append(found)
    if now is not None:
        rows.append(_row(len(answers), now))
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(
        dict.fromkeys(("value", "se", "low", "high"), float)
    )


def _row(count: int, made: dict[str, Any]) -> tuple[Any, ...]:
    names = ("n", "value", "se", "low", "high", "bound_label")
    return (count, *(made[name] for name in names))


def _drawn_by(campaign: Campaign, answers: pd.DataFrame) -> int:
    """Waves that were drawn when the last of these answers came."""
    last = max(answers["stored_at"])
    return sum(wave.drawn_at <= last for wave in campaign.waves)


@dataclass(frozen=True)
class _Then:
    """The campaign with the first answers alone."""

    campaign: Campaign
    answers: pd.DataFrame

    def partial(self, waves: int) -> PartialRatings:
        sample, settings = self.campaign.first_waves(waves), self.campaign.settings
        by_id = scores(self.answers, settings)
        found = [by_id.get(str(i), np.nan) for i in sample.ids.tolist()]
        return PartialRatings(sample, np.array(found, dtype=np.float64), settings.limits)

    def last_begun(self, waves: int) -> int:
        """As of the campaign, with these answers alone."""
        rated = set(self.answers["segment"])
        since = dict(zip(self.answers["segment"], self.answers["stored_at"], strict=True))
        started = [
            wave.number
            for wave in self.campaign.waves[:waves]
            if any(i in rated and since[i] >= wave.drawn_at for i in wave.ids)
            or rated.issuperset(wave.ids)
        ]
        return max(started, default=0)


def _look(campaign: Campaign, answers: pd.DataFrame, waves: int) -> tuple[Any, ...] | None:
    """One row, or None where there was no estimate yet, or where it cannot be told any more."""
    then = _Then(campaign, answers)
    try:
        count = begun(cast("Campaign", then), then.last_begun(waves)) or waves
        made = estimate(then.partial(count), campaign.estimator(), "at-random")
        return _row(len(answers), made.to_dict(campaign.settings.confidence))
    except FewgoldError:
        return None


def stopping_path(view: View) -> sequence.Path | None:
    """The interval of the stopping rule after each rating, as the status looks at it."""
    return view.shelf.get("path", lambda: _path(view))


def _path(view: View) -> sequence.Path | None:
    stop, settings = view.status.stop, view.campaign.settings
    if stop is None or settings.tolerance is None:
        return None
    found, upto = view.campaign.partial(view.campaign.begun), stop["looked_at"]
    ratings = sequence.first(found.sample, upto).rate(found.scores[:upto], limits=settings.limits)
    return sequence.path(ratings, settings.tolerance, settings.confidence, rule=settings.rule)


def steps(view: View) -> pd.DataFrame | None:
    """The same as a table, a row a rating."""
    import pandas as pd

    path = stopping_path(view)
    if path is None:
        return None
    count = range(1, path.ratings.n + 1)
    return pd.DataFrame({"n": count, "mean": path.mean, "low": path.low, "high": path.high})
