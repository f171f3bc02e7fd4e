"""Saldías et al. (2022), *Toward More Effective Human Evaluation for Machine Translation*:
the tables made again, what the paper says, and whether the simulation agrees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold.common.checks import as_names
from fewgold.errors import DataError
from fewgold.reproduce.findings import (
    FAILS,
    Check,
    Claim,
    Reproduction,
    Statistic,
    abs_error,
    sdev,
    share_within,
)
from fewgold.reproduce.saldias_methods import (
    BASE,
    BEST,
    DEMO,
    ORACLE_RANGE,
    TABLE5,
    TABLE9,
    TABLES,
    PrintedBound,
    PrintedErrors,
    Rated,
    bounds,
    lines,
    load,
    pair_of,
    strategies,
    ten_metrics,
    two_metrics,
)
from fewgold.simulation import DEFAULT_BUDGETS, Simulation, simulate

if TYPE_CHECKING:
    import pandas as pd


#: The sizes of Table 5.
SIZES = (0.1, 0.3, 0.5)
WHO = {"base": BASE, "best": BEST}


def errors_table(table: str, data: Iterable[Rated], runs: Mapping[str, Simulation]) -> pd.DataFrame:
    """Tables 1 to 4 and 6: one line per method, printed and ours.

    ``ratio`` is the error over that of the baseline, which can be compared across data.
    """
    import pandas as pd

    rows: list[dict[str, Any]] = []
    seen = set()
    for rated in data:
        run, printed = runs[rated.name], TABLES[table].get(rated.pair, {})
        base, ranking = abs_error(run, BASE), run.ranking().set_index("strategy")
        seen.add(rated.pair)
        for line in lines(table, rated.metrics[0]):
            mine = ranking.loc[line.strategy]
            ratio = abs_error(run, line.strategy) / base
            row: dict[str, Any] = {"data": rated.name, "pair": rated.pair, **line._asdict()}
            row |= _as_printed(printed, line.method, line.kind)
            row |= {
                **{"error": mine["abs_error"], "error_mc": mine["abs_error_mc"]},
                **{"sdev": mine["abs_error_sd"], "sdev_mc": mine["abs_error_sd_mc"]},
                **{"win": 100 * mine["win"], "win_mc": 100 * mine["win_mc"]},
                **{"ratio": ratio.value, "ratio_mc": ratio.mc},
            }
            rows.append(row)
    for pair, printed in TABLES[table].items():
        if pair not in seen:  # EnRu of Table 6, for which there are no data
            for method in printed:
                row = {"data": "", "pair": pair, "method": method, "strategy": ""}
                row |= {"kind": "printed", **_as_printed(printed, method, "printed")}
                rows.append(row)
    return pd.DataFrame(rows)


def _as_printed(printed: Mapping[str, PrintedErrors], method: str, kind: str) -> dict[str, float]:
    row = printed.get(method) if kind == "printed" else None
    return {
        "printed_error": row.abs_error if row else np.nan,
        "printed_sdev": row.sdev if row else np.nan,
        "printed_win": np.nan if row is None or row.win is None else row.win,
        "printed_ratio": row.abs_error / printed["baseline"].abs_error if row else np.nan,
    }


def bounds_table(data: Iterable[Rated], runs: Mapping[str, Simulation]) -> pd.DataFrame:
    """Table 5: how often the error was below the bound, by how much, and the bound."""
    import pandas as pd

    rows = []
    nothing = PrintedBound(np.nan, np.nan, np.nan)
    for rated in data:
        frame, printed = runs[rated.name].by_budget(), TABLE5[rated.pair]
        cases = product(bounds(rated.pair).items(), sizes(runs[rated.name]), WHO.items())
        for (bound, made), size, (who, strategy) in cases:
            at = (frame["strategy"] == strategy) & np.isclose(frame["budget"], size)
            mine = frame[at].iloc[0]
            oracle = bound.endswith("oracle")
            shown = printed[round(size, 2)][who] if oracle else nothing
            rows.append(
                {
                    **{"data": rated.name, "pair": rated.pair},
                    **{"bound": made.name, "R": getattr(made, "score_range", np.nan)},
                    **{"size": 100 * size, "estimator": who},
                    **{f"printed_{name}": value for name, value in shown._asdict().items()},
                    "cal": 100 * mine[f"coverage_{bound}"],
                    "cal_mc": 100 * mine[f"coverage_{bound}_mc"],
                    "slack": mine[f"slack_{bound}"],
                    "slack_mc": mine[f"slack_{bound}_mc"],
                    "t": mine[f"half_width_{bound}"],
                    "error": mine["abs_error"],
                }
            )
    return pd.DataFrame(rows)


def sizes(run: Simulation) -> list[float]:
    """Those sizes of Table 5 that were simulated."""
    return [b for b in run.budgets if isinstance(b, float) and np.isclose(b, SIZES).any()]


def metrics_table(full: Iterable[Rated], small: Iterable[Rated]) -> pd.DataFrame:
    """Table 9: the metrics here beside those of the paper, each in the order of correlation.

    Then those of Table 6, of which the paper prints no correlation.
    """
    import pandas as pd

    rows = []
    for rated in full:
        theirs = list(TABLE9[rated.pair].items())
        mine = list(rated.correlations.items())
        for k in range(max(len(mine), len(theirs))):
            ours, printed = (x[k] if k < len(x) else ("", np.nan) for x in (mine, theirs))
            rows.append((rated.name, "tables 1 to 5", *printed, *ours, len(rated.studies)))
    for rated in small:
        for ours in rated.correlations.items():
            rows.append((rated.name, "table 6", "", np.nan, *ours, len(rated.studies)))
    columns = ["data", "used", "printed_metric", "printed_r", "metric", "r", "systems"]
    return pd.DataFrame(rows, columns=columns)


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
        """A combination over the better of sampler's mean and control variates by themselves."""
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
        """The error of a method over that of the baseline, below or above 1."""
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
        """What bins and control variates gain together, less what documents and they do."""
        found = self.over_better_part(BINS, BIN) - self.over_better_part(BEST, DOC)
        rows = TABLES["table1"][self.pair] | TABLES["table4"][self.pair]
        error = {method: row.abs_error for method, row in rows.items()}
        printed = error["metrics-prop+cv-knn"] / min(error["cv-knn"], error["metrics-prop"])
        printed -= error["docs-prop+cv-knn"] / min(error["cv-knn"], error["docs-prop"])
        what = "metrics-prop+cv-knn/better part − docs-prop+cv-knn/better part"
        return [self._check(what, found, "above", 0.0, printed)]

    def covered(self, bound: str, limit: float) -> list[Check]:
        """How often Hoeffding's bound covers; with the true range, also how wide it is."""
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

    def spread(self) -> list[Check]:
        """The standard deviation of the error over its mean."""
        found = sdev(self.run, BEST) / self[BEST]
        row = TABLES["table4"][self.pair]["docs-prop+cv-knn"]
        printed = row.sdev / row.abs_error
        return [self._check("sdev/error of docs-prop+cv-knn", found, "above", 0.5, printed)]


