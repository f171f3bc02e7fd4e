"""The figures that compare strategies: error, coverage and width against the budget."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fewgold._validate import as_names, check_choice, check_confidence
from fewgold.errors import FewgoldError
from fewgold.plots._curves import curves, lowest
from fewgold.plots._frames import check_columns, check_names, wide
from fewgold.plots._style import PALETTE, shorten

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MC = "± 2 Monte-Carlo errors"


def error_curves(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    baseline: str | None = None,
    highlight: Sequence[str] | None = None,
    band: str | None = "mc",
    relative: bool = False,
    log: bool = False,
    title: str | None = None,
) -> Axes:
    """Mean absolute error against the budget.

    Parameters
    ----------
    frame : DataFrame
        One row a strategy and budget: strategy, budget, abs_error, and what the band needs.
    ax : Axes, optional
        Where to draw; without it, on a new figure.
    baseline : str, optional
        The strategy in black dashes.
    highlight : sequence of str, optional
        The strategies in colour; without it, the four of least error (all, if there are few).
    band : {"mc", "sd", None}
        Two Monte-Carlo errors of the mean (abs_error_mc), or one standard deviation of the
        absolute error over the draws (abs_error_sd), to either side.
    relative : bool
        Divide by the error of the baseline at the same budget.
    """
    if band is not None:
        check_choice("band", band, ("mc", "sd"))
    spread = None if band is None else f"abs_error_{band}"
    check_columns(frame, ["strategy", "budget", "abs_error", *([spread] if spread else [])])
    ylabel = "mean absolute error"
    if relative:
        frame = _relative(frame, baseline, spread)
        ylabel = f"error ÷ error of {shorten(str(baseline), 28)}"
    return curves(
        frame, "abs_error", ax, spread=spread, times=2.0 if band == "mc" else 1.0,
        within=(0, np.inf), baseline=baseline, highlight=highlight, ylabel=ylabel,
        note=_MC if band == "mc" else "± one standard deviation", title=title, log=log,
    )  # fmt: skip


def _relative(frame: pd.DataFrame, baseline: str | None, spread: str | None) -> pd.DataFrame:
    """Errors as multiples of the baseline's."""
    if baseline is None:
        raise FewgoldError("relative=True needs the baseline that errors are divided by.")
    check_names("strategy", [baseline], list(frame["strategy"]))
    own = frame[frame["strategy"] == baseline].set_index("budget")["abs_error"]
    scale = frame["budget"].map(own.where(own > 0)).to_numpy(dtype=float)
    columns = {"abs_error": frame["abs_error"] / scale}
    if spread == "abs_error_mc" and "reduction_mc" in frame:
        columns[spread] = frame["reduction_mc"]  # that of the ratio: it knows of common draws
    elif spread is not None:
        columns[spread] = frame[spread] / scale
    return frame.assign(**columns)


def coverage_curves(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    baseline: str | None = None,
    highlight: Sequence[str] | None = None,
    band: str | None = "mc",
    title: str | None = None,
) -> Axes:
    """How often intervals hold the true score, against the budget, beside what they promise.

    ``frame`` has strategy, budget, coverage and, for the band, coverage_mc. Without ``highlight``
    the strategies of least error are in colour, if the frame has abs_error.
    """
    check_confidence(confidence)
    if band is not None:
        check_choice("band", band, ("mc",))
    if highlight is None and "abs_error" in frame and not frame.empty:
        highlight = lowest(wide(frame, "abs_error", "strategy"), baseline)
    promise = (confidence, f"promised {100 * confidence:g}%")
    return curves(
        frame, "coverage", ax, spread="coverage_mc" if band else None, within=(0, 1),
        baseline=baseline, highlight=highlight, reference=promise, ylabel="coverage", note=_MC,
        title=title, percent=True,
    )  # fmt: skip


def width_curves(
    frame: pd.DataFrame,
    ax: Axes | None = None,
    *,
    highlight: Sequence[str] | None = None,
    log: bool = False,
    title: str | None = None,
) -> Axes:
    """Half-width of the intervals against the budget, a line for each strategy and bound.

    ``frame`` has strategy, budget, bound and half_width; infinite widths leave a gap. ``highlight``
    names strategies; without it, the narrowest line of each bound is in colour (all, if few).
    """
    check_columns(frame, ("strategy", "budget", "bound", "half_width"))
    several = frame["strategy"].nunique() > 1
    bound = frame["bound"].astype(str)
    frame = frame.assign(line=frame["strategy"].astype(str) + ", " + bound if several else bound)
    lines = frame.drop_duplicates("line")
    if highlight is not None:
        highlight = as_names(highlight)
        check_names("strategy", highlight, list(lines["strategy"]))
        chosen = list(lines.loc[lines["strategy"].isin(list(highlight)), "line"])
    elif len(lines) <= len(PALETTE):
        chosen = list(lines["line"])
    else:
        chosen = [
            lowest(wide(part, "half_width", "line"), None)[0]
            for _, part in frame.groupby("bound", sort=False)
        ]
    return curves(
        frame, "half_width", ax, by="line", highlight=chosen, log=log, title=title,
        ylabel="half-width of the interval",
    )  # fmt: skip
