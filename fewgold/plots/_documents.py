"""What figures against the number of documents share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._validate import as_names
from fewgold.plots._frames import check_names
from fewgold.plots._lines import log_ticks

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SPREADS = {
    "relative_sd": "standard deviation ÷ mean",
    "sd": "standard deviation",
}


def by_system(frame: pd.DataFrame, systems: Sequence[str] | None) -> dict[str, pd.DataFrame]:
    """The rows of each system, by number of documents."""
    names = frame["system"].astype(str)
    known = list(dict.fromkeys(names))
    if systems is not None:
        systems = as_names(systems)
        check_names("system", systems, known)
        known = list(dict.fromkeys(systems))
    return {name: frame[names == name].sort_values("documents") for name in known}


def column(part: pd.DataFrame, name: str) -> FloatArray:
    """A column as numbers."""
    return part[name].to_numpy(dtype=np.float64)


def power_law(fits: pd.DataFrame | None, name: str) -> tuple[float, float] | None:
    """a and b of a system, if they are known."""
    if fits is None:
        return None
    found = fits.loc[fits["system"].astype(str) == name, ["a", "b"]].to_numpy(dtype=float)
    return (found[0, 0], found[0, 1]) if len(found) and np.isfinite(found[0]).all() else None


def log_axes(ax: Axes) -> None:
    """Both axes logarithmic, so that a power law is a straight line."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    log_ticks(ax.xaxis)
    log_ticks(ax.yaxis)