def _ratios(sets: Iterable[Errors], strategy: str) -> str:
    """Errors of a strategy over the baseline's, one data set after another, as text."""
    shown = ((e.pair, e.ratio(strategy)) for e in sets)
    return ", ".join(f"{pair} {r.value:.3f} ± {r.mc:.3f}" for pair, r in shown)


def findings(
    data: Iterable[Rated],
    runs: Mapping[str, Simulation],
    small: Iterable[Rated],
    small_runs: Mapping[str, Simulation],
    incremental: bool,
) -> list[Claim]:
    """All findings of the paper that the tables bear on."""
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
            "allocated by variance, in the words of the paper. With standard deviations, as "
            f"Neyman's formula has it: {_ratios(sets, 'docs-opt-printed+mean')}",
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
            "So do all metrics at once, with a slope each.",
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
            "Hoeffding's bound with the true range covers always, and is an order of magnitude "
            "too wide.",
            each(lambda e: e.covered("hoeffding", 0.99)),
        ),
        Claim(
            "Hoeffding, oracle R",
            "With the range that the answers suggest (4 and 7) it is calibrated: it covers more "
            "than 95 % for docs-prop+cv-knn.",
            each(lambda e: e.covered("hoeffding-oracle", 0.95)),
        ),
        Claim(
            "standard deviation",
            "The standard deviation of the error is uncomfortably near the error itself.",
            each(Errors.spread),
            "a normal error without bias has the ratio √(π/2 − 1) = 0.756, whatever the method",
        ),
        Claim(
            "two metrics",
            "The gain of docs-prop+cv-knn remains with two metrics chosen beforehand.",
            each(lambda e: [e.check("table6", "docs-prop+cv-knn", BEST, "below")], tested),
            "on these data instead of WMT21 news",
        ),
    ]
    return found


