"""What came of a simulation: figures by cell, by budget and by strategy; text, plots, HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._validate import check_choice
from fewgold.errors import UnknownNameError
from fewgold.simulation import _summary
from fewgold.simulation._cell import OWN, Cell
from fewgold.simulation._figures import PARTS, figures

if TYPE_CHECKING:
    import pandas as pd

# Columns that tell what a cell is; the others are figures.
_FACTS = ("pool", "strategy", "budget", "n", "size", "draws", "truth")
_FIRST = (
    *("abs_error", "abs_error_sd", "bias", "rmse", "win", "coverage", "half_width", "slack"),
    *("reduction", "variance_ratio", "ess", "ess_ratio", "sd", "se", "se_ratio", "cost"),
)
BY_BOUND = tuple(f"{part}_" for part in PARTS)
KINDS = ("error", "relative", "coverage", "ranking", "bounds", "widths")


@dataclass(frozen=True, eq=False)
class Simulation:
    """Cells of pools × strategies × budgets, and the figures that follow from them.

    ``errors(pool, strategy, budget)`` gives estimate − truth of every draw of a cell; ``told`` are
    parts of the signature that not every simulation has.
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
            f"Simulation({_summary.count(len(self.pools), 'pool')} × "
            f"{len(self.strategies)} strategies × {_summary.count(len(self.budgets), 'budget')}, "
            f"{self.draws} draws a cell)"
        )

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
        """Estimate less truth in every draw; empty where the strategy failed."""
        known = {"pool": self.pools, "strategy": self.strategies, "budget": self.budgets}
        for (kind, names), asked in zip(known.items(), (pool, strategy, budget), strict=True):
            if asked not in names:
                raise UnknownNameError(kind, str(asked), map(str, names))
        return self._by_key[pool, strategy, budget].errors

    @cached_property
    def _frame(self) -> pd.DataFrame:
        import pandas as pd

        rows = []
        for cell in self.cells:
            facts = {f: getattr(cell, f) for f in _FACTS if f != "draws"}
            row: dict[str, Any] = facts | {"draws": cell.errors.size}
            if cell.failure is None:
                base = self._by_key[cell.pool, self.baseline, cell.budget]
                row |= figures(cell, base, self.plain)
            rows.append(row)
        frame = pd.DataFrame(rows)
        kinds = {type(b) for b in self.budgets}
        if len(kinds) > 1:  # counts stay counts beside shares
            frame["budget"] = pd.Series([row["budget"] for row in rows], dtype=object)
        extra = [f"{p}_{b}" for b in self.bounds for p in ("coverage", "half_width", "slack")]
        names = [*_FIRST, *extra]
        return frame.reindex(columns=[*_FACTS, *names, *(f"{name}_mc" for name in names)])

    def to_frame(self) -> pd.DataFrame:
        """One row for each pool, strategy and budget; ``*_mc`` are Monte-Carlo standard errors.

        ``reduction`` is 1 less the mean error over that of the baseline; ``win`` is 1 where the
        mean error is below the baseline's; ``ess`` is the number of ratings with which the baseline
        would have had the same mean squared error; ``slack`` is half-width less error; ``se_ratio``
        is the standard error that estimates claim over the spread that they have.
        """
        return self._frame.copy()

    def by_budget(self) -> pd.DataFrame:
        """Figures by strategy and budget, averaged over pools."""
        return self._averaged(["strategy", "budget"])

    def by_bound(self, strategy: str | None = None) -> pd.DataFrame:
        """Coverage, half-width and slack by strategy, budget and bound, averaged over pools.

        ``own`` is the interval of the estimator itself. Bounds that refused a strategy have no row.
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
        return self._averaged(["pool", "strategy"])

    def ranking(self) -> pd.DataFrame:
        """Figures by strategy over all pools and budgets, the largest reduction first.

        A strategy that failed in some cells is averaged over the others, and ranked after those
        that worked everywhere: ``cells`` counts those it worked in, ``compared`` those in which
        the baseline worked too.
        """
        frame = self._averaged(["strategy"])
        whole = frame["compared"] == len(self.pools) * len(self.budgets)
        order = np.lexsort((-frame["reduction"].fillna(-np.inf), ~whole))
        return frame.iloc[order].reset_index(drop=True)

    @cached_property
    def _averages(self) -> dict[tuple[str, ...], pd.DataFrame]:
        return {}  # a page asks a dozen times

    def _averaged(self, keys: list[str]) -> pd.DataFrame:
        if tuple(keys) not in self._averages:
            self._averages[tuple(keys)] = self._means(keys)
        return self._averages[tuple(keys)].copy()

    def _means(self, keys: list[str]) -> pd.DataFrame:
        """Means over cells. Their draws are independent, so squared Monte-Carlo errors add up."""
        frame = self._frame
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
            if name.startswith(BY_BOUND):  # refused in some cells: the rest are another average
                table.loc[count[name] < size, [name, f"{name}_mc"]] = np.nan
        table.insert(0, "cells", size)
        table.insert(1, "compared", count["reduction"])
        order = frame[keys].drop_duplicates()
        table = order.merge(table.reset_index(), on=keys, how="left")
        return table.fillna({"cells": 0, "compared": 0})

    @property
    def failures(self) -> pd.DataFrame:
        """Cells in which a strategy or a bound failed, and why."""
        import pandas as pd

        rows = []
        for c in self.cells:
            why = {"": c.failure} if c.failure else {}
            refused = {("own" if b == OWN else b): r for b, r in c.refusals.items()}
            for bound, reason in (why | refused).items():
                rows.append((c.pool, c.strategy, c.budget, bound, reason))
        return pd.DataFrame(rows, columns=["pool", "strategy", "budget", "bound", "reason"])

    def summary(self, strategies: Iterable[str] | None = None) -> str:
        """The tables of the paper as text: error, its standard deviation, win %, and intervals."""
        return _summary.text(self, strategies)

    @property
    def signature(self) -> str:
        """All that is needed to make it again, in one line."""
        from fewgold._version import __version__

        parts = {
            "pools": len(self.pools),
            "strategies": len(self.strategies),
            "budgets": "-".join(map(_summary.shown, self.budgets)),
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
        """Draw a figure: axes in, axes out; options as in `fewgold.plots`.

        ``error`` against budget, the same ``relative`` to the baseline, ``coverage`` of the
        intervals against budget, or the ``ranking`` of the strategies. ``bounds`` is the coverage
        and ``widths`` the half-width of every bound for one ``strategy``, the baseline's if not
        told.
        """
        from fewgold import plots

        check_choice("kind", kind, KINDS)
        if kind in ("bounds", "widths"):
            return self._plot_bounds(kind, ax, **options)
        if kind == "ranking":
            return plots.ranking(self.ranking(), ax, **options)
        frame, cost = self._for_plots()
        if kind == "coverage":
            drawn = plots.coverage_curves(frame, ax, **{"confidence": self.confidence, **options})
        elif kind == "relative":
            label = f"error ÷ error of {self.baseline}"
            options = {"baseline": self.baseline, "note": "± 2 Monte-Carlo errors", **options}
            frame["relative"] = 1 - frame["reduction"]
            drawn = plots.curves(
                *(frame, "relative", ax), spread="reduction_mc", ylabel=label, **options
            )
        else:
            drawn = plots.error_curves(frame, ax, **{"baseline": self.baseline, **options})
        if cost:
            drawn.set_xlabel("budget in units of cost")
        return drawn

    def _plot_bounds(
        self, kind: str, ax: Any, *, strategy: str | None = None, **options: Any
    ) -> Any:
        from fewgold import plots

        frame = self.by_bound(strategy or self.baseline)
        if kind == "widths":
            return plots.width_curves(frame, ax, **options)
        frame = frame.assign(strategy=frame["bound"])
        names = list(frame["strategy"].unique())[: len(plots.PALETTE)]
        told = {"confidence": self.confidence, "highlight": names, **options}
        return plots.coverage_curves(frame, ax, **told)

    def _for_plots(self) -> tuple[pd.DataFrame, bool]:
        """Figures by budget, without means over some pools beside means over all of them."""
        frame = self.by_budget()
        parts = frame["cells"] < len(self.pools)
        frame.loc[parts, ["abs_error", "coverage", "half_width"]] = np.nan
        frame.loc[frame["compared"] < len(self.pools), "reduction"] = np.nan
        cost = all(isinstance(b, str) for b in self.budgets)
        if cost:  # "cost 200" stands at 200
            frame["budget"] = [float(b.split()[1]) for b in frame["budget"]]
        elif any(isinstance(b, str) for b in self.budgets):
            frame["budget"] = frame.groupby("budget")["n"].transform("mean")
        return frame, cost

    def to_html(self, path: str | Path | None = None) -> str:
        """The whole result as one self-contained page; also written to ``path``, if given."""
        from fewgold import report
        from fewgold.simulation._page import page

        html = page(self)
        if path is not None:
            report.write(Path(path), html)
        return html

    def save(self, folder: str | Path) -> list[Path]:
        """Write tables (CSV), plots (PNG) and the page into a folder; returns the paths."""
        from fewgold.simulation._page import save

        return save(self, Path(folder))
