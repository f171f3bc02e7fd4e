"""von Däniken et al. (2022) and (2023) made again: cells to the printed digit, causes, command."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import betainc
from typer.testing import CliRunner

from fewgold import reproduce
from fewgold.bayes import Counts, moments
from fewgold.cli import app
from fewgold.datasets import data_folder
from fewgold.errors import FewgoldError
from fewgold.planning import measurable_difference
from fewgold.reproduce import daniken_study, daniken_systems
from fewgold.reproduce.daniken_study import GRIDS, ORDERS, DanikenReproduction

SAMPLED = ("thesis5.8", "thesis5.9")


@pytest.fixture(scope="module")
def made() -> DanikenReproduction:
    return reproduce.daniken(25)


# What is printed ----------------------------------------------------------------------------


def test_printed_tables_are_whole() -> None:
    for grid in GRIDS.values():
        assert np.shape(grid.cells) == (len(grid.human), len(grid.metric))
    for order in ORDERS.values():
        size = len(order.systems)
        assert np.shape(order.cells) == (size, size)
        assert [order.cells[k][k] for k in range(size)] == ["-"] * size
        assert len(order.adequate) == len(order.total) == size


def test_printed_tables_agree_with_the_text() -> None:
    """Tables 2 and 3 repeat P(α1 > α2) of Tables 4, 5, 8 and 9."""
    repeated = {
        "table4": {("FBAI", "VT-G"): "0.798", ("FBAI", "HU"): "0.998", ("VT-G", "HU"): "0.978"},
        "table5": {("FBAI", "VT-G"): "0.615", ("FBAI", "HU"): "0.904", ("VT-G", "HU"): "0.843"},
        "table8": {("BL", "LiC"): "0.999", ("BL", "KV"): "1.000", ("LiC", "KV"): "0.989"},
        "table9": {("BL", "LiC"): "0.882", ("BL", "KV"): "0.983", ("LiC", "KV"): "0.827"},
    }
    for name, pairs in repeated.items():
        order = ORDERS[name]
        for (one, two), figure in pairs.items():
            assert order.cells[order.systems.index(one)][order.systems.index(two)] == figure


def test_counts_have_the_printed_means() -> None:
    """The labels of Tables 4 to 9 are posterior means, though the text says modes."""
    labels = {
        "table4": "0.67 0.64 0.64 0.64 0.61 0.59 0.58",
        "table5": "0.67 0.65 0.64 0.64 0.61 0.59 0.58",
        "table8": "0.38 0.30 0.24 0.18 0.07 0.04",
        "table9": "0.38 0.30 0.25 0.19 0.07 0.05",
    }
    modes = {}
    for name, printed in labels.items():
        means = daniken_study.MEANS[name.replace("table", "means")]
        assert " ".join(means.rates) == printed and means.order == name
        pairs = list(zip(ORDERS[name].adequate, ORDERS[name].total, strict=True))
        assert " ".join(f"{(k + 1) / (n + 2):.2f}" for k, n in pairs) == printed
        modes[name] = " ".join(f"{k / n:.2f}" for k, n in pairs)
    assert modes["table9"] == "0.38 0.30 0.24 0.18 0.06 0.04"


def test_rates_and_differences(made: DanikenReproduction) -> None:
    """Tables 4, 5, 8 and 9 print a rate per system and the difference of each pair."""
    for name, size in (("means4", 28), ("means5", 28), ("means8", 21), ("means9", 21)):
        table = made.tables[name]
        assert len(table) == size and table["agrees"].all()
    four = made.tables["means4"].set_index("what")["here"]
    assert four["FBAI - HU"] == pytest.approx((354 - 309) / 529)
    assert four["FBAI"] == pytest.approx(354 / 529)
    assert "FBAI 0.67/0.67, VT-G 0.64/0.64" in made.summary()


# Tables 1 and 11 to 14 ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "exceptions"),
    [
        ("table1", {(0, 0): "0.800", (2500, 10_000): "0.021"}),
        ("table11", {(0, 0): "0.800", (1000, 50_000): "0.039"}),
        ("table12", {(0, 0): "0.800"}),
        ("table13", {(0, 0): "0.800"}),
        ("table14", {(0, 0): "0.800"}),
    ],
)
def test_differences_to_the_printed_digit(
    made: DanikenReproduction, name: str, exceptions: dict[tuple[int, int], str]
) -> None:
    rows = made.tables[name].to_dict("records")
    grid = GRIDS[name]
    for row, printed in zip(rows, chain(*grid.cells), strict=True):
        cell = row["human"], row["metric"]
        assert f"{row['here']:.3f}" == exceptions.get(cell, printed), cell
        assert row["agrees"] == (cell not in exceptions)
        assert bool(row["cause"]) == (cell in exceptions)


def test_rounding_is_half_to_even() -> None:
    """⌊x + ½⌋, as printed, would make another row 250 of Table 13; 0.99 · 150 = 148.5."""
    metric = np.array(GRIDS["table13"].metric[1:])
    ones = np.rint((0.6 * 0.99 + 0.4 * 0.01) * metric)
    rows = {}
    for name, tp in (("even", round(0.99 * 150)), ("up", int(0.99 * 150 + 0.5))):
        counts = Counts(tp=tp, fn=150 - tp, tn=99, fp=1, metric_ones=ones, metric_total=metric)
        rows[name] = [f"{2.771808 * sd:.3f}" for sd in moments(counts)[1]]
    printed = list(GRIDS["table13"].cells[2][1:7])
    assert rows["even"] == printed
    assert all(x != y for x, y in zip(rows["up"], printed, strict=True))


# Tables 5.8 and 5.9 -------------------------------------------------------------------------


@pytest.mark.parametrize("name", SAMPLED)
def test_thesis_without_the_root(made: DanikenReproduction, name: str) -> None:
    """Within half a digit and 4 Monte-Carlo errors; with the √2 no cell would."""
    table = made.tables[name]
    table = table[(table["human"] > 0) | (table["metric"] > 0)]
    gap = (table["their_way"] - table["printed"]).abs()
    assert (gap <= 0.0005 + 4 * table["mc"]).all()
    assert (table["mc"] < 0.04 * table["their_way"]).all()
    assert np.allclose(table["here"], np.sqrt(2) * table["their_way"])
    right = (table["here"] - table["printed"]).abs()
    assert (right > 0.0005 + 4 * np.sqrt(2) * table["mc"]).all()
    assert table["cause"].str.contains("√2 is left out").all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_thesis_with_many_draws(seed: int) -> None:
    """With 300 draws what is left is nearly all the error of the thesis's own 50."""
    for name in SAMPLED:
        table = daniken_study.grid_table(name, GRIDS[name], 300, seed)
        assert table["explained"].all()


