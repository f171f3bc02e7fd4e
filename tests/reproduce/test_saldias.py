"""Published tables reproduced: the printed values, the verdicts, and the whole on small data."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from fewgold import Pool, datasets, reproduce, simulate
from fewgold.cli import app
from fewgold.errors import DataError
from fewgold.reproduce import saldias_methods, saldias_study
from fewgold.reproduce.findings import FAILS, HOLDS, OPEN, Check, Claim, mean_of, spread_of
from fewgold.reproduce.saldias_study import DEMO_DATA, SaldiasReproduction
from fewgold.samplers import SimpleRandom, Stratified

HAVE = datasets.data_folder() is not None
REAL = pytest.mark.skipif(not HAVE, reason="the WMT20 files are not here (FEWGOLD_DATA)")
PAIRS = ("EnDe", "ZhEn")
SIZE = 300  # segments of the embedded data that the whole is made from
load_demo = datasets.load_demo


def the_first(kind: str, system: str) -> tuple[Pool, Any]:
    """The first segments of the embedded data: a balanced sample takes as many steps."""
    pool, gold = load_demo(kind, system=system)
    return pool.take(np.arange(SIZE)), gold[:SIZE]


# What is printed ----------------------------------------------------------------------------


def test_printed_tables_agree_with_one_another() -> None:
    """Table 4 repeats lines of Tables 1 and 3, and all of them share the baseline."""
    tables = saldias_methods.TABLES
    for pair in PAIRS:
        assert tables["table4"][pair]["docs-prop"] == tables["table1"][pair]["docs-prop"]
        assert tables["table4"][pair]["cv-knn"] == tables["table3"][pair]["cv-knn"]
        assert len({tables[f"table{k}"][pair]["baseline"] for k in (1, 2, 3, 4)}) == 1


def test_printed_tables_agree_with_the_text() -> None:
    """Section 4: reductions of 14 and 23 %, and on test data 7, 21 and 7 %; cv-knn 5 % better."""

    def reduction(table: str, pair: str, method: str = "docs-prop+cv-knn") -> int:
        rows = saldias_methods.TABLES[table][pair]
        return round(100 * (1 - rows[method].abs_error / rows["baseline"].abs_error))

    assert [reduction("table4", pair) for pair in PAIRS] == [14, 23]
    assert [reduction("table6", pair) for pair in ("EnDe", "ZhEn", "EnRu")] == [7, 21, 7]
    rows = saldias_methods.TABLES["table3"]["ZhEn"]
    assert round(100 * (1 - rows["cv-knn"].abs_error / rows["cv-bleurt"].abs_error)) == 5
    correlations = {pair: list(saldias_methods.TABLE9[pair].values()) for pair in PAIRS}
    lengths = {pair: correlations[pair].pop() for pair in PAIRS}
    assert (min(correlations["EnDe"]), max(correlations["EnDe"])) == (0.279, 0.410)
    assert (min(correlations["ZhEn"]), max(correlations["ZhEn"])) == (0.425, 0.465)
    assert all(len(r) == 10 for r in correlations.values())
    # Footnote 3: the length of the translation does better than three metrics for Chinese.
    assert lengths == {"EnDe": 0.223, "ZhEn": 0.439}
    assert sum(r < lengths["ZhEn"] for r in correlations["ZhEn"]) == 3


def test_printed_bounds_follow_from_the_formula() -> None:
    """t of Table 5 is Hoeffding's bound for the mean number of segments of a rater (Table 7)."""
    segments = {
        "EnDe": np.mean([713, 683, 705, 709, 722, 722]),
        "ZhEn": np.mean([993, 992, 1012, 996, 1021, 986]),
    }
    for pair in PAIRS:
        for size, rows in saldias_methods.TABLE5[pair].items():
            total = segments[pair]
            n = round(size * total)
            k = 1 - (n - 1) / total
            t = saldias_methods.ORACLE_RANGE[pair] * sqrt(k * log(2 / 0.05) / (2 * n))
            for row in rows.values():
                assert row.t == pytest.approx(t, abs=0.006)
                assert row.slack < row.t


# Verdicts -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "side", "verdict"),
    [
        (0.90, "below", HOLDS),
        (1.10, "below", FAILS),
        (0.97, "below", OPEN),
        (1.03, "below", OPEN),
        (1.10, "above", HOLDS),
        (0.90, "above", FAILS),
        (1.00, "above", OPEN),
        (np.nan, "above", OPEN),
    ],
)
def test_a_check_needs_two_errors(value: float, side: str, verdict: str) -> None:
    assert Check("x", "ratio", value, 0.02, side, 1.0).verdict == verdict


