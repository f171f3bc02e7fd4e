"""How well metrics tell adequate from inadequate, by system: the numbers of ``fewgold roc``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError
from fewgold.web import _replay_form as form
from fewgold.web._replay_compare import Columns, guess
from fewgold.web._replay_form import Fields
from fewgold.web._replay_show import Grid, minus

if TYPE_CHECKING:
    from fewgold.bayes import RocTable
    from fewgold.web._replay_data import Data

RULES = ("equal", "information")


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


def show(result: RocTable) -> dict[str, Any]:
    """What the page shows: the same figures that ``fewgold roc`` prints."""
    frame = result.to_frame()
    several = bool((frame.groupby("metric")["system"].nunique() > 2).any())
    apart = result.heterogeneity().to_dict("records") if several else []
    parts = []
    for k, (metric, part) in enumerate(frame.groupby("metric", sort=False)):
        notes = [_sentence(row) for row in apart if row["metric"] == metric]
        gaps = int(part.loc[part["system"] == "(all)", "gaps"].sum())
        if gaps:
            notes.append(f"{gaps} rated rows have no {metric} and were left out.")
        grid = _grid(f"roc-{k}", str(metric), part, result.confidence)
        parts.append({"metric": str(metric), "grid": grid, "notes": notes})
    return {"parts": parts, "drawable": bool(frame["auc"].notna().any())}


def _grid(id: str, metric: str, part: Any, confidence: float) -> Grid:
    cuts = list(dict.fromkeys(part["cut"]))
    where = f"at {cuts[0]}" if len(cuts) == 1 else "at a threshold of each system"
    heads = ["system", "items", "adequate", "AUC", f"{100 * confidence:g}%", "ρ", "η", "K"]
    rows = []
    for row in part.to_dict("records"):
        cells = [str(row["system"]), str(row["n"]), f"{row['alpha']:.3f}", _digits(row["auc"], 3)]
        cells.append(f"{_digits(row['auc_low'], 2)}–{_digits(row['auc_high'], 2)}")
        cells += [_digits(row[name], 3) for name in ("rho", "eta", "K")]
        if len(cuts) > 1:
            sign, at = row["cut"].split()
            cells.append(minus(f"{sign} {float(at):.4g}"))
        rows.append(cells)
    heads += ["threshold"] if len(cuts) > 1 else []
    return Grid(id, f"{metric} {where}", heads, rows)


def _digits(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else minus(f"{value:.{digits}f}")


def _sentence(row: dict[Any, Any]) -> str:
    """Whether the systems share ρ and η, and what becomes of it."""
    p = row["p"]
    chance = "p unknown" if math.isnan(p) else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    rough = ", rough: few items in a cell" if row["sparse"] else ""
    said = (
        f"Systems: ρ from {_digits(row['rho_min'], 2)} to {_digits(row['rho_max'], 2)}, η from "
        f"{_digits(row['eta_min'], 2)} to {_digits(row['eta_max'], 2)} (all the same: "
        f"{chance}{rough})."
    )
    if not math.isnan(row["worst"]):
        off = minus(f"{row['worst']:+.2f}") + f" ± {row['worst_se']:.2f}"
        said += f" ρ and η of the others would put the rate of {row['on']} off by {off}."
    return said