# Tables 4, 5, 8 and 9 -----------------------------------------------------------------------


@pytest.mark.parametrize("name", list(ORDERS))
def test_orders(made: DanikenReproduction, name: str) -> None:
    """To the digit with ties dropped; counted half, both ways round add up to 1."""
    table = made.tables[name]
    assert [f"{x:.3f}" for x in table["their_way"]] == [
        cell for cell in chain(*ORDERS[name].cells) if cell != "-"
    ]
    wide = {way: table.pivot(index="first", columns="second", values=way) for way in table}
    both = (wide["here"] + wide["here"].T).to_numpy(dtype=float)
    off = ~np.eye(len(both), dtype=bool)
    assert both[off] == pytest.approx(1)
    dropped = (wide["their_way"] + wide["their_way"].T).to_numpy(dtype=float)[off]
    assert np.all(dropped < 1 + 1e-12)
    assert dropped.min() < 0.998
    # Half of a cell is right to the second order of its width, 1/2000.
    middle = wide["their_way"].to_numpy(dtype=float)[off] + (1 - dropped) / 2
    assert middle == pytest.approx(wide["here"].to_numpy(dtype=float)[off], abs=5e-5)


def test_ties_are_what_falls_into_one_cell(made: DanikenReproduction) -> None:
    """The double sum of appendix B, written out."""
    edges = np.linspace(0, 1, 2001)
    one, two = (np.diff(betainc(k + 1, 528 - k, edges)) for k in (353, 340))
    total = np.tril(np.outer(one, two), -1).sum()
    row = made.tables["table4"].query("first == 'FBAI' and second == 'VT-G'").iloc[0]
    assert row["their_way"] == pytest.approx(total)
    assert row["cause"].startswith("ties within a cell of their grid are dropped")


