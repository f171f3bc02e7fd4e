"""The result of a simulation: figures by cell, budget and strategy, as text, plots and HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import plots, report
from fewgold.common import text as wording
from fewgold.common.arrays import FloatArray
from fewgold.common.checks import as_names, check_choice
from fewgold.common.text import cell, counted, html_table
from fewgold.errors import UnknownNameError
from fewgold.report.sections import figures_of, save_result
from fewgold.simulation.cells import OWN, PARTS, Cell, figures

if TYPE_CHECKING:
    import pandas as pd


# Columns that identify a cell; the others are figures.
_FACTS = ("pool", "strategy", "budget", "n", "size", "draws", "truth")
_FIRST = (
    *("abs_error", "abs_error_sd", "bias", "rmse", "win", "coverage", "half_width", "slack"),
    *("reduction", "variance_ratio", "ess", "ess_ratio", "sd", "se", "se_ratio", "cost"),
)
# Samplers with uneven chances and their twins with equal ones; other names end in -uneven.
_TWINS = dict.fromkeys(("docs-uneven", "docs-uneven-rank", "docs-two-wave"), "docs-balanced")
BY_BOUND = tuple(f"{part}_" for part in PARTS)
# Number of strategies shown in a notebook.
_SHOWN_ROWS = 12
KINDS = ("error", "relative", "coverage", "ranking", "bounds", "widths")


@dataclass(frozen=True, eq=False)
class Simulation:
    """Cells of pools × strategies × budgets, and figures computed from them.

    ``errors(pool, strategy, budget)`` gives estimate − truth of every draw of a cell; ``told`` are
    optional parts of the signature.
    """

    cells: tuple[Cell, ...]
    draws: int
    seed: int
    baseline: str
    plain: bool
    confidence: float
    bounds: tuple[str, ...] = ()
    data: str = ""
    seconds: float = 0.0
    told: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Simulation({counted(len(self.pools), 'pool')} × "
            f"{len(self.strategies)} strategies × {counted(len(self.budgets), 'budget')}, "
            f"{self.draws} draws per cell)"
        )

    def _repr_html_(self) -> str:
        """The figures of the largest budget in a notebook, the best strategies first."""
        frame = self.by_budget()
        most = frame[frame["budget"] == frame["budget"].iloc[-1]].sort_values("abs_error")
        rows = [
            (r.strategy, f"{r.abs_error:.4f}", f"{r.bias:+.4f}".replace("-", "−"), f"{r.ess:.0f}",
             f"{100 * r.coverage:.1f}%", f"{r.half_width:.4f}")
            for r in most.head(_SHOWN_ROWS).itertuples()
        ]  # fmt: skip
        heads = ("strategy", "mean error", "bias", "worth", "coverage", "half-width")
        notes = [f"budget {self.budgets[-1]}; worth: plain ratings with the same error"]
        if len(most) > len(rows):
            notes.append(f"{len(most) - len(rows)} more strategies: to_frame() has all figures")
        return html_table(repr(self), rows, heads, notes)

    @property
    def pools(self) -> list[str]:
        """Names of the pools, in the order given."""
        return list(dict.fromkeys(c.pool for c in self.cells))

    @property
    def strategies(self) -> list[str]:
        """Names of the strategies, in the order given."""
        return list(dict.fromkeys(c.strategy for c in self.cells))

    @property
    def budgets(self) -> list[Any]:
        """Budgets, as they were given."""
        return list(dict.fromkeys(c.budget for c in self.cells))

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, Any], Cell]:
        return {(c.pool, c.strategy, c.budget): c for c in self.cells}

    def errors(self, pool: str, strategy: str, budget: Any) -> FloatArray:
        """Estimate minus truth in every draw; empty if the strategy failed."""
        known = {"pool": self.pools, "strategy": self.strategies, "budget": self.budgets}
        for (kind, names), asked in zip(known.items(), (pool, strategy, budget), strict=True):
            if asked not in names:
                raise UnknownNameError(kind, str(asked), map(str, names))
        return self._by_key[pool, strategy, budget].errors

    @cached_property
    def _frame(self) -> pd.DataFrame:
        import pandas as pd

        rows = []
        for c in self.cells:
            row: dict[str, Any] = {f: getattr(c, f) for f in _FACTS if f != "draws"}
            row["draws"] = c.errors.size
            if c.failure is None:
                base = self._by_key[c.pool, self.baseline, c.budget]
                row |= figures(c, base, self.plain)
            rows.append(row)
        frame = pd.DataFrame(rows)
        if len({type(b) for b in self.budgets}) > 1:  # keep counts as integers next to shares
            frame["budget"] = pd.Series([row["budget"] for row in rows], dtype=object)
        names = [*_FIRST, *(f"{part}_{bound}" for bound in self.bounds for part in PARTS)]
        return frame.reindex(columns=[*_FACTS, *names, *(f"{name}_mc" for name in names)])

    def to_frame(self) -> pd.DataFrame:
        """One row per pool, strategy and budget; ``*_mc`` are Monte Carlo standard errors.

        ``reduction`` is 1 minus the mean error over that of the baseline; ``win`` is 1 if the mean
        error is below the baseline's; ``ess`` is the number of ratings with which the baseline
        would have had the same mean squared error; ``slack`` is half-width minus error;
        ``se_ratio`` is the estimated standard error over the true standard deviation of estimates.
        """
        return self._frame.copy()

    def by_budget(self) -> pd.DataFrame:
        """Figures by strategy and budget, averaged over pools."""
        return self._averaged("strategy", "budget")

    def by_bound(self, strategy: str | None = None) -> pd.DataFrame:
        """Coverage, half-width and slack by strategy, budget and bound, averaged over pools.

        ``own`` is the interval of the estimator itself. Bounds that do not cover a strategy have no
        row.
        """
        import pandas as pd

        frame = self.by_budget()
        if strategy is not None:
            check_choice("strategy", strategy, tuple(self.strategies))
            frame = frame[frame["strategy"] == strategy]
        parts = []
        for bound in ("", *self.bounds):
            tail = f"_{bound}" if bound else ""
            columns = {f"{part}{tail}{mc}": f"{part}{mc}" for part in PARTS for mc in ("", "_mc")}
            part = frame[["strategy", "budget", "n", *columns]].rename(columns=columns)
            parts.append(part.assign(bound=bound or "own"))
        whole = pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)
        return whole[whole["coverage"].notna()]

    def by_pool(self) -> pd.DataFrame:
        """Figures by pool and strategy, averaged over budgets."""
        return self._averaged("pool", "strategy")

    def ranking(self) -> pd.DataFrame:
        """Figures by strategy over all pools and budgets, the largest reduction first.

        A strategy that failed in some cells is averaged over the others, and ranked after those
        that worked everywhere: ``cells`` counts those it worked in, ``compared`` those in which
        the baseline worked too.
        """
        frame = self._averaged("strategy")
        whole = frame["compared"] == len(self.pools) * len(self.budgets)
        order = np.lexsort((-frame["reduction"].fillna(-np.inf), ~whole))
        return frame.iloc[order].reset_index(drop=True)

    @cached_property
    def _averages(self) -> dict[tuple[str, ...], pd.DataFrame]:
        return {}  # the page uses it a dozen times

    def _averaged(self, *names: str) -> pd.DataFrame:
        """Means over cells. Their draws are independent, so squared Monte-Carlo errors add up."""
        if names in self._averages:
            return self._averages[names].copy()
        frame, keys = self._frame, list(names)
        worked = frame[frame["draws"] > 0]
        groups = worked.groupby(keys, sort=False)
        shown = [c for c in frame.columns if c not in _FACTS and not c.endswith("_mc")]
        table = groups[["n", *shown]].mean()
        size, known = groups.size(), worked[shown].notna()
        squares = (worked[[f"{c}_mc" for c in shown]] ** 2).set_axis(shown, axis=1)
        by = [worked[key] for key in keys]
        total = squares.where(known, 0.0).groupby(by, sort=False).sum(skipna=False)
        count = known.groupby(by, sort=False).sum()
        table = table.join((total.apply(np.sqrt) / count).add_suffix("_mc"))
        for name in shown:
            if name.startswith(BY_BOUND):  # missing in some cells: the rest are not comparable
                table.loc[count[name] < size, [name, f"{name}_mc"]] = np.nan
        table.insert(0, "cells", size)
        table.insert(1, "compared", count["reduction"])
        order = frame[keys].drop_duplicates()
        table = order.merge(table.reset_index(), on=keys, how="left")
        self._averages[names] = table.fillna({"cells": 0, "compared": 0})
        return self._averages[names].copy()

    def uneven(self) -> pd.DataFrame:
        """How much lower the error is with uneven chances than with equal ones, over all cells.

        One row per strategy with uneven chances whose twin with equal ones was also simulated;
        ``gain_mc`` is the Monte-Carlo standard error.
        """
        import pandas as pd

        rows = []
        for name in self.strategies:
            sampler, plus, estimator = name.partition("+")
            twin = f"{_TWINS.get(sampler, sampler.removesuffix('-uneven'))}{plus}{estimator}"
            if twin == name or twin not in self.strategies:
                continue
            found = []
            for one in (c for c in self.cells if c.strategy == name and c.failure is None):
                other = self._by_key[one.pool, twin, one.budget]
                if other.failure is None:
                    made = figures(one, other, plain=False)
                    found.append((made["reduction"], made["reduction_mc"]))
            gains = np.array([pair for pair in found if np.isfinite(pair[0])])
            if gains.size:
                error = float(np.sqrt((gains[:, 1] ** 2).sum())) / len(gains)
                rows.append((name, twin, float(gains[:, 0].mean()), error, len(gains)))
        return pd.DataFrame(rows, columns=["strategy", "equal", "gain", "gain_mc", "cells"])

    @property
    def failures(self) -> pd.DataFrame:
        """Cells in which a strategy or a bound failed, and why."""
        import pandas as pd

        rows = []
        for c in self.cells:
            found = [("", c.failure)] if c.failure else []
            found += [("own" if b == OWN else b, why) for b, why in c.refusals.items()]
            rows += [(c.pool, c.strategy, c.budget, bound, why) for bound, why in found]
        return pd.DataFrame(rows, columns=["pool", "strategy", "budget", "bound", "reason"])

    def summary(self, strategies: Iterable[str] | None = None) -> str:
        """The tables of the paper as text: error, its standard deviation, win %, and intervals."""
        table = self.ranking()
        if strategies is not None:
            wanted = as_names(strategies)
            for name in wanted:
                if name not in self.strategies:
                    raise UnknownNameError("strategy", name, self.strategies)
            table = table[table["strategy"].isin(wanted)]
        title = (
            f"{counted(len(self.pools), 'pool')} × {counted(len(self.budgets), 'budget')} "
            f"({span(self.budgets)}), {self.draws} draws per cell"
        )
        lines = [title, "", *_errors(table, self.baseline)]
        if self.bounds:
            lines += ["", *_intervals(table, self)]
        lines.append("")
        for note in (legend(self), *uneven_notes(self), *failure_notes(self, table)):
            lines += textwrap.wrap(note, 80, break_on_hyphens=False)
        return "\n".join([*lines, self.signature])

    @property
    def signature(self) -> str:
        """How to repeat the simulation, in one line."""
        from fewgold._version import __version__

        parts = {
            "pools": len(self.pools),
            "strategies": len(self.strategies),
            "budgets": "-".join(map(shown, self.budgets)),
            "draws": self.draws,
            "baseline": self.baseline,
            "level": f"{self.confidence:.10g}",
            "seed": self.seed,
            "data": self.data,
            "v": __version__,
            **self.told,
        }
        return "|".join(f"{k}:{v}" for k, v in parts.items())

    def plot(self, kind: str = "error", ax: Any = None, **options: Any) -> Any:
        """Draw a figure on axes, and return them; options as in `fewgold.plots`.

        ``error`` by budget, the same ``relative`` to the baseline, ``coverage`` of the intervals by
        budget, or the ``ranking`` of the strategies. ``bounds`` is the coverage and ``widths`` the
        half-width of every bound for one ``strategy``, the baseline's by default.
        """
        check_choice("kind", kind, KINDS)
        if kind in ("bounds", "widths"):
            frame = self.by_bound(options.pop("strategy", None) or self.baseline)
            if kind == "widths":
                return plots.width_curves(frame, ax, **options)
            frame = frame.assign(strategy=frame["bound"])
            names = list(frame["strategy"].unique())[: len(plots.PALETTE)]
            told = {"confidence": self.confidence, "highlight": names, **options}
            return plots.coverage_curves(frame, ax, **told)
        if kind == "ranking":
            return plots.ranking(self.ranking(), ax, **options)
        frame, cost = self._for_plots()
        if kind == "coverage":
            told = {"confidence": self.confidence, "baseline": self.baseline, **options}
            drawn = plots.coverage_curves(frame, ax, **told)
        elif kind == "error":
            drawn = plots.error_curves(frame, ax, **{"baseline": self.baseline, **options})
        else:
            label = f"error ÷ error of {self.baseline}"
            options = {"baseline": self.baseline, "note": "± 2 Monte-Carlo errors", **options}
            frame["relative"] = 1 - frame["reduction"]
            drawn = plots.curves(
                *(frame, "relative", ax), spread="reduction_mc", ylabel=label, **options
            )
        if cost:
            drawn.set_xlabel("budget in units of cost")
        return drawn

    def _for_plots(self) -> tuple[pd.DataFrame, bool]:
        """Figures by budget, leaving out means over only some of the pools."""
        frame = self.by_budget()
        parts = frame["cells"] < len(self.pools)
        frame.loc[parts, ["abs_error", "coverage", "half_width"]] = np.nan
        frame.loc[frame["compared"] < len(self.pools), "reduction"] = np.nan
        cost = all(isinstance(b, str) for b in self.budgets)
        if cost:  # "cost 200" is placed at 200
            frame["budget"] = [float(b.split()[1]) for b in frame["budget"]]
        elif any(isinstance(b, str) for b in self.budgets):
            frame["budget"] = frame.groupby("budget")["n"].transform("mean")
        return frame, cost

    def to_html(self, path: str | Path | None = None) -> str:
        """The whole result as one self-contained page; also written to ``path``, if given."""
        html = page(self)
        if path is not None:
            report.write(Path(path), html)
        return html

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables (CSV), plots (PNG) and the page into a folder; returns the paths."""
        frames = {
            "cells": self.to_frame(),
            "ranking": self.ranking(),
            "by_budget": self.by_budget(),
        }
        (Path(folder) / "failures.csv").unlink(missing_ok=True)  # left by an earlier run
        if len(self.failures):
            frames["failures"] = self.failures
        return save_result(folder, frames, {"report.html": page(self)}, _figures(self))


