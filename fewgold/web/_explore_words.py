"""Numbers and sentences of the pages, with the digits that the command line shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from fewgold.report._number import fixed
from fewgold.web._explore_view import View


def decimals(error: float | None) -> int:
    """Digits after the point that show an error of this size to three digits.

    >>> decimals(0.357), decimals(12.0), decimals(None)
    (3, 1, 4)
    """
    if error is None or not (math.isfinite(error) and error > 0):
        return 4
    return min(max(2 - math.floor(math.log10(error)), 0), 12)


def level(confidence: float) -> str:
    """A confidence in per cent."""
    return f"{100 * confidence:.6g}%"


def headline(view: View) -> dict[str, Any]:
    """The number and its interval, as shown and in full."""
    found = view.status
    made, told = found.estimate, {"level": level(found.confidence)}
    if made is None:
        return told | {"value": None}
    digits = decimals(made["se"])
    known = made["low"] is not None and made["high"] is not None
    return told | {
        "value": fixed(made["value"], digits),
        "low": fixed(made["low"], digits) if known else None,
        "high": fixed(made["high"], digits) if known else None,
        "se": None if made["se"] is None else fixed(made["se"], digits),
        "full": made,
        "what": "mean human score" if view.study is None else view.study.what,
    }


def goal_line(goal: dict[str, Any]) -> str:
    """The goal, as ``fewgold status`` says it."""
    digits = decimals(goal["half_width"])
    told = f"± {goal['tolerance']:g} wanted, ± {goal['half_width']:.{digits}f} so far"
    if goal["more"]:
        return f"{told}; about {goal['needed']} ratings in all, {goal['more']} more than drawn"
    if goal["needed"] and goal["half_width"] > goal["tolerance"]:
        return f"{told}; about {goal['needed']} ratings, which are drawn already"
    return f"{told}: reached" if goal["half_width"] <= goal["tolerance"] else told


def stop_line(stop: dict[str, Any]) -> str:
    """The stopping rule, as ``fewgold status`` says it."""
    digits = decimals(stop["half_width"])
    fired = f"stop: {stop['after']} ratings are enough" if stop["fired"] else "go on"
    return (
        f"{fired} ({stop['rule']}, {stop['kind']}: {stop['low']:.{digits}f} to "
        f"{stop['high']:.{digits}f} from the first {stop['looked_at']})"
    )


def announcement(view: View) -> tuple[str, str] | None:
    """What the owner should not miss: a heading and a sentence; None while it is to go on."""
    found = view.status
    if found.stop is not None and found.stop["fired"]:
        return (
            "The stopping rule says: stop",
            f"{found.stop['after']} ratings are enough for ± {view.campaign.settings.tolerance:g} "
            f"({found.stop['rule']}: {found.stop['promise']}). Further ratings are welcome, and "
            "not needed.",
        )
    if found.goal is not None and found.goal["half_width"] <= found.goal["tolerance"]:
        digits = decimals(found.goal["half_width"])
        return (
            "The tolerance is reached",
            f"The interval is ± {found.goal['half_width']:.{digits}f} wide, and "
            f"± {found.goal['tolerance']:g} was wanted. That holds for one look at the end: "
            "stopping the moment it looks narrow makes it err more often than it says.",
        )
    return None


def costs(view: View) -> list[tuple[str, str]]:
    """What is still to do, and what the goal would still take."""
    found, pool = view.status, view.campaign.pool
    told = [("sampled segments without an answer", str(len(found.unrated)))]
    if found.each > 1:
        told.append((f"sampled segments with fewer than {found.each} raters", str(found.wanting)))
    more = None if found.goal is None else found.goal["more"]
    if found.goal is not None and found.goal["needed"] is not None:
        told.append(("ratings in all for the tolerance, about", str(found.goal["needed"])))
        told.append(("of these not drawn yet, about", str(more)))
    if pool.cost is not None and found.sampled:
        place = {str(i): k for k, i in enumerate(pool.ids.tolist())}
        left = sum(float(pool.cost[place[i]]) for i in found.unrated)
        told.append(("cost of the segments without an answer", f"{left:.4g}"))
        drawn = set(view.campaign.sample.indices.tolist())
        rest = [float(c) for k, c in enumerate(pool.cost.tolist()) if k not in drawn]
        if more and rest:
            total = more * sum(rest) / len(rest)
            told.append(("cost of those not drawn yet, about", f"{total:.4g}"))
    return told


def spoken(view: View) -> str:
    """One sentence for those who do not see the number change."""
    told, found = headline(view), view.status
    rated = f"{found.rated} of {found.sampled} sampled segments rated."
    if told["value"] is None:
        return rated
    ends = (
        "" if told["low"] is None else f", {told['level']} interval {told['low']} to {told['high']}"
    )
    heard = announcement(view)
    return f"{rated} Estimate {told['value']}{ends}." + (f" {heard[0]}." if heard else "")


def cut_hints(scores: Sequence[float]) -> list[str]:
    """Cuts to begin with, from the scores that occur; none where they are 0 and 1 anyway."""
    seen = sorted(set(scores))
    if len(seen) < 2 or set(seen) <= {0.0, 1.0}:
        return []
    middle = sorted(scores)[len(scores) // 2]
    low = middle if middle < seen[-1] else seen[-2]
    high = middle if middle > seen[0] else seen[1]
    return [f"<= {low:.3g}", f">= {high:.3g}"]
