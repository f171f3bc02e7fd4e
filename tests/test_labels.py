"""Existing labels: how rows were chosen, tables of all kinds, and what follows from them."""

import json
import re
from pathlib import Path
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import fewgold
from fewgold import Design, Ratings
from fewgold.chosen import Chosen, join_labels, read_labelled
from fewgold.cli import app
from fewgold.errors import DataError, DesignError, FewgoldError
from fewgold.estimators import Mean
from fewgold.judge import assess
from fewgold.labels import looks_chosen
from fewgold.planning import Goal, Outlook, plan
from fewgold.quantities import weighted_mean

RUN = CliRunner()


def frame(size: int = 400, n: int = 80, seed: int = 1) -> pd.DataFrame:
    """A judge on all rows and people on a random few."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({
        "conversation": rng.integers(0, 60, size), "language": rng.choice(["de", "en", "fr"], size),
        "judge": rng.normal(size=size),
    })  # fmt: skip
    table["human"] = 3 + table["judge"] + (table["language"] == "fr") + rng.normal(size=size)
    table.loc[rng.permutation(size)[n:], "human"] = np.nan
    return table


# Designs, against textbook formulas


def test_simple_is_the_textbook_formula() -> None:
    table = frame()
    y = table["human"].dropna().to_numpy()
    made = fewgold.estimate_mean(table, human="human", metrics=[], bound="student")
    assert made.value == pytest.approx(y.mean())
    assert made.se == pytest.approx(np.sqrt(y.var(ddof=1) / 80 * (1 - 80 / 400)))


def test_strata_are_weighted_by_their_size_in_the_table() -> None:
    table = frame()
    made = fewgold.estimate_mean(table, human="human", metrics=[], chosen="strata:language")
    groups = [(len(g), g["human"].dropna()) for _, g in table.groupby("language")]
    value = sum(size / 400 * y.mean() for size, y in groups)
    variance = sum(
        (size / 400) ** 2 * y.var(ddof=1) / len(y) * (1 - len(y) / size) for size, y in groups
    )
    assert made.value == pytest.approx(value)
    assert made.se == pytest.approx(np.sqrt(variance))


def test_whole_conversations_make_a_ratio_estimate() -> None:
    table = frame(n=400)
    rng = np.random.default_rng(3)
    table["size"] = 1
    taken = rng.permutation(60)[:20]
    table.loc[~table["conversation"].isin(taken), "human"] = np.nan
    made = fewgold.estimate_mean(table, human="human", metrics=[], chosen="whole:conversation")
    part = table[table["conversation"].isin(taken)].groupby("conversation")["human"]
    totals, sizes = part.sum().to_numpy(), part.size().to_numpy()
    value = totals.sum() / sizes.sum()
    left = totals - value * sizes
    plain = np.sqrt((1 - 20 / table["conversation"].nunique()) * 20 / 19 * (left**2).sum())
    assert made.value == pytest.approx(value)
    # The correction for conversations of different length differs from 20/19 a little.
    assert made.se == pytest.approx(plain / sizes.sum(), rel=0.03)


def test_chances_make_the_hajek_estimate() -> None:
    table = frame(n=400)
    rng = np.random.default_rng(5)
    table["rate"] = np.clip(0.1 + 0.1 * table["judge"].abs(), 0.05, 0.6)
    table.loc[rng.random(400) >= table["rate"], "human"] = np.nan
    made = fewgold.estimate_mean(table, human="human", metrics=[], chosen="chances:rate")
    part = table.dropna(subset="human")
    y, pi = part["human"].to_numpy(), part["rate"].to_numpy()
    value = (y / pi).sum() / (1 / pi).sum()
    poisson = np.sqrt(((1 - pi) * ((y - value) / pi) ** 2).sum()) / (1 / pi).sum()
    assert made.value == pytest.approx(value)
    assert made.se == pytest.approx(poisson, rel=0.03)  # times Bessel's correction
    # The way out is not another bound that refuses unequal chances too.
    scale = {"limits": (-20, 20), "human": "human", "metrics": ["judge"], "chosen": "chances:rate"}
    with pytest.raises(DesignError, match=r"'uneven'\. Use bound=Student\(\)"):
        fewgold.estimate_mean(table, **scale, bound="hoeffding").interval()
    with pytest.raises(DesignError, match=r"limits=.* of estimate_mean"):
        fewgold.estimate_mean(table, human="human", metrics=[], bound="star").interval()


def test_process_adds_the_variance_of_the_pool() -> None:
    table = frame()
    pool = fewgold.estimate_mean(table, human="human", metrics=["judge"], document="none")
    process = fewgold.estimate_mean(
        table, human="human", metrics=["judge"], document="none", target="process"
    )
    y = table["human"].dropna().to_numpy()
    assert process.value == pytest.approx(pool.value)
    assert process.se == pytest.approx(np.sqrt(pool.se**2 + y.var(ddof=1) / 400))
    plain = fewgold.estimate_mean(
        table, human="human", metrics=[], document="none", target="process"
    )
    assert plain.se == pytest.approx(y.std(ddof=1) / np.sqrt(80))
    assert "target:process" in process.signature()


def test_process_of_a_census_is_the_textbook_formula() -> None:
    table = frame(n=400)
    made = fewgold.estimate_mean(
        table, human="human", metrics=["judge"], document="none", target="process"
    )
    y = table["human"].to_numpy()
    assert made.value == pytest.approx(y.mean())
    assert made.se == pytest.approx(y.std(ddof=1) / 20)


def test_process_counts_documents() -> None:
    """Scores that are alike in a document leave more to chance in a new test set."""
    rng = np.random.default_rng(2)
    table = frame(n=400)
    table["human"] = rng.normal(size=60)[table["conversation"]] + 0.3 * rng.normal(size=400)
    keep = rng.permutation(400)[:200]
    table.loc[~table.index.isin(keep), "human"] = np.nan
    args = {"human": "human", "metrics": [], "target": "process"}
    by_row = fewgold.estimate_mean(table, document="none", **args)
    by_document = fewgold.estimate_mean(table, document="conversation", **args)
    assert by_document.se > 1.4 * by_row.se


@pytest.mark.parametrize("rated", [120, 80])
def test_few_documents_show_less_of_the_process(rated: int) -> None:
    """Eight documents with one score each are eight observations, however many rows they have."""
    sizes = {"even": [15] * 8, "one long": [85] + [5] * 7}
    means = np.array([0.3, 1.1, -0.4, 2.0, 0.9, -1.2, 0.1, -0.6])
    wide = {}
    for name, size in sizes.items():
        document = np.repeat(np.arange(8), size)
        human = means[document] + 1e-3 * np.sin(np.arange(120.0))
        human[np.random.default_rng(1).permutation(120)[rated:]] = np.nan
        table = pd.DataFrame({"id": np.arange(120), "document": document, "human": human})
        made = fewgold.estimate_mean(
            table, human="human", metrics=[], document="document", target="process"
        )
        ratings = fewgold.Ratings.from_table(
            table, human="human", chosen="random", metrics=[], document="document"
        )
        part = weighted_mean(ratings, Mean(), np.ones(120)).for_process()
        assert float(part.df) == pytest.approx(float(made.df), rel=0.05)
        wide[name] = float(made.df)
    assert 5 < wide["even"] < 11
    assert wide["one long"] < 0.4 * wide["even"]


def test_guaranteed_bounds_refuse_the_process() -> None:
    table = frame()
    table["human"] = (table["human"] > 3).astype(float).where(table["human"].notna())
    pool = fewgold.estimate_mean(table, human="human", metrics=[], bound="star")
    assert np.isfinite(pool.interval().low)
    made = fewgold.estimate_mean(table, human="human", metrics=[], bound="star", target="process")
    with pytest.raises(FewgoldError, match="process"):
        made.interval()


# Tables


def test_all_dataframes_give_the_same() -> None:
    table = frame()
    tables = [table, pl.from_pandas(table), pa.Table.from_pandas(table)]
    found = [
        fewgold.estimate_mean(t, human="human", metrics=["judge"])
        for t in (*tables, nw.from_native(tables[1]))
    ]
    assert {f.signature() for f in found} == {found[0].signature()}
    assert len({float(f.value) for f in found}) == 1


def test_columns_may_have_numbers_for_names() -> None:
    table = frame()[["judge", "human"]]
    bare = fewgold.estimate_mean(table.set_axis([0, 1], axis=1), human=1, metrics=[0])
    assert bare.value == fewgold.estimate_mean(table, human="human", metrics=["judge"]).value


def test_the_assumption_is_told() -> None:
    made = fewgold.estimate_mean(frame(), human="human", metrics=["judge"], chosen="random")
    told = "the 80 labelled rows are taken to be a simple random sample of the 400 rows"
    assert told in made.summary()
    assert "|chosen:random" in made.signature()


def test_metrics_as_they_are() -> None:
    table = frame()
    table.loc[::5, "judge"] = np.nan
    table["verdict"] = np.where(table["judge"] > 0, "pass", "fail")
    found = read_labelled(table, human="human", metrics=["judge", "verdict", "language"])
    pool = found.pool
    usual = table["language"].mode()[0]
    levels = [f"language={v}" for v in ("de", "en", "fr") if v != usual]
    assert list(pool.metrics) == ["judge", "verdict", "judge missing", *levels]
    assert pool.metrics["judge missing"].sum() == 80
    assert pool.metrics["judge"][0] == pytest.approx(table["judge"].mean())
    assert set(pool.metrics["verdict"]) == {0.0, 1.0}


@pytest.mark.parametrize("gap", [np.nan, 0.0, "-"])
def test_columns_filled_in_with_the_labels_are_no_metrics(gap: Any) -> None:
    """A second human score agrees with the first where people looked, and is known nowhere else."""
    table = frame(size=1000, n=100)
    labelled = table["human"].notna()
    second = (
        (table["human"] > 3).map({True: "good", False: "poor"}) if gap == "-" else table["human"]
    )
    more = table.assign(second=np.where(labelled, second, gap))
    alone, made = (fewgold.estimate_mean(t, human="human") for t in (table, more))
    assert (made.value, made.se) == (alone.value, alone.se)
    found = read_labelled(more, human="human")
    assert not [name for name in found.pool.metrics if name.startswith("second")]
    assert (gap == "-") != ("second" in found.roles.left_out)  # words are only listed if used
    with pytest.raises(DataError, match="'second' cannot be a metric: filled in for"):
        fewgold.estimate_mean(more, human="human", metrics=["judge", "second"])


@pytest.mark.parametrize("chosen", ["strata:language", "whole:conversation", "chances:rate"])
def test_a_judge_with_gaps_where_many_rows_were_labelled_stays_a_metric(chosen: str) -> None:
    """The design explains why labelled rows have more or fewer gaps."""
    rng = np.random.default_rng(2)
    table = frame(size=2000, n=2000)
    french, talks = table["language"] == "fr", table["conversation"]
    if chosen.startswith("whole"):
        labelled, gaps = talks.isin(rng.permutation(60)[:20]), talks.isin(rng.permutation(60)[:20])
    else:
        gaps, labelled = ~french, rng.random(2000) < np.where(french, 0.5, 0.05)
    table = table.assign(rate=np.where(french, 0.5, 0.05), judge=table["judge"].mask(gaps))
    table["human"] = table["human"].where(labelled)
    found = read_labelled(table, human="human", chosen=chosen)
    assert {"judge", "judge missing"} <= set(found.pool.metrics)


def test_words_in_place_of_gaps() -> None:
    table = frame()
    gaps = np.arange(len(table)) % 9 == 0
    words = table.assign(judge=table["judge"].astype(object).mask(gaps, "timeout"))
    empty = table.assign(judge=table["judge"].mask(gaps))
    for metrics in (None, ["judge"]):
        told, plain = (
            fewgold.estimate_mean(t, human="human", metrics=metrics) for t in (words, empty)
        )
        assert told.value == plain.value
    found = read_labelled(words, human="human")
    assert (
        f"{gaps.sum()} cells of judge without a number, such as 'timeout', are taken as gaps"
        in (found.notes)
    )
    with pytest.raises(DataError, match="must be numbers"):
        fewgold.estimate_mean(words, human="judge")


def test_a_category_of_many_values_is_refused() -> None:
    table = frame()
    table["name"] = [f"n{k}" for k in range(400)]
    with pytest.raises(DataError, match="400 different values, too many for a category"):
        read_labelled(table, human="human", metrics=["name"])


def test_composite_ids_and_row_numbers() -> None:
    table = frame(20, 10)
    table["conversation"], table["turn"] = np.repeat(range(10), 2), [0, 1] * 10
    assert read_labelled(table, human="human", id="conversation,turn").pool.ids[1] == "0:1"
    both = (["conversation", "turn"], "conversation,turn")
    one, other = (fewgold.estimate_mean(table, human="human", id=ids).value for ids in both)
    assert one == other
    found = read_labelled(table.drop(columns=["conversation", "turn"]), human="human")
    assert found.pool.ids.tolist() == [str(k) for k in range(1, 21)]
    assert "there is no column of ids, so rows are identified by their number" in found.notes


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ("lot", "must be random, strata:COLUMN"),
        ("strata:", "must be random, strata:COLUMN"),
        ("strata:lingo", "unknown column 'lingo'"),
        ("chances:judge", "above 0 and at most 1"),
        ("chances:half", "add up to 200.0, but 80 rows are labelled"),
        ("strata:rare", r"1 of 3 values of 'rare' has no labelled row: x \(1 row\)"),
        ("whole:part", "all labelled rows have the same part"),
        ("strata:holes", "is empty in 1 row, first in row 1"),
    ],
)
def test_what_does_not_fit_is_said(chosen: str, message: str) -> None:
    table = frame()
    bare = int(np.flatnonzero(table["human"].isna())[0])
    table["half"] = 0.5
    table["rare"] = np.where(table.index == bare, "x", np.where(table["judge"] > 0, "a", "b"))
    table["part"] = np.where(table["human"].notna(), "a", "b")
    table["holes"] = ["", *["a"] * 399]
    with pytest.raises(FewgoldError, match=message):
        Ratings.from_table(table, human="human", metrics="judge", chosen=chosen)


def test_a_conversation_labelled_in_part_waits_or_is_taken_as_chance() -> None:
    table = frame(n=400)
    table.loc[table["conversation"] >= 20, "human"] = np.nan
    table.loc[table.index[table["conversation"] == 3][:1], "human"] = np.nan
    args = {"human": "human", "metrics": [], "chosen": "whole:conversation"}
    with pytest.raises(DataError, match=r"1 of \d+ segments is unrated.*gaps='at-random'"):
        fewgold.estimate_mean(table, **args)
    made = fewgold.estimate_mean(table, **args, gaps="at-random")
    assert "treated as missing at random" in made.summary()


def test_labels_of_a_second_table() -> None:
    table = frame()
    table["key"] = [f"k{k}" for k in range(400)]
    rated = table.dropna(subset="human").sample(frac=1, random_state=1)[["key", "human"]]
    joined = join_labels(table.drop(columns="human"), rated, "key")
    assert np.array_equal(joined["human"].to_numpy(float), table["human"], equal_nan=True)
    strange = pd.concat([rated, pd.DataFrame({"key": ["zz"], "human": [1.0]})])
    with pytest.raises(DataError, match="1 of 81 labels belongs to rows that are not in the table"):
        join_labels(table.drop(columns="human"), strange, "key")
    with pytest.raises(DataError, match="has more than one label"):
        join_labels(table.drop(columns="human"), pd.concat([rated, rated]), "key")


def test_balance_is_tested() -> None:
    table = frame(600, 600)
    rng = np.random.default_rng(0)
    chance = table.copy()
    chance.loc[rng.permutation(600)[120:], "human"] = np.nan
    assert looks_chosen(read_labelled(chance, human="human")) == ()
    worst = table.copy()
    worst.loc[worst["judge"].rank() > 120, "human"] = np.nan
    (first, *_) = looks_chosen(read_labelled(worst, human="human"))
    assert re.match(r"labelled rows have lower judge, by 1\.\d+ standard deviations", first)


def test_balance_is_found_by_chance_in_few_tables() -> None:
    """At most 5 % of random subsets by Holm's correction, of 60 tables; 10 are six sigma away."""
    hits = sum(
        bool(looks_chosen(read_labelled(frame(150, 40, seed), human="human"))) for seed in range(60)
    )
    assert hits <= 10