# The tables of the summary, within 80 columns if the names allow it -------------------------------


_WIDTHS = (9, 9, 7, 14, 7, 10)


def _errors(table: pd.DataFrame, baseline: str) -> list[str]:
    width = max([8, *map(len, table["strategy"])])
    digits = decimals(table["abs_error_mc"])
    head = f"{'strategy':{width}}{'error':>9}{'sdev':>9}{'win %':>7}{'reduction %':>14}"
    lines = [head + f"{'worth':>7}{'covers %':>10}"]
    for row in table.to_dict("records"):
        cells = ["  failed in every cell"]
        if row["cells"]:
            texts = ranked_cells(row, digits, baseline)
            cells = [f"{text:>{w}}" for text, w in zip(texts, _WIDTHS, strict=True)]
        lines.append(f"{row['strategy']:{width}}" + "".join(cells))
    return lines


def ranked_cells(row: Mapping[Any, Any], digits: int, baseline: str) -> list[str]:
    """Error, sdev, win, reduction, worth and coverage of a strategy, as text."""
    own = row["strategy"] == baseline
    return [
        cell(row["abs_error"], digits), cell(row["abs_error_sd"], digits),
        cell(100 * row["win"], 1),
        "–" if own else cell(100 * row["reduction"], 1, 100 * row["reduction_mc"]),
        cell(row["ess_ratio"], 2), cell(100 * row["coverage"], 1),
    ]  # fmt: skip


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