def test_600_ratings_do_not_give_table_8() -> None:
    """With 600 of each, no count of KV has P(LiC > KV) = 0.989 beside a difference of 0.06."""
    edges = np.linspace(0, 1, 2001)

    def mass(k: int) -> np.ndarray:
        return np.diff(betainc(k + 1, 601 - k, edges))

    for lic in range(178, 183):  # 0.30
        for kv in range(141, 147):  # 0.24
            if round((lic - kv) / 602, 2) == 0.06:
                first, second = mass(lic), mass(kv)
                up = float(first[1:] @ np.cumsum(second)[:-1])
                down = float(second[1:] @ np.cumsum(first)[:-1])
                assert (f"{up:.3f}", f"{down:.3f}") != ("0.989", "0.010")


# Quoted figures -----------------------------------------------------------------------------


def test_quoted_figures(made: DanikenReproduction) -> None:
    table = made.tables["quoted"]
    expected = [
        *(0.1091, 0.0196, 0.0429, 0.0192, 0.0213),
        *(0.0555, 0.0573, 0.1122, 0.1296, 0.0612),
        *(0.0574, 0.1305, 0.1295, 0.1202, 0.1197),
        *(0.1256, 0.1149, 0.0865),
    ]
    assert table["here"].to_numpy() == pytest.approx(expected, abs=5.1e-5)
    assert int(table["agrees"].sum()) == 12
    assert (table["agrees"] | (table["cause"] != "")).all()


def test_figures_in_the_causes() -> None:
    mixed = {"alpha": 0.6, "rho": 0.7, "eta": 0.7, "human": 2500}
    known = measurable_difference(**mixed, metric=[13_630, 13_640], known=True)
    assert known[0] > 0.02 > known[1]
    assert measurable_difference(**mixed, metric=[10_000, 10**6]) == pytest.approx(
        [0.0254, 0.0250], abs=5e-5
    )
    few = measurable_difference(
        alpha=0.6, rho=0.7, eta=0.7, human=0, metric=[1180, 1190], known=True
    )
    assert few[0] > 0.1 > few[1]
    other = measurable_difference(
        alpha=0.24, rho=0.6, eta=0.6, human=100, metric=10_000, paired=5000, pairs="calibration"
    )
    assert f"{other:.2f}" == "0.08"


# The whole ----------------------------------------------------------------------------------


def test_every_disagreement_has_a_cause(made: DanikenReproduction) -> None:
    named = [f"table{k}" for k in (1, 4, 5, 8, 9, 11, 12, 13, 14)]
    named += [*(f"means{k}" for k in (4, 5, 8, 9)), "quoted"]
    people = ["5.1", "5.2", "5.5", "5.7"] if data_folder() else ["5.2", "5.7"]
    assert list(made.tables) == [*named, *(f"thesis{k}" for k in people), *SAMPLED]
    assert made.failed == []
    systems = 9 if data_folder() else 0
    assert len(made.disagreements) == 2 + 33 + 41 + 3 + 8 + 2 + 1 + 1 + 1 + 6 + 49 + 49 + systems
    assert made._causes["cells"].sum() == len(made.disagreements)
    assert "0 without a known cause" in repr(made)
    text = made.summary()
    for part in ("0.040/0.039*", "0.798/0.798 ", "0.798/0.800*", "placeholder", made.signature):
        assert part in text
    assert max(len(line) for line in text.splitlines()) < 120


def test_same_seed_same_tables(made: DanikenReproduction) -> None:
    again = daniken_study.grid_table(
        "thesis5.8", GRIDS["thesis5.8"], 25, np.random.SeedSequence(0).spawn(len(GRIDS))[5]
    )
    pd.testing.assert_frame_equal(again, made.tables["thesis5.8"])