def test_designs_are_public() -> None:
    assert Design.simple(3, 9).weights.tolist() == [1 / 3] * 3
    assert Chosen.parse("whole:user").code == "whole:user"
    table = Mean().select(load_pool(), 5, rng=1).to_frame()
    assert list(table.columns) == ["id", "judge", "weight", "chance"]
    assert len(table) == 5


def test_designs_take_labels() -> None:
    numbered = Design.stratified([0, 1, 0], [30, 10])
    labelled = Design.stratified(["de", "fr", "de"], {"de": 30, "fr": 10})
    assert labelled.weights.tolist() == numbered.weights.tolist() == [0.375, 0.25, 0.375]
    talks = Design.clusters(["x", "y", "x"], 10, 40)
    assert talks.units is not None and talks.units.tolist() == [0, 1, 0]
    assert talks.inclusion.tolist() == [0.2] * 3
    for wrong in (
        lambda: Design.simple(10, 9), lambda: Design.stratified([0, 0], [1]),
        lambda: Design.stratified(["de", "is"], {"de": 30}), lambda: Design.of_chances([0.0], 9),
        lambda: Design.clusters(["x", "y"], 1, 40),
    ):  # fmt: skip
        with pytest.raises(FewgoldError):
            wrong()


def load_pool() -> fewgold.Pool:
    return fewgold.Pool(ids=np.arange(30), metrics={"judge": np.arange(30.0)})