def legend(simulation: Simulation) -> str:
    """An explanation of the table columns."""
    said = (
        "error: mean of |estimate − truth|; sdev: its standard deviation; win: cells with a "
        f"lower error than {simulation.baseline}; reduction: of that error, ± Monte-Carlo "
        "standard error; worth: number of baseline ratings that one rating replaces; covers: "
        f"{simulation.confidence:.0%} intervals that contain the truth."
    )
    if simulation.bounds:
        said += (
            " cal: intervals that contain the truth; t: half of their width, after clipping to "
            "the limits; slack: t minus the error."
        )
    return said


def uneven_notes(simulation: Simulation) -> list[str]:
    """Whether uneven chances beat equal ones on these data, in sentences."""
    notes = []
    for row in simulation.uneven().to_dict("records"):
        gain, error = row["gain"], row["gain_mc"]
        way = "below" if gain >= 0 else "above"
        verdict = "more draws would show whether this is chance"
        if abs(gain) > 2 * error:
            verdict = "uneven chances pay off on these data"
            if gain < 0:
                verdict = "equal chances are the better choice on these data"
        notes.append(
            f"The error of {row['strategy']} is {100 * abs(gain):.1f} % ± {100 * error:.1f} "
            f"(Monte-Carlo error) {way} that of {row['equal']}: {verdict}."
        )
    return notes


