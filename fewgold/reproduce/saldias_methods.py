"""Saldías et al. (2022): printed tables, data and methods, and the reproduced tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fewgold import datasets
from fewgold.bounds import Bernstein, Bound, Hoeffding, Student
from fewgold.common.arrays import FloatArray, IntArray
from fewgold.common.checks import as_names
from fewgold.common.statistics import correlation
from fewgold.errors import DataError
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators import KNN, Learned, Mean
from fewgold.pool import Pool
from fewgold.reproduce.findings import abs_error, printed_tables
from fewgold.sample import Ratings
from fewgold.samplers import ByMetric, Sampler, SimpleRandom, Stratified
from fewgold.simulation import Simulation
from fewgold.simulation.studies import Study

if TYPE_CHECKING:
    import pandas as pd


class PrintedErrors(NamedTuple):
    """A line of Tables 1 to 4 and 6: |error|, its standard deviation, and wins in per cent."""

    abs_error: float
    sdev: float
    win: float | None = None


class PrintedBound(NamedTuple):
    """A line of Table 5: calibration in per cent, slack and bound."""

    cal: float
    slack: float
    t: float


def _by_pair(name: str, labels: int) -> Iterator[tuple[str, list[str], str, list[str]]]:
    """Table, labels of the line, language pair and the cells of a printed file, line by line."""
    for part in printed_tables(name):
        (table, *pairs), *lines = (line.split() for line in part.splitlines())
        for line in lines:
            cells = line[labels:]
            wide = len(cells) // len(pairs)
            for k, pair in enumerate(pairs):
                yield table, line[:labels], pair, cells[k * wide : (k + 1) * wide]


#: By table, language pair and method.
TABLES: dict[str, dict[str, dict[str, PrintedErrors]]] = {}
for _table, (_label,), _pair, _cells in _by_pair("saldias_errors", 1):
    _row = PrintedErrors(*(float(c) for c in _cells if c != "-"))
    TABLES.setdefault(_table, {}).setdefault(_pair, {})[_label] = _row

#: Table 5: the range that made Hoeffding's bound useful, by language pair …
ORACLE_RANGE = {"EnDe": 4.0, "ZhEn": 7.0}
#: … the true range of the scores …
TRUE_RANGE = 25.0
#: … and the results with the former, by language pair, size and estimator.
TABLE5: dict[str, dict[float, dict[str, PrintedBound]]] = {}
for _table, (_size, _label), _pair, _cells in _by_pair("saldias_bounds", 2):
    TABLE5.setdefault(_pair, {}).setdefault(float(_size), {})[_label] = PrintedBound(
        *map(float, _cells)
    )

#: Table 9: the ten metrics and their correlation with the ratings of single raters, and, for
#: comparison, that of the length of the translation.
TABLE9: dict[str, dict[str, float]] = {}
for _table, _none, _pair, (_label, _r) in _by_pair("saldias_metrics", 0):
    TABLE9.setdefault(_pair, {})[_label] = float(_r)


#: Tables 7, 8, 10 and 11: the data. The reference of the metrics is left out.
DATA_TABLES: dict[str, list[tuple[str, ...]]] = {}
for _block in printed_tables("saldias_data"):
    _head, *_rows = _block.splitlines()
    DATA_TABLES[_head.split()[0]] = [tuple(_line.split()) for _line in _rows]
# Systems whose names in the public files differ from those in the paper.
_ALIASES = {"Huoshan_Translate": "VolcTrans"}


DEMO = "demo-"
#: Number of metrics used in the paper, those with the highest correlation.
MOST = 10
LENGTH = "target_length"
# Columns whose correlation is this close to 1 count as one metric, even on different scales.
_COPY = 1 - 1e-4


@dataclass(frozen=True, eq=False)
class Rated:
    """One data set: a study for each system, and the metrics in them.

    ``correlations`` has the mean absolute correlation of each metric with the human score, over
    the systems that are not human, largest first; ``length`` that of the length of the translation,
    which is not one of them.
    """

    name: str
    pair: str
    studies: Mapping[str, Study]
    correlations: Mapping[str, float]
    length: float = np.nan

    @property
    def metrics(self) -> tuple[str, ...]:
        return tuple(self.correlations)


def load(name: str, systems: Iterable[str] | None = None) -> dict[str, Study]:
    """All systems of ``wmt20_ende``, ``wmt20_zhen``, ``ted_ende``, ``demo-ende`` or ``demo-zhen``.

    The reference of the metrics is not among them.
    """
    known: Any = datasets.real_systems
    read: Any = datasets.load_real
    if name.startswith(DEMO):
        name, known, read = name.removeprefix(DEMO), datasets.demo_systems, datasets.load_demo
    wanted = None if systems is None else as_names(systems)
    chosen = [s for s in known(name) if s != "ref" and (wanted is None or s in wanted)]
    return {s: Study(*read(name, system=s)) for s in chosen}


def pair_of(name: str) -> str:
    """The language pair as written in the paper: EnDe for ``wmt20_ende``."""
    text = name.rpartition("_")[2].rpartition("-")[2]
    return text[:2].capitalize() + text[2:].capitalize()


def is_human(system: str) -> bool:
    """Human translations entered as a system."""
    return system.lower().startswith(("human", "ref-"))


def ten_metrics(name: str, studies: Mapping[str, Study]) -> Rated:
    """The ten metrics with the highest correlation among those that all systems have.

    Lengths are not metrics, and identical columns count once.
    """
    chosen: dict[str, float] = {}
    for metric, r in _correlations(studies).items():
        if len(chosen) < MOST and not any(_same(studies, metric, other) for other in chosen):
            chosen[metric] = r
    length = np.nan
    if all(LENGTH in study.pool.metrics for study in studies.values()):
        length = _mean_correlation(studies, LENGTH)
    return replace(_with_metrics(name, studies, chosen), length=length)


def two_metrics(name: str, studies: Mapping[str, Study]) -> Rated:
    """COMET and a version of BLEURT, for the systems that have both, as in the paper's test data.

    If the data have neither, the two metrics with the highest correlation.
    """
    have = {s: {m.lower(): m for m in study.pool.metrics} for s, study in studies.items()}
    comet = {s: m["comet"] for s, m in have.items() if "comet" in m}
    bleurt = {s: m[b] for s, m in have.items() for b in sorted(m) if "bleurt" in b}
    both = [s for s in studies if s in comet and s in bleurt]
    if not both:
        return _with_metrics(name, studies, dict(list(_correlations(studies).items())[:2]))
    kept = {s: studies[s] for s in both}
    found = _correlations(kept)
    names = (comet[both[0]], bleurt[both[0]])
    return _with_metrics(name, kept, {m: found[m] for m in sorted(names, key=lambda m: -found[m])})


def _correlations(studies: Mapping[str, Study]) -> dict[str, float]:
    """Metrics that every system has, by their mean absolute correlation, largest first."""
    first = next(iter(studies.values())).pool
    shared = [
        m
        for m in first.metrics
        if first.orientation.get(m) != 0 and all(m in s.pool.metrics for s in studies.values())
    ]
    if not shared:
        raise DataError("expected at least one metric that all systems have; there is none.")
    found = {m: _mean_correlation(studies, m) for m in shared}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0].lower())))


def _mean_correlation(studies: Mapping[str, Study], metric: str) -> float:
    """Mean absolute correlation with the human score over the systems that are not human."""
    machines = [s for name, s in studies.items() if not is_human(name)] or list(studies.values())
    return float(np.mean([abs(correlation(s.pool.metrics[metric], s.gold)) for s in machines]))


def _same(studies: Mapping[str, Study], one: str, other: str) -> bool:
    pools = [study.pool for study in studies.values()]
    return all(abs(correlation(p.metrics[one], p.metrics[other])) > _COPY for p in pools)


def _with_metrics(name: str, studies: Mapping[str, Study], kept: Mapping[str, float]) -> Rated:
    """The data with these metrics only."""
    found = {}
    for system, (pool, gold) in studies.items():
        metrics = {m: pool.metrics[m] for m in kept}
        signs = {m: sign for m, sign in pool.orientation.items() if m in metrics}
        found[system] = Study(replace(pool, metrics=metrics, orientation=signs), gold)
    return Rated(name, pair_of(name), found, dict(kept))


BASE = "random+mean"
BEST = "docs-prop-printed+cv-knn-printed"
OURS = "docs-balanced+ridge"


@dataclass(frozen=True)
class ByVariance:
    """Eq. 2 as described in the text of the paper: proportional to a bin's size and *variance*.

    The variance is that of the averaged metrics. Neyman's allocation uses its square root.
    """

    def __call__(self, pool: Pool, strata: IntArray) -> FloatArray:
        values, sizes = pool.composite(), np.bincount(strata)
        mean = np.bincount(strata, values) / sizes
        return np.asarray(np.bincount(strata, (values - mean[strata]) ** 2))


@dataclass(frozen=True)
class CentredControls(Estimator):
    """Eq. 4 with the covariance of footnote 1, Σ (X − X̄)(Z − Z̄)/n, for all metrics."""

    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()

    @property
    def name(self) -> str:
        return "cv-multi-footnote"

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        everywhere = sample.pool.standardised()
        z = np.moveaxis(everywhere[:, sample.indices], 0, -2)
        gram = everywhere @ everywhere.T / len(sample.pool)
        centred = (z - z.mean(-1, keepdims=True)) * (y - y.mean(-1, keepdims=True))[..., None, :]
        beta = centred.mean(-1) @ np.linalg.pinv(gram, hermitian=True)
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self.bound,
            method=self.name,
            tuned=True,
        )


class TableLine(NamedTuple):
    """A line of a table: the paper's name, the strategy here, and its kind.

    ``kind`` is ``printed`` (the paper's own), ``reading`` (another reading of the paper),
    ``corrected`` (without its errata) or ``ours``.
    """

    method: str
    strategy: str
    kind: str


# Table, kind, method and strategy; {} stands for the metric used in place of the paper's BLEURT.
_LINES = """
table1 printed   docs-prop           docs-prop-printed+mean
table1 printed   docs-opt            docs-opt-variance+mean
table1 printed   metrics-prop        metrics-prop-printed+mean
table1 reading   docs-opt            docs-opt-printed+mean
table1 corrected docs-prop           docs-prop+mean
table1 corrected docs-opt            docs-opt+mean
table1 corrected metrics-prop        metrics-prop+mean
table2 printed   docs-incr-metrics   docs-incr-metrics-printed+mean
table2 printed   docs-incr-human     docs-incr-human-printed+mean
table2 reading   docs-incr-metrics   docs-incr-metrics+mean
table2 reading   docs-incr-human     docs-incr-human+mean
table3 printed   cv-bleurt           random+cv-{}-printed
table3 printed   cv-mean             random+cv-mean-printed
table3 printed   cv-multi            random+cv-multi-printed
table3 printed   cv-knn              random+cv-knn-printed
table3 reading   cv-multi            random+cv-multi-footnote
table3 corrected cv-bleurt           random+cv-{}
table3 corrected cv-mean             random+cv-mean
table3 corrected cv-multi            random+cv-multi
table3 corrected cv-knn              random+cv-knn
table4 printed   docs-prop           docs-prop-printed+mean
table4 printed   cv-knn              random+cv-knn-printed
table4 printed   docs-prop+cv-knn    docs-prop-printed+cv-knn-printed
table4 printed   metrics-prop+cv-knn metrics-prop-printed+cv-knn-printed
table4 corrected docs-prop+cv-knn    docs-prop+cv-knn
table4 corrected metrics-prop+cv-knn metrics-prop+cv-knn
table6 printed   docs-prop+cv-knn    docs-prop-printed+cv-knn-printed
table6 corrected docs-prop+cv-knn    docs-prop+cv-knn
"""


def lines(table: str, single: str) -> list[TableLine]:
    """The lines of a table; ``single`` is the metric used in place of the paper's BLEURT."""
    found = [
        TableLine(method, strategy.format(single), kind)
        for name, kind, method, strategy in map(str.split, _LINES.strip().splitlines())
        if name == table
    ]
    return [TableLine("baseline", BASE, "printed"), *found, TableLine("", OURS, "ours")]


def made(name: str) -> Estimator | str:
    """The strategy with this name; those missing in the registry are made here."""
    by_metric = Stratified(ByMetric(), rounding="printed")
    own: dict[str, Estimator] = {
        "docs-opt-variance+mean": Mean(Stratified(allocation=ByVariance(), rounding="printed")),
        "metrics-prop-printed+mean": Mean(by_metric),
        "metrics-prop-printed+cv-knn-printed": Learned(
            KNN(folds=None), slope="printed", sampler=by_metric
        ),
        "random+cv-multi-footnote": CentredControls(),
    }
    return own.get(name, name)


def bounds(pair: str) -> dict[str, Bound]:
    """The bounds of Table 5, with the paper's oracle range and with the true one."""
    oracle, true = ORACLE_RANGE[pair], TRUE_RANGE
    return {
        "hoeffding-oracle": Hoeffding(printed=True, score_range=oracle),
        "hoeffding": Hoeffding(printed=True, score_range=true),
        "bernstein": Bernstein(printed=True, score_range=true),
    }


def strategies(tables: list[str], single: str) -> dict[str, Any]:
    """All strategies needed for some tables, by name."""
    names = dict.fromkeys(line.strategy for table in tables for line in lines(table, single))
    return {name: made(name) for name in names}


# The reproduced tables ----------------------------------------------------------------------------

#: The sizes of Table 5.
SIZES = (0.1, 0.3, 0.5)
WHO = {"base": BASE, "best": BEST}


def errors_table(table: str, data: Iterable[Rated], runs: Mapping[str, Simulation]) -> pd.DataFrame:
    """Tables 1 to 4 and 6: one line per method, printed and ours.

    ``ratio`` is the error divided by that of the baseline, which can be compared across data.
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
        if pair not in seen:  # no data for EnRu of Table 6
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


def data_table(table: str, year: str) -> pd.DataFrame:
    """Tables 7, 8, 10 and 11: sizes or scores of the systems, printed and in the public files."""
    import pandas as pd

    frames = {pair: datasets.real_frame(f"{year}_{pair.lower()}") for pair in ("EnDe", "ZhEn")}
    rows = []
    for line in DATA_TABLES[table]:
        if table in ("table7", "table10"):
            _, pair, *printed = line
            frame = frames[pair]
            here: list[float] = [frame["seg_id"].nunique(), frame["doc_id"].nunique()]
            labels = ["segments", "documents"]
        else:
            pair, system, score = line
            names = frames[pair]["system"].map(lambda s: _ALIASES.get(s.split(".")[0], s))
            mine = frames[pair]["mqm"][[_is_system(name, system) for name in names]]
            labels, printed, here = [system], [score], [float(mine.mean())]
        for label, shown, value in zip(labels, printed, here, strict=True):
            digits = len(shown.partition(".")[2])
            # A mean at a rounding boundary may be printed either way.
            agrees = abs(value - float(shown)) <= 0.5 * 10.0**-digits + 1e-9
            rows.append((pair, label, float(shown), value, agrees))
    return pd.DataFrame(rows, columns=["pair", "what", "printed", "here", "agrees"])


def _is_system(name: str, printed: str) -> bool:
    """Whether a name such as ``Tohoku-AIP-NTT.890`` is that of the paper's ``Tohoku``."""
    bare = name.split(".", maxsplit=1)[0]
    return bare == printed or bare.startswith((f"{printed}-", f"{printed}_"))


def sizes(run: Simulation) -> list[float]:
    """The sizes of Table 5 that were simulated."""
    return [b for b in run.budgets if isinstance(b, float) and np.isclose(b, SIZES).any()]


def metrics_table(full: Iterable[Rated], small: Iterable[Rated]) -> pd.DataFrame:
    """Table 9: the metrics here next to those of the paper, each in order of correlation.

    Followed by those of Table 6, for which the paper prints no correlation.
    """
    import pandas as pd

    rows = []
    for rated in full:
        theirs = list(TABLE9[rated.pair].items())
        mine = list(rated.correlations.items())
        if np.isfinite(rated.length):
            # The last line of the printed table, after its ten metrics.
            mine += [("", np.nan)] * (len(theirs) - 1 - len(mine)) + [(LENGTH, rated.length)]
        for k in range(max(len(mine), len(theirs))):
            ours, printed = (x[k] if k < len(x) else ("", np.nan) for x in (mine, theirs))
            rows.append((rated.name, "tables 1 to 5", *printed, *ours, len(rated.studies)))
    for rated in small:
        for ours in rated.correlations.items():
            rows.append((rated.name, "table 6", "", np.nan, *ours, len(rated.studies)))
    columns = ["data", "used", "printed_metric", "printed_r", "metric", "r", "systems"]
    return pd.DataFrame(rows, columns=columns)
