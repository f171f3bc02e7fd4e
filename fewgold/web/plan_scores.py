"""Scores of any kind: how many ratings a goal takes, strategy by strategy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fewgold.planning import Goal, Outlook, Plan, plan, plan_worst_case
from fewgold.web.drawing import chart
from fewgold.web.forms import Field, Form, Part, arguments, by_name, part, plan_command

GOALS = {
    "half_width": "an interval of ± so much",
    "tolerance": "an error within so much",
    "difference": "a difference that is found",
}
_REACHED = {"half_width": "half-width", "tolerance": "error", "difference": "difference found"}
FIELDS = by_name(
    Field("goal", "Wanted is", "half_width", choices=tuple(GOALS.items())),
    Field("wanted", "How much", "0.3", 0.000001, 1e9, slider=(0.05, 2, 0.05),
          hint="Half-width, error or difference, in the unit of the scores."),
    Field("confidence", "Confidence", "0.95", 0.5, 0.9999, slider=(0.8, 0.99, 0.01),
          hint="A test of a difference has the level 1 − confidence."),
    Field("power", "Power", "0.8", 0.3, 0.999, slider=(0.5, 0.99, 0.01),
          hint="For a difference: the chance to find it."),
    Field("known", "Known is", "guess",
          choices=(("guess", "a guess of the sd"), ("scale", "nothing but the ends of the scale"))),
    Field("sd", "Sd of the scores", "2.4", 0.000001, 1e9, slider=(0.1, 10, 0.1),
          hint="For a difference: of the differences of two systems on the same segments."),
    Field("correlation", "Correlation of the metric with people", "0.5", -0.999, 0.999,
          slider=(0, 0.95, 0.01), hint="Of several metrics, the multiple correlation. 0: none."),
    Field("slopes", "Metrics", "1", 1, 1000, True, slider=(1, 40, 1)),
    Field("size", "Segments of the pool", "1418", 2, 100_000_000, True, optional=True,
          slider=(50, 5000, 10), hint="Empty: a pool without end."),
    Field("icc", "Share of variance between documents", "0.15", 0, 1, optional=True,
          slider=(0, 1, 0.01), hint="0.15 and 0.28 on WMT20. Empty: documents are left out."),
    Field("per_document", "Segments of a document", "14", 1, 1_000_000, optional=True,
          slider=(1, 50, 1), hint="Empty: whole documents are left out."),
    Field("low", "Scale from", "0", -1e9, 1e9, hint="Used if nothing but the scale is known."),
    Field("high", "Scale to", "25", -1e9, 1e9),
    Field("cost", "Cost of a rating", "1", 0.000001, 1e6, hint="In any unit."),
)  # fmt: skip
_GOAL = ("goal", "wanted", "confidence", "power", "size", "cost", "known")
_GUESS = ("sd", "correlation", "slopes", "icc", "per_document")


def read(sent: Any) -> Form:
    """What was sent, with sentences about fields that do not go together."""
    form = Form.of(FIELDS, sent)
    low, high = form["low"], form["high"]
    if low is not None and high is not None and not low < high:
        return form.but(high=f"Expected more than {low:g}, where the scale begins.")
    return form


def answer(form: Form) -> Part:
    """Ratings by strategy, from what is known of the scores."""
    return _from_scale if form["known"] == "scale" else _from_guess


def _answer(v: Mapping[str, Any]) -> dict[str, Any]:
    aim = {v["goal"]: v["wanted"], "confidence": v["confidence"]}
    if v["goal"] == "difference":
        aim["power"] = v["power"]
    goal = Goal(**aim)
    rest = {"size": v["size"], "cost": v["cost"]}
    if v["known"] == "scale":
        ends = v["low"], v["high"]
        found = plan_worst_case(goal, ends, **rest)
        call = f"plan_worst_case(goal, {ends!r}, {arguments(rest)})"
        names, told = "Goal, plan_worst_case", {"limits": f"{ends[0]!r},{ends[1]!r}"}
    else:
        guess = {name: v[name] for name in _GUESS}
        found = plan(goal, Outlook(**guess, **rest))
        call = f"plan(goal, Outlook({arguments(guess | rest)}))"
        names = "Goal, Outlook, plan"
        told = {("metrics" if name == "slopes" else name): v[name] for name in _GUESS}
    code = (
        f"from fewgold.planning import {names}\n\ngoal = Goal({arguments(aim)})\nfound = {call}\n"
        "print(found.summary())"
    )
    base = found.needs[0].n
    rows: list[dict[str, Any]] = [
        {
            "strategy": need.strategy, "n": need.n,
            "share": None if found.size is None else need.n / found.size,
            "cost": need.n * found.cost, "reached": need.reached, "saved": base - need.n,
            "saved_share": (base - need.n) / base, "note": need.note,
        }
        for need in found.needs
    ]  # fmt: skip
    return {
        "plan": found, "rows": rows, "least": min(rows, key=lambda row: row["n"]),
        "reached": _REACHED[v["goal"]], "shown": _curves(found, v["goal"]), "code": code,
        "command": plan_command({**aim, **told, "size": v["size"], "rating_cost": v["cost"]}),
    }  # fmt: skip


def _curves(found: Plan, goal: str) -> dict[str, Any] | None:
    series = []
    for need in found.needs:
        # Few ratings reach next to nothing; their values would flatten all the others.
        points = [(float(n), x) for n, x in need.curve.items() if x <= 3 * found.goal.size]
        series.append((need.strategy, points, (float(need.n), need.reached)))
    if len({x for _, points, _ in series for x, _ in points}) < 3:
        return None
    return chart(series, "ratings", _REACHED[goal], log=True, level=found.goal.size, height=320)


_from_guess = part(*_GOAL, *_GUESS)(_answer)
_from_scale = part(*_GOAL, "low", "high")(_answer)
