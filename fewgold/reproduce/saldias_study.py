"""Reproduce Saldías et al. (2022): their tables, and whether simulations confirm their claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold import plots, report
from fewgold.common.checks import as_names
from fewgold.common.text import cell
from fewgold.errors import DataError
from fewgold.report.sections import figures_of
from fewgold.reproduce.findings import (
    FAILS,
    HOLDS,
    LEFT_OUT,
    Check,
    Claim,
    Reproduction,
    Statistic,
    abs_error,
    sdev,
    share_within,
    wrapped,
)
from fewgold.reproduce.saldias_methods import (
    BASE,
    BEST,
    DEMO,
    ORACLE_RANGE,
    TABLE5,
    TABLES,
    Rated,
    bounds,
    bounds_table,
    data_table,
    errors_table,
    lines,
    load,
    metrics_table,
    pair_of,
    sizes,
    strategies,
    ten_metrics,
    two_metrics,
)
from fewgold.simulation import DEFAULT_BUDGETS, Simulation, simulate

if TYPE_CHECKING:
    import pandas as pd


DOC, BIN = "docs-prop-printed+mean", "metrics-prop-printed+mean"
KNN, BINS = "random+cv-knn-printed", "metrics-prop-printed+cv-knn-printed"


class Errors:
    """Mean errors on one data set, and the checks that compare their ratios with the paper."""

    def __init__(self, rated: Rated, run: Simulation) -> None:
        self.rated, self.run, self.pair = rated, run, rated.pair
        self._known: dict[str, Statistic] = {}

    def __getitem__(self, strategy: str) -> Statistic:
        if strategy not in self._known:
            self._known[strategy] = abs_error(self.run, strategy)
        return self._known[strategy]

    def ratio(self, above: str, below: str = BASE) -> Statistic:
        return self[above] / self[below]

    def over_better_part(self, both: str, part: str) -> Statistic:
        """Error of a combination, divided by that of the better of its two parts."""
        return self.ratio(both, min((part, KNN), key=lambda name: self[name].value))

    def _printed(self, table: str, above: str, below: str = "baseline") -> float:
        rows = TABLES[table][self.pair]
        return rows[above].abs_error / rows[below].abs_error

    def _check(
        self, what: str, found: Statistic | tuple[float, float], side: str, limit: float,
        printed: float | None = None,
    ) -> Check:  # fmt: skip
        value, mc = (found.value, found.mc) if isinstance(found, Statistic) else found
        return Check(self.rated.name, what, value, mc, side, limit, printed)

    def check(self, table: str, method: str, strategy: str, side: str) -> Check:
        """Check that a method's error divided by the baseline's is below or above 1."""
        printed = self._printed(table, method)
        return self._check(f"{method}/baseline", self.ratio(strategy), side, 1.0, printed)

    def controls(self, *methods: str) -> list[Check]:
        """Control variates against the baseline."""
        names = {"cv-bleurt": f"cv-{self.rated.metrics[0]}"}
        made = {m: f"random+{names.get(m, m)}-printed" for m in methods}
        return [self.check("table3", m, strategy, "below") for m, strategy in made.items()]

    def adds_up(self) -> list[Check]:
        """The best method against each of its parts."""
        best = "docs-prop+cv-knn"
        return [
            self._check(
                *(f"{best}/{method}", self.ratio(BEST, part), "below", 1.0),
                self._printed("table4", best, method),
            )
            for part, method in ((DOC, "docs-prop"), (KNN, "cv-knn"))
        ]

    def adds_less(self) -> list[Check]:
        """Gain of metric bins with control variates minus that of documents with them."""
        found = self.over_better_part(BINS, BIN) - self.over_better_part(BEST, DOC)
        rows = TABLES["table1"][self.pair] | TABLES["table4"][self.pair]
        error = {method: row.abs_error for method, row in rows.items()}
        printed = error["metrics-prop+cv-knn"] / min(error["cv-knn"], error["metrics-prop"])
        printed -= error["docs-prop+cv-knn"] / min(error["cv-knn"], error["docs-prop"])
        what = "metrics-prop+cv-knn/better part − docs-prop+cv-knn/better part"
        return [self._check(what, found, "above", 0.0, printed)]

    def covered(self, bound: str, limit: float) -> list[Check]:
        """Coverage of Hoeffding's bound; with the true range, also its width."""
        frame, checks = self.run.by_budget(), []
        for size in sizes(self.run):
            at = (frame["strategy"] == BEST) & np.isclose(frame["budget"], size)
            t = float(frame.loc[at, f"half_width_{bound}"].iloc[0])
            held = share_within(self.run, BEST, size, t)
            oracle = bound.endswith("oracle")
            shown = TABLE5[self.pair][round(size, 2)]["best"].cal if oracle else 100
            what = f"share covered at {size:.0%}"
            checks.append(self._check(what, held, "above", limit, shown / 100))
            if not oracle:
                error = abs_error(self.run, BEST, [size])
                times = t / error.value, t / error.value * error.mc / error.value
                checks.append(self._check(f"bound/error at {size:.0%}", times, "above", 10.0))
        return checks

    def bernstein(self) -> list[Check]:
        """Bernstein's bound divided by Hoeffding's, both with the true range."""
        frame, checks = self.run.by_budget(), []
        for size in sizes(self.run):
            at = frame[(frame["strategy"] == BEST) & np.isclose(frame["budget"], size)].iloc[0]
            ratio = float(at["half_width_bernstein"] / at["half_width_hoeffding"])
            # Hoeffding's bound is a constant; Bernstein's varies with the sample, but little.
            found = (ratio, 0.0)
            checks.append(self._check(f"Bernstein/Hoeffding at {size:.0%}", found, "above", 1.0))
        return checks

    def spread(self) -> list[Check]:
        """The standard deviation of the error divided by its mean."""
        found = sdev(self.run, BEST) / self[BEST]
        row = TABLES["table4"][self.pair]["docs-prop+cv-knn"]
        printed = row.sdev / row.abs_error
        return [self._check("sdev/error of docs-prop+cv-knn", found, "above", 0.5, printed)]


