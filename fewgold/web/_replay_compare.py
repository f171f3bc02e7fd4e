"""Compare systems on ratings that one has: the numbers of ``fewgold compare``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.comparison._text import findings
from fewgold.errors import DataError
from fewgold.web import _replay_form as form
from fewgold.web._replay_columns import Columns, guess
from fewgold.web._replay_compare_grids import differences, ranking, raters
from fewgold.web._replay_form import Fields

if TYPE_CHECKING:
    from fewgold.comparison import Comparison
    from fewgold.web._replay_data import Data

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
