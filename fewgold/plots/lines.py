"""Figures by budget: error, coverage, width and planned precision, one line per strategy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names, check_choice, check_confidence
from fewgold.common.text import shorter
from fewgold.errors import DataError, FewgoldError
from fewgold.plots import style

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_TICK_GAP = 0.09  # between two ticks, as a share of the axis
_HIGHLIGHTS = 4  # number of coloured lines if the caller does not name any


@style.styled
def curves(
    frame: pd.DataFrame,
    value: str,
    ax: Axes | None = None,
    *,
    by: str = "strategy",
    spread: str | None = None,
    times: float = 2.0,
    within: tuple[float, float] = (-np.inf, np.inf),
    baseline: str | None = None,
    highlight: Sequence[str] | None = None,
    reference: tuple[float, str] | None = None,
    ylabel: str = "",
    note: str = "",
    title: str | None = None,
    percent: bool = False,
    log: bool = False,
) -> Axes:
    """Draw a column against the budget, one line per name in the column ``by``.

    Parameters
    ----------
    frame : DataFrame
        One row per line and budget. Missing or infinite values leave a gap.
    value : str
        The column to draw.
    spread : str, optional
        A column of standard errors or deviations: bands are ± ``times`` this, clipped to
        ``within``.
    baseline : str, optional
        The line drawn in black dashes.
    highlight : sequence of str, optional
        The lines in colour, with their names at their ends; the others are grey. By default, all
        lines if there are few, else the four lowest on average.
    reference : (float, str), optional
        A horizontal line and its name.
    note : str
        The legend entry for the bands.
    percent, log : bool
        The y axis in per cent, or logarithmic.
    """
    from matplotlib.lines import Line2D

    table = _wide(frame, value, by)
    names = [str(name) for name in table.columns]
    table.columns = names
    bands = None if spread is None else _wide(frame, spread, by).set_axis(names, axis=1) * times
    style.check_names(by, [baseline] if baseline is not None else [], names)
    if highlight is None:
        highlight = _lowest(table, baseline)
    highlight = as_names(highlight)
    style.check_names(by, highlight, names)
    bright = [name for name in dict.fromkeys(highlight) if name != baseline]
    x, xlabel, shares = _budget_axis(frame, table.index.tolist())
    order = np.argsort(x, kind="stable")
    x, table = x[order], table.iloc[order]
    bands = None if bands is None else bands.iloc[order]

    ax = style.axes_for(ax, height=4.3)
    labels = style.Labels(ax)
    if reference is not None:
        ax.axhline(reference[0], color=style.SOFT, linewidth=1, zorder=1.8, label="_reference")
        labels.add(reference[1], x[-1], reference[0], style.SOFT)
    dot = "o" if x.size == 1 else ""
    rest = [name for name in names if name != baseline and name not in bright]
    for i, name in enumerate(rest):
        line = ax.plot(x, table[name], color=style.GREY, linewidth=0.9, marker=dot, zorder=1.9)[0]
        line.set(label=name, gid=f"other-{i}", markersize=2)
    drawn = [*bright, baseline] if baseline is not None else bright
    for i, name in enumerate(drawn):
        y = table[name].to_numpy(dtype=float)
        # Whiskers at a single budget stand side by side, around its tick.
        at = x * (1 + 0.1 * (i - (len(drawn) - 1) / 2)) if x.size == 1 else x
        if name == baseline:
            colour, dash, marker, over = style.INK, "--", dot, 2.5
        else:
            (colour, dash, marker), over = style.line_style(i), 3 + (len(bright) - i) / len(bright)
        if bands is not None:
            half = bands[name].to_numpy(dtype=float)
            ends = np.clip(y - half, *within), np.clip(y + half, *within)
            faint = min(0.15, 0.4 / (len(bright) + 1))  # so that many bands do not cover everything
            if x.size == 1:  # a band over a single budget has no width
                ax.vlines(at, *ends, color=colour, linewidth=1.2, zorder=2.1)
            else:
                ax.fill_between(
                    x, *ends, facecolor=(colour, faint), edgecolor=(colour, 0.35), linewidth=0.5,
                    zorder=1.85,
                )  # fmt: skip
        line = ax.plot(at, y, color=colour, linewidth=1.6, linestyle=dash, zorder=over)[0]
        line.set(label=name, gid=f"line-{i}", marker=marker, markersize=4)
        seen = np.flatnonzero(np.isfinite(y))
        if seen.size:
            labels.add(name, at[seen[-1]], y[seen[-1]], colour)
    entries: dict[str, Any] = {}  # the other lines are named at their ends
    if rest:
        said = "1 other" if len(rest) == 1 else f"{len(rest)} others"
        entries[said] = Line2D([], [], color=style.GREY, linewidth=0.9)
    if note and bands is not None:
        entries[note] = style.band_patch()
    # Above the axes, where it covers neither lines nor bands.
    style.legend(
        ax, entries, "lower right", bbox_to_anchor=(1, 1), ncols=2, handlelength=1.6,
        borderaxespad=0.2,
    )  # fmt: skip
    if x.size == 1:
        ax.set_xticks(x)
        ax.margins(x=0.4)
    elif np.diff(x).min() >= _TICK_GAP * np.ptp(x):  # the budgets themselves, if there is room
        ax.set_xticks(x)
    elif not shares:
        style.whole_ticks(ax.xaxis)
    if shares:
        style.percent_axis(ax.xaxis)
    if log:
        ax.set_yscale("log", nonpositive="clip")
        style.log_ticks(ax.yaxis)
    if percent:
        style.percent_axis(ax.yaxis)
    style.name_axes(ax, xlabel, ylabel or value, title)
    return ax


def _wide(frame: pd.DataFrame, value: str, by: str) -> pd.DataFrame:
    """One column per line, one row per budget; infinite values become gaps."""
    style.check_columns(frame, (by, "budget", value))
    twice = frame.duplicated([by, "budget"])
    if twice.any():
        name, budget = frame.loc[twice, [by, "budget"]].iloc[0]
        raise DataError(
            f"{by} {name!r} has several rows for the budget {budget}; expected one. "
            "Average over pools first."
        )
    table = frame.pivot(index="budget", columns=by, values=value).astype(float)
    return table.where(np.isfinite(table))[list(dict.fromkeys(frame[by]))]


def _budget_axis(frame: pd.DataFrame, budgets: list[float]) -> tuple[FloatArray, str, bool]:
    """The position of each budget on the x axis, the axis label, and whether it is in per cent.

    If shares and counts are mixed, the number of ratings is used.
    """
    values = np.asarray(budgets, dtype=float)
    shares = values < 1 if np.any(values > 1) else values <= 1  # 1 among counts means one rating
    if shares.all():
        return values, "share of the pool rated", True
    if not shares.any():
        return values, "ratings", False
    style.check_columns(frame, ["n"])
    counts = frame.groupby("budget")["n"].mean().reindex(budgets)
    return counts.to_numpy(dtype=float), "ratings", False


def _lowest(table: pd.DataFrame, baseline: str | None) -> list[str]:
    """The lines that are lowest on average over budgets, best first.

    All lines if the palette has a colour for each.
    """
    scale = table[baseline] if baseline is not None else table.median(axis=1)
    mean = table.div(scale.where(scale != 0), axis=0).mean().sort_values(kind="stable")
    names = [str(name) for name in mean.index if name != baseline]
    return names if len(names) <= len(style.PALETTE) else names[:_HIGHLIGHTS]


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
    """Mean absolute error by budget.

    Parameters
    ----------
    frame : DataFrame
        One row per strategy and budget: strategy, budget, abs_error, and the columns for the band.
    ax : Axes, optional
        Where to draw; without it, on a new figure.
    baseline : str, optional
        The strategy drawn in black dashes.
    highlight : sequence of str, optional
        The strategies in colour; by default the four with the least error (all, if there are few).
    band : {"mc", "sd", None}
        Two Monte-Carlo errors of the mean (abs_error_mc), or one standard deviation of the absolute
        error over the draws (abs_error_sd), on either side.
    relative : bool
        Divide by the error of the baseline at the same budget.
    """
    if band is not None:
        check_choice("band", band, ("mc", "sd"))
    spread = None if band is None else f"abs_error_{band}"
    style.check_columns(frame, ["strategy", "budget", "abs_error", *([spread] if spread else [])])
    ylabel = "mean absolute error"
    if relative:
        frame = _relative(frame, baseline, spread)
        ylabel = f"error ÷ error of {shorter(str(baseline), 28)}"
    return curves(
        frame, "abs_error", ax, spread=spread, times=2.0 if band == "mc" else 1.0,
        within=(0, np.inf), baseline=baseline, highlight=highlight, ylabel=ylabel,
        note=_MC if band == "mc" else "± one standard deviation", title=title, log=log,
    )  # fmt: skip


def _relative(frame: pd.DataFrame, baseline: str | None, spread: str | None) -> pd.DataFrame:
    """Errors as multiples of the baseline's."""
    if baseline is None:
        raise FewgoldError("relative=True needs the baseline that errors are divided by.")
    style.check_names("strategy", [baseline], list(frame["strategy"]))
    own = frame[frame["strategy"] == baseline].set_index("budget")["abs_error"]
    scale = frame["budget"].map(own.where(own > 0)).to_numpy(dtype=float)
    columns = {"abs_error": frame["abs_error"] / scale}
    if spread == "abs_error_mc" and "reduction_mc" in frame:
        columns[spread] = frame[
            "reduction_mc"
        ]  # that of the ratio, which accounts for common draws
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
    """How often intervals contain the true score, by budget, compared with their confidence.

    ``frame`` has strategy, budget, coverage and, for the band, coverage_mc. Without ``highlight``
    the strategies with the least error are in colour, if there is a column abs_error.
    """
    check_confidence(confidence)
    if band is not None:
        check_choice("band", band, ("mc",))
    if highlight is None and "abs_error" in frame and not frame.empty:
        highlight = _lowest(_wide(frame, "abs_error", "strategy"), baseline)
    promise = (confidence, f"nominal {100 * confidence:g}%")
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
    """Half-width of the intervals by budget, one line per strategy and bound.

    ``frame`` has strategy, budget, bound and half_width; infinite widths leave a gap. ``highlight``
    names strategies; by default the narrowest line of each bound is in colour (all, if few).
    """
    style.check_columns(frame, ("strategy", "budget", "bound", "half_width"))
    several = frame["strategy"].nunique() > 1
    bound = frame["bound"].astype(str)
    frame = frame.assign(line=frame["strategy"].astype(str) + ", " + bound if several else bound)
    lines = frame.drop_duplicates("line")
    if highlight is not None:
        highlight = as_names(highlight)
        style.check_names("strategy", highlight, list(lines["strategy"]))
        chosen = list(lines.loc[lines["strategy"].isin(list(highlight)), "line"])
    elif len(lines) <= len(style.PALETTE):
        chosen = list(lines["line"])
    else:
        chosen = [
            _lowest(_wide(part, "half_width", "line"), None)[0]
            for _, part in frame.groupby("bound", sort=False)
        ]
    return curves(
        frame, "half_width", ax, by="line", highlight=chosen, log=log, title=title,
        ylabel="half-width of the interval",
    )  # fmt: skip