def test_a_finding_is_as_good_as_its_worst_check() -> None:
    good = Check("x", "ratio", 0.9, 0.01, "below", 1.0)
    bad, open_ = replace(good, value=1.1), replace(good, value=1.0)
    assert Claim("a", "A.", (good, good)).verdict == HOLDS
    assert Claim("a", "A.", (good, open_)).verdict == OPEN
    assert Claim("a", "A.", (good, open_, bad)).verdict == FAILS
    assert Claim("a", "A.", ()).verdict == OPEN
    assert Claim("a", "A.", (bad,)).to_dict()["checks"][0]["verdict"] == FAILS


def test_monte_carlo_errors_of_ratios() -> None:
    """Over many repetitions, ratios of paired draws vary as much as their errors say."""
    rng = np.random.default_rng(1)
    found: dict[str, list[tuple[float, float]]] = {"ratio": [], "gap": [], "near": []}
    scale = np.array([1.0, 2.0, 0.5])[:, None]
    for _ in range(400):
        base = np.abs(rng.normal(size=(3, 60))) * scale
        other = np.abs(0.8 * base + 0.3 * scale * rng.normal(size=(3, 60)))
        a, b = mean_of(other), mean_of(base)
        for name, made in (("ratio", a / b), ("gap", a - b), ("near", spread_of(base) / b)):
            found[name].append((made.value, made.mc))
    for name, pairs in found.items():
        values, errors = np.array(pairs).T
        # The standard deviation of 400 values is good to 3.5 %.
        assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(ddof=1), rel=0.14), name


# Methods and data ---------------------------------------------------------------------------


def test_by_variance_is_size_times_variance() -> None:
    pool, _ = datasets.load_demo()
    score, codes = pool.composite(), pool.codes
    mass = saldias_methods.ByVariance()(pool, codes)
    for h in (0, 5, codes.max()):
        inside = score[codes == h]
        assert mass[h] == pytest.approx(inside.size * inside.var())
    counts = np.bincount(codes, minlength=codes.max() + 1)
    made = Stratified(allocation=saldias_methods.ByVariance(), rounding="printed")
    taken = np.bincount(codes[made.draw(pool, 200, rng=0).indices], minlength=counts.size)
    assert taken.sum() == 200
    share = 200 * mass / mass.sum()
    if (share <= counts).all():
        assert np.abs(taken - share).max() < 1


def test_centred_controls_follow_footnote_1() -> None:
    pool, gold = datasets.load_demo()
    sample = SimpleRandom().draw(pool, 80, rng=3)
    made = saldias_methods.CentredControls().estimate(sample.rate(gold[sample.indices]))
    everywhere = pool.standardised()
    z, y = everywhere[:, sample.indices], gold[sample.indices]
    cov = [((y - y.mean()) * (row - row.mean())).mean() for row in z]
    beta = np.linalg.solve(everywhere @ everywhere.T / len(pool), cov)
    assert float(made.value) == pytest.approx(y.mean() - beta @ z.mean(-1))


def test_metrics_are_chosen_as_in_the_paper() -> None:
    studies = saldias_methods.load("demo-ende", ["human", "alpha", "beta"])
    alpha = studies["alpha"]
    assert "words" in alpha.pool.metrics  # a length, which is no metric
    rated = saldias_methods.ten_metrics("demo-ende", studies)
    assert set(rated.metrics) == set(alpha.pool.metrics) - {"words"}
    values = list(rated.correlations.values())
    assert values == sorted(values, reverse=True)
    machines = [studies[s] for s in ("alpha", "beta")]
    mean = np.mean([abs(np.corrcoef(s.pool.metrics["ter"], s.gold)[0, 1]) for s in machines])
    assert rated.correlations["ter"] == pytest.approx(mean)
    copies = {
        name: study._replace(
            pool=replace(
                study.pool,
                metrics={**study.pool.metrics, "again": 3 + 100 * study.pool.metrics["bleu"]},
            )
        )
        for name, study in studies.items()
    }
    again = saldias_methods.ten_metrics("demo-ende", copies)
    assert len({"again", "bleu"} & set(again.metrics)) == 1
    assert set(saldias_methods.two_metrics("demo-ende", studies).metrics) == {"comet", "bleurt"}
    assert saldias_methods.pair_of("wmt20_zhen") == "ZhEn"
    assert saldias_methods.pair_of("demo-ende") == "EnDe"