# The command line: an engineer with a messy file


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    """No id, gaps in the judge, pass and fail, two versions, five languages."""
    rng = np.random.default_rng(4)
    size = 600
    language = rng.choice(["de", "en", "fr", "ja", "pt"], size)
    quality = rng.normal(size=size) - (language == "ja")
    judge = np.round(quality + 0.5 * rng.normal(size=size), 2).astype(object)
    judge[rng.random(size) < 0.12] = ""
    verdict = np.where(quality > -0.3, "pass", "fail").astype(object)
    verdict[rng.permutation(size)[120:]] = ""
    table = pd.DataFrame({
        "prompt": [f"please answer my question number {k}" for k in range(size)],
        "response": [f"here is your answer to question {k}" for k in range(size)],
        "language": language, "version": rng.choice(["v1", "v2"], size), "judge": judge,
        "verdict": verdict,
    })  # fmt: skip
    path = tmp_path / "answers.csv"
    table.to_csv(path, index=False)
    return path


def test_the_story_of_a_messy_file(messy: Path) -> None:
    bare = RUN.invoke(app, ["estimate", str(messy), "--human", "verdict"])
    assert bare.exit_code != 0
    assert "has labels on 120 of 600 rows (column verdict)" in bare.stderr
    assert "add --chosen random" in bare.stderr
    words = ["estimate", str(messy), "--human", "verdict", "--chosen", "random"]
    shown = RUN.invoke(app, [*words, "--json"])
    assert shown.exit_code == 0, shown.stderr
    assert "there is no column of ids" in shown.stderr
    result = json.loads(shown.stdout)
    assert result["n"] == 120 and result["pool_size"] == 600
    assert result["se"] < 0.8 * result["random_se"]
    same = fewgold.estimate_mean(pd.read_csv(messy), human="verdict", chosen="random")
    assert result["value"] == pytest.approx(float(same.value))
    told = RUN.invoke(app, words)
    assert "are taken to be a simple random sample" in " ".join(told.stdout.split())