def _ratios(sets: Iterable[Errors], strategy: str) -> str:
    """Errors of a strategy divided by the baseline's, for each data set, as text."""
    shown = ((e.pair, e.ratio(strategy)) for e in sets)
    return ", ".join(f"{pair} {r.value:.3f} ± {r.mc:.3f}" for pair, r in shown)


def findings(
    data: Iterable[Rated],
    runs: Mapping[str, Simulation],
    small: Iterable[Rated],
    small_runs: Mapping[str, Simulation],
    incremental: bool,
) -> list[Claim]:
    """All claims of the paper that the tables can test."""
    sets = [Errors(rated, runs[rated.name]) for rated in data]
    tested = [Errors(r, small_runs[r.name]) for r in small]

    def each(make: Callable[[Errors], Iterable[Check]], among: Iterable[Errors] = sets) -> Any:
        return tuple(check for one in among for check in make(one))

    found = [
        Claim(
            "docs-prop",
            "Stratifying by document with proportional allocation beats random sampling.",
            each(lambda e: [e.check("table1", "docs-prop", "docs-prop-printed+mean", "below")]),
        ),
        Claim(
            "docs-opt",
            "Optimal allocation over documents loses to random sampling.",
            each(lambda e: [e.check("table1", "docs-opt", "docs-opt-variance+mean", "above")]),
            "allocated by variance, as in the text of the paper. By σ as Eq. 2 has it, docs-opt "
            f"does not lose: {_ratios(sets, 'docs-opt-printed+mean')}",
        ),
        Claim(
            "metrics-prop",
            "Stratifying by metric bins with proportional allocation beats random sampling.",
            each(
                lambda e: [e.check("table1", "metrics-prop", "metrics-prop-printed+mean", "below")]
            ),
        ),
    ]
    if incremental:
        methods = ("docs-incr-metrics", "docs-incr-human")
        found.append(
            Claim(
                "incremental",
                "Both kinds of incremental allocation lose to random sampling.",
                each(
                    lambda e: [e.check("table2", m, f"{m}-printed+mean", "above") for m in methods]
                ),
                "allocated by variance, as above. With standard deviations: "
                + "; ".join(f"{m} {_ratios(sets, f'{m}+mean')}" for m in methods),
            )
        )
    found += [
        Claim(
            "control variates",
            "Control variates help: a single metric, the mean of the metrics, a learned model.",
            each(lambda e: e.controls("cv-bleurt", "cv-mean", "cv-knn")),
            "the single metric is " + ", ".join(f"{e.rated.metrics[0]} for {e.pair}" for e in sets),
        ),
        Claim(
            "cv-multi",
            "So do all metrics at once, with one slope each.",
            each(lambda e: e.controls("cv-multi")),
            "equation 4 with E[XZ] as printed. With the covariance of footnote 1: "
            f"{_ratios(sets, 'random+cv-multi-footnote')}; with regression slopes: "
            f"{_ratios(sets, 'random+cv-multi')}",
        ),
        Claim(
            "adding up",
            "Documents and control variates add up: docs-prop+cv-knn beats both its parts.",
            each(Errors.adds_up),
        ),
        Claim(
            "not adding up",
            "Metric bins and control variates do not: metrics-prop+cv-knn gains less over the "
            "better of its parts than docs-prop+cv-knn does.",
            each(Errors.adds_less),
            "metrics-prop+cv-knn over the better of its parts: "
            + ", ".join(f"{e.pair} {e.over_better_part(BINS, BIN).value:.3f}" for e in sets),
        ),
        Claim(
            "Hoeffding, R = 25",
            "Hoeffding's bound with the true range always covers, and is an order of magnitude "
            "too wide.",
            each(lambda e: e.covered("hoeffding", 0.99)),
        ),
        Claim(
            "Hoeffding, oracle R",
            "With the range suggested by the answers (4 and 7) it is calibrated: it covers more "
            "than 95 % for docs-prop+cv-knn.",
            each(lambda e: e.covered("hoeffding-oracle", 0.95)),
        ),
        Claim(
            "Bernstein",
            "Bernstein's bound is somewhat worse than Hoeffding's (footnote 8).",
            each(Errors.bernstein),
            "with R = 25 for both. The pools here are twice as large: at the paper's 70 ratings "
            "its large multiplier of R counts for more",
        ),
        Claim(
            "standard deviation",
            "The standard deviation of the error is uncomfortably close to the error itself.",
            each(Errors.spread),
            "a normal error without bias has the ratio √(π/2 − 1) = 0.756, whatever the method",
        ),
        Claim(
            "two metrics",
            "The gain of docs-prop+cv-knn remains with two metrics chosen beforehand.",
            each(lambda e: [e.check("table6", "docs-prop+cv-knn", BEST, "below")], tested),
            "with COMET and a form of BLEURT on WMT20; on WMT21 with string metrics only, see "
            "Table 6",
        ),
    ]
    return found


