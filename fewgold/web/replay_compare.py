"""Compare systems on ratings that one has: the numbers of ``fewgold compare``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fewgold.comparison.result import findings
from fewgold.errors import DataError
from fewgold.web import replay_form as form
from fewgold.web.replay_data import Columns, guess
from fewgold.web.replay_form import Fields
from fewgold.web.replay_results import Grid, minus

if TYPE_CHECKING:
    from fewgold.comparison import Comparison
    from fewgold.web.replay_data import Data

# Tables of a comparison: ranking, differences of pairs, raters.


def ranking(result: Comparison) -> Grid:
    """Ranks, groups and scores, the best system first."""
    from fewgold.comparison.result import decimals

    scores, ranking = result.scores(), result.ranking()
    digits = decimals(float(scores["se"].min()))
    level = f"{100 * result.confidence:.10g}%"
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    rows = [
        [
            "–".join(map(str, sorted({place.rank_low, place.rank_high}))),
            own.system, str(place.group), minus(f"{own.score:.{digits}f}"),
            minus(f"{own.low:.{digits}f} to {own.high:.{digits}f}"), f"{place.p_best:.3f}",
        ]
        for place, own in both
    ]  # fmt: skip
    caption = (
        "Ranking, the best first. Systems of one group cannot be told apart with these ratings, "
        "which does not say that they are equal."
    )
    return Grid("ranking", caption, ["rank", "system", "group", "score", level, "P(best)"], rows, 2)


def differences(result: Comparison) -> Grid:
    """All pairs of systems, with what is significant."""
    from fewgold.comparison.result import decimals

    frame, level = result.differences(), f"{100 * result.confidence:.10g}%"
    digits = decimals(float(frame["se"].min()))
    every: Any = frame.itertuples()
    rows = [
        [
            f"{row.first} − {row.second}",
            minus(f"{row.difference:+.{digits}f}"),
            minus(f"{row.low:.{digits}f} to {row.high:.{digits}f}")
            if math.isfinite(row.low)
            else "unknown",
            f"{row.p_better:.3f}",
            "< 0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}",
            "yes" if row.significant else "not shown",
        ]
        for row in every
    ]
    heads = ["difference", "first less second", level, "P(better)", "p, corrected", "significant"]
    caption = (
        "Differences of pairs, on the same segments where there are any. P(better): the "
        "probability that the first is truly better. Where a difference is not shown, more "
        "ratings may show it."
    )
    return Grid("differences", caption, heads, rows)


def raters(result: Comparison) -> Grid:
    """Raters, how well they agree and how each one differs from the others."""
    assert result.people is not None
    people = result.people
    agree = (
        f"Krippendorff's α {_number(people.alpha, 2)}, mean correlation "
        f"{_number(people.correlation, 2)}; "
        if people.shared
        else ""
    )
    caption = f"Raters: {agree}{people.shared} of {people.outputs} outputs rated by two or more."
    every: Any = people.to_frame().itertuples()
    rows = [
        [
            row.rater, str(row.ratings), minus(f"{row.mean:.3f}"), _number(row.bias, 3, "+"),
            _number(row.bias_se, 3), _number(row.spread, 3),
        ]
        for row in every
    ]  # fmt: skip
    return Grid("raters", caption, ["rater", "ratings", "mean", "bias", "±", "spread"], rows)


def _number(value: float, digits: int, sign: str = "") -> str:
    return "–" if math.isnan(value) else minus(f"{value:{sign}.{digits}f}")


FIGURES = {
    "forest": (
        "Scores by system",
        "Each score by itself, with its interval. These intervals are no test of differences.",
    ),
    "differences": ("Differences of all pairs", "Row less column, with what is significant."),
    "ranks": ("Ranks", "The ranks that each system may have, and how probable each is."),
}
TABLES = ("ranking", "scores", "differences", "rank_probabilities", "raters")
DIRECTIONS = ("", "higher", "lower")
CORRECTIONS = ("holm", "fdr", "none")
TARGETS = ("", "pool", "process")
UNITS = ("", "segment", "document")


def chosen(fields: Fields, data: Data) -> Columns:
    """The columns of the form, or the guess where none was sent yet."""
    if not fields.sent:
        return guess(data)
    return Columns(
        tuple(fields.columns("human", "human scores", data)),
        fields.column("system", "systems", data),
        fields.column("id", "segments", data),
        fields.column("document", "documents", data),
        tuple(fields.columns("metrics", "metrics", data)),
    )


def run(fields: Fields, data: Data) -> Comparison:
    """The comparison that the form asks for."""
    from fewgold.comparison import compare

    columns = chosen(fields, data)
    for what, missing in (
        ("the human scores", not columns.human),
        ("the systems", columns.system is None),
        ("the segments", columns.id is None),
    ):
        if missing:
            raise DataError(f"which column holds {what}? Choose it above.")
    rater = fields.column("rater", "raters", data)
    _once(columns, rater)
    assert columns.system is not None and columns.id is not None
    way = fields.choice("direction", "direction", DIRECTIONS, "")
    return compare(
        data.frame,
        human=columns.human[0] if len(columns.human) == 1 else list(columns.human),
        system=columns.system, id=columns.id, document=columns.document,
        metrics=list(columns.metrics), rater=rater,
        target=fields.choice("target", "target", TARGETS, "") or None,
        unit=fields.choice("unit", "unit", UNITS, "") or None,
        correction=fields.choice("correction", "correction", CORRECTIONS, "holm"),
        level=form.share(fields.text("level", "0.05"), "the chance of error", "0.05"),
        higher_is_better=None if not way else way == "higher",
        limits=form.limits(fields.text("limits")),
        control="never" if fields.text("no_control") else "auto",
        adjust_raters=bool(fields.text("adjust_raters")),
        orientation={},
    )  # fmt: skip


def _once(columns: Columns, rater: str | None) -> None:
    """A column has one role; what people said must never slip in among the metrics."""
    lone = [c for c in (columns.system, columns.id, columns.document, rater) if c is not None]
    taken = [*columns.human, *columns.metrics, *lone]
    twice = next((c for c in taken if taken.count(c) > 1), None)
    if twice is not None:
        raise DataError(f"the column {twice!r} is chosen for two things. Choose another for one.")


def command(fields: Fields, data: Data) -> str | None:
    """The command that gives the same numbers; None where a name cannot be typed there."""
    columns = chosen(fields, data)
    human, metrics = form.listed(columns.human), form.listed(columns.metrics)
    if human is None or metrics is None:
        return None
    options: list[tuple[str, str | None]] = [
        ("--human", human),
        ("--system", columns.system or ""),
        ("--id", columns.id or ""),
        ("--document", columns.document or "none"),
        ("--metrics", metrics or "none"),
    ]
    usual = {"rater": "", "target": "", "unit": "", "correction": "holm", "level": "0.05"}
    for name, default in {**usual, "limits": ""}.items():
        value = fields.text(name, default)
        options += [(f"--{name}", value)] if value not in ("", default) else []
    way = fields.text("direction")
    options += [(f"--{way}-is-better", None)] if way else []
    options += [("--no-control", None)] if fields.text("no_control") else []
    options += [("--adjust-raters", None)] if fields.text("adjust_raters") else []
    return form.command("compare", data, options)


def plot(result: Comparison, kind: str) -> Any:
    """A figure of the result."""
    return result.plot(kind)


def frame_of(result: Comparison, name: str) -> Any:
    """A table of the result, to download."""
    if name == "rank_probabilities":
        return result.rank_probabilities().reset_index()
    return getattr(result, name)()


def show(result: Comparison) -> dict[str, Any]:
    """What the page shows: the same figures that ``fewgold compare`` prints."""
    facts = result.facts
    about = (
        f"all {facts['pool_size']} segments"
        if facts["target"] == "pool"
        else f"new {facts['unit']}s like these"
    )
    grids = [ranking(result), differences(result)]
    grids += [] if result.people is None else [raters(result)]
    return {
        "lead": f"{len(result.systems)} systems on {facts['n']} rated segments; the result is "
        f"about {about}.",
        "grids": grids,
        "sentences": findings(result),
        "notes": result.remarks,
        "signature": result.signature(),
        "tables": [t for t in TABLES if t != "raters" or result.people is not None],
    }