def test_a_plan_from_existing_labels(messy: Path) -> None:
    """How many more labels are needed, from a table whose labels were chosen at random."""
    asked = ["plan", "--half-width", "0.05", "--pilot", str(messy), "--human", "verdict"]
    told = RUN.invoke(app, [*asked, "--chosen", "random", "--json"])
    made = json.loads(told.stdout)
    assert made["have"] == 120 and made["size"] == 600
    ratings = Ratings.from_table(pd.read_csv(messy), human="verdict")
    wanted = plan(Goal(half_width=0.05), Outlook.from_pilot(ratings))
    assert [row["n"] for row in made["strategies"]] == wanted.to_frame()["n"].tolist()
    assert next(row["more"] for row in made["strategies"]) == wanted.to_frame()["n"][0] - 120
    assert "--chosen random" in RUN.invoke(app, asked).output
    alone = RUN.invoke(app, ["plan", "--half-width", "1", "--sd", "2", "--chosen", "random"])
    assert alone.exit_code == 2


def test_labels_in_a_file_of_their_own(messy: Path, tmp_path: Path) -> None:
    table = pd.read_csv(messy, dtype=str, keep_default_na=False)
    table.insert(0, "key", [f"k{k}" for k in range(len(table))])
    table.drop(columns="verdict").to_csv(tmp_path / "all.csv", index=False)
    few = table[table["verdict"] != ""][["key", "verdict"]]
    few.to_csv(tmp_path / "few.csv", index=False)
    one = RUN.invoke(
        app, ["estimate", str(messy), "--chosen", "random", "--human", "verdict", "--json"]
    )
    words = ["estimate", str(tmp_path / "all.csv"), "--labels", str(tmp_path / "few.csv")]
    two = RUN.invoke(
        app, [*words, "--on", "key", "--chosen", "random", "--human", "verdict", "--json"]
    )
    assert two.exit_code == 0, two.stderr
    assert json.loads(two.stdout)["value"] == pytest.approx(json.loads(one.stdout)["value"])
    assert (
        "rows are identified by their number" not in two.stderr
    )  # what labels are matched by is the id