# The result as text, figures and one page ---------------------------------------------------------

TITLES = {
    "table1": "Table 1: stratified sampling",
    "table2": "Table 2: incremental stratified sampling",
    "table3": "Table 3: control variates",
    "table4": "Table 4: stratified sampling with control variates",
    "table5": "Table 5: error bounds",
    "table6": "Table 6: two metrics, chosen beforehand",
    "table7": "Table 7: size of the WMT20 test sets",
    "table8": "Table 8: scores of the WMT20 systems",
    "metrics": "Table 9: metrics and their mean absolute correlation with the ratings of systems "
    "that are not human",
    "table10": "Table 10: size of the rated part of WMT21",
    "table11": "Table 11: scores of the WMT21 systems",
}
KINDS = {
    "printed": "as printed",
    "reading": "another reading",
    "corrected": "corrected",
    "ours": "ours",
}
#: Remarks needed for a comparison.
DIFFERENCES = (
    "The paper predicts single raters on half of the documents (54 pairs of rater and system) with "
    "ten metrics, most of which fewgold does not read. Here it is the mean of three raters on all "
    "documents, nine systems, and the ten strongest metrics that all nine systems have; stronger "
    "ones that lack a system are left out. Errors are therefore smaller throughout; the ratio to "
    "the baseline is what can be compared."
)
TEST = (
    "WMT21 news are the paper's own test data: the same ratings, but with string metrics (two "
    "forms of chrF) in place of COMET and BLEURT, so the baseline can be compared with the printed "
    "one but the gain cannot. For the gain with stronger metrics there are the WMT20 files with "
    "COMET and a form of BLEURT; WMT21 TED talks (one rater per segment, five talks) are a "
    "third kind. English–Russian is not among the tables that fewgold reads."
)
OF_DEMO = (
    "These are the embedded synthetic data, not the WMT20 files: what holds here shows that the "
    "command works, and says nothing about the paper."
)
ERRORS = (
    "± are Monte Carlo standard errors, which reflect the draws only. A finding holds, or does "
    "not, if its figures are two of them beyond the limit; otherwise it is not resolved."
)
#: Captions of the figures.
CAPTION = (
    "Mean absolute error against the share rated, as printed; bands: ± one standard deviation."
)
_BESIDE = "“paper” is as printed there; ± are our Monte Carlo errors."
_ERRORS = (
    f"{_BESIDE} Ratio: error divided by that of the baseline, which can be compared; win: cells "
    "with a lower error than the baseline's, in per cent."
)
_BOUNDS = (
    f"{_BESIDE} cal: intervals that contain the truth, in per cent; t: half-width; slack: t "
    "minus the error; base: the mean of a random sample; best: docs-prop+cv-knn."
)
# Columns of a table on the page, in their order, and what they are called there.
_COLUMNS: dict[str, dict[str, str]] = {
    "errors": {
        **{"strategy": "strategy", "data": "data", "kind": "form"},
        **{"printed_ratio": "ratio, paper", "ratio": "ratio"},
        **{"printed_error": "error, paper", "error": "error"},
        **{"printed_win": "win, paper", "win": "win"},
        **{"printed_sdev": "sdev, paper", "sdev": "sdev"},
    },
    "table5": {
        **{"estimator": "estimate", "data": "data", "bound": "bound", "R": "R", "size": "rated %"},
        **{"printed_cal": "cal, paper", "cal": "cal"},
        **{"printed_slack": "slack, paper", "slack": "slack"},
        **{"printed_t": "t, paper", "t": "t", "error": "error"},
    },
    "metrics": {
        **{"metric": "metric", "r": "r", "data": "data", "used": "for"},
        **{"printed_metric": "metric, paper", "printed_r": "r, paper"},
    },
}
_FORMATS = {
    **dict.fromkeys(("printed_error", "printed_sdev", "printed_ratio", "printed_r", "r"), ".3f"),
    **dict.fromkeys(("printed_slack", "printed_t", "t"), ".2f"),
    **{"printed_win": ".1f", "win": ".1f", "printed_cal": ".0f", "error": ".4f", "sdev": ".3f"},
    **{"R": ".0f", "size": ".0f"},
}
# Only useful errors are shown; those of win and sdev would just widen the table.
_PLUS_MINUS = ("ratio", "cal", "slack")