def failure_notes(simulation: Simulation, table: pd.DataFrame) -> list[str]:
    """Which strategies and bounds failed in some cells, in sentences."""
    notes = []
    whole = len(simulation.pools) * len(simulation.budgets)
    for row in table.to_dict("records"):
        if 0 < row["cells"] < whole:
            worked = counted(int(row["cells"]), "cell")
            notes.append(f"{row['strategy']}: over the {worked} of {whole} in which it worked.")
        if row["compared"] < row["cells"] and row["strategy"] != simulation.baseline:
            both = counted(int(row["compared"]), "cell")
            notes.append(f"{row['strategy']}: compared with the baseline in {both} only.")
    failures = simulation.failures
    failed = failures[failures["bound"] == ""]
    for (strategy, reason), rows in failed.groupby(["strategy", "reason"], sort=False):
        notes.append(f"{strategy} failed in {counted(len(rows), 'cell')}: {reason}")
    for bound, rows in failures[failures["bound"] != ""].groupby("bound", sort=False):
        names = ", ".join(dict.fromkeys(rows["strategy"]))
        notes.append(f"The {bound} bound does not cover {names}; `failures` says why.")
    return notes


def decimals(errors: Iterable[float]) -> int:
    """The number of decimals justified by the smallest of some Monte Carlo errors."""
    known = [e for e in errors if np.isfinite(e) and e > 0]
    return wording.decimals(min(known, default=None), 2)