def test_the_report_states_the_assumption(messy: Path, tmp_path: Path) -> None:
    out = tmp_path / "page.md"
    words = ["report", str(messy), "--human", "verdict", "--chosen", "random", "-o", str(out)]
    done = RUN.invoke(app, words)
    assert done.exit_code == 0, done.stderr
    page = out.read_text(encoding="utf-8")
    told = "The 120 labelled rows are taken to be a simple random sample of the 600 rows"
    assert page.count(told) == 3  # the warning, what was sampled, the methods paragraph
    assert "docs-balanced" not in page
    assert f"fewgold estimate {messy} --human verdict --chosen random" in page


# Other commands for existing labels


def two_versions(how: str, folder: Path, seed: int = 4) -> Path:
    """Two versions on rows of their own, without ids; passed is known where rows were chosen."""
    rng = np.random.default_rng(seed)
    table = frame(900, 900, seed).assign(version=rng.choice(["v1", "v2"], 900))
    table["rate"] = np.where(table["judge"] > 0, 0.4, 0.2)
    share = table["language"].map({"de": 0.5, "en": 0.2, "fr": 0.3})
    table["passed"] = np.where(table["human"] + (table["version"] == "v2") > 3, "pass", "fail")
    taken = {
        "random": np.isin(np.arange(900), rng.permutation(900)[:240]),
        "strata:language": rng.random(900) < share,
        "whole:conversation": table["conversation"].isin(rng.permutation(60)[:20]),
        "chances:rate": rng.random(900) < table["rate"],
    }[how]  # fmt: skip
    table["passed"] = table["passed"].where(taken, None)
    table = table.drop(columns="human")
    table["verdict"] = np.where(table["judge"] > 0, "pass", "fail")
    table.to_csv(folder / "two.csv", index=False)
    return folder / "two.csv"


