"""Planning pages: what a study can measure, and how many ratings a goal needs.

The state of every page is in its address.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from fewgold.bayes import AlphaPosterior, PoolPosterior, Priors
from fewgold.errors import FewgoldError
from fewgold.planning import (
    Goal,
    Outlook,
    Plan,
    Setting,
    best_split,
    detection_power,
    measurable_difference,
    plan,
    plan_worst_case,
    ratings_needed,
)
from fewgold.report import number
from fewgold.web.drawing import chart, heat
from fewgold.web.files import csv, download, known
from fewgold.web.forms import Field, Form, Part, arguments, by_name, part, plan_command, wrapped
from fewgold.web.site import Site

# Outputs that are adequate or not: what a study with these numbers can measure

_SIZE = 1_000_000
AXES = {
    "human": "Human ratings", "metric": "Metric ratings", "paired": "Paired ratings",
    "alpha": "Share of adequate outputs α", "rho": "Share of adequate ones recognised ρ",
    "eta": "Share of inadequate ones recognised η", "level": "Level γ", "power": "Power",
}  # fmt: skip
BINARY_FIELDS = by_name(
    Field("human", AXES["human"], "500", 0, _SIZE, True, slider=(0, 5000, 10),
          hint="Items that people rate, for each of the two systems."),
    Field("metric", AXES["metric"], "10000", 0, _SIZE, True, slider=(0, 50_000, 100),
          hint="Items that only the metric rates."),
    Field("paired", AXES["paired"], "", 0, _SIZE, True, optional=True, slider=(0, 5000, 10),
          hint="Items that both rate. Empty: all human-rated items."),
    Field("alpha", AXES["alpha"], "0.6", 0, 1, slider=(0, 1, 0.01),
          hint="Your guess, midway between the two systems."),
    Field("rho", AXES["rho"], "0.9", 0, 1, slider=(0.5, 1, 0.01)),
    Field("eta", AXES["eta"], "0.9", 0, 1, slider=(0.5, 1, 0.01)),
    Field("rates", "ρ and η are", "estimated",
          choices=(("estimated", "estimated from the paired ratings"), ("known", "known exactly"))),
    Field("level", AXES["level"], "0.05", 0.0001, 0.5, slider=(0.01, 0.2, 0.01),
          hint="Significance level of the two-sided test. Intervals have confidence 1 − γ."),
    Field("power", AXES["power"], "0.8", 0.001, 0.999, optional=True, slider=(0.5, 0.99, 0.01),
          hint="Probability of finding the difference. Empty: significance only."),
    Field("difference", "True difference", "0.05", 0.0001, 0.9999, slider=(0.005, 0.3, 0.005),
          hint="Between the two systems: how likely you are to find it, and what it takes."),
    Field("items", "Items of the test set", "", 1, _SIZE, True, optional=True,
          hint="Size of the whole test set. Empty: unlimited."),
    Field("x", "Across", "metric", choices=tuple(AXES.items())),
    Field("y", "Down", "human", choices=tuple(AXES.items())),
    Field("budget", "Budget for one system", "500", 0.000001, 1e9,
          hint="In any unit, such as euros or hours."),
    Field("human_cost", "Cost of a human rating", "1", 0.000001, 1e6),
    Field("metric_cost", "Cost of a metric rating", "0.02", 0, 1e6),
)  # fmt: skip
STUDY = ("human", "metric", "paired", "alpha", "rho", "eta", "rates", "level", "power")


def read_binary(sent: Any) -> Form:
    """The form as sent, with errors about fields that contradict each other."""
    form = Form.of(BINARY_FIELDS, sent)
    v, wrong = form.values, {}
    if not form.lacks("rho", "eta") and v["rho"] + v["eta"] < 1 - 1e-9:
        wrong["eta"] = (
            f"ρ + η must be 1 or more; got {v['rho'] + v['eta']:g}. Swap 0 and 1 of the metric."
        )
    if v["power"] is not None and v["level"] is not None and v["power"] <= v["level"] / 2:
        wrong["power"] = f"Expected more than γ/2 = {v['level'] / 2:g}, the power by chance alone."
    rated = (v["human"] or 0) + (v["paired"] or 0)
    if v["items"] is not None and rated > v["items"]:
        wrong["items"] = f"Expected at least the {rated:,} items that people rate."
    if v["items"] is None and v["metric_cost"] == 0 and "items" not in form.errors:
        wrong["metric_cost"] = (
            "A free metric can rate any number of items: give the items of the test set above."
        )
    if v["x"] is not None and v["x"] == v["y"]:
        wrong["y"] = "Expected another quantity than under “Across”."
    return form.but(**wrong)


Values = Mapping[str, Any]


def study(form: Values) -> dict[str, Any]:
    """Arguments of `measurable_difference`, except level, power and unused ones."""
    found: dict[str, Any] = {"alpha": form["alpha"], "human": form["human"]}
    if form["metric"]:
        found["metric"] = form["metric"]
    if form["metric"] or form["paired"] is not None:
        found |= {"rho": form["rho"], "eta": form["eta"]}
    if form["paired"] is not None:
        found["paired"] = form["paired"]
    if form["rates"] == "known" and "rho" in found:
        found["known"] = True
    return found


def rates_unknown(form: Form) -> bool:
    """Whether it is unknown how often the metric is right."""
    pairs = form["human"] if form["paired"] is None else form["paired"]
    return bool(form["metric"]) and form["rates"] == "estimated" and pairs == 0


@part(*STUDY)
def binary_answer(form: Values) -> dict[str, Any]:
    """What a study can measure, and the expected posterior."""
    values, level, power = study(form), form["level"], form["power"]
    epsilon = float(measurable_difference(**values, level=level))
    found = float(measurable_difference(**values, level=level, power=power)) if power else None
    people = values["human"] + (values.get("paired") or 0)
    alone, worth = epsilon, None
    if values.get("metric"):
        alone = float(measurable_difference(alpha=values["alpha"], human=people, level=level))
    if epsilon < alone:
        with suppress(FewgoldError):  # there is no such number
            worth = ratings_needed(epsilon, alpha=values["alpha"], level=level)
    posterior = AlphaPosterior(Setting(**values).expected(), _priors(values) or Priors())
    confidence = round(1 - level, 12)
    low, high = (float(end) for end in posterior.interval(confidence))
    mean, sd = float(posterior.mean), float(posterior.sd)
    ends = max(mean - 4.5 * sd, 0.0), min(mean + 4.5 * sd, 1.0)
    at = np.unique(np.r_[np.linspace(*ends, 121), low, high])
    curve = zip(at.tolist(), posterior.pdf(at).tolist(), strict=True)
    points = [(x, y) for x, y in curve if np.isfinite(y)]
    shown = chart(
        [("density", points, None)], "success rate α", "density", band=(low, high), height=260
    )
    return {
        "epsilon": epsilon, "found": found, "alone": alone, "worth": worth, "mean": mean, "sd": sd,
        "low": low, "high": high, "shown": shown,
        "helps": 1 - epsilon / alone,  # share by which the metric lowers the measurable difference
        "code": _answer_code(values, level, power, confidence, people),
    }  # fmt: skip


def _priors(values: Values) -> Priors | None:
    """The rates of the metric, if they are known exactly."""
    return Priors(rho=values["rho"], eta=values["eta"]) if values.get("known") else None


def _answer_code(
    values: dict[str, Any], level: float, power: float | None, confidence: float, people: int
) -> str:
    names, rates = _known_rates(values, "AlphaPosterior")
    alone = arguments({"alpha": values["alpha"], "human": people, "level": level})
    found = f"print(measurable_difference(**study, level={level!r}, power={power!r}))\n"
    return (
        f"from fewgold.bayes import {names}\n"
        "from fewgold.planning import Setting, measurable_difference\n\n"
        f"study = dict({arguments(values)})\n"
        f"print(measurable_difference(**study, level={level!r}))\n{found if power else ''}"
        f"print(measurable_difference({alone}))\n"
        + _posterior_code(f"AlphaPosterior(Setting(**study).expected(){rates})", confidence)
    )


def _known_rates(values: Values, posterior: str) -> tuple[str, str]:
    """What to import for a posterior, and its extra argument if the rates are known."""
    if not values.get("known"):
        return posterior, ""
    return f"{posterior}, Priors", f", Priors(rho={values['rho']!r}, eta={values['eta']!r})"


def _posterior_code(made: str, confidence: float) -> str:
    return (
        f"posterior = {made}\nprint(posterior.mean, posterior.sd)\n"
        f"print(*posterior.interval({confidence!r}))"
    )


@part(*STUDY, "difference")
def chance(form: Values) -> dict[str, Any]:
    """The probability that the study finds the given difference."""
    gap, values = form["difference"], study(form) | {"level": form["level"]}
    code = (
        "from fewgold.planning import detection_power\n\n"
        f"print(detection_power({gap!r}, {arguments(values)}))"
    )
    return {"power": float(detection_power(gap, **values)), "code": code}


@part(*STUDY, "items")
def whole_set(form: Values) -> dict[str, Any] | None:
    """The posterior for a test set of this size, if the metric rates what people do not."""
    size = form["items"]
    if size is None:
        return None
    values, confidence = study(form), round(1 - form["level"], 12)
    rest = size - values["human"] - (values.get("paired") or 0)
    names, rates = _known_rates(values, "PoolPosterior")
    if "rho" in values:
        values["metric"] = rest
        posterior = PoolPosterior(Setting(**values).expected(), _priors(values))
        made = f"PoolPosterior(Setting({arguments(values)}).expected(){rates})"
    else:
        posterior = PoolPosterior(Setting(**values, paired=0).expected(), unrated=rest)
        made = f"PoolPosterior(Setting({arguments(values)}, paired=0).expected(), unrated={rest!r})"
    imports = f"from fewgold.bayes import {names}\nfrom fewgold.planning import Setting\n\n"
    low, high = (float(end) for end in posterior.interval(confidence))
    return {
        "size": size, "mean": float(posterior.mean), "sd": float(posterior.sd), "low": low,
        "high": high, "code": imports + _posterior_code(made, confidence),
    }  # fmt: skip


@part("difference", "alpha", "metric", "rho", "eta", "rates", "level", "power")
def needed(form: Values) -> dict[str, Any]:
    """Human ratings needed to find the difference, with and without the metric."""
    gap, alpha, metric, power = (form[n] for n in ("difference", "alpha", "metric", "power"))
    goal: dict[str, Any] = {"alpha": alpha, "level": form["level"], "power": power}
    alone = ratings_needed(gap, **goal)
    code = "from fewgold.planning import ratings_needed\n\n"
    code += f"print(ratings_needed({gap!r}, {arguments(goal)}))"
    options: dict[str, Any] = {"difference": gap, "alpha": alpha}
    with_metric, trouble = None, ""
    if metric:
        known = form["rates"] == "known"
        more = {"metric": metric, "rho": form["rho"], "eta": form["eta"], "known": known or None}
        options |= {
            "rho": form["rho"], "eta": form["eta"], "metric_ratings": metric, "known": known
        }  # fmt: skip
        code += f"\nprint(ratings_needed({gap!r}, {arguments(goal | more)}))"
        if metric > _MANY and not known:  # a search of many seconds, too slow for a page
            trouble = (
                f"With more than {_MANY:,} metric ratings the search is too slow for a page. Run "
                "the lines below instead."
            )
        else:
            try:
                with_metric = ratings_needed(gap, **goal, **more | {"known": known})
            except FewgoldError as error:
                trouble = error.message_for("web")
    # A difference that is just significant has a power of one half.
    options |= {
        "confidence": round(1 - form["level"], 12), "power": 0.5 if power is None else power
    }  # fmt: skip
    return {
        "alone": alone, "with_metric": with_metric, "trouble": trouble, "code": code,
        "command": plan_command(options),
    }  # fmt: skip


_MANY = 100_000  # metric ratings up to which a search is fast
_MOST = 10_000_000  # limit for the ratings of a budget: more take seconds to search


@part(
    "budget", "human_cost", "metric_cost", "alpha", "rho", "eta", "items", "level", "rates", "power"
)
def divided(form: Values) -> dict[str, Any]:
    """The best split of the budget between people and metric."""
    values = {k: v for k, v in form.items() if k not in ("rates", "power")}
    values |= {"known": form["rates"] == "known" or None, "power": form["power"]}
    cheapest = min(values["human_cost"], values["metric_cost"])
    if values["items"] is None and values["budget"] > _MOST * cheapest:
        raise FewgoldError(
            f"This budget pays for more than {_MOST:,} ratings. Give a smaller budget."
        )
    split = best_split(**values | {"known": bool(values["known"])})
    body = wrapped("split = best_split", [f"{k}={v!r}" for k, v in values.items() if v is not None])
    code = f"from fewgold.planning import best_split\n\n{body}\nprint(split.summary())"
    options = {
        "budget": values["budget"], "rating_cost": values["human_cost"],
        "metric_cost": values["metric_cost"], "alpha": values["alpha"], "rho": values["rho"],
        "eta": values["eta"], "known": values["known"], "size": values["items"],
        "confidence": round(1 - values["level"], 12), "power": values["power"] or 0.5,
    }  # fmt: skip
    tried = [(float(mix.human), mix.difference) for mix in split.tried if mix.metric or mix.human]
    tried = [(x, y) for x, y in tried if y <= 3 * split.best.difference]
    mark = float(split.best.human), split.best.difference
    shown = None
    if len({x for x, _ in tried}) > 2:
        shown = chart(
            [("measurable difference", tried, mark)],
            "human ratings; the rest is for the metric",
            "difference", height=260,
        )  # fmt: skip
    return {"split": split, "shown": shown, "code": code, "command": plan_command(options)}


# Measurable differences over any two numbers of a study

_RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
GRIDS: dict[str, tuple[float, ...]] = {
    "human": (50, 100, 200, 500, 1000, 2000, 5000, 10_000),
    "metric": (0, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000),
    "paired": (25, 50, 100, 200, 500, 1000, 2000, 5000),
    "alpha": (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    "rho": _RATES,
    "eta": _RATES,
    "level": (0.001, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2),
    "power": (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99),
}
_COUNTS = ("human", "metric", "paired")
_QUICK = 50_000  # ratings up to which a whole map is fast
_PATIENCE = 1.5  # seconds


@part(*STUDY, "x", "y")
def heat_map(form: Values) -> dict[str, Any]:
    """The measurable difference by two chosen quantities, around those of this study."""
    x, y = form["x"], form["y"]
    here = form[x], form[y]
    values = study(form) | {"level": form["level"], "power": form["power"]}
    if {"metric", "rho", "eta"} & {x, y}:
        values |= {"rho": form["rho"], "eta": form["eta"]}
        values["known"] = form["rates"] == "known" or None
    values = {k: v for k, v in values.items() if v is not None and k not in (x, y)}
    columns, rows = (_axis(name, own, values) for name, own in zip((x, y), here, strict=True))
    arrays: dict[str, Any] = {y: np.array(rows)[:, None], x: np.array(columns)}
    sizes = [v for k, v in values.items() if k in _COUNTS]
    sizes += [max(axis) for k, axis in ((x, columns), (y, rows)) if k in _COUNTS]
    if max(sizes, default=0) > _QUICK:
        table = _by_cells(x, y, columns, rows, values)
    else:
        table = measurable_difference(**values, **arrays).tolist()
    names = [
        [f"{v:,}" if isinstance(v, int) else f"{v:g}" for v in axis] for axis in (columns, rows)
    ]
    at = [axis.index(v) if v in axis else -1 for axis, v in ((rows, form[y]), (columns, form[x]))]
    shown = heat(table, names[0], names[1], AXES[x], AXES[y], (at[0], at[1]))
    parts = [f"{k}={v!r}" for k, v in values.items()]
    parts += [f"{y}=np.array({list(rows)!r})[:, None]", f"{x}={list(columns)!r}"]
    code = (
        "import numpy as np\n\nfrom fewgold.planning import measurable_difference\n\n"
        f"{wrapped('table = measurable_difference', parts)}\nprint(table.tolist())"
    )
    return {
        "x": x, "y": y, "columns": columns, "rows": rows, "values": table, "shown": shown,
        "power": None if "power" in (x, y) else values.get("power"), "code": code,
    }  # fmt: skip


def _by_cells(
    x: str, y: str, columns: tuple[Any, ...], rows: tuple[Any, ...], values: dict[str, Any]
) -> list[list[float]]:
    """The map cell by cell, within a time limit: a cell of a large study may take half a second."""
    ends = time.monotonic() + _PATIENCE

    def cell(row: Any, column: Any) -> float:
        if time.monotonic() > ends:
            raise FewgoldError(
                f"This map takes longer than {_PATIENCE:g} seconds, the limit for a page. Choose "
                "fewer ratings or other axes, or use `fewgold.planning.measurable_difference` "
                "in Python."
            )
        return float(measurable_difference(**values, **{y: row, x: column}))

    return [[cell(row, column) for column in columns] for row in rows]


def _axis(name: str, own: Any, values: dict[str, Any]) -> tuple[Any, ...]:
    """Round values and the study's own value, leaving out metrics worse than chance."""
    grid = {*GRIDS[name], *([] if own is None else [own])}
    if name in ("rho", "eta"):
        other = "eta" if name == "rho" else "rho"
        least = 1 - values[other] if other in values else 0.5
        grid = {v for v in grid if v >= least - 1e-12}
    if name == "power":
        most = values["level"] if "level" in values else BINARY_FIELDS["level"].high
        grid = {v for v in grid if v > most / 2}
    if name == "level" and "power" in values:
        grid = {v for v in grid if v / 2 < values["power"]}
    return tuple(sorted(grid))