def test_files(made: DanikenReproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(daniken_study, "HEAT_MAPS", ["thesis5.9"])
    written = {path.name: path for path in made.save(tmp_path / "out")}
    assert {"summary.txt", "disagreements.json", "report.html", "table1.csv"} <= set(written)
    assert len(json.loads(written["disagreements.json"].read_text())) == len(made.disagreements)
    page = written["report.html"].read_text(encoding="utf-8")
    assert "a slip that the text repeats" in page
    assert "0.040 / 0.039" in page
    pytest.importorskip("matplotlib")
    assert {"thesis5.9.png", "thesis5.9.svg"} <= set(written)


def test_refuses_no_draws() -> None:
    with pytest.raises(FewgoldError, match="draws must be"):
        reproduce.daniken(1)


# The command --------------------------------------------------------------------------------


def run(*args: str) -> Any:
    return CliRunner().invoke(app, ["reproduce", "daniken", *args])


def test_command(
    made: DanikenReproduction, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}

    def fake(draws: int, **options: Any) -> DanikenReproduction:
        asked.update(options, draws=draws)
        return made

    monkeypatch.setattr(reproduce, "daniken", fake)
    monkeypatch.setattr(DanikenReproduction, "_figures", lambda made: {})
    result = run("--draws", "7", "--seed", "3", "-o", str(tmp_path / "out"), "--json", "--fail")
    assert result.exit_code == 0, result.output
    assert (asked["draws"], asked["rng"]) == (7, 3)
    record = json.loads(result.stdout)
    assert record["unexplained"] == []
    assert len(record["tables"]["table11"]) == 56
    assert all(Path(path).exists() for path in record["files"])
    assert "What differs, and why" in run().stdout


def test_command_gate(made: DanikenReproduction, monkeypatch: pytest.MonkeyPatch) -> None:
    """A figure that differs for no known reason is an error with --fail."""
    table = made.tables["table12"].copy()
    table.loc[9, ["here", "agrees", "explained"]] = [0.5, False, False]
    wrong = replace(made, tables={**made.tables, "table12": table})
    monkeypatch.setattr(reproduce, "daniken", lambda draws, **options: wrong)
    result = run("--fail")
    assert result.exit_code == 1
    assert "table12 100 human, 2500 metric" in result.stderr
    assert run().exit_code == 0


@pytest.mark.parametrize("option", ["--demo", "--no-incremental", "--n-jobs=2", "--budgets=10%"])
def test_command_usage(option: str) -> None:
    result = run(option)
    assert result.exit_code == 2
    assert "is only for saldias" in result.stderr


# Systems by human ratings: Tables 5.1 to 5.7 of the thesis -----------------------------------

SPOT_THE_BOT = {
    "Huggingface": (119, 673), "LostInConv.": (200, 671), "KVMemNN": (163, 673),
    "Blender": (252, 669), "BERTRank": (43, 673), "Seq2Seq": (27, 673),
}  # fmt: skip


def _stars(one: tuple[int, int], other: tuple[int, int]) -> int:
    """The test of the thesis once more, on a grid of both posteriors and in numpy alone."""
    grid = (np.arange(200_000) + 0.5) / 200_000
    moments = []
    for k, n in (one, other):
        log = k * np.log(grid) + (n - k) * np.log1p(-grid)
        mass = np.exp(log - log.max())
        mean = (grid * mass).sum() / mass.sum()
        moments.append((mean, ((grid - mean) ** 2 * mass).sum() / mass.sum()))
    z = abs(moments[0][0] - moments[1][0]) / np.sqrt(moments[0][1] + moments[1][1])
    return int((z > np.array([1.959964, 2.575829, 3.290527])).sum())


def test_pairwise_tests_of_the_thesis(made: DanikenReproduction) -> None:
    table = made.tables["thesis5.7"]
    assert len(table) == 30 and table["agrees"].all()
    for row in table.to_dict("records"):
        pair = SPOT_THE_BOT[row["first"]], SPOT_THE_BOT[row["second"]]
        assert row["here"] == _stars(*pair)
    if data_folder() is None:
        pytest.skip("the public WMT21 scores are not there; set FEWGOLD_DATA")
    table = made.tables["thesis5.5"]
    assert (len(table), table["agrees"].sum()) == (110, 101)
    assert table["explained"].all()
    tallies = daniken_systems.wmt21_tallies()
    for row in table.to_dict("records"):
        assert row["here"] == _stars(tallies[row["first"]], tallies[row["second"]])


def test_success_rates_of_the_thesis(made: DanikenReproduction) -> None:
    table = made.tables["thesis5.2"]
    assert len(table) == 12 and table["agrees"].all()
    if data_folder() is None:
        pytest.skip("the public WMT21 scores are not there; set FEWGOLD_DATA")
    assert made.tables["thesis5.1"]["agrees"].all()


def test_human_half_of_tables_6_and_7() -> None:
    """The 100 ratings of Table 5, and so of Tables 6 and 7, are the rates of all 527 rounded."""
    if data_folder() is None:
        pytest.skip("the public WMT21 scores are not there; set FEWGOLD_DATA")
    names = [
        "Facebook-AI",
        "VolcTrans-GLAT",
        "Nemo",
        "Online-W",
        "VolcTrans-AT",
        "UEdin",
        "HuaweiTSC",
    ]
    tallies = daniken_systems.wmt21_tallies()
    rounded = [round(100 * tallies[name][0] / tallies[name][1]) for name in names]
    assert rounded == list(ORDERS["table5"].adequate)
    assert sorted(tallies[name][0] for name in names) == sorted(ORDERS["table4"].adequate)


def _fitting_counts(totals: list[range]) -> list[list[tuple[int, int]]]:
    """Every set of counts that gives all probabilities, rates and differences of Table 8."""
    order, means, edges = ORDERS["table8"], daniken_study.MEANS["means8"], np.linspace(0, 1, 2001)
    known: list[list[tuple[int, int]]] = []
    for usual, rate, sizes in zip(order.adequate, means.rates, totals, strict=True):
        near = range(usual - 8, usual + 9)
        known.append([(k, n) for n in sizes for k in near if f"{(k + 1) / (n + 2):.2f}" == rate])
    mass = [np.array([np.diff(betainc(k + 1, n - k + 1, edges)) for k, n in c]) for c in known]
    below = [np.cumsum(m, axis=1) - m for m in mass]
    mean = [np.array([(k + 1) / (n + 2) for k, n in c]) for c in known]
    digits = np.vectorize(lambda x, d: f"{x:.{d}f}")

    def fit(i: int, j: int) -> Any:
        up = digits(mass[i] @ below[j].T, 3) == order.cells[i][j]
        down = digits(below[i] @ mass[j].T, 3) == order.cells[j][i]
        return up & down & (digits(mean[i][:, None] - mean[j], 2) == means.gaps[i][j])

    fits = {(i, j): fit(i, j) for i in range(6) for j in range(i + 1, 6)}
    found: list[list[int]] = [[]]
    for j in range(6):
        found = [
            [*chosen, x]
            for chosen in found
            for x in range(len(known[j]))
            if all(fits[i, j][y, x] for i, y in enumerate(chosen))
        ]
    return [[known[i][x] for i, x in enumerate(chosen)] for chosen in found]


def test_counts_of_table_8_are_not_unique() -> None:
    """1530 sets give Table 8, nine of these Table 5.2 too, and one has the sizes of the thesis."""
    found = _fitting_counts([range(669, 674)] * 6)
    assert len(found) == 1530
    ours = list(zip(ORDERS["table8"].adequate, ORDERS["table8"].total, strict=True))
    names = [next(n for n, tally in SPOT_THE_BOT.items() if tally == one) for one in ours]
    cells = daniken_systems.PRINTED["thesis5.2"].cells

    def fits(name: str, k: int, n: int) -> bool:
        mean = (k + 1) / (n + 2)
        sd = np.sqrt(mean * (1 - mean) / (n + 3))
        return (f"{mean:.2f}", f"{sd:.3f}") == cells[name]

    both = [
        one for one in found
        if all(fits(name, k, n) for name, (k, n) in zip(names, one, strict=True))
    ]  # fmt: skip
    assert len(both) == 9
    # "The exact numbers range from 669 to 673."
    assert [one for one in both if {669, 673} <= {n for _, n in one}] == [ours]


def test_every_table_and_figure_has_a_verdict(made: DanikenReproduction) -> None:
    contents = made.contents
    tables = {f"Table {k}" for k in range(1, 15)} | {f"Figure {k}" for k in range(1, 5)}
    thesis = {f"Thesis, Table 5.{k}" for k in (5, 6, 7, 8, 9)}
    thesis |= {f"Thesis, Figure 5.{k}" for k in (1, 2, 3, 4)}
    thesis |= {"Thesis, Tables 5.1 and 5.3", "Thesis, Tables 5.2 and 5.4"}
    thesis |= {"Thesis, Figure 3.1", "Thesis, Table 4.1"}
    assert set(contents["item"]) == tables | thesis
    assert (contents["verdict"] != "").all()
    assert (contents["remark"] != "")[contents["status"] == "not possible"].all()
    said = contents.set_index("item")["verdict"]
    assert said["Table 4"] == (
        "P(α1 > α2): 9 of 42 to the printed digit, 42 with the errors named below; "
        "rates and differences: 28 of 28 to the printed digit"
    )
    # Extracts are judged by the figures in them: three pairs and three rates, twice.
    assert "P(α1 > α2): 2 of 6" in said["Table 2"]
    assert "rates and differences: 12 of 12" in said["Table 2"]
    # No figure of these is reproduced, though the counts of people in them are known.
    assert (said[["Table 6", "Table 7", "Table 10"]] == "not possible").all()


def test_tables_without_the_public_scores_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEWGOLD_DATA", "/nowhere")
    contents = reproduce.daniken(2).contents.set_index("item")
    missing = contents[contents["status"] == "left out"]
    assert missing.index.tolist() == [
        "Thesis, Tables 5.1 and 5.3", "Thesis, Table 5.5", "Thesis, Figure 5.1",
        "Thesis, Figure 5.2",
    ]  # fmt: skip
    assert missing["remark"].str.contains("FEWGOLD_DATA").all()


def test_figures_pass_through_what_the_text_quotes() -> None:
    """Figure 1 at accuracy 0.70 and 1000 ratings is the 0.109 of Table 1."""
    frame = replace(daniken_study.FIGURES["figure1"], points=(0.7, 0.85, 1.0)).frame()
    at = frame.set_index(["line", "x"])["value"]
    thousand, many = "1,000 metric ratings", "10,000 metric ratings"
    quoted = [(thousand, 0.7), (many, 0.7), (many, 0.85), (thousand, 1.0)]
    assert [f"{at[place]:.3f}" for place in quoted] == ["0.109", "0.035", "0.020", "0.043"]
    frame = replace(daniken_study.FIGURES["figure3"], points=(600, 5000)).frame()
    at = frame[frame["line"] == "accuracy 0.60"].set_index(["panel", "x"])["value"]
    assert f"{at['100 human ratings', 600]:.4f}" == "0.1149"
    # "When the performance of the metric is too low, the impact is negligible."
    low = frame[frame["line"] == "accuracy 0.52"].set_index(["panel", "x"])["value"]
    for _, pair in low.groupby(level="panel"):
        assert pair.iloc[1] == pytest.approx(pair.iloc[0], rel=0.02)


def test_figures_of_the_thesis_simulate_both_rates() -> None:
    """Figures 5.3 and 5.4: weak metrics change nothing, and people alone give the sd there."""
    figure = replace(daniken_study.FIGURES["figure5.3"], points=(500, 100_000))
    assert [p.split(",")[0] for p in figure.panels] == ["α = 0.20", "α = 0.60"] * 3
    sd = figure.frame(3).set_index(["panel", "line", "x"])["value"].sort_index()
    for panel, lines in figure.panels.items():
        weak, perfect = (sd[panel, name] for name in (next(iter(lines)), list(lines)[-1]))
        assert weak[100_000] == pytest.approx(weak[500], rel=0.05)
        assert perfect[100_000] < 0.7 * perfect[500]
        alpha, human = (next(iter(lines.values()))[name] for name in ("alpha", "human"))
        people = np.sqrt(alpha * (1 - alpha) / human)
        assert weak[500] == pytest.approx(people, rel=0.06)
    bias = replace(daniken_study.FIGURES["figure5.4"], points=(500,)).frame(3)
    for name, some in bias.groupby("panel"):
        setting = next(iter(figure.panels[name].values()))
        sd = np.sqrt(setting["alpha"] * (1 - setting["alpha"]) / setting["human"])
        assert (some["value"].abs() < 4 * sd / np.sqrt(daniken_study.THEIR_DRAWS)).all()
