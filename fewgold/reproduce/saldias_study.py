"""Saldías et al. (2022), *Toward More Effective Human Evaluation for Machine Translation*."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fewgold.common.checks import as_names
from fewgold.errors import DataError
from fewgold.reproduce import saldias_findings, saldias_methods
from fewgold.reproduce.findings import FAILS, Claim, Reproduction
from fewgold.reproduce.saldias_findings import findings
from fewgold.reproduce.saldias_methods import BASE, bounds, strategies
from fewgold.reproduce.saldias_printed import ORACLE_RANGE
from fewgold.simulation import DEFAULT_BUDGETS, Simulation, simulate

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
        The WMT20 files (see `fewgold.datasets.load_real`), or `DEMO_DATA`, which is embedded.
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
        if saldias_methods.pair_of(name) not in ORACLE_RANGE:
            raise DataError(
                f"expected data sets such as {', '.join(DATA + DEMO_DATA)}; got {name!r}."
            )
    wanted = systems or {}
    loaded = {name: saldias_methods.load(name, wanted.get(name)) for name in data}
    full = [saldias_methods.ten_metrics(name, studies) for name, studies in loaded.items()]
    small = [saldias_methods.two_metrics(name, studies) for name, studies in loaded.items()]
    test = list(small)
    if any(not name.startswith(saldias_methods.DEMO) for name in data):
        with suppress(FileNotFoundError):  # that file need not be among the others
            talks = saldias_methods.load(_TEST, wanted.get(_TEST))
            test.append(saldias_methods.two_metrics(_TEST, talks))
    main = ["table1", *(["table2"] if incremental else []), "table3", "table4"]

    def run(rated: saldias_methods.Rated, tables: list[str], label: str, extra: Any) -> Simulation:
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
    tables = {name: saldias_findings.errors_table(name, full, runs) for name in main}
    if saldias_findings.sizes(next(iter(runs.values()))):
        tables["table5"] = saldias_findings.bounds_table(full, runs)
    tables["table6"] = saldias_findings.errors_table("table6", test, small_runs)
    tables["metrics"] = saldias_findings.metrics_table(full, test)
    return SaldiasReproduction(
        tables=tables,
        findings=findings(full, runs, small, small_runs, incremental),
        simulations=runs | {f"{name}/two": made for name, made in small_runs.items()},
        labels={r.name: r.metrics[0] for r in full},
    )
