"""Numbers and sentences of the pages, with the digits that the command line shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fewgold._pretty import decimals
from fewgold.report._number import fixed
from fewgold.web._explore_view import View


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
