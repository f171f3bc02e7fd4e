"""A `RocTable` for people to read, in the same words and digits wherever it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd


class RocText(NamedTuple):
    """One metric: where it is cut, the headings, and a row a system, its name first."""

    where: str
    heads: list[str]
    rows: list[list[str]]
    notes: list[str]


def texts(frame: pd.DataFrame, apart: pd.DataFrame | None, confidence: float) -> dict[str, RocText]:
    """By metric; ``apart`` is `RocTable.heterogeneity`, where there are systems to compare."""
    compared = [] if apart is None else apart.to_dict("records")
    found = {}
    for metric, part in frame.groupby("metric", sort=False):
        cuts = list(dict.fromkeys(part["cut"]))
        where = f"at {cuts[0]}" if len(cuts) == 1 else "at a threshold of each system"
        heads = ["system", "items", "adequate", "AUC", f"{100 * confidence:g}%", "ρ", "η", "K"]
        heads += ["threshold"] if len(cuts) > 1 else []
        rows = [_cells(row, len(cuts) > 1) for row in part.to_dict("records")]
        notes = [_sentence(row) for row in compared if row["metric"] == metric]
        if gaps := int(part.loc[part["system"] == "(all)", "gaps"].sum()):
            notes.append(f"{gaps} rated rows have no {metric} and were left out.")
        found[str(metric)] = RocText(where, heads, rows, notes)
    return found


def _cells(row: dict[Any, Any], cut: bool) -> list[str]:
    cells = [str(row["system"]), str(row["n"]), f"{row['alpha']:.3f}", _fixed(row["auc"], 3)]
    cells.append(f"{_fixed(row['auc_low'], 2)}–{_fixed(row['auc_high'], 2)}")
    cells += [_fixed(row[name], 3) for name in ("rho", "eta", "K")]
    if cut:
        sign, at = row["cut"].split()
        cells.append(f"{sign} {float(at):.4g}".replace("-", "−"))
    return cells


def _fixed(value: float, digits: int) -> str:
    return "–" if value != value else f"{value:.{digits}f}".replace("-", "−")


def _sentence(row: dict[Any, Any]) -> str:
    """Whether the systems share ρ and η, and what becomes of it."""
    p = row["p"]
    chance = "p unknown" if p != p else "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    rough = ", rough: few items in a cell" if row["sparse"] else ""
    said = (
        f"Systems: ρ from {_fixed(row['rho_min'], 2)} to {_fixed(row['rho_max'], 2)}, η from "
        f"{_fixed(row['eta_min'], 2)} to {_fixed(row['eta_max'], 2)} (all the same: "
        f"{chance}{rough})."
    )
    if row["worst"] == row["worst"]:
        off = f"{row['worst']:+.2f}".replace("-", "−") + f" ± {row['worst_se']:.2f}"
        said += f" ρ and η of the others would put the rate of {row['on']} off by {off}."
    return said