# Scores of any kind: how many ratings a goal needs with each strategy

GOALS = {
    "half_width": "a half-width (±) of the interval",
    "tolerance": "a largest error",
    "difference": "a difference to be found",
}
_REACHED = {"half_width": "half-width", "tolerance": "error", "difference": "difference found"}
SCORES_FIELDS = by_name(
    Field("goal", "What you want", "half_width", choices=tuple(GOALS.items())),
    Field("wanted", "How much", "0.3", 0.000001, 1e9, slider=(0.05, 2, 0.05),
          hint="Half-width, error or difference, in the unit of the scores."),
    Field("confidence", "Confidence", "0.95", 0.5, 0.9999, slider=(0.8, 0.99, 0.01),
          hint="For a difference: the test has the level 1 − confidence."),
    Field("power", "Power", "0.8", 0.3, 0.999, slider=(0.5, 0.99, 0.01),
          hint="For a difference: the probability of finding it."),
    Field("known", "What you know", "guess",
          choices=(("guess", "roughly the sd"), ("scale", "only the ends of the scale"))),
    Field("sd", "Spread of the scores (sd)", "2.4", 0.000001, 1e9, slider=(0.1, 10, 0.1),
          hint="For a difference: of the differences between two systems on the same segments."),
    Field("correlation", "Correlation of the metric with people", "0.5", -0.999, 0.999,
          slider=(0, 0.95, 0.01), hint="With several metrics: the multiple correlation. 0: none."),
    Field("slopes", "Metrics", "1", 1, 1000, True, slider=(1, 40, 1)),
    Field("size", "Segments of the pool", "1418", 2, 100_000_000, True, optional=True,
          slider=(50, 5000, 10), hint="Empty: unlimited."),
    Field("icc", "Share of variance between documents", "0.15", 0, 1, optional=True,
          slider=(0, 1, 0.01),
          hint="How alike the scores within a document are (icc, intraclass correlation): 0 not at "
          "all, 1 all the same. 0.15 and 0.28 on WMT20. Empty: ignore documents."),
    Field("per_document", "Segments per document", "14", 1, 1_000_000, optional=True,
          slider=(1, 50, 1), hint="Empty: no strategies with whole documents."),
    Field("low", "Scale from", "0", -1e9, 1e9, hint="Used if you only know the scale."),
    Field("high", "Scale to", "25", -1e9, 1e9),
    Field("cost", "Cost of a rating", "1", 0.000001, 1e6, hint="In any unit."),
)  # fmt: skip
_GOAL = ("goal", "wanted", "confidence", "power", "size", "cost", "known")
_GUESS = ("sd", "correlation", "slopes", "icc", "per_document")