#: The WMT20 files, and what stands for them where they are absent.
DATA = ("wmt20_ende", "wmt20_zhen")
DEMO_DATA = ("demo-ende", "demo-zhen")
# Nearest to the paper's test data, WMT21 news, which is not among the files: one rater a segment.
_TEST = "ted_ende"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, eq=False)
class SaldiasReproduction(Reproduction):
    """Tables beside the printed ones, and what the paper found beside what is found here.

    Attributes
    ----------
    tables
        ``table1`` to ``table6`` as in the paper, and ``metrics`` (its Table 9).
    findings
        Sentences of the paper, each with figures and a verdict.
    simulations
        By data set; those of Table 6, with two metrics, under its name and ``/two``.
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

    def summary(self) -> str:
        from fewgold.reproduce import saldias_output

        return saldias_output.summary(self)

    def _details(self) -> dict[str, Any]:
        return {
            "seconds": sum(run.seconds for run in self.simulations.values()),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def _output(self) -> tuple[str, str, dict[str, Any]]:
        from fewgold.reproduce import saldias_output

        drawn = saldias_output.figures(self)
        return "findings", saldias_output.page(self, drawn), drawn


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
    """Make Tables 1 to 6 of Saldías et al. (2022) again, beside the printed values.

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
        For a data set, the systems to take; by default all but the reference of the metrics.
    n_jobs, rng, store, resume
        As for `fewgold.simulate`.
    progress
        Called with the name of a data set, the number of finished tasks and of all of them.

    Examples
    --------
    >>> made = saldias(draws=4, budgets=[0.1], data=["demo-ende"], incremental=False,
    ...                systems={"demo-ende": ["alpha"]})
    >>> made.tables["table1"]["method"].tolist()[:3]
    ['baseline', 'docs-prop', 'docs-opt']
    """
    shares = [float(b) for b in budgets]
    if not shares or not all(0 < b <= 1 for b in shares):
        raise DataError(f"budgets must be shares of the test set, above 0 and at most 1: {shares}.")
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
    if any(not name.startswith(DEMO) for name in data):
        with suppress(FileNotFoundError):  # that file need not be among the others
            talks = load(_TEST, wanted.get(_TEST))
            test.append(two_metrics(_TEST, talks))
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
            # A folder each: starting afresh must not clear what another has just finished.
            store=None if store is None else Path(store) / label.replace("/", "-"),
            resume=resume,
        )

    runs = {r.name: run(r, main, r.name, bounds(r.pair)) for r in full}
    small_runs = {r.name: run(r, ["table6"], f"{r.name}/two", ()) for r in test}
    tables = {name: errors_table(name, full, runs) for name in main}
    if sizes(next(iter(runs.values()))):
        tables["table5"] = bounds_table(full, runs)
    tables["table6"] = errors_table("table6", test, small_runs)
    tables["metrics"] = metrics_table(full, test)
    return SaldiasReproduction(
        tables=tables,
        findings=findings(full, runs, small, small_runs, incremental),
        simulations=runs | {f"{name}/two": made for name, made in small_runs.items()},
        labels={r.name: r.metrics[0] for r in full},
    )
