"""Replay annotation on rated data: the numbers of ``fewgold simulate``, as a job."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from fewgold.errors import DataError, FewgoldError
from fewgold.web.files import Grid
from fewgold.web.forms import Fields, Options, budgets, checked, listed, table_command
from fewgold.web.replay_data import Columns, chosen, guess
from fewgold.web.replay_pages import need

if TYPE_CHECKING:
    from fewgold.simulation import Simulation
    from fewgold.simulation.studies import Study
    from fewgold.web.jobs import Progress, Work
    from fewgold.web.replay_data import Data

_MOST_CELLS = 5_000
_MOST_STRATEGIES = 60


class SimulatePage:
    """Replay annotation and see which strategy comes closest to the truth."""

    name = "simulate"
    FIGURES: ClassVar = {
        "ranking": ("Ranking", "How much lower the error is than the baseline's, and cells won."),
        "error": ("Error by budget", "Mean of |estimate − truth|, averaged over pools."),
        "relative": ("Error against the baseline", "The same over the baseline's error."),
        "coverage": ("Coverage", "Share of the intervals that hold the truth."),
        "bounds": ("Coverage of the bounds", "Of the baseline's estimates, by bound."),
        "widths": ("Width of the bounds", "Half of the width of these intervals."),
    }
    BASELINE = "random+mean"
    BUDGETS, DRAWS, MOST_DRAWS = "5%,10%,20%", "50", 500
    #: Each idea by itself, then both together: what is ticked at first.
    FIRST = (BASELINE, "docs-sys+mean", "random+cv-multi", "docs-sys+ridge", "docs-balanced+ridge")

    def form(self, fields: Fields, data: Data, columns: Columns) -> dict[str, Any]:
        from fewgold.registry import bound_names

        names = _usual_strategies(data, columns)
        ticked = _ticked(fields) if fields.sent else [n for n in self.FIRST if n in names]
        return {
            "by": columns.by,
            "typed": ", ".join(name for name in ticked if name not in names),
            "strategies": checked(names, ticked),
            "bounds": checked(bound_names(), fields.many("bound")),
            "metrics": checked(data.columns, columns.metrics),
        }

    def prepare(self, fields: Fields, data: Data) -> tuple[Work, tuple[str, ...]]:
        from fewgold import registry
        from fewgold.simulation.run import check_strategy

        names = _ticked(fields)
        if not names:
            raise FewgoldError("no strategy is ticked. Tick at least one.")
        if len(names) > _MOST_STRATEGIES:
            raise FewgoldError(f"that is too many strategies: {_MOST_STRATEGIES} at most.")
        asked: dict[str, Any] = {
            "strategies": names,
            "bounds": [registry.bound(name) for name in fields.many("bound")],
            "budgets": budgets(fields.text("budgets", self.BUDGETS)),
            "draws": fields.whole("draws", "the number of draws", self.DRAWS, 2, self.MOST_DRAWS),
            "rng": fields.whole("seed", "the seed", "0", 0, 2**53),
            "baseline": fields.text("baseline") or self.BASELINE,
            "confidence": fields.share("confidence", "the confidence", "0.95"),
            "limits": fields.limits(),
        }
        passing = fields.cut()
        studies, notes = _studies(fields, data)
        if passing is not None:
            studies = {
                k: s._replace(gold=passing(s.gold).astype(float)) for k, s in studies.items()
            }
            asked["limits"] = (0.0, 1.0)
        for name in (*names, asked["baseline"]):
            check_strategy(name, studies)
        cells = len(studies) * (len(names) + 1) * len(asked["budgets"])
        if cells > _MOST_CELLS:
            raise FewgoldError(
                f"{len(studies)} pools, {len(names)} strategies and {len(asked['budgets'])} "
                f"budgets make {cells} cells; {_MOST_CELLS} at most. Take fewer, or the command "
                "line."
            )

        def work(progress: Progress) -> Simulation:
            from fewgold.simulation import simulate

            return simulate(studies, **asked, progress=progress)

        return work, tuple(notes)

    def command(self, fields: Fields, data: Data) -> str | None:
        options: Options = []
        columns = chosen(fields, data)
        names, metrics = listed(_ticked(fields)), listed(columns.metrics)
        by = listed([] if columns.by is None else [columns.by])
        if names is None or metrics is None or by is None:
            return None
        if data.demo is None:
            if columns.document is None and guess(data).document is not None:
                return None  # the command takes documents where there are any
            options += [("--human", columns.human[-1] if columns.human else "")]
            options += [("--by", by)] if by else []
            options += [("--id", columns.id or "")]
            options += [("--document", columns.document)] if columns.document else []
            options += [("--metrics", metrics or "none"), *fields.options(("rated_only",))]
        options += [("--strategies", names), ("--budgets", fields.text("budgets", self.BUDGETS))]
        options += [("--draws", fields.text("draws", self.DRAWS))]
        options += [("--seed", fields.text("seed", "0"))]
        options += fields.options(
            baseline=self.BASELINE, confidence="0.95", limits="", adequate=""
        )  # fmt: skip
        bounds = listed(fields.many("bound"))
        options += [("--bounds", bounds)] if bounds else []
        return table_command("simulate", data, options)

    def plot(self, result: Simulation, kind: str) -> Any:
        return result.plot(kind)

    def frame(self, result: Simulation, table: str) -> Any:
        if table == "failures":
            return result.failures
        return result.to_frame() if table == "cells" else getattr(result, table)()

    def show(self, result: Simulation) -> dict[str, Any]:
        from fewgold.simulation.result import failure_notes, legend

        title, *_ = result.summary().split("\n")
        figures = [k for k in self.FIGURES if result.bounds or k not in ("bounds", "widths")]
        failed = ["failures"] if len(result.failures) else []
        return {
            "lead": title,
            "grids": [_ranking(result), _by_budget(result)],
            "legend": legend(result),
            "notes": failure_notes(result, result.ranking()),
            "signature": result.signature,
            "figures": {k: self.FIGURES[k] for k in figures},
            "tables": ["ranking", "by_budget", "cells", *failed],
        }


def _usual_strategies(data: Data, columns: Columns) -> list[str]:
    """What can be ticked: the usual strategies for such a pool."""
    import numpy as np

    from fewgold.datasets import demo_systems, load_demo
    from fewgold.pool import Pool
    from fewgold.registry import strategy_names

    if data.demo is not None:
        return strategy_names(load_demo(data.demo, system=demo_systems(data.demo)[0])[0])
    ids = np.array(["a", "b"])
    metrics = {m: np.array([0.0, 1.0]) for m in columns.metrics}
    return strategy_names(Pool(ids, metrics, None if columns.document is None else ids))


def _ticked(fields: Fields) -> list[str]:
    """The strategies of the form: those ticked, and those typed."""
    typed = [part.strip() for part in fields.text("more").split(",") if part.strip()]
    return list(dict.fromkeys([*fields.many("strategy"), *typed]))


def _studies(fields: Fields, data: Data) -> tuple[dict[str, Study], list[str]]:
    from fewgold.datasets import demo_systems, load_demo
    from fewgold.io.columns import roles
    from fewgold.simulation import studies_from_table
    from fewgold.simulation.studies import Study

    if data.demo is not None:
        return {s: Study(*load_demo(data.demo, system=s)) for s in demo_systems(data.demo)}, []
    columns = chosen(fields, data)
    need(columns.human, "the human scores")
    need(columns.id, "the segments")
    human = columns.human[-1]
    if human in columns.metrics:
        raise DataError(f"{human!r} holds the human scores, so it cannot be a metric as well.")
    parts = [] if columns.by is None else [columns.by]
    found = roles(
        data.frame, id=columns.id, document=columns.document, metrics=list(columns.metrics),
        texts=[], human=[human], other=[c for c in parts if c != columns.id],
    ).columns  # fmt: skip
    assert columns.id is not None
    return studies_from_table(
        data.frame, human=human, by=parts, rated_only=bool(fields.text("rated_only")),
        id=columns.id, document=columns.document, metrics=list(columns.metrics),
        cost=found["cost"], orientation={},
    )  # fmt: skip


def _ranking(result: Simulation) -> Grid:
    from fewgold.simulation.result import decimals, ranked_cells

    table = result.ranking()
    digits = decimals(table["abs_error_mc"])
    rows = []
    for row in table.to_dict("records"):
        cells = ranked_cells(row, digits, result.baseline)
        rows.append([row["strategy"], *(cells if row["cells"] else ["failed"] * len(cells))])
    heads = ["strategy", "error", "sdev", "win %", "reduction %", "worth", "covers %"]
    return Grid("ranking", "Strategies over all pools and budgets, the best first.", heads, rows)


def _by_budget(result: Simulation) -> Grid:
    from fewgold.report import number
    from fewgold.simulation.result import shown

    rows = [
        [
            row["strategy"], shown(row["budget"]), f"{row['n']:.0f}",
            number(row["abs_error"], row["abs_error_mc"]), number(row["ess"], row["ess_mc"]),
            number(row["win"], percent=True),
            number(row["coverage"], row["coverage_mc"], percent=True),
            number(row["half_width"], row["half_width_mc"]),
        ]
        for row in result.by_budget().to_dict("records")
        if row["cells"]
    ]  # fmt: skip
    heads = ["strategy", "budget", "ratings", "error", "ESS", "win", "covers", "half-width"]
    caption = (
        "By budget, averaged over pools, ± Monte-Carlo error. ESS: ratings with which "
        f"{result.baseline} would have had the same mean squared error."
    )
    return Grid("by-budget", caption, heads, rows)