def read_scores(sent: Any) -> Form:
    """The form as sent, with errors about fields that contradict each other."""
    form = Form.of(SCORES_FIELDS, sent)
    low, high = form["low"], form["high"]
    if low is not None and high is not None and not low < high:
        return form.but(high=f"Expected more than {low:g}, the low end of the scale.")
    return form


def scores_answer(form: Form) -> Part:
    """Ratings by strategy, from what is known about the scores."""
    return _from_scale if form["known"] == "scale" else _from_guess


def _plan_of(v: Mapping[str, Any]) -> dict[str, Any]:
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
        # Values for very few ratings are so large that they would flatten the rest.
        points = [(float(n), x) for n, x in need.curve.items() if x <= 3 * found.goal.size]
        series.append((need.strategy, points, (float(need.n), need.reached)))
    if len({x for _, points, _ in series for x, _ in points}) < 3:
        return None
    return chart(series, "ratings", _REACHED[goal], log=True, level=found.goal.size, height=320)


_from_guess = part(*_GOAL, *_GUESS)(_plan_of)
_from_scale = part(*_GOAL, "low", "high")(_plan_of)


# The pages

#: Parts of the binary page that htmx loads separately.
_PIECES: dict[str, Part] = {
    "needed": needed, "map": heat_map, "split": divided
}  # fmt: skip


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/plan")
    site.templates.filters["number"] = number

    def page(request: Request, name: str, form: Form, **parts: Any) -> HTMLResponse:
        link = f"/plan/{name.partition('_')[0]}?{form.query}"
        values: dict[str, Any] = {"form": form, "link": link, "beside": False} | parts
        return site.page(request, f"plan_{name}.html", **values)

    def results(request: Request, name: str, form: Form, lacking: str, **parts: Any) -> Response:
        # Errors beside fields and the headline are outside of the replaced part.
        answer = page(request, f"{name}_results", form, beside=True, **parts)
        answer.headers["HX-Replace-Url"] = f"/plan/{name}?{form.query}"
        if lacking and "hx-request" in request.headers:
            answer.headers["HX-Reswap"] = "none"  # leave the page as it is
        return answer

    @router.get("/binary", response_class=HTMLResponse)
    def binary_page(request: Request) -> Any:
        form = read_binary(request.query_params)
        pieces = {name: piece.tried(form) for name, piece in _PIECES.items()}
        return page(request, "binary", form, **_study(form), **pieces)

    @router.get("/binary/results", response_class=HTMLResponse)
    def binary_results(request: Request) -> Any:
        form = read_binary(request.query_params)
        return results(request, "binary", form, form.lacks(*STUDY), **_study(form))

    @router.get("/binary/results.csv")
    def binary_csv(request: Request) -> Response:
        form = read_binary(request.query_params)
        found = binary_answer(form)
        names = ("epsilon", "found", "alone", "worth", "mean", "sd", "low", "high")
        row = [form[name] for name in STUDY] + [found[name] for name in names]
        return _csv("binary", [*STUDY, *names], [row])

    @router.get("/binary/map.csv")
    def map_csv(request: Request) -> Response:
        found = heat_map(read_binary(request.query_params))
        rows = [
            [y, x, value]
            for y, line in zip(found["rows"], found["values"], strict=True)
            for x, value in zip(found["columns"], line, strict=True)
        ]
        return _csv("map", [found["y"], found["x"], "difference"], rows)

    @router.get("/binary/split.csv")
    def split_csv(request: Request) -> Response:
        tried = divided(read_binary(request.query_params))["split"].tried
        return _csv("split", tried[0]._fields, tried)

    @router.get("/binary/{name}", response_class=HTMLResponse)
    def binary_piece(request: Request, name: str) -> Any:
        piece = _PIECES[known(name, _PIECES, "part")]
        form = read_binary(request.query_params)
        if "hx-request" in request.headers and form.lacks(*piece.fields):
            return Response(status_code=204)  # leave the page as it is
        return page(request, f"binary_{name}", form, **{name: piece.tried(form)})

    @router.get("/scores", response_class=HTMLResponse)
    def scores_page(request: Request) -> Any:
        form = read_scores(request.query_params)
        return page(request, "scores", form, answer=scores_answer(form).tried(form))

    @router.get("/scores/results", response_class=HTMLResponse)
    def scores_results(request: Request) -> Any:
        form = read_scores(request.query_params)
        answer = scores_answer(form)
        lacking = form.lacks(*answer.fields)
        return results(request, "scores", form, lacking, answer=answer.tried(form))

    @router.get("/scores/results.csv")
    def scores_csv(request: Request) -> Response:
        form = read_scores(request.query_params)
        names = ("strategy", "n", "share", "cost", "reached", "saved", "saved_share", "note")
        rows = scores_answer(form)(form)["rows"]
        return _csv("scores", names, [[row[name] for name in names] for row in rows])

    @router.get("/scores/curves.csv")
    def curves_csv(request: Request) -> Response:
        form = read_scores(request.query_params)
        needs = scores_answer(form)(form)["plan"].needs
        rows = [[need.strategy, n, x] for need in needs for n, x in need.curve.items()]
        return _csv("curves", ["strategy", "n", "reached"], rows)

    return router


def _study(form: Form) -> dict[str, Any]:
    """What a study with these numbers can measure."""
    return {
        "answer": binary_answer.tried(form), "chance": chance.tried(form),
        "whole_set": whole_set.tried(form), "rates_unknown": rates_unknown(form),
    }  # fmt: skip


def _csv(name: str, heads: Iterable[str], rows: Iterable[Iterable[Any]]) -> Response:
    return download(csv(heads, rows).encode(), f"fewgold-plan-{name}.csv", "text/csv")