# The whole ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made() -> reproduce.Reproduction:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(datasets, "load_demo", the_first)
        return reproduce.saldias(
            *(5, [0.05, 0.1], DEMO_DATA),
            systems={"demo-ende": ["human", "alpha"], "demo-zhen": ["alpha"]},
        )


def test_all_tables_have_all_lines(made: reproduce.Reproduction) -> None:
    assert list(made.tables) == [*(f"table{k}" for k in range(1, 7)), "metrics"]
    for name, printed in saldias_methods.TABLES.items():
        table = made.tables[name]
        for pair, methods in printed.items():
            rows = table[(table["pair"] == pair) & (table["kind"] == "printed")]
            assert rows["method"].tolist() == list(methods)
            for row, (error, sdev, win) in zip(
                rows.to_dict("records"), methods.values(), strict=True
            ):
                assert row["printed_error"] == error
                assert row["printed_sdev"] == sdev
                assert row["printed_win"] == win or win is None
        here = table[table["data"] != ""]
        assert here[["error", "error_mc", "sdev", "ratio", "ratio_mc"]].notna().all(axis=None)
        base = here[here["method"] == "baseline"]
        assert (base["ratio"] == 1).all()
        assert (base["ratio_mc"] == 0).all()
        assert (here[here["kind"] == "ours"]["strategy"] == "docs-balanced+ridge").all()
    assert {"printed", "reading", "corrected", "ours"} == set(made.tables["table3"]["kind"])


def test_figures_are_those_of_the_simulation(made: reproduce.Reproduction) -> None:
    run = made.simulations["demo-ende"]
    table = made.tables["table4"]
    row = table[(table["data"] == "demo-ende") & (table["strategy"] == saldias_methods.BEST)].iloc[
        0
    ]
    cells = [(p, b) for p in run.pools for b in run.budgets]

    def error(strategy: str) -> float:
        return float(np.mean([np.abs(run.errors(p, strategy, b)).mean() for p, b in cells]))

    assert row["error"] == pytest.approx(error(saldias_methods.BEST))
    assert row["ratio"] == pytest.approx(error(saldias_methods.BEST) / error(saldias_methods.BASE))
    wins = [
        np.abs(run.errors(p, saldias_methods.BEST, b)).mean()
        < np.abs(run.errors(p, saldias_methods.BASE, b)).mean()
        for p, b in cells
    ]
    assert row["win"] == pytest.approx(100 * np.mean(wins))


def test_bounds_table(made: reproduce.Reproduction) -> None:
    table = made.tables["table5"]
    assert len(table) == 2 * 3 * 2  # pairs, bounds, estimators; one of the sizes
    rows = table[(table["bound"] == "hoeffding") & (table["pair"] == "EnDe")]
    size, n = SIZE, SIZE // 10
    for row in rows.to_dict("records"):
        t = row["R"] * sqrt((1 - (n - 1) / size) * log(40) / (2 * n))
        assert row["t"] == pytest.approx(t)
        assert row["slack"] == pytest.approx(row["t"] - row["error"])
    assert set(rows["R"]) == {4, 25}
    assert (rows[rows["R"] == 25]["cal"] == 100).all()
    assert rows[rows["R"] == 4]["printed_cal"].tolist() == [92, 96]


def test_findings_and_summary(made: reproduce.Reproduction) -> None:
    assert len(made.findings) == 13
    assert all(f.verdict in (HOLDS, FAILS, OPEN) for f in made.findings)
    assert all(c.verdict in (HOLDS, FAILS, OPEN) for f in made.findings for c in f.checks)
    incremental = next(f for f in made.findings if f.name == "incremental")
    assert len(incremental.checks) == 4
    text = made.summary()
    for part in ("Table 1", "Table 6", "synthetic", "0.147", "EnRu: no data", made.signature):
        assert part in text
    assert "does not hold" in repr(made) or "holds" in repr(made)