def span(budgets: Sequence[Any]) -> str:
    """The first and the last budget."""
    first, last = (shown(b) for b in (budgets[0], budgets[-1]))
    return first if len(budgets) == 1 else f"{first} to {last}"


def shown(budget: Any) -> str:
    """A budget as people write it."""
    if isinstance(budget, float) and budget <= 1:
        return f"{100 * budget:g}%"
    return str(budget) if isinstance(budget, str) else f"{budget:g}"


# The page ---

# Figures that tables show, in their order, and what they are called there.
_NAMES = {
    "abs_error": "error",
    "abs_error_sd": "sdev",
    "win": "win",
    "reduction": "reduction",
    "ess_ratio": "worth",
    "bias": "bias",
    "coverage": "covers",
    "half_width": "half-width",
    "slack": "slack",
}
_SHARES = ("win", "reduction", "coverage")


def _table(title: str, frame: pd.DataFrame, caption: str, without: tuple[str, ...] = ()) -> Any:
    """Figures with their Monte-Carlo errors, after the columns that identify cells."""
    figures = {name: shown for name, shown in _NAMES.items() if name not in without}
    facts = [c for c in ("strategy", "budget", "n", "cells") if c in frame and c not in without]
    return report.Table(
        title,
        frame[[*facts, *figures, *(f"{name}_mc" for name in figures)]],
        caption,
        formats=dict.fromkeys(_SHARES, "%") | {c: ".0f" for c in ("n", "cells") if c in facts},
        errors={name: f"{name}_mc" for name in figures},
        names=figures,
    )


#: Title, caption and text alternative of each plot, in the order of the page.
PLOTS = {
    "ranking": (
        "Ranking",
        "Reduction of the error compared with the baseline, over all pools and budgets; "
        "whiskers: ± 2 Monte-Carlo errors. On the right: the share of cells won.",
        "Strategies by the reduction of their error compared with the baseline.",
    ),
    "error": (
        "Error by budget",
        "Mean of |estimate − truth|, averaged over pools; bands: ± 2 Monte-Carlo errors.",
        "Mean absolute error of each strategy against the share of segments rated.",
    ),
    "relative": (
        "Error against the baseline",
        "The same, divided by the baseline's error with the same number of ratings.",
        "Error of each strategy divided by that of the baseline, against the share rated.",
    ),
    "coverage": (
        "Coverage",
        "Intervals that contain the truth; bands: ± 2 Monte-Carlo errors.",
        "Share of intervals that contain the truth, against the share of segments rated.",
    ),
    "bounds": (
        "Coverage of the bounds",
        "Intervals of the baseline that contain the truth, by bound; own: the estimator's.",
        "Share of each bound's intervals that contain the truth, against the share rated.",
    ),
    "widths": (
        "Width of the bounds",
        "Half of the width of these intervals, averaged over pools.",
        "Half-width of each bound's intervals, against the share of segments rated.",
    ),
}