#: The figures of the paper, by the table that has the same methods.
FIGURES = {
    "figure2": ("table1", "Figure 2: stratified sampling"),
    "figure3": ("table3", "Figure 3: control variates"),
    "figure4": ("table4", "Figure 4: stratified sampling with control variates"),
    "figure5": ("table6", "Figure 5: two metrics, chosen beforehand"),
}
_PANEL = 5.2  # inches

#: The WMT20 files, and the data used if they are missing.
DATA = ("wmt20_ende", "wmt20_zhen")
DEMO_DATA = ("demo-ende", "demo-zhen")
#: Further test data of Table 6: the paper's own, and TED talks.
_TESTS = ("wmt21_ende", "wmt21_zhen", "ted_ende")
#: Tables that describe the data, and the year of their files.
_DATA_TABLES = {"table7": "wmt20", "table8": "wmt20", "table10": "wmt21", "table11": "wmt21"}
#: Findings related to each table.
_FINDINGS = {
    "table1": ("docs-prop", "docs-opt", "metrics-prop"),
    "table2": ("incremental",),
    "table3": ("control variates", "cv-multi"),
    "table4": ("adding up", "not adding up", "standard deviation"),
    "table5": ("Hoeffding, R = 25", "Hoeffding, oracle R", "Bernstein"),
    "table6": ("two metrics",),
}

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class SaldiasReproduction(Reproduction):
    """Tables next to the printed ones, and the paper's findings next to ours.

    Attributes
    ----------
    tables
        ``table1`` to ``table11`` as in the paper; ``metrics`` is its Table 9.
    findings
        Claims of the paper, each with figures and a verdict.
    simulations
        The simulations by data set; those of Table 6, with two metrics, have the suffix ``/two``.
    """

    findings: Sequence[Claim]
    simulations: Mapping[str, Simulation]
    labels: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        verdicts = [finding.verdict for finding in self.findings]
        counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
        return f"Reproduction({len(self.tables)} tables; findings: {counts})"

    @property
    def failed(self) -> list[Claim]:
        """Findings that do not hold."""
        return [finding for finding in self.findings if finding.verdict == FAILS]

    @property
    def signature(self) -> str:
        return "saldias|" + next(iter(self.simulations.values())).signature

    def _verdict(self, source: str) -> str:
        if source in FIGURES:
            source = FIGURES[source][0]
        if source == "table2" and source not in self.tables:
            return f"{LEFT_OUT}: made only with the option incremental"
        if source not in self.tables:
            needs = "a budget of 10, 30 or 50 %" if source == "table5" else "the public files"
            return f"{LEFT_OUT}: it needs {needs}"
        if source in _DATA_TABLES:
            frame = self.tables[source]
            return f"{frame['agrees'].sum()} of {len(frame)} as printed"
        if source == "metrics":
            return "not comparable, shown beside the printed ones"
        verdicts = {f.name: f.verdict for f in self.findings if f.name in _FINDINGS[source]}
        return "; ".join(f"{name}: {verdict}" for name, verdict in verdicts.items())

    def summary(self) -> str:
        """Findings, then tables."""
        parts = ["Saldías et al. (2022), reproduced", *map(wrapped, notes(self)), ""]
        parts += self._listed()
        parts += ["Findings", *(_finding(f) for f in self.findings), ""]
        for name, frame in self.tables.items():
            parts += [TITLES[name]]
            if name == "table3":
                used = ", ".join(f"{metric} ({data})" for data, metric in self.labels.items())
                parts += [wrapped(f"The strongest metric takes the place of BLEURT: {used}.")]
            if name == "table6" and not is_demo(self):
                parts += [wrapped(TEST)]
            shows = {"table5": _bounds, "metrics": _metrics, **dict.fromkeys(_DATA_TABLES, _data)}
            show = shows.get(name, _errors)
            parts += [show(frame), ""]
        return "\n".join([*parts, self.signature])

    def _details(self) -> dict[str, Any]:
        return {
            "seconds": sum(run.seconds for run in self.simulations.values()),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def _output(self) -> tuple[str, str, dict[str, Any]]:
        drawn = self._figures()
        return "findings", self._page(drawn), drawn

    def _figures(self) -> dict[str, Any]:
        """Figures 2 to 5, the data sets side by side; none if matplotlib is not installed."""

        def draw(name: str) -> Any:
            from matplotlib.figure import Figure

            table, _ = FIGURES[name]
            runs = {
                key.removesuffix("/two"): run
                for key, run in self.simulations.items()
                if key.endswith("/two") == (table == "table6")
            }
            figure = Figure(figsize=(_PANEL * len(runs), 4.0), dpi=100, layout="constrained")
            axes = figure.subplots(1, len(runs), squeeze=False)[0]
            for ax, (data, run) in zip(axes, runs.items(), strict=True):
                first = self.labels.get(data, "")
                shown = {n.strategy: n.method for n in lines(table, first) if n.kind == "printed"}
                names = shown | {s: f"cv-{first}" for s, m in shown.items() if m == "cv-bleurt"}
                frame = run.by_budget()
                frame = frame[frame["strategy"].isin(shown)]
                frame = frame.assign(strategy=frame["strategy"].map(names))
                # The methods in the order of the table, so that panels share their colours.
                plots.error_curves(
                    *(frame, ax), baseline="baseline", highlight=list(names.values()), band="sd",
                    title=data,
                )  # fmt: skip
            return figure

        return figures_of(draw, list(FIGURES))

    def _page(self, drawn: Mapping[str, Any]) -> str:
        """The whole result on one page."""
        import pandas as pd

        verdicts = pd.DataFrame(
            [(f.verdict, f.sentence) for f in self.findings],
            columns=["verdict", "what the paper says"],
        )
        said = "What the paper says, and whether these data agree."
        listed = report.Table("Every table and figure", self.contents)
        sections: list[Any] = [report.Table("Findings", verdicts, said), listed, _checks(self)]
        remarks = [f"{f.name}: {f.remark}." for f in self.findings if f.remark]
        if remarks:
            sections.append(report.Text("Remarks", remarks))
        for name, frame in self.tables.items():
            sections.append(_table(self, name, frame))
            for figure, (table, title) in FIGURES.items():
                if table == name and figure in drawn:
                    svg = plots.to_svg(drawn[figure], alt=f"{title}. {CAPTION}")
                    sections.append(report.Figure(title, svg, CAPTION))
        return report.page(
            "Saldías et al. (2022), reproduced", notes(self), sections, self.signature
        )


def notes(made: SaldiasReproduction) -> list[str]:
    """Remarks to read before the figures."""
    return [OF_DEMO if is_demo(made) else DIFFERENCES, ERRORS]


def is_demo(made: SaldiasReproduction) -> bool:
    return any(name.startswith("demo-") for name in made.simulations)


def _finding(finding: Claim) -> str:
    indent = " " * 16
    first, *rest = wrapped(finding.sentence, indent).splitlines()
    lines = [f"  {finding.verdict.upper():14}{first.strip()}", *rest]
    for check in finding.checks:
        odd = "" if check.verdict == finding.verdict == HOLDS else f": {check.verdict}"
        lines.append(f"{indent}{check}{odd}")
    if finding.remark:
        lines.append(wrapped(f"({finding.remark})", indent))
    return "\n".join(lines)


def _errors(frame: pd.DataFrame) -> str:
    wide = max(8, *(len(s) for s in frame["strategy"]))
    head = (
        f"{'':{wide}}  {'error':^16}  {'sdev':^13}  {'win %':^13}  {'error/baseline':^22}\n"
        f"{'':{wide}}  {'paper':>6} {'here':>9}  {'paper':>6} {'here':>6}  {'paper':>6} "
        f"{'here':>6}  {'paper':>6} {'here':>15}"
    )
    lines = []
    for data, rows in frame.groupby(["data", "pair"], sort=False):
        lines += [f"{data[1]}" + (f" ({data[0]})" if data[0] else ": no data")]
        for kind, some in rows.groupby("kind", sort=False):
            if kind != "printed":
                lines.append(f"  {KINDS[str(kind)]}")
            for r in some.to_dict("records"):
                lines.append(
                    f"{r['strategy'] or r['method']:{wide}}  {cell(r['printed_error'], 3):>6} "
                    f"{cell(r['error'], 4):>9}  {cell(r['printed_sdev'], 3):>6} "
                    f"{cell(r['sdev'], 3):>6}  "
                    f"{cell(r['printed_win'], 1):>6} {cell(r['win'], 1):>6}  "
                    f"{cell(r['printed_ratio'], 3):>6} {cell(r['ratio'], 3, r['ratio_mc']):>15}"
                )
    return "\n".join([head, *lines])


def _bounds(frame: pd.DataFrame) -> str:
    head = (
        f"{'':30}  {'cal %':^18}  {'slack':^13}  {'t':^13}  {'error':>6}\n"
        f"{'':30}  {'paper':>6} {'here':>11}  {'paper':>6} {'here':>6}  {'paper':>6} {'here':>6}"
        f"  {'here':>6}"
    )
    lines = []
    for (data, bound, limit), rows in frame.groupby(["data", "bound", "R"], sort=False):
        lines.append(f"{data}, {bound}, R = {limit:g}")
        for r in rows.to_dict("records"):
            lines.append(
                f"  {r['size']:>3.0f} %  {r['estimator']:21}  {cell(r['printed_cal'], 0):>6} "
                f"{cell(r['cal'], 1, r['cal_mc']):>11}  {cell(r['printed_slack'], 2):>6} "
                f"{cell(r['slack'], 2):>6}  {cell(r['printed_t'], 2):>6} {cell(r['t'], 2):>6}  "
                f"{cell(r['error'], 3):>6}"
            )
    return "\n".join([head, *lines])


def _data(frame: pd.DataFrame) -> str:
    lines = []
    for pair, rows in frame.groupby("pair", sort=False):
        for r in rows.to_dict("records"):
            digits = 2 if r["printed"] % 1 else 0
            mark = "" if r["agrees"] else "*"
            both = f"paper {r['printed']:8.{digits}f}   here {r['here']:8.{digits}f}{mark}"
            lines.append(f"  {pair!s:6}{r['what']:16}{both}")
    return "\n".join(lines)


def _metrics(frame: pd.DataFrame) -> str:
    lines = []
    for (data, used), rows in frame.groupby(["data", "used"], sort=False):
        lines.append(f"{data}, {used}, {rows['systems'].iloc[0]} systems")
        for r in rows.to_dict("records"):
            paper = f"paper {r['printed_metric'] or '–':18}{cell(r['printed_r'], 3):>6}   "
            here = f"here {r['metric'] or '–':18}{cell(r['r'], 3):>6}"
            lines.append("  " + (paper if used != "table 6" else "") + here)
    return "\n".join(lines)


def _table(made: SaldiasReproduction, name: str, frame: pd.DataFrame) -> report.Table:
    if name in _DATA_TABLES:
        return report.Table(
            TITLES[name],
            frame[["pair", "what", "printed", "here"]],
            "As printed, and in the public files.",
            formats={"printed": "g", "here": ".4g"},
        )
    kind = name if name in _COLUMNS else "errors"
    names = _COLUMNS[kind]
    caption = {"errors": _ERRORS, "table5": _BOUNDS, "metrics": _BESIDE.partition(";")[0] + "."}
    note = f"{TEST} " if name == "table6" and not is_demo(made) else ""
    if "strategy" in frame:  # lines without data have no strategy
        shown = frame["strategy"].where(frame["strategy"] != "", frame["method"])
        kinds = frame["kind"].map(KINDS).fillna(frame["kind"])
        frame = frame.assign(strategy=shown, kind=kinds)
    errors = {c: f"{c}_mc" for c in _PLUS_MINUS if f"{c}_mc" in frame}
    return report.Table(
        TITLES[name],
        frame[[*names, *errors.values()]],
        note + caption[kind],
        formats={c: f for c, f in _FORMATS.items() if c in names and c not in errors},
        errors=errors,
        names=names,
    )


def _checks(made: SaldiasReproduction) -> report.Table:
    import pandas as pd

    rows = [
        (f.name, c.data, c.verdict, c.what, c.value, c.mc, f"{c.side} {c.limit:g}", c.printed)
        for f in made.findings
        for c in f.checks
    ]
    columns = ["finding", "data", "verdict", "figure", "here", "mc", "should be", "paper"]
    frame = pd.DataFrame(rows, columns=columns).astype({"paper": "float64"})
    caption = f"{_BESIDE} A figure holds if it is two of them beyond its limit."
    return report.Table(
        *("The figures behind them", frame, caption),
        formats={"paper": ".3f"},
        errors={"here": "mc"},
    )


def saldias(
    draws: int = 100,
    budgets: Iterable[float] = DEFAULT_BUDGETS,
    data: Sequence[str] = DATA,
    *,
    incremental: bool = True,
    systems: Mapping[str, Sequence[str]] | None = None,
    n_jobs: int | None = None,
    rng: int = 0,
    progress: Progress | None = None,
    store: str | Path | None = None,
    resume: bool = True,
) -> SaldiasReproduction:
    """Reproduce Tables 1 to 6 of Saldías et al. (2022), next to the printed values.

    Parameters
    ----------
    draws
        Studies to replay for each system, method and budget; 100 in the paper.
    budgets
        Shares of the test set, 5 % to 50 % in the paper. Table 5 is about 10, 30 and 50 %.
    data
        The WMT20 files (see `fewgold.datasets.load_real`), or ``demo-ende`` and ``demo-zhen``,
        which are embedded.
    incremental
        Also Table 2, which takes most of the time.
    systems
        The systems to use by data set; by default all but the reference of the metrics.
    n_jobs, rng, store, resume
        As in `fewgold.simulate`.
    progress
        Called with the name of a data set, the number of finished tasks and the total.

    Examples
    --------
    >>> made = saldias(draws=4, budgets=[0.1], data=["demo-ende"], incremental=False,
    ...                systems={"demo-ende": ["alpha"]})
    >>> made.tables["table1"]["method"].tolist()[:3]
    ['baseline', 'docs-prop', 'docs-opt']
    """
    shares = [float(b) for b in budgets]
    if not shares or not all(0 < b <= 1 for b in shares):
        raise DataError(
            f"budgets must be shares of the test set, above 0 and at most 1; got {shares}."
        )
    data = as_names(data)
    for name in data:
        if pair_of(name) not in ORACLE_RANGE:
            raise DataError(
                f"expected data sets such as {', '.join(DATA + DEMO_DATA)}; got {name!r}."
            )
    wanted = systems or {}
    loaded = {name: load(name, wanted.get(name)) for name in data}
    full = [ten_metrics(name, studies) for name, studies in loaded.items()]
    small = [two_metrics(name, studies) for name, studies in loaded.items()]
    test = list(small)
    real = any(not name.startswith(DEMO) for name in data)
    for name in _TESTS if real else ():
        with suppress(FileNotFoundError):  # these files may be missing
            test.append(two_metrics(name, load(name, wanted.get(name))))
    main = ["table1", *(["table2"] if incremental else []), "table3", "table4"]

    def run(rated: Rated, tables: list[str], label: str, extra: Any) -> Simulation:
        return simulate(
            dict(rated.studies),
            strategies=strategies(tables, rated.metrics[0]),
            budgets=shares,
            draws=draws,
            rng=rng,
            baseline=BASE,
            bounds=extra,
            n_jobs=n_jobs,
            progress=None if progress is None else lambda k, n: progress(label, k, n),
            # One folder each: starting over must not clear what another has just finished.
            store=None if store is None else Path(store) / label.replace("/", "-"),
            resume=resume,
        )

    runs = {r.name: run(r, main, r.name, bounds(r.pair)) for r in full}
    small_runs = {r.name: run(r, ["table6"], f"{r.name}/two", ()) for r in test}
    tables = {name: errors_table(name, full, runs) for name in main}
    if sizes(next(iter(runs.values()))):
        tables["table5"] = bounds_table(full, runs)
    tables["table6"] = errors_table("table6", test, small_runs)
    for name, year in _DATA_TABLES.items() if real else ():
        with suppress(FileNotFoundError):
            tables[name] = data_table(name, year)
    tables["metrics"] = metrics_table(full, test)
    tables = {name: tables[name] for name in TITLES if name in tables}
    return SaldiasReproduction(
        tables=tables,
        findings=findings(full, runs, small, small_runs, incremental),
        simulations=runs | {f"{name}/two": made for name, made in small_runs.items()},
        labels={r.name: r.metrics[0] for r in full},
    )