def test_files(
    made: reproduce.Reproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert list(saldias_study.FIGURES) == ["figure2", "figure3", "figure4", "figure5"]
    for alike in ("figure3", "figure4"):  # as the first, of other lines
        monkeypatch.delitem(saldias_study.FIGURES, alike)
    written = made.save(tmp_path / "out")
    names = {path.name for path in written}
    assert {"summary.txt", "findings.json", "report.html", "table2.csv", "metrics.csv"} <= names
    assert all(path.stat().st_size for path in written)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "docs-incr-metrics-printed" in page
    # The printed value stands beside ours, and every figure behind a finding is there.
    heads = page.partition(">Table 1: stratified sampling</h2>")[2].partition("</thead>")[0]
    assert heads.index("ratio, paper") < heads.index(">ratio<") < heads.index("error, paper")
    assert all(check.what in page for finding in made.findings for check in finding.checks)
    assert "http" not in page.partition("<main>")[2].partition("</main>")[0]
    pytest.importorskip("matplotlib")
    assert {f"figure{k}.{kind}" for k in (2, 5) for kind in ("png", "svg")} <= names


def test_without_table_2_and_without_table_5(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "load_demo", the_first)
    made = reproduce.saldias(
        2, [0.05], ["demo-ende"], incremental=False, systems={"demo-ende": ["alpha"]}
    )
    assert list(made.tables) == ["table1", "table3", "table4", "table6", "metrics"]
    names = {f.name: f.verdict for f in made.findings}
    assert "incremental" not in names
    assert names["Hoeffding, R = 25"] == OPEN
    listed = made.contents.set_index("item")
    assert listed.loc["Table 2", ["status", "verdict"]].tolist() == ["left out", "left out"]
    assert listed.loc["Table 2", "remark"] == "made only with the option incremental"
    assert listed.loc["Table 1", "status"] == "made"
    assert "Table 2, incremental stratified sampling: left out (made only" in made.summary()


def test_what_it_refuses() -> None:
    with pytest.raises(DataError, match="shares of the test set"):
        reproduce.saldias(2, [100], ["demo-ende"])
    with pytest.raises(DataError, match="wmt20_ende"):
        reproduce.saldias(2, [0.1], ["frank"])


# The command --------------------------------------------------------------------------------


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["reproduce", "saldias", *args])


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "demo_systems", lambda kind: ["alpha"])
    monkeypatch.setattr(datasets, "load_demo", the_first)
    monkeypatch.setattr(SaldiasReproduction, "_figures", lambda made: {})  # test_files draws them
    out = tmp_path / "out"
    options = ["--demo", "--draws", "2", "--budgets", "5%", "--no-incremental", "-o", str(out)]
    result = run(*options, "--format", "json")
    assert result.exit_code == 0, result.output
    record = json.loads(result.stdout)
    assert len(record["tables"]["table1"]) == 2 * 9
    assert {f["verdict"] for f in record["findings"]} <= {HOLDS, FAILS, OPEN}
    assert "no plots without matplotlib" in result.stderr
    assert all(Path(path).exists() for path in record["files"])
    again = run(*options, "--resume")
    assert again.exit_code == 0
    assert "reproduced" in again.stdout


