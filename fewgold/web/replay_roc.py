"""How well metrics tell adequate from inadequate, by system: the numbers of ``fewgold roc``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError
from fewgold.web import replay_form as form
from fewgold.web.replay_data import Columns, guess
from fewgold.web.replay_form import Fields
from fewgold.web.replay_results import Grid

if TYPE_CHECKING:
    from fewgold.bayes import RocTable
    from fewgold.web.replay_data import Data

RULES = ("equal", "information")
FIGURES = TABLES = ("roc",)


def chosen(fields: Fields, data: Data) -> Columns:
    """The columns of the form, or the guess where none was sent yet."""
    if not fields.sent:
        return guess(data)
    human = fields.column("human", "human scores", data)
    return Columns(
        () if human is None else (human,), fields.column("system", "systems", data), None, None,
        tuple(fields.columns("metrics", "metrics", data)),
    )  # fmt: skip


def first_cut(data: Data) -> str:
    """Which scores are adequate, where that is known: an MQM of at most 1 in the embedded sets."""
    return "<=1" if data.demo is not None else ""


def run(fields: Fields, data: Data) -> RocTable:
    """The curves that the form asks for."""
    from fewgold.bayes import roc_table

    columns = chosen(fields, data)
    if not columns.human:
        raise DataError("which column holds the human scores? Choose it above.")
    if not columns.metrics:
        raise DataError("no metric is ticked. Tick at least one.")
    return roc_table(
        data.frame, human=columns.human[0], metrics=list(columns.metrics), system=columns.system,
        adequate=form.cut(fields.text("adequate")),
        rule=fields.choice("rule", "rule", RULES, "equal"),
        per_system=bool(fields.text("per_system")), strict=bool(fields.text("strict")),
        confidence=form.share(fields.text("confidence", "0.95"), "the confidence", "0.95"),
        orientation={},
    )  # fmt: skip


def command(fields: Fields, data: Data) -> str | None:
    """The command that gives the same numbers; None where a name cannot be typed there."""
    columns = chosen(fields, data)
    metrics = form.listed(columns.metrics)
    if metrics is None:
        return None
    options: list[tuple[str, str | None]] = [("--human", columns.human[0])]
    options += [("--adequate", fields.text("adequate"))] if fields.text("adequate") else []
    options += [("--metrics", metrics), ("--system", columns.system or "none")]
    for name, default in {"rule": "equal", "confidence": "0.95"}.items():
        value = fields.text(name, default)
        options += [(f"--{name}", value)] if value != default else []
    options += [("--per-system", None)] if fields.text("per_system") else []
    options += [("--strict", None)] if fields.text("strict") else []
    return form.command("roc", data, options)


def plot(result: RocTable, kind: str) -> Any:
    """The curves: there is one kind of figure."""
    return result.plot()


def frame_of(result: RocTable, name: str) -> Any:
    """The one table of the result, to download."""
    return result.to_frame()


def show(result: RocTable) -> dict[str, Any]:
    """What the page shows: the same figures that ``fewgold roc`` prints."""
    from fewgold.bayes.roc import texts

    frame = result.to_frame()
    several = bool((frame.groupby("metric")["system"].nunique() > 2).any())
    apart = result.heterogeneity() if several else None
    parts = [
        {
            "metric": metric,
            "grid": Grid(f"roc-{k}", f"{metric} {found.where}", found.heads, found.rows),
            "notes": found.notes,
        }
        for k, (metric, found) in enumerate(texts(frame, apart, result.confidence).items())
    ]
    return {"parts": parts, "drawable": bool(frame["auc"].notna().any())}
