"""Measurable differences over any two numbers of a study."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from fewgold.errors import FewgoldError
from fewgold.planning import measurable_difference
from fewgold.web._draw_heat import Heat, heat
from fewgold.web._plan_binary import AXES, FIELDS, study
from fewgold.web._plan_fields import Form
from fewgold.web._plan_lines import wrapped

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
_QUICK = 50_000  # ratings up to which a whole map is a matter of a moment
_PATIENCE = 1.5  # seconds


@dataclass(frozen=True)
class Map:
    """A heat map, its numbers, and the lines that give them again."""

    x: str
    y: str
    columns: tuple[float, ...]
    rows: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]
    shown: Heat
    power: float | None
    code: str


def heat_map(form: Form) -> Map:
    """The measurable difference over the two numbers that were chosen, around this study."""
    values = study(form) | {"level": form["level"], "power": form["power"]}
    x, y = form["x"], form["y"]
    if "metric" in (x, y) or {"rho", "eta"} & {x, y}:
        values |= {"rho": form["rho"], "eta": form["eta"]}
        values["known"] = form["rates"] == "known" or None
    here = {name: form[name] for name in (x, y)}
    return _heat_map(x, y, tuple(here.values()), tuple(values.items()))


@lru_cache(128)
def _heat_map(x: str, y: str, here: tuple[Any, Any], items: tuple[tuple[str, Any], ...]) -> Map:
    values = {k: v for k, v in items if v is not None and k not in (x, y)}
    columns, rows = (_axis(name, own, values) for name, own in zip((x, y), here, strict=True))
    arrays: dict[str, Any] = {y: np.array(rows)[:, None], x: np.array(columns)}
    sizes = [v for k, v in values.items() if k in _COUNTS]
    sizes += [max(axis) for k, axis in ((x, columns), (y, rows)) if k in _COUNTS]
    if max(sizes, default=0) > _QUICK:
        table = _by_cells(x, y, columns, rows, values)
    else:
        found = measurable_difference(**values, **arrays)
        table = tuple(tuple(float(v) for v in row) for row in found)
    names = [
        [f"{v:,}" if isinstance(v, int) else f"{v:g}" for v in axis] for axis in (columns, rows)
    ]
    at = (
        rows.index(here[1]) if here[1] in rows else -1,
        columns.index(here[0]) if here[0] in columns else -1,
    )
    shown = heat(table, names[0], names[1], AXES[x], AXES[y], at)
    parts = [f"{k}={v!r}" for k, v in values.items()]
    parts += [f"{y}=np.array({list(rows)!r})[:, None]", f"{x}={list(columns)!r}"]
    code = (
        "import numpy as np\n\nfrom fewgold.planning import measurable_difference\n\n"
        f"{wrapped('table = measurable_difference', parts)}\nprint(table.tolist())"
    )
    power = None if "power" in (x, y) else values.get("power")
    return Map(x, y, columns, rows, table, shown, power, code)


def _by_cells(
    x: str, y: str, columns: tuple[Any, ...], rows: tuple[Any, ...], values: dict[str, Any]
) -> tuple[tuple[float, ...], ...]:
    """One by one: a cell of a large study may take half a second, and a page has not so long."""
    ends = time.monotonic() + _PATIENCE
    table = []
    for row in rows:
        line = []
        for column in columns:
            if time.monotonic() > ends:
                raise FewgoldError(
                    f"This map takes more than the {_PATIENCE:g} seconds that a page has. Choose "
                    "fewer ratings or other axes; `fewgold.planning.measurable_difference` takes "
                    "as long as it needs."
                )
            line.append(float(measurable_difference(**values, **{y: row, x: column})))
        table.append(tuple(line))
    return tuple(table)


def _axis(name: str, own: Any, values: dict[str, Any]) -> tuple[Any, ...]:
    """Round values and that of the study itself; a metric worse than chance is left out."""
    grid = {*GRIDS[name], *([] if own is None else [own])}
    if name in ("rho", "eta"):
        other = "eta" if name == "rho" else "rho"
        least = 1 - values[other] if other in values else 0.5
        grid = {v for v in grid if v >= least - 1e-12}
    if name == "power":
        most = values["level"] if "level" in values else FIELDS["level"].high
        grid = {v for v in grid if v > most / 2}
    if name == "level" and "power" in values:
        grid = {v for v in grid if v / 2 < values["power"]}
    return tuple(sorted(grid))