def test_command_gate(made: reproduce.Reproduction, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = Claim("gate", "A.", (Check("x", "ratio", 2.0, 0.1, "below", 1.0),))
    for findings, code in (([bad], 1), ([], 0)):
        given = replace(made, findings=findings)
        monkeypatch.setattr(reproduce, "saldias", lambda *args, g=given, **kw: g)
        assert run("--demo", "--fail").exit_code == code
        assert run("--demo").exit_code == 0


def test_command_without_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FEWGOLD_DATA", str(tmp_path / "nowhere"))
    result = run("--draws", "2")
    assert result.exit_code == 3
    assert "FEWGOLD_DATA" in result.stderr
    assert "--demo" in result.stderr


def test_command_usage() -> None:
    assert run("--budgets", "100").exit_code == 2
    assert run("--resume").exit_code == 2
    assert CliRunner().invoke(app, ["reproduce", "nobody"]).exit_code == 2


# The real data ------------------------------------------------------------------------------


@REAL
def test_metrics_of_the_real_data() -> None:
    ende = saldias_methods.ten_metrics("wmt20_ende", saldias_methods.load("wmt20_ende"))
    assert len(ende.studies) == 9
    assert len(ende.metrics) == 10
    assert ende.metrics[0] == "COMET_ens4"
    assert "target_length" not in ende.metrics
    assert not {"bleurt-combi", "Yisi-combi"} <= set(ende.metrics)
    assert not {"chrF", "sb_chrF"} <= set(ende.metrics)
    assert set(saldias_methods.two_metrics("wmt20_ende", ende.studies).metrics) == {
        "COMET",
        "bleurt-combi",
    }


@REAL
@pytest.mark.slow
def test_findings_on_real_data_reduced() -> None:
    """Three systems, three sizes: what shows with few draws."""
    systems = {
        "wmt20_ende": ["Tohoku-AIP-NTT.890", "Online-A.1574", "Human-P.0"],
        "wmt20_zhen": ["DeepMind.381", "Online-B.1605", "Human-B.0"],
    }
    names = {
        "docs-prop-printed+mean",
        "metrics-prop-printed+mean",
        "random+cv-knn-printed",
        saldias_methods.BEST,
    }
    for name, chosen in systems.items():
        rated = saldias_methods.ten_metrics(name, saldias_methods.load(name, chosen))
        result = simulate(
            dict(rated.studies),
            strategies={n: saldias_methods.made(n) for n in names},
            budgets=[0.1, 0.2, 0.3],
            draws=100,
        )
        table = result.ranking().set_index("strategy")
        best = table.loc[saldias_methods.BEST]
        assert best["reduction"] - 2 * best["reduction_mc"] > 0
        for other in names - {saldias_methods.BEST}:
            # A reduction of 5 % or more; 900 draws tell it to 3 %.
            assert table.loc[other, "reduction"] > -2 * table.loc[other, "reduction_mc"]


@REAL
@pytest.mark.slow
def test_findings_on_real_data() -> None:
    """What 50 draws of all systems and sizes tell: effects of four Monte-Carlo errors and more."""
    made = reproduce.saldias(50, incremental=False, n_jobs=2)
    verdicts = {finding.name: finding.verdict for finding in made.findings}
    for name in (
        *("metrics-prop", "control variates", "two metrics"),
        *("Hoeffding, oracle R", "standard deviation"),
    ):
        assert verdicts[name] == HOLDS, name
    # As printed, equation 4 is worse than no control; with the covariance of footnote 1 it helps.
    assert verdicts["cv-multi"] == FAILS
    table = made.tables["table3"].set_index(["pair", "strategy"])
    for pair in PAIRS:
        row = table.loc[(pair, "random+cv-multi-footnote")]
        assert row["ratio"] + 4 * row["ratio_mc"] < 1
    # Effects of 5 % or less, and a bound 11 times the error where 10 is asked for: 50 draws do not
    # tell these, but they must not come out the other way.
    for name in ("docs-prop", "adding up", "Hoeffding, R = 25"):
        assert verdicts[name] != FAILS, name


@REAL
@pytest.mark.slow
def test_incremental_sampling_on_real_data() -> None:
    """Allocated by variance it loses in both language pairs; by standard deviation not clearly."""
    systems = {
        "wmt20_ende": ["Tohoku-AIP-NTT.890", "Online-A.1574", "OPPO.1535"],
        "wmt20_zhen": ["DeepMind.381", "Online-B.1605", "OPPO.1422"],
    }
    for name, chosen in systems.items():
        rated = saldias_methods.ten_metrics(name, saldias_methods.load(name, chosen))
        made = simulate(
            dict(rated.studies),
            strategies=[f"docs-incr-{kind}-printed+mean" for kind in ("human", "metrics")],
            budgets=[0.3, 0.5],
            draws=60,
        ).ranking()
        worse = made[made["strategy"] != "random+mean"]
        assert (worse["reduction"] + 4 * worse["reduction_mc"] < 0).all()


def test_every_table_and_figure_has_a_verdict(made: reproduce.Reproduction) -> None:
    contents = made.contents
    listed = [f"Table {k}" for k in range(1, 13)] + [f"Figure {k}" for k in range(1, 7)]
    assert contents["item"].tolist() == listed
    assert (contents["verdict"] != "").all()


def test_what_the_data_are() -> None:
    """Tables 7, 8, 10 and 11 as printed: systems by name, means over their segments."""
    if datasets.data_folder() is None:
        pytest.skip("the public ratings are not there; set FEWGOLD_DATA")
    for table, year, cells in (("table8", "wmt20", 18), ("table11", "wmt21", 30)):
        frame = saldias_methods.data_table(table, year)
        assert len(frame) == cells and frame["agrees"].all()
    assert saldias_methods.data_table("table10", "wmt21")["here"].tolist() == [527, 32, 650, 51]
    raw = datasets.real_frame("wmt20_ende")
    tohoku = raw.loc[raw["system"] == "Tohoku-AIP-NTT.890", "mqm"].to_numpy()
    frame = saldias_methods.data_table("table8", "wmt20").set_index(["pair", "what"])
    assert frame.loc[("EnDe", "Tohoku"), "here"] == pytest.approx(tohoku.sum() / 1418)
