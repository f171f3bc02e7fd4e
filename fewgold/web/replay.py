"""Compare and simulate on existing ratings: the pages under /replay, for the owner.

Comparisons, ROC curves, simulations and reliability each have a `Page`, with the same numbers as
the command of that name.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.datastructures import UploadFile

from fewgold.comparison.result import findings
from fewgold.errors import DataError, FewgoldError
from fewgold.plots.style import available
from fewgold.web import replay_data
from fewgold.web.files import DRAWING, IMAGES, Recent, TextTable, download, drawn, frame_csv, known
from fewgold.web.forms import Fields, Options, SentFiles, budgets, checked, listed, table_command
from fewgold.web.jobs import Job, Jobs
from fewgold.web.replay_data import Columns, Data, Tables, chosen, guess
from fewgold.web.site import Site

if TYPE_CHECKING:
    from fewgold.bayes import RocTable
    from fewgold.comparison import Comparison
    from fewgold.reliability import Reliability
    from fewgold.simulation import Simulation
    from fewgold.simulation.studies import Study
    from fewgold.web.jobs import Progress, Work


class Page(Protocol):
    """A form, what it asks for, and how its result is shown."""

    name: str

    def form(self, fields: Fields, data: Data, columns: Columns) -> dict[str, Any]:
        """What the template of the form needs besides fields and columns."""

    def prepare(self, fields: Fields, data: Data) -> tuple[Work, tuple[str, ...]]:
        """What the form asks for, checked and ready to run, and notes about it."""

    def command(self, fields: Fields, data: Data) -> str | None:
        """The command for the same numbers; None if a name cannot be typed there."""

    def show(self, result: Any) -> dict[str, Any]:
        """What the page shows; ``figures`` and ``tables`` name the available ones."""

    def plot(self, result: Any, kind: str) -> Any:
        """A figure of the result."""
        return result.plot(kind)

    def frame(self, result: Any, table: str) -> Any:
        """A table of the result, to download."""
        return getattr(result, table)()


def need(value: Any, what: str) -> None:
    """Refuse a form without a needed column."""
    if not value:
        raise DataError(f"which column holds {what}? Choose it above.")


def minus(text: str) -> str:
    """The text with true minus signs, as the command line prints it."""
    return text.replace("-", "−")


class ComparePage(Page):
    """Compare systems: the numbers of ``fewgold compare``."""

    name = "compare"
    FIGURES: ClassVar = {
        "forest": (
            "Scores by system",
            "Each score by itself, with its interval. These intervals do not test differences.",
        ),
        "differences": (
            "Differences of all pairs",
            "Row minus column, with the significant ones marked.",
        ),
        "ranks": ("Ranks", "The ranks that each system may have, and how probable each is."),
    }
    TABLES = ("ranking", "scores", "differences", "rank_probabilities", "raters")

    def form(self, fields: Fields, data: Data, columns: Columns) -> dict[str, Any]:
        return {
            "humans": checked(data.columns, columns.human),
            "metrics": checked(data.columns, columns.metrics),
        }

    def prepare(self, fields: Fields, data: Data) -> tuple[Work, tuple[str, ...]]:
        from fewgold.comparison import compare

        columns = chosen(fields, data)
        need(columns.human, "the human scores")
        need(columns.system, "the systems")
        need(columns.id, "the segments")
        rater = fields.column("rater", "raters", data)
        # A column has one role; human scores must never be used as metrics.
        lone = [c for c in (columns.system, columns.id, columns.document, rater) if c is not None]
        taken = [*columns.human, *columns.metrics, *lone]
        if (twice := next((c for c in taken if taken.count(c) > 1), None)) is not None:
            raise DataError(
                f"the column {twice!r} is chosen twice. Choose it for one purpose only."
            )
        assert columns.system is not None and columns.id is not None
        way = fields.choice("direction", "direction", ("", "higher", "lower"), "")
        return lambda _: compare(
            data.frame,
            human=columns.human[0] if len(columns.human) == 1 else list(columns.human),
            system=columns.system, id=columns.id, document=columns.document,
            metrics=list(columns.metrics), rater=rater,
            target=fields.choice("target", "target", ("", "pool", "process"), "") or None,
            unit=fields.choice("unit", "unit", ("", "segment", "document"), "") or None,
            correction=fields.choice("correction", "correction", ("holm", "fdr", "none"), "holm"),
            level=fields.share("level", "the chance of error", "0.05"),
            higher_is_better=None if not way else way == "higher",
            limits=fields.limits(),
            control="never" if fields.text("no_control") else "auto",
            adjust_raters=bool(fields.text("adjust_raters")),
            orientation={},
        ), ()  # fmt: skip

    def command(self, fields: Fields, data: Data) -> str | None:
        columns = chosen(fields, data)
        human, metrics = listed(columns.human), listed(columns.metrics)
        if human is None or metrics is None:
            return None
        options: Options = [
            ("--human", human), ("--system", columns.system or ""), ("--id", columns.id or ""),
            ("--document", columns.document or "none"), ("--metrics", metrics or "none"),
        ]  # fmt: skip
        options += fields.options(
            rater="", target="", unit="", correction="holm", level="0.05", limits=""
        )
        way = fields.text("direction")
        options += [(f"--{way}-is-better", None)] if way else []
        options += fields.options(("no_control", "adjust_raters"))
        return table_command("compare", data, options)

    def frame(self, result: Comparison, table: str) -> Any:
        found = super().frame(result, table)
        return found.reset_index() if table == "rank_probabilities" else found

    def show(self, result: Comparison) -> dict[str, Any]:
        facts, raters = result.facts, [] if result.people is None else [_raters(result)]
        about = f"new {facts['unit']}s like these"
        if facts["target"] == "pool":
            about = f"all {facts['pool_size']} segments"
        return {
            "lead": f"{len(result.systems)} systems on {facts['n']} rated segments; the result is "
            f"about {about}.",
            "grids": [compared(result), _differences(result), *raters],
            "sentences": findings(result), "notes": result.remarks,
            "signature": result.signature(), "figures": self.FIGURES,
            "tables": [t for t in self.TABLES if t != "raters" or raters],
        }  # fmt: skip


def _number(value: float, digits: int, sign: str = "") -> str:
    return "–" if math.isnan(value) else minus(f"{value:{sign}.{digits}f}")


def _interval(low: float, high: float, digits: int) -> str:
    return minus(f"{low:.{digits}f} to {high:.{digits}f}") if math.isfinite(low) else "unknown"


def compared(result: Comparison) -> TextTable:
    """Ranks, groups and scores, best system first."""
    from fewgold.comparison.result import decimals

    scores, ranking = result.scores(), result.ranking()
    digits = decimals(float(scores["se"].min()))
    both: Any = zip(ranking.itertuples(), scores.itertuples(), strict=True)
    rows = [
        [
            "–".join(map(str, sorted({place.rank_low, place.rank_high}))),
            own.system, str(place.group), _number(own.score, digits),
            _interval(own.low, own.high, digits), f"{place.p_best:.3f}",
        ]
        for place, own in both
    ]  # fmt: skip
    caption = (
        "Ranking, best first. Systems of the same group cannot be told apart with these ratings, "
        "which does not mean that they are equal."
    )
    level = f"{100 * result.confidence:.10g}%"
    return TextTable(
        "ranking", caption, ["rank", "system", "group", "score", level, "P(best)"], rows, 2
    )


def _differences(result: Comparison) -> TextTable:
    """All pairs of systems, with significance."""
    from fewgold.comparison.result import decimals

    frame, level = result.differences(), f"{100 * result.confidence:.10g}%"
    digits = decimals(float(frame["se"].min()))
    every: Any = frame.itertuples()
    rows = [
        [
            f"{row.first} − {row.second}", _number(row.difference, digits, "+"),
            _interval(row.low, row.high, digits), f"{row.p_better:.3f}",
            "< 0.001" if row.p_adjusted < 0.001 else f"{row.p_adjusted:.3f}",
            "yes" if row.significant else "not shown",
        ]
        for row in every
    ]  # fmt: skip
    heads = ["difference", "first − second", level, "P(better)", "p, corrected", "significant"]
    caption = (
        "Differences between pairs, on the same segments if there are any. P(better): the "
        "probability that the first is truly better. If a difference is “not shown”, more "
        "ratings may show it."
    )
    return TextTable("differences", caption, heads, rows)


def _raters(result: Comparison) -> TextTable:
    """The raters, their agreement, and how each one differs from the others."""
    assert result.people is not None
    people, agree = result.people, ""
    if people.shared:
        alpha, correlation = _number(people.alpha, 2), _number(people.correlation, 2)
        agree = f"Krippendorff's α {alpha}, mean correlation {correlation}; "
    caption = f"Raters: {agree}{people.shared} of {people.outputs} outputs rated by two or more."
    if bool(people.to_frame()[["bias", "spread"]].isna().any(axis=None)):
        caption += " A dash means unknown."
    every: Any = people.to_frame().itertuples()
    rows = [
        [
            row.rater, str(row.ratings), _number(row.mean, 3), _number(row.bias, 3, "+"),
            _number(row.bias_se, 3), _number(row.spread, 3),
        ]
        for row in every
    ]  # fmt: skip
    return TextTable("raters", caption, ["rater", "ratings", "mean", "bias", "±", "spread"], rows)


class RocPage(Page):
    """How well metrics separate adequate from inadequate, by system: ``fewgold roc``."""

    name = "roc"

    def form(self, fields: Fields, data: Data, columns: Columns) -> dict[str, Any]:
        # In the embedded sets an MQM of at most 1 is adequate.
        cut = "" if fields.sent or data.demo is None else "<=1"
        return {"metrics": checked(data.columns, columns.metrics), "cut": cut}

    def prepare(self, fields: Fields, data: Data) -> tuple[Work, tuple[str, ...]]:
        from fewgold.bayes import roc_table

        columns = chosen(fields, data)
        need(columns.human, "the human scores")
        if not columns.metrics:
            raise DataError("no metric is selected. Select at least one.")
        return lambda _: roc_table(
            data.frame, human=columns.human[-1], metrics=list(columns.metrics),
            system=columns.system, adequate=fields.cut(),
            rule=fields.choice("rule", "rule", ("equal", "information"), "equal"),
            per_system=bool(fields.text("per_system")), strict=bool(fields.text("strict")),
            confidence=fields.share("confidence", "the confidence", "0.95"), orientation={},
        ), ()  # fmt: skip

    def command(self, fields: Fields, data: Data) -> str | None:
        columns = chosen(fields, data)
        metrics = listed(columns.metrics)
        if metrics is None:
            return None
        options: Options = [("--human", columns.human[-1]), *fields.options(adequate="")]
        options += [("--metrics", metrics), ("--system", columns.system or "none")]
        options += fields.options(("per_system", "strict"), rule="equal", confidence="0.95")
        return table_command("roc", data, options)

    def plot(self, result: RocTable, kind: str) -> Any:
        return result.plot()

    def frame(self, result: RocTable, table: str) -> Any:
        return result.to_frame()

    def show(self, result: RocTable) -> dict[str, Any]:
        from fewgold.bayes.roc import texts

        frame = result.to_frame()
        several = bool((frame.groupby("metric")["system"].nunique() > 2).any())
        apart = result.heterogeneity() if several else None
        parts = [
            {
                "metric": metric,
                "grid": TextTable(f"roc-{k}", f"{metric} {found.where}", found.heads, found.rows),
                "notes": found.notes,
            }
            for k, (metric, found) in enumerate(texts(frame, apart, result.confidence).items())
        ]
        figures = ["roc"] if frame["auc"].notna().any() else []
        return {"parts": parts, "figures": figures, "tables": ["roc"]}


class ReliabilityPage(Page):
    """How stable scores and rankings are by number of documents: ``fewgold reliability``."""

    name = "reliability"
    FIGURES: ClassVar = {
        "sd": (
            "Spread by documents",
            "Standard deviation of the score (the first, if there are several) by bootstrap, as a "
            "share of its mean, with a power law.",
        ),
        "ranks": (
            "Ranks by documents",
            "Share of the pairs of systems that so many documents order as all of them do: in "
            "bootstrap samples (resampled), and in the documents as they are.",
        ),
    }
    ORDERS, DRAWS, MOST_ORDERS, MOST_DRAWS = "20", "500", 100, 5_000

    def form(self, fields: Fields, data: Data, columns: Columns) -> dict[str, Any]:
        return {"scores": checked(data.columns, columns.human)}

    def prepare(self, fields: Fields, data: Data) -> tuple[Work, tuple[str, ...]]:
        from fewgold.reliability import reliability

        orders = fields.whole("orders", "the number of orders", self.ORDERS, 1, self.MOST_ORDERS)
        draws = fields.whole("draws", "the number of draws", self.DRAWS, 2, self.MOST_DRAWS)
        seed = fields.whole("seed", "the seed", "0", 0, 2**53)
        resample = fields.choice(
            "resample", "kind of bootstrap", ("segments", "documents"), "segments"
        )
        if data.demo is not None:
            raters = [c for c in data.columns if c.startswith("rater")]
            frame = data.frame.assign(score=data.frame[raters].mean(axis=1)).drop(columns=raters)
            columns = Columns(("score",), "system", "segment", "document", ())
        else:
            frame, columns = data.frame, chosen(fields, data)
        need(columns.human, "the scores")
        need(columns.document, "the documents")

        def work(progress: Progress) -> Reliability:
            return reliability(
                frame, score=list(columns.human), document=columns.document,
                system=columns.system, segment=columns.id, orders=orders, draws=draws,
                resample=resample, rng=seed, gaps="drop" if fields.text("drop_gaps") else "error",
                progress=progress,
            )  # fmt: skip

        return work, ()

    def command(self, fields: Fields, data: Data) -> str | None:
        options: Options = []
        if data.demo is None:
            columns = chosen(fields, data)
            scores = listed(columns.human)
            if scores is None:
                return None
            options += [("--score", scores), ("--document", columns.document or "")]
            options += [("--system", columns.system or "none"), ("--segment", columns.id or "none")]
            options += fields.options(("drop_gaps",))
        for name, default in {"orders": self.ORDERS, "draws": self.DRAWS, "seed": "0"}.items():
            options.append((f"--{name}", fields.text(name, default)))
        options += fields.options(resample="segments")
        return table_command("reliability", data, options)

    def plot(self, result: Reliability, kind: str) -> Any:
        return result.plot(kind, score=result.scores[0])

    def frame(self, result: Reliability, table: str) -> Any:
        return super().frame(result, "to_frame" if table == "curves" else table)

    def show(self, result: Reliability) -> dict[str, Any]:
        title, _, rest = result.summary().partition("\n")
        several = len(result.systems) > 1
        return {
            "lead": title, "text": rest.strip("\n"),
            "figures": {k: v for k, v in self.FIGURES.items() if several or k != "ranks"},
            "tables": ["curves", "fits", *(["ranks"] if several else [])],
        }  # fmt: skip


_MOST_CELLS = 5_000
_MOST_STRATEGIES = 60


class SimulatePage(Page):
    """Replay the annotation and see which strategy comes closest to the truth."""

    name = "simulate"
    FIGURES: ClassVar = {
        "ranking": ("Ranking", "How much lower the error is than the baseline's, and cells won."),
        "error": ("Error by budget", "Mean of |estimate − truth|, averaged over pools."),
        "relative": ("Error against the baseline", "The same, divided by the baseline's error."),
        "coverage": ("Coverage", "Share of the intervals that contain the truth."),
        "bounds": (
            "Coverage of the bounds",
            "The baseline's estimates with each type of interval.",
        ),
        "widths": ("Width of the bounds", "Half-width of these intervals."),
    }
    BASELINE = "random+mean"
    BUDGETS, DRAWS, MOST_DRAWS = "5%,10%,20%", "50", 500
    #: Ticked at first: each idea by itself, then both together.
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
        from fewgold.estimators.regressors import is_path, regressor_names
        from fewgold.simulation.run import check_scale, check_strategy

        names = _ticked(fields)
        if not names:
            raise FewgoldError("no strategy is selected. Select at least one.")
        if len(names) > _MOST_STRATEGIES:
            raise FewgoldError(f"there are too many strategies; the limit is {_MOST_STRATEGIES}.")
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
            if is_path(name.partition("cv-sklearn:")[2]):
                raise FewgoldError(
                    f"pages do not import code, so {name!r} works on the command line only. "
                    f"Choose a regressor by name: {', '.join(regressor_names())}."
                )
            check_strategy(name, studies)
            check_scale(name, studies, asked["limits"])
        cells = len(studies) * (len(names) + 1) * len(asked["budgets"])
        if cells > _MOST_CELLS:
            raise FewgoldError(
                f"{len(studies)} pools, {len(names)} strategies and {len(asked['budgets'])} "
                f"budgets make {cells} cells; the limit is {_MOST_CELLS}. Choose fewer, or use "
                "the command line."
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
                return None  # the command uses documents if there are any
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

    def frame(self, result: Simulation, table: str) -> Any:
        if table == "failures":
            return result.failures
        return super().frame(result, "to_frame" if table == "cells" else table)

    def show(self, result: Simulation) -> dict[str, Any]:
        from fewgold.simulation.result import failure_notes, legend, uneven_notes

        title, _, _ = result.summary().partition("\n")
        figures = [k for k in self.FIGURES if result.bounds or k not in ("bounds", "widths")]
        failed = ["failures"] if len(result.failures) else []
        return {
            "lead": title, "grids": [_by_strategy(result), _by_budget(result)],
            "legend": legend(result),
            "notes": [*uneven_notes(result), *failure_notes(result, result.ranking())],
            "signature": result.signature, "figures": {k: self.FIGURES[k] for k in figures},
            "tables": ["ranking", "by_budget", "cells", *failed],
        }  # fmt: skip


def _usual_strategies(data: Data, columns: Columns) -> list[str]:
    """The strategies to choose from: the usual ones for such a pool."""
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
    """The strategies of the form, ticked or typed."""
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
        raise DataError(f"{human!r} has the human scores, so it cannot be a metric as well.")
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


def _by_strategy(result: Simulation) -> TextTable:
    from fewgold.simulation.result import decimals, ranked_cells

    table = result.ranking()
    digits = decimals(table["abs_error_mc"])
    rows = []
    for row in table.to_dict("records"):
        cells = ranked_cells(row, digits, result.baseline)
        rows.append([row["strategy"], *(cells if row["cells"] else ["failed"] * len(cells))])
    heads = ["strategy", "error", "sdev", "win %", "reduction %", "worth", "covers %"]
    return TextTable("ranking", "Strategies over all pools and budgets, best first.", heads, rows)


def _by_budget(result: Simulation) -> TextTable:
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
        "By budget, averaged over pools, ± Monte Carlo error. ESS (effective sample size): "
        f"number of ratings with which {result.baseline} would have had the same mean squared "
        "error."
    )
    return TextTable("by-budget", caption, heads, rows)


#: Pages that show their result at once, and pages that run as jobs.
AT_ONCE: tuple[Page, ...] = (ComparePage(), RocPage())
AS_JOBS: dict[str, Page] = {page.name: page for page in (SimulatePage(), ReliabilityPage())}


def routes(site: Site) -> APIRouter:
    """The pages."""
    router = APIRouter(prefix="/replay", dependencies=[Depends(site.owner)])
    tables, jobs = Tables(), Jobs()
    _choosing(router, site, tables, jobs)
    for page in AT_ONCE:
        _at_once(router, site, tables, page)
    for page in AS_JOBS.values():
        _as_job(router, site, tables, jobs, page)
    _watching(router, site, jobs)
    return router


def _choosing(router: APIRouter, site: Site, tables: Tables, jobs: Jobs) -> None:
    """Tables to choose from, and what is known about one."""

    def start(request: Request, status: int = 200, trouble: str | None = None) -> HTMLResponse:
        return site.page(
            request, "replay.html", status, demos=replay_data.DEMOS, uploads=tables.uploads(),
            suffixes=replay_data.SUFFIXES, most=replay_data.MOST_ROWS, jobs=jobs.all(),
            trouble=trouble,
        )  # fmt: skip

    @router.get("")
    def choose(request: Request) -> HTMLResponse:
        return start(request)

    @router.post("/upload")
    def upload(request: Request, form: SentFiles) -> Response:
        file = form.get("file")
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise DataError("no file was sent. Choose one first.")
            data = tables.add(file.filename, file.file)
        except FewgoldError as error:
            return start(request, 400, error.message_for("web"))
        return RedirectResponse(f"/replay/table?data={data.key}", 303)

    @router.post("/forget")
    def forget(request: Request, form: SentFiles) -> Response:
        tables.remove(Fields.of(form).text("data"))
        return RedirectResponse("/replay", 303)

    @router.get("/table")
    def table(request: Request) -> HTMLResponse:
        data = tables.get(Fields.of(request.query_params).text("data"))
        rows = [[str(v)[:80] for v in row] for row in data.frame.head(5).to_numpy().tolist()]
        return site.page(request, "replay_table.html", data=data, rows=rows, found=guess(data))


def _filled(
    site: Site, request: Request, page: Page, fields: Fields, data: Data, trouble: str, **more: Any
) -> HTMLResponse:
    """The form as it was filled in, with its errors."""
    try:
        columns = chosen(fields, data)
    except FewgoldError as error:  # a missing column
        columns, trouble = guess(data), trouble or error.message_for("web")
    return site.page(
        request, f"replay_{page.name}.html", 400 if trouble else 200, data=data, fields=fields,
        columns=columns, trouble=trouble, options=page, **page.form(fields, data, columns), **more,
    )  # fmt: skip


def _at_once(router: APIRouter, site: Site, tables: Tables, page: Page) -> None:
    """A page that shows its result at once, with addresses for its figures and tables."""
    recent, images = Recent(6), Recent(40)

    def result(fields: Fields) -> tuple[Any, dict[str, Any]]:
        data = tables.get(fields.text("data"))

        def make() -> tuple[Any, dict[str, Any]]:
            found = page.prepare(fields, data)[0](lambda done, total: None)
            return found, page.show(found)

        return recent.get(fields.query(keep=""), make)

    @router.get(f"/{page.name}", name=page.name)
    def form(request: Request) -> HTMLResponse:
        fields = Fields.of(request.query_params)
        data = tables.get(fields.text("data"))
        shown, trouble, line = None, "", None
        try:
            if fields.sent:
                shown, line = result(fields)[1], page.command(fields, data)
        except FewgoldError as error:
            trouble = error.message_for("web")
        return _filled(
            site, request, page, fields, data, trouble, shown=shown, command=line,
            query=fields.query(), figures=available(),
        )  # fmt: skip

    @router.get(f"/{page.name}/figure/{{kind}}.{{suffix}}", name=f"{page.name} figure")
    def figure(request: Request, kind: str, suffix: str) -> Response:
        found, shown = result(Fields.of(request.query_params))
        return _image(images, page, found, shown, kind, suffix, request)

    @router.get(f"/{page.name}/table/{{table}}.csv", name=f"{page.name} table")
    def table(request: Request, table: str) -> Response:
        found, shown = result(Fields.of(request.query_params))
        return frame_csv(page.frame(found, known(table, shown["tables"], "table")), table)


def _as_job(router: APIRouter, site: Site, tables: Tables, jobs: Jobs, page: Page) -> None:
    """A page that starts a job."""

    @router.get(f"/{page.name}", name=page.name)
    def form(request: Request) -> HTMLResponse:
        fields = Fields.of(request.query_params)
        return _filled(site, request, page, fields, tables.get(fields.text("data")), "")

    @router.post(f"/{page.name}", name=f"start {page.name}")
    def start(request: Request, sent: SentFiles) -> Response:
        fields = Fields.of(sent)
        data = tables.get(fields.text("data"))
        try:
            work, notes = page.prepare(fields, data)
            title = "Simulation" if page.name == "simulate" else "Reliability"
            job = jobs.start(
                f"{title} on {data.short}", work, kind=page.name, notes=notes,
                form=f"/replay/{page.name}?{fields.query()}", command=page.command(fields, data),
            )  # fmt: skip
        except FewgoldError as error:
            return _filled(site, request, page, fields, data, error.message_for("web"))
        return RedirectResponse(f"/replay/job/{job.id}", 303)


def _watching(router: APIRouter, site: Site, jobs: Jobs) -> None:
    """Jobs: their progress and their results."""
    images = Recent(60)

    def of(id: str) -> Job:
        found = jobs.get(id)
        if found is None:
            raise HTTPException(404, "There is no such job (any more).")
        return found

    def finished(id: str) -> tuple[Any, Page]:
        job = of(id)
        if job.state != "finished":
            raise HTTPException(404, "This job has no result.")
        return job.result, AS_JOBS[job.facts["kind"]]

    @router.get("/job/{id}")
    def page(request: Request, id: str) -> HTMLResponse:
        job = of(id)
        state = job.state
        shown = AS_JOBS[job.facts["kind"]].show(job.result) if state == "finished" else None
        return site.page(
            request, "replay_job.html", job=job, state=state, shown=shown, figures=available()
        )

    @router.get("/job/{id}/progress")
    def progress(request: Request, id: str) -> Response:
        job = of(id)
        if job.state != "running":
            return Response(status_code=200, headers={"HX-Redirect": f"/replay/job/{job.id}"})
        return site.page(request, "replay_progress.html", job=job)

    @router.post("/job/{id}/cancel")
    def cancel(request: Request, id: str) -> Response:
        job = of(id)
        job.stop.set()  # it stops when it next reports its progress
        job.wait(1.0)
        return RedirectResponse(f"/replay/job/{job.id}", 303)

    @router.get("/job/{id}/figure/{kind}.{suffix}")
    def figure(request: Request, id: str, kind: str, suffix: str) -> Response:
        result, page = finished(id)
        return _image(images, page, result, page.show(result), kind, suffix, request)

    @router.get("/job/{id}/table/{name}.csv")
    def table(id: str, name: str) -> Response:
        result, page = finished(id)
        known(name, page.show(result)["tables"], "table")
        return frame_csv(page.frame(result, name), name)

    @router.get("/job/{id}/report.html")
    def report(id: str) -> Response:
        result, page = finished(id)
        if page.name != "simulate":
            raise HTTPException(404, "There is no such page of this job.")
        with DRAWING:
            made = images.get((id, "report"), result.to_html)
        return download(made.encode(), "report.html", "text/html")


def _image(
    images: Recent, page: Page, result: Any, shown: dict[str, Any], kind: str, suffix: str,
    request: Request,
) -> Response:  # fmt: skip
    """A figure of a result, drawn when first requested."""
    known(kind, shown["figures"], "figure"), known(suffix, IMAGES, "figure")
    # The result is kept too, so that its id stays unique.
    made, _ = images.get(
        (id(result), kind, suffix),
        lambda: (drawn(lambda: page.plot(result, kind), suffix), result),
    )
    keep = bool(request.query_params.get("keep"))
    return download(made, f"{kind}.{suffix}", IMAGES[suffix], save=keep)
