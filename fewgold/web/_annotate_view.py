"""What a rater sees: a segment with its context, or why there is none just now."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fewgold import report
from fewgold.campaign import Campaign
from fewgold.campaign._tasks import members, segment
from fewgold.formats import Segment
from fewgold.pool import Pool
from fewgold.web._annotate_scale import Scale, plain

REACH = 2  # neighbours on either side


@dataclass(frozen=True)
class Typed:
    """What a rater has typed and must not lose.

    Parameters
    ----------
    score, comment
        As they were typed.
    trouble
        What is wrong with them.
    nonce, since
        The name of the form and when it was first shown, to go on with.
    """

    score: str = ""
    comment: str = ""
    trouble: str = ""
    nonce: str = ""
    since: str = ""


def view(
    campaign: Campaign,
    rater: str,
    token: str,
    *,
    again: str | None = None,
    typed: Typed | None = None,
    said: str = "",
) -> dict[str, Any]:
    """All that the page shows.

    Parameters
    ----------
    again
        Key of a segment to show once more: one whose form came back with a mistake in it, or that
        the rater took an answer back of.
    typed
        What they had typed.
    said
        What just happened.
    """
    values: dict[str, Any] = {
        "token": token,
        "rater": rater,
        "said": said,
        "question": campaign.settings.asked,
        "scale": scale_of(campaign),
        "progress": campaign.progress(rater),
        "last": _last(campaign, rater),
        "estimate": _estimate(campaign),
        "state": "rate",
    }
    key = again if again is not None else _next(campaign, rater)
    if key is None:
        values |= _idle(campaign, rater)
        seen = f"{values['state']}-{values['skipped']}-{values['progress'].all}"
        return values | {"seen": seen}
    place = campaign.place_of(key)
    old = campaign.taken_back(rater, key)
    if typed is None and old is not None:
        typed = Typed(plain(old.score), str(old.details.get("comment", "")))
    typed = typed or Typed()
    before, after = around(campaign.pool, place)
    return values | {
        "key": key,
        "texts": _texts(campaign.pool, place) or {"segment": segment(campaign, place).id},
        "before": [_texts(campaign.pool, p) for p in before],
        "after": [_texts(campaign.pool, p) for p in after],
        "facts": _facts(campaign, place),
        "typed": typed,
        "old": "" if old is None else plain(old.score),
        "nonce": typed.nonce or secrets.token_urlsafe(12),
        "since": typed.since or f"{time.time():.3f}",
    }


def scale_of(campaign: Campaign) -> Scale:
    """The scale of a campaign."""
    return Scale(campaign.settings.limits, campaign.settings.higher_is_better)


def around(pool: Pool, place: int) -> tuple[list[int], list[int]]:
    """Neighbours in the same document, and of the same system: another's outputs are no context."""
    if pool.documents is None or not pool.texts:
        return [], []
    whole = members(pool, place)
    at = whole.index(place)
    return whole[max(at - REACH, 0) : at], whole[at + 1 : at + 1 + REACH]


def _next(campaign: Campaign, rater: str) -> str | None:
    if not campaign.waves:
        return None
    found: Segment | None = campaign.next(rater)
    return None if found is None else found.key


def _texts(pool: Pool, place: int) -> dict[str, str]:
    """The texts by name; where a pool has none, an id is all that tells what to rate."""
    return {name: str(column[place]) for name, column in pool.texts.items()}


def _idle(campaign: Campaign, rater: str) -> dict[str, Any]:
    """Why there is nothing to rate: not drawn yet, with others, skipped, or done."""
    skipped, other = campaign.left(rater)
    if not campaign.waves:
        state = "early"
    elif other or _learns(campaign):  # such a strategy draws on when what is open was answered
        state = "wait"
    else:
        state = "skipped" if skipped else "done"
    return {"state": state, "skipped": skipped}


def _learns(campaign: Campaign) -> bool:
    step, budget = campaign.strategy.sampler.step, campaign.settings.budget or 0
    return step is not None and campaign.sample.n < min(budget, len(campaign.pool))


def _last(campaign: Campaign, rater: str) -> dict[str, str] | None:
    found = campaign.last(rater)
    return None if found is None else {"what": found[0], "name": found[1]}


def _facts(campaign: Campaign, place: int) -> Mapping[str, str]:
    """What the owner lets raters see besides the texts; nothing by default."""
    shown, pool = campaign.settings.shown, campaign.pool
    found: dict[str, str] = {}
    if "system" in shown:
        system = campaign.settings.system if pool.system is None else str(pool.system[place])
        if system:
            found["system"] = system
    if "metrics" in shown:
        found |= {name: report.number(float(v[place])) for name, v in pool.metrics.items()}
    return found


def _estimate(campaign: Campaign) -> str:
    """The running estimate in a sentence, if the owner lets raters see it."""
    if "estimate" not in campaign.settings.shown:
        return ""
    found = campaign.status().estimate
    if found is None or found["value"] is None:
        return "There is no estimate yet."
    text = f"The estimate so far is {report.number(found['value'])}"
    if found["low"] is None or found["high"] is None:
        return f"{text}."
    return (
        f"{text} ({found['confidence']:.0%} interval {report.number(found['low'])} to "
        f"{report.number(found['high'])})."
    )