SYSTEM = ("--system", "version")
HOWS = ["random", "strata:language", "whole:conversation", "chances:rate"]


def ran(*words: str | Path) -> dict[str, Any]:
    """The JSON of a command, with its notes on stderr."""
    run = RUN.invoke(app, [*map(str, words), "--json"])
    assert run.exit_code == 0, run.output
    return {**json.loads(run.stdout), "stderr": run.stderr}


def test_columns_are_named_for_estimate_and_report_alike(tmp_path: Path) -> None:
    path = two_versions("random", tmp_path)
    table = pd.read_csv(path)
    table.assign(key=[f"k{i:03}" for i in range(len(table))]).to_csv(path, index=False)
    words = ("--human", "passed", "--metrics", "judge", "--chosen", "random", "--target", "process")
    named = ("--id", "key", "--document", "conversation")
    twin = fewgold.estimate_mean(
        pd.read_csv(path), human="passed", metrics=["judge"], chosen="random", target="process",
        limits=(0, 1), id="key", document="conversation",
    )  # fmt: skip
    found = ran("estimate", path, *words, *named)
    assert found["se"] == pytest.approx(twin.se)
    assert found["se"] != pytest.approx(ran("estimate", path, *words, "--document", "none")["se"])
    page = ran("report", path, *words, *named, "-o", tmp_path / "r.md")
    assert page["estimate"]["se"] == found["se"]
    assert page["estimate"]["signature"] == found["signature"]
    (line,) = page["commands"]
    assert "--id key" in line and "--document conversation" in line
    refused = RUN.invoke(app, ["report", str(path), "--document", "conversation"])
    assert refused.exit_code == 2 and "--document is for tables with labels" in refused.output