@style.styled
def budget_curves(
    frame: pd.DataFrame,
    marks: Mapping[str, tuple[int, float]],
    goal: float | None,
    label: str = "half-width",
    ax: Axes | None = None,
) -> Axes:
    """Draw the precision that ratings reach, with planned numbers marked.

    Parameters
    ----------
    frame : DataFrame
        Columns ``strategy``, ``n`` and ``reached``.
    marks : mapping
        For each strategy the planned number of ratings and what it reaches.
    goal : float, optional
        The goal, drawn as a horizontal line.
    label : str
        The label of the y axis.
    """
    columns = 1 if len(marks) == 1 else 2
    axes = style.axes_for(ax, 3.3 + 0.19 * -(-len(marks) // columns))
    for k, (name, part) in enumerate(frame.groupby("strategy", sort=False)):
        color, dash, marker = style.line_style(k)
        axes.plot(part["n"], part["reached"], color=color, linestyle=dash, zorder=2)
        n, reached = marks[str(name)]
        label_of = f"{style.plain(str(name), 40)}: {n:,}"
        axes.plot(
            [n], [reached], color=color, linestyle=dash, marker=marker, zorder=3, label=label_of
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.set_xlim(left=0)
    style.whole_ticks(axes.xaxis)
    if goal is not None:
        axes.axhline(goal, color=style.SOFT, linewidth=1, linestyle=style.DOTTED, zorder=1)
        right = axes.get_xlim()[1]
        style.Labels(axes).add(f"goal {goal:g}", right, goal, style.SOFT)
    # Below the axes, where it covers no line: there are as many as strategies.
    axes.legend(
        frameon=False, fontsize=style.SMALL, labelcolor=style.SOFT, ncols=columns,
        title="ratings needed" if goal else "human ratings", title_fontsize=style.SMALL,
        loc="upper center", bbox_to_anchor=(0.5, 0), borderaxespad=4.4, handlelength=2.8,
    )  # fmt: skip
    style.name_axes(axes, "ratings" if goal else "human ratings", label, None)
    return axes
