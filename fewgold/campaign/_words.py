"""A campaign's goal and its stopping rule in words, the same wherever they are shown."""

from __future__ import annotations

from typing import Any

from fewgold._pretty import decimals


def goal_line(goal: dict[str, Any]) -> str:
    """What is wanted, how far it is, and what it still takes; ``goal`` is that of `Status`.

    >>> goal_line({"tolerance": 2.0, "half_width": 2.51, "needed": 80, "more": 20})
    '± 2 wanted, ± 2.51 so far; about 80 ratings in all, 20 more than drawn'
    """
    digits = decimals(goal["half_width"])
    told = f"± {goal['tolerance']:g} wanted, ± {goal['half_width']:.{digits}f} so far"
    if goal["half_width"] <= goal["tolerance"]:
        return f"{told}: reached"
    if goal["more"]:
        return f"{told}; about {goal['needed']} ratings in all, {goal['more']} more than drawn"
    if goal["needed"]:
        return f"{told}; about {goal['needed']} ratings, which are drawn already"
    return told


def stop_line(stop: dict[str, Any]) -> str:
    """Whether to stop, and the interval that says so; ``stop`` is that of `Status`."""
    digits = decimals(stop["half_width"])
    fired = f"stop: {stop['after']} ratings are enough" if stop["fired"] else "go on"
    return (
        f"{fired} ({stop['rule']}, {stop['kind']}: {stop['low']:.{digits}f} to "
        f"{stop['high']:.{digits}f} from the first {stop['looked_at']})"
    )