@pytest.mark.parametrize("how", HOWS)
def test_each_system_is_estimated_by_itself(how: str, tmp_path: Path) -> None:
    path = two_versions(how, tmp_path)
    found = ran(
        "compare", path, "--human", "passed", "--metrics", "judge", "--chosen", how, *SYSTEM
    )
    table = pd.read_csv(path)
    for row in found["scores"]:
        part = table[table["version"] == row["system"]]
        alone = fewgold.estimate_mean(
            part, human="passed", metrics=["judge"], chosen=how, limits=(0, 1), document="none"
        )
        assert row["score"] == pytest.approx(alone.value)
        assert row["se"] == pytest.approx(alone.se)
    assert f"chosen:{how}" in found["signature"]
    assert any("taken to be" in note for note in found["notes"])


@pytest.mark.parametrize("how", HOWS)
def test_the_judge_is_assessed_by_the_design(how: str, tmp_path: Path) -> None:
    path = two_versions(how, tmp_path)
    found = ran("judge", path, "--human", "passed", "--judge", "verdict", "--chosen", how)
    table = pd.read_csv(path)
    ratings = Ratings.from_table(table, human="passed", metrics=["verdict"], chosen=how)
    twin = assess(ratings, "verdict").to_dict()["judges"][0]["measures"]
    assert {k: v["value"] for k, v in found["judges"][0]["measures"].items()} == pytest.approx(
        {k: v["value"] for k, v in twin.items()}
    )
    kinds = {"random": "simple", "strata": "stratified", "whole": "clusters", "chances": "uneven"}
    assert found["design"] == kinds[how.partition(":")[0]]
    assert f"chosen:{how}" in found["signature"]


@pytest.mark.parametrize("how", HOWS)
def test_the_success_rate_follows_the_design(how: str, tmp_path: Path) -> None:
    path = two_versions(how, tmp_path)
    words = ("alpha", path, "--human", "passed", "--metric", "verdict", "--chosen", how)
    found = ran(*words, "--system", "none")
    table = pd.read_csv(path)
    metrics = {"metrics": ["verdict"], "document": "none"}
    twin = fewgold.estimate_mean(
        table, human="passed", estimator="alpha-verdict", chosen=how, **metrics
    )
    row = found["systems"][0]
    # Of a random subset the counts are exact, and only the prior of the share differs.
    same = {"abs": 0.01} if how == "random" else {"rel": 1e-9}
    assert row["mean"] == pytest.approx(float(twin.value), **same)
    assert row["sd"] == pytest.approx(float(twin.se), **same)
    verdict = table["verdict"].eq("pass")
    assert row["naive"] == pytest.approx(verdict.mean())
    rated = table["passed"].notna()
    assert row["rho"] == pytest.approx(verdict[rated & table["passed"].eq("pass")].mean())
    assert any("taken to be" in note for note in found["notes"])
    both = ran(*words, "--system", "version")
    assert [r["system"] for r in both["systems"]] == list(dict.fromkeys(table["version"]))
    assert len(both["comparisons"]) >= 1