def _figures(simulation: Simulation) -> dict[str, Any]:
    kinds = [k for k in PLOTS if simulation.bounds or k not in ("bounds", "widths")]
    return figures_of(simulation.plot, kinds)


def page(simulation: Simulation) -> str:
    """The whole result as one HTML page."""
    ranking = simulation.ranking()
    best, level = ranking.iloc[0], f"{simulation.confidence:.0%}"
    # The number of cells is informative only if a strategy failed in some.
    many = ("cells",) if ranking["cells"].nunique() == 1 else ()
    few = ("n", "bias", "slack", *many)
    lead = (
        f"{counted(len(simulation.pools), 'fully rated pool')}, "
        f"{len(simulation.strategies)} strategies, budgets {span(simulation.budgets)}, "
        f"{simulation.draws} repetitions of each study."
    )
    if best["reduction"] > 0 and best["strategy"] != simulation.baseline:
        gain = report.number(best["reduction"], best["reduction_mc"], percent=True)
        lead += (
            f" Closest to the truth: {best['strategy']}, whose error is {gain} below that of "
            f"{simulation.baseline} at the same budget."
        )
    lead = " ".join([lead, *uneven_notes(simulation)])
    drawn = []
    for kind, ax in _figures(simulation).items():
        title, caption, alt = PLOTS[kind]
        drawn.append(report.Figure(title, plots.to_svg(ax, alt=alt), caption))
    sections: list[Any] = [
        _table("Strategies", ranking, "Over all pools and budgets, ± Monte-Carlo error.", few),
        report.Text("How to read it", _LEGEND.format(simulation.baseline, level)),
        *drawn,
        _table("By budget", _with_budget(simulation.by_budget()), "Averaged over pools.", many),
    ]
    if len(simulation.pools) > 1:
        caption = "Error reduction, averaged over budgets."
        table = simulation.by_pool().pivot(index="strategy", columns="pool", values="reduction")
        table = table.reindex(index=ranking["strategy"], columns=simulation.pools)
        table.columns.name = None
        # A pool may be called "strategy", too.
        table = table.rename(columns={"strategy": "pool strategy"}).reset_index()
        formats = dict.fromkeys(table.columns[1:], _percent)
        sections.append(report.Table("By pool", table, caption, formats))
    if simulation.bounds:
        caption = (
            "Covers: share of the intervals that contain the truth. Slack: half-width minus the "
            "error. Bound own: the estimator's own interval."
        )
        names = {"coverage": "covers", "half_width": "half-width", "slack": "slack"}
        table = _with_budget(simulation.by_bound())[["strategy", "budget", "bound", *names]]
        digits: dict[str, Any] = {"coverage": _percent, "half_width": report.number}
        digits["slack"] = report.number
        sections.append(report.Table("Bounds", table, caption, digits, names=names))
    failures = simulation.failures
    if len(failures):
        caption = "The other strategies and bounds were not affected. Times: pools and budgets."
        same = [c for c in failures.columns if c not in ("pool", "budget")]
        times = failures.groupby(same, sort=False, dropna=False).size().rename("times")
        table = times.reset_index()[[*same[:-1], "times", same[-1]]]
        sections.append(report.Table("What failed, and why", table, caption))
    return report.page(
        "Which strategy would have worked best?", lead, sections, simulation.signature
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%".replace("-", "−")


_LEGEND = (
    "Error is the mean of |estimate − truth| and sdev its standard deviation; win is the share "
    "of cells (a pool at a budget) with a lower mean error than {0}; reduction is how much "
    "lower the error is; worth is how many ratings of {0} one rating replaces; covers is the "
    "share of {1} intervals that contain the truth, half-width half of their width, and slack "
    "the half-width minus the error. After ± is the standard error that comes from a limited "
    "number of repetitions: more draws make it smaller."
)


def _with_budget(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(budget=[shown(b) for b in frame["budget"]])
