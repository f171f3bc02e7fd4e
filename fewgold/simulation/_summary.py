"""A simulation as text, within 80 columns where the names allow it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._validate import as_names
from fewgold.errors import UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

    from fewgold.simulation._simulation import Simulation

_WIDTH = 80


def text(simulation: Simulation, strategies: Iterable[str] | None = None) -> str:
    """The paper's tables for people: errors, and intervals where further bounds were tried."""
    table = simulation.ranking()
    if strategies is not None:
        wanted = as_names(strategies)
        for name in wanted:
            if name not in simulation.strategies:
                raise UnknownNameError("strategy", name, simulation.strategies)
        table = table[table["strategy"].isin(wanted)]
    lines = [_title(simulation), "", *_errors(table, simulation.baseline)]
    if simulation.bounds:
        lines += ["", *_intervals(table, simulation)]
    notes = [_legend(simulation), *_failures(simulation, table)]
    wrapped = [
        line for note in notes for line in textwrap.wrap(note, _WIDTH, break_on_hyphens=False)
    ]
    return "\n".join([*lines, "", *wrapped, simulation.signature])


def _title(simulation: Simulation) -> str:
    budgets = simulation.budgets
    return (
        f"{count(len(simulation.pools), 'pool')} × {count(len(budgets), 'budget')} "
        f"({span(budgets)}), {simulation.draws} draws a cell"
    )


def _errors(table: pd.DataFrame, baseline: str) -> list[str]:
    width = max([8, *map(len, table["strategy"])])
    digits = decimals(table["abs_error_mc"])
    head = f"{'strategy':{width}}{'error':>9}{'sdev':>9}{'win %':>7}{'reduction %':>14}"
    lines = [head + f"{'worth':>7}{'covers %':>10}"]
    for row in table.to_dict("records"):
        own = row["strategy"] == baseline
        gain = "–" if own else _with_error(100 * row["reduction"], 100 * row["reduction_mc"])
        lines.append(
            f"{row['strategy']:{width}}{cell(row['abs_error'], digits):>9}"
            f"{cell(row['abs_error_sd'], digits):>9}{cell(100 * row['win'], 1):>7}{gain:>14}"
            f"{cell(row['ess_ratio'], 2):>7}{cell(100 * row['coverage'], 1):>10}"
            if row["cells"]
            else f"{row['strategy']:{width}}  failed in every cell"
        )
    return lines


def _intervals(table: pd.DataFrame, simulation: Simulation) -> list[str]:
    """Table 5 of the paper: cal, slack and t of each bound."""
    width = max([8, *map(len, table["strategy"])])
    wide = max([5, *map(len, simulation.bounds)])
    digits = decimals(table["abs_error_mc"])
    lines = [f"{'strategy':{width}}  {'bound':{wide}}{'cal %':>8}{'slack':>9}{'t':>9}"]
    for row in table.to_dict("records"):
        for bound in ("", *simulation.bounds):
            tail = f"_{bound}" if bound else ""
            if not np.isnan(row[f"coverage{tail}"]):
                lines.append(
                    f"{row['strategy']:{width}}  {bound or 'own':{wide}}"
                    f"{cell(100 * row[f'coverage{tail}'], 1):>8}"
                    f"{cell(row[f'slack{tail}'], digits):>9}"
                    f"{cell(row[f'half_width{tail}'], digits):>9}"
                )
    return lines


def _legend(simulation: Simulation) -> str:
    level = f"{simulation.confidence:.0%}"
    legend = (
        "error: mean of |estimate − truth|; sdev: its standard deviation; win: cells with a lower "
        f"error than {simulation.baseline}; reduction: of that error, ± Monte-Carlo standard "
        "error; worth: ratings of the baseline that one rating here replaces; covers: "
        f"{level} intervals that hold the truth."
    )
    if simulation.bounds:
        legend += (
            " cal: intervals that hold the truth; t: half of their width, after cutting at the "
            "limits; slack: t less the error."
        )
    return legend


def _failures(simulation: Simulation, table: pd.DataFrame) -> list[str]:
    notes = []
    whole = len(simulation.pools) * len(simulation.budgets)
    for row in table.to_dict("records"):
        if 0 < row["cells"] < whole:
            worked = count(int(row["cells"]), "cell")
            notes.append(f"{row['strategy']}: over the {worked} of {whole} in which it worked.")
        if row["compared"] < row["cells"] and row["strategy"] != simulation.baseline:
            both = count(int(row["compared"]), "cell")
            notes.append(f"{row['strategy']}: compared with the baseline in {both} only.")
    failures = simulation.failures
    failed = failures[failures["bound"] == ""]
    for (strategy, reason), rows in failed.groupby(["strategy", "reason"], sort=False):
        notes.append(f"{strategy} failed in {count(len(rows), 'cell')}: {reason}")
    for bound, rows in failures[failures["bound"] != ""].groupby("bound", sort=False):
        names = ", ".join(dict.fromkeys(rows["strategy"]))
        notes.append(f"The {bound} bound does not cover {names}; `failures` says why.")
    return notes


def cell(value: float, digits: int) -> str:
    if np.isnan(value):
        return "–"
    return "∞" if np.isinf(value) else f"{value:.{digits}f}"


def _with_error(value: float, error: float) -> str:
    if np.isnan(value):
        return "–"
    return f"{value:.1f}" if np.isnan(error) else f"{value:.1f} ± {error:.1f}"


def decimals(errors: Any) -> int:
    """Digits that the smallest of some Monte-Carlo errors bears."""
    known = [e for e in errors if np.isfinite(e) and e > 0]
    return int(np.clip(1 - np.floor(np.log10(min(known))), 0, 8)) if known else 4


def count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def span(budgets: Sequence[Any]) -> str:
    """The first and the last budget."""
    first, last = (shown(b) for b in (budgets[0], budgets[-1]))
    return first if len(budgets) == 1 else f"{first} to {last}"


def shown(budget: Any) -> str:
    """A budget as people write it."""
    if isinstance(budget, float) and budget <= 1:
        return f"{100 * budget:g}%"
    return str(budget) if isinstance(budget, str) else f"{budget:g}"