def test_systems_labelled_on_the_same_segments_are_paired(tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    base, chosen = rng.normal(size=200), rng.permutation(200)[:60]
    parts = [
        pd.DataFrame({
            "id": np.arange(200), "topic": np.arange(200) % 3, "system": name,
            "human": np.where(np.isin(np.arange(200), chosen), base + shift, np.nan),
        })
        for name, shift in (("a", 0.0), ("b", 0.2 + 0.01 * base))
    ]  # fmt: skip
    pd.concat(parts).to_csv(tmp_path / "t.csv", index=False)
    words = ("compare", tmp_path / "t.csv", "--human", "human", "--metrics", "none")
    found = ran(*words, "--chosen", "strata:topic")
    assert found["differences"][0]["se"] < 0.01
    assert "chosen:strata:topic" in found["signature"] and "cmp:shared" in found["signature"]
    for part, name in zip(parts, ("one", "two"), strict=True):
        part.drop(columns="system").to_csv(tmp_path / f"{name}.csv", index=False)
    files = (tmp_path / "one.csv", tmp_path / "two.csv")
    again = ran("compare", *files, *words[2:], "--chosen", "strata:topic")
    assert again["differences"][0]["se"] == pytest.approx(found["differences"][0]["se"])


def test_rows_without_ids_are_never_paired(tmp_path: Path) -> None:
    path = two_versions("random", tmp_path)
    found = ran("compare", path, "--human", "passed", "--chosen", "random", *SYSTEM)
    assert "cmp:separate" in found["signature"]
    assert found["pool_size"] == 900
    words = ["compare", str(path), "--human", "passed", "--chosen", "random", *SYSTEM]
    run = RUN.invoke(app, [*words, "--unit", "segment"])
    assert run.exit_code == 2 and "labels on the same segments" in run.output


def test_whole_conversations_are_paired_across_systems(tmp_path: Path) -> None:
    """Versions that answered in the same conversations share what these have in common."""
    rng = np.random.default_rng(6)
    conversation = np.repeat(np.arange(80), 10)
    version = np.tile(["v1", "v2"], 400)
    score = 2 * rng.normal(size=80)[conversation] + 0.1 * rng.normal(size=800)
    score = np.where(np.isin(conversation, rng.permutation(80)[:25]), score, np.nan)
    table = pd.DataFrame({"conversation": conversation, "version": version, "stars": score})
    table.to_csv(tmp_path / "t.csv", index=False)
    found = ran(
        "compare", tmp_path / "t.csv", "--human", "stars", "--system", "version", "--metrics",
        "none", "--chosen", "whole:conversation",
    )  # fmt: skip
    assert found["differences"][0]["se"] < 0.2 * found["scores"][0]["se"]


def test_labels_of_a_second_file_in_every_command(tmp_path: Path) -> None:
    path = two_versions("random", tmp_path)
    table = pd.read_csv(path).reset_index(names="row")
    table.drop(columns="passed").to_csv(tmp_path / "rows.csv", index=False)
    table.loc[table["passed"].notna(), ["row", "passed"]].to_csv(tmp_path / "l.csv", index=False)
    second = ("--labels", tmp_path / "l.csv", "--on", "row")
    for command, more in {
        "judge": ("--judge", "verdict"), "alpha": ("--metric", "verdict"), "compare": SYSTEM,
        "report": ("-o", tmp_path / "r.md", "--force"),
    }.items():  # fmt: skip
        words = (command, tmp_path / "rows.csv", "--human", "passed", "--chosen", "random")
        ran(*words, *more, *second)
        run = RUN.invoke(app, [*map(str, (*words, *more)), "--on", "row"])
        assert run.exit_code == 2 and "belong together" in run.output
    run = RUN.invoke(app, ["report", str(path), "--labels", "x.csv", "--on", "id"])
    assert run.exit_code == 2 and "--labels is for tables with labels" in run.output


def test_a_sheet_knows_how_it_was_drawn(tmp_path: Path) -> None:
    pool = fewgold.Pool(ids=np.arange(60), metrics={"judge": np.linspace(0, 1, 60)})
    sample = Mean().select(pool, 20, rng=1)
    sample.to_sheet(tmp_path / "s.csv")
    rated = pd.read_csv(tmp_path / "s.csv").assign(score=np.arange(20) % 2)
    rated.to_csv(tmp_path / "s.csv", index=False)
    for command in ("judge", "compare"):
        run = RUN.invoke(app, [command, str(tmp_path / "s.csv"), "--chosen", "random"])
        told = " ".join(run.output.replace("│", " ").split())
        assert run.exit_code == 2 and "a sheet records how its segments were drawn" in told


def test_the_report_of_the_process(tmp_path: Path) -> None:
    path = two_versions("random", tmp_path)
    words = ("--human", "passed", "--metrics", "judge", "--chosen", "random")
    for target in ("pool", "process"):
        page = tmp_path / f"{target}.md"
        found = ran("report", path, *words, "--target", target, "-o", page)
        table = pd.read_csv(path)
        twin = fewgold.estimate_mean(
            table, human="passed", metrics=["judge"], chosen="random", target=target
        )
        assert found["estimate"]["se"] == pytest.approx(float(twin.se))
        assert ("in a new test set like this one" in page.read_text()) == (target == "process")
        assert "settled" not in page.read_text()  # labels have no order of drawing
