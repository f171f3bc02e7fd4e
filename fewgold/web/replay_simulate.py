"""Replay annotation on rated data: the numbers of ``fewgold simulate``, as a job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fewgold.errors import DataError, FewgoldError
from fewgold.web import replay_form as form
from fewgold.web.replay_data import Columns, guess
from fewgold.web.replay_form import Fields
from fewgold.web.replay_results import Grid

if TYPE_CHECKING:
    from fewgold.simulation import Simulation, Study
    from fewgold.web.jobs import Progress
    from fewgold.web.replay_data import Data

FIGURES = {
    "ranking": ("Ranking", "How much lower the error is than the baseline's, and cells won."),
    "error": ("Error by budget", "Mean of |estimate − truth|, averaged over pools."),
    "relative": ("Error against the baseline", "The same over the baseline's error."),
    "coverage": ("Coverage", "Share of the intervals that hold the truth."),
    "bounds": ("Coverage of the bounds", "Of the baseline's estimates, by bound."),
    "widths": ("Width of the bounds", "Half of the width of these intervals."),
}  # fmt: skip
TABLES = ("ranking", "by_budget", "cells", "failures")
BASELINE = "random+mean"
#: Each idea by itself, then both together: what is ticked at first.
FIRST = (BASELINE, "docs-sys+mean", "random+cv-multi", "docs-sys+ridge", "docs-balanced+ridge")
BUDGETS, DRAWS, MOST_DRAWS = "5%,10%,20%", "50", 500
_MOST_CELLS = 5_000
_MOST_STRATEGIES = 60


@dataclass(frozen=True)
class Request:
    """A simulation that was asked for, with everything checked that can be before it runs."""

    studies: dict[str, Study]
    asked: dict[str, Any]
    notes: tuple[str, ...]

    def run(self, progress: Progress) -> Simulation:
        """Do it; the same seed gives the figures of the command line."""
        from fewgold.simulation import simulate

        return simulate(self.studies, **self.asked, progress=progress)


def chosen(fields: Fields, data: Data) -> tuple[Columns, str | None]:
    """The columns, and the one that parts the table into pools."""
    if not fields.sent:
        found = guess(data)
        repeats = found.id is not None and data.frame[found.id].duplicated().any()
        return found, found.system if repeats else None
    human = fields.column("human", "human scores", data)
    columns = Columns(
        () if human is None else (human,), None, fields.column("id", "segments", data),
        fields.column("document", "documents", data),
        tuple(fields.columns("metrics", "metrics", data)),
    )  # fmt: skip
    return columns, fields.column("by", "pools", data)


def strategies(data: Data, columns: Columns) -> list[str]:
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


def ticked(fields: Fields, listed: list[str]) -> list[str]:
    """The strategies of the form: those ticked, and those typed."""
    if not fields.sent:
        return [name for name in FIRST if name in listed]
    typed = [part.strip() for part in fields.text("more").split(",") if part.strip()]
    return list(dict.fromkeys([*fields.many("strategy"), *typed]))


def prepare(fields: Fields, data: Data) -> Request:
    """Everything that the form asks for, or a sentence on what is wrong with it."""
    from fewgold import registry
    from fewgold.simulation.run import check_strategy

    columns, by = chosen(fields, data)
    names = ticked(fields, [])
    if not names:
        raise FewgoldError("no strategy is ticked. Tick at least one.")
    if len(names) > _MOST_STRATEGIES:
        raise FewgoldError(f"that is too many strategies: {_MOST_STRATEGIES} at most.")
    bounds = fields.many("bound")
    for name in bounds:
        registry.bound(name)
    asked: dict[str, Any] = {
        "strategies": names,
        "budgets": form.budgets(fields.text("budgets", BUDGETS)),
        "draws": form.whole(fields.text("draws", DRAWS), "the number of draws", 2, MOST_DRAWS),
        "rng": form.whole(fields.text("seed", "0"), "the seed", 0, 2**53),
        "baseline": fields.text("baseline") or BASELINE,
        "confidence": form.share(fields.text("confidence", "0.95"), "the confidence", "0.95"),
        "bounds": [registry.bound(name) for name in bounds],
        "limits": form.limits(fields.text("limits")),
    }
    passing = form.cut(fields.text("adequate"))
    studies, notes = _studies(fields, data, columns, by)
    if passing is not None:
        studies = {k: s._replace(gold=passing(s.gold).astype(float)) for k, s in studies.items()}
        asked["limits"] = (0.0, 1.0)
    for name in (*names, asked["baseline"]):
        check_strategy(name, studies)
    cells = len(studies) * (len(names) + 1) * len(asked["budgets"])
    if cells > _MOST_CELLS:
        raise FewgoldError(
            f"{len(studies)} pools, {len(names)} strategies and {len(asked['budgets'])} budgets "
            f"make {cells} cells; {_MOST_CELLS} at most. Take fewer, or the command line."
        )
    return Request(studies, asked, tuple(notes))


def _studies(
    fields: Fields, data: Data, columns: Columns, by: str | None
) -> tuple[dict[str, Study], list[str]]:
    from fewgold.datasets import demo_systems, load_demo
    from fewgold.io.columns import roles
    from fewgold.simulation import Study, studies_from_table

    if data.demo is not None:
        return {s: Study(*load_demo(data.demo, system=s)) for s in demo_systems(data.demo)}, []
    if not columns.human or columns.id is None:
        what = "the segments" if columns.human else "the human scores"
        raise DataError(f"which column holds {what}? Choose it above.")
    human = columns.human[0]
    if human in columns.metrics:
        raise DataError(f"{human!r} holds the human scores, so it cannot be a metric as well.")
    parts = [] if by is None else [by]
    found = roles(
        data.frame, id=columns.id, document=columns.document, metrics=list(columns.metrics),
        texts=[], human=[human], other=[c for c in parts if c != columns.id],
    ).columns  # fmt: skip
    return studies_from_table(
        data.frame, human=human, by=parts, rated_only=bool(fields.text("rated_only")),
        id=columns.id, document=columns.document, metrics=list(columns.metrics),
        cost=found["cost"], orientation={},
    )  # fmt: skip


def command(fields: Fields, data: Data) -> str | None:
    """The command that gives the same numbers; None where it cannot be typed there."""
    options: list[tuple[str, str | None]] = []
    columns, by = chosen(fields, data)
    names, metrics = form.listed(ticked(fields, [])), form.listed(columns.metrics)
    apart = None if by is None else form.listed([by])
    if names is None or metrics is None or (by is not None and apart is None):
        return None
    if data.demo is None:
        if columns.document is None and guess(data).document is not None:
            return None  # the command takes documents where there are any
        options += [("--human", columns.human[0] if columns.human else "")]
        options += [("--by", apart)] if apart is not None else []
        options += [("--id", columns.id or "")]
        options += [("--document", columns.document)] if columns.document else []
        options += [("--metrics", metrics or "none")]
        options += [("--rated-only", None)] if fields.text("rated_only") else []
    options += [("--strategies", names), ("--budgets", fields.text("budgets", BUDGETS))]
    options += [("--draws", fields.text("draws", DRAWS)), ("--seed", fields.text("seed", "0"))]
    usual = {"baseline": BASELINE, "confidence": "0.95", "limits": "", "adequate": ""}
    for name, default in usual.items():
        value = fields.text(name, default)
        options += [(f"--{name}", value)] if value not in ("", default) else []
    bounds = form.listed(fields.many("bound"))
    options += [("--bounds", bounds)] if bounds else []
    return form.command("simulate", data, options)


def frame_of(result: Simulation, name: str) -> Any:
    """A table of the result, to download."""
    if name == "failures":
        return result.failures
    return result.to_frame() if name == "cells" else getattr(result, name)()


def show(result: Simulation) -> dict[str, Any]:
    """What the page shows: the same figures that ``fewgold simulate`` prints."""
    from fewgold.simulation.result import failure_notes, legend

    title, *_ = result.summary().split("\n")
    failures = result.failures
    figures = [k for k in FIGURES if result.bounds or k not in ("bounds", "widths")]
    return {
        "lead": title,
        "grids": [_ranking(result), _by_budget(result)],
        "legend": legend(result),
        "notes": failure_notes(result, result.ranking()),
        "signature": result.signature,
        "figures": {k: FIGURES[k] for k in figures},
        "tables": [t for t in TABLES if t != "failures" or len(failures)],
    }


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


def plot(result: Simulation, kind: str) -> Any:
    """A figure."""
    return result.plot(kind)
