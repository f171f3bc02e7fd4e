"""The whole way: select, rate, estimate; and what is refused on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold import io, registry, sheets
from fewgold.estimators import Ridge
from fewgold.samplers import Cost

Run = Callable[..., Any]
Rate = Callable[..., None]
COLUMNS = {
    "id": "segment", "document": "doc_id", "metrics": ["comet", "bleu", "words"],
    "system": "model", "texts": ["source"],
}  # fmt: skip


def gold_of(table: pd.DataFrame) -> dict[str, float]:
    return dict(zip(table["segment"], table["human"].astype(float), strict=True))


@pytest.mark.parametrize(
    "strategy", ["docs-balanced+ridge", "random+mean", "docs-prop+cv-multi", "docs-whole+cv-comet"]
)
def test_the_loop_equals_the_library(
    run: Run, rate: Rate, table: pd.DataFrame, strategy: str
) -> None:
    run("select", "pool.csv", "--budget", 40, "--strategy", strategy, "--seed", 3, "-o", "s.csv")
    rate("s.csv")
    got = json.loads(run("estimate", "s.csv", "--json").stdout)
    pool = sheets.build_pool(table, COLUMNS)
    chosen = registry.strategy(strategy, pool)
    ratings = chosen.select(pool, 40, rng=3).rate(gold_of(table))
    expected = chosen.estimate(ratings).to_dict()
    for key in ("value", "se", "low", "high", "df"):
        assert got[key] == pytest.approx(expected[key], rel=1e-12), key
    assert got["signature"] == expected["signature"]
    assert got["seed"] == 3


@pytest.mark.parametrize("suffix", ["tsv", "jsonl", "parquet", "csv.gz"])
def test_pools_of_every_format_give_the_same(
    run: Run, rate: Rate, table: pd.DataFrame, suffix: str
) -> None:
    values = {}
    if suffix == "tsv":
        table.to_csv("other.tsv", sep="\t", index=False)
    elif suffix == "jsonl":
        lines = [json.dumps(row) for row in table.to_dict(orient="records")]
        Path("other.jsonl").write_text("\n".join(lines))
    elif suffix == "parquet":
        table.to_parquet("other.parquet")
    else:
        table.to_csv("other.csv.gz", index=False)
    for name in ("pool.csv", f"other.{suffix}"):
        run("select", name, "--budget", "20%", "--seed", 1, "-o", "s.csv", "--force")
        rate("s.csv")
        values[name] = json.loads(run("estimate", "s.csv", "--json").stdout)
        values[name].pop("file")
    first, second = values.values()
    assert first == second


def test_a_tsv_sheet_and_another_score_column(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 20, "-o", "s.tsv", "--score-column", "mqm", "--seed", 1)
    rate("s.tsv", "mqm")
    assert json.loads(run("estimate", "s.tsv", "--json").stdout)["n"] == 20
    # The same seed without the option chooses the same segments.
    run("select", "pool.csv", "--budget", 20, "-o", "t.tsv", "--seed", 1)
    assert io.read_table("s.tsv")["id"].tolist()[::-1] == io.read_table("t.tsv")["id"].tolist()


def test_top_up(run: Run, rate: Rate, table: pd.DataFrame) -> None:
    run("select", "pool.csv", "--budget", 20, "-o", "s.csv", "--seed", 1)
    rate("s.csv")
    shown = run(
        "select", "pool.csv", "--given", "s.csv", "--budget", 12, "-o", "more.csv", "--seed", 2
    )
    assert "Chose 12 further of 150" in shown.stdout
    assert not set(io.read_table("more.csv")["id"]) & set(io.read_table("s.csv")["id"])
    rate("more.csv")
    got = json.loads(run("estimate", "more.csv", "--json").stdout)
    pool = sheets.build_pool(table, COLUMNS)
    chosen = registry.strategy("docs-balanced+ridge", pool)
    first = chosen.select(pool, 20, rng=1).rate(gold_of(table))
    second = chosen.select(pool, 12, given=first, rng=2).rate(gold_of(table))
    expected = chosen.estimate(second).to_dict()
    assert got["n"] == 32
    for key in ("value", "se", "low", "high"):
        assert got[key] == pytest.approx(expected[key], rel=1e-12)


def test_top_up_of_the_rest_is_a_census(run: Run, rate: Rate, table: pd.DataFrame) -> None:
    run("select", "pool.csv", "--budget", 20, "-o", "s.csv", "--seed", 1, "--strategy", "random")
    rate("s.csv")
    run("select", "pool.csv", "--given", "s.csv", "--budget", "100%", "-o", "more.csv")
    rate("more.csv")
    got = json.loads(run("estimate", "more.csv", "--json").stdout)
    assert got["value"] == pytest.approx(table["human"].mean(), rel=1e-12)
    assert got["se"] == pytest.approx(0, abs=1e-12)


def test_top_up_refuses_other_columns_and_gaps(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 20, "-o", "s.csv")
    more = ("select", "pool.csv", "--given", "s.csv", "--budget", 5, "-o", "more.csv")
    assert "--given already has the columns" in run(*more, "--id", "segment", code=2).stderr
    assert "20 ids have no score" in run(*more, code=3).stderr
    rate("s.csv")
    run(*more)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda f: f.iloc[1:], "1 id of the sample is missing: 00"),
        (lambda f: pd.concat([f, f.assign(id="new").iloc[:1]]), "not in the sample: new"),
        (lambda f: pd.concat([f, f.iloc[:1]]), "more than once"),
        (lambda f: f.assign(score=["3,5", *["3.5"] * 19]), "decimal comma"),
        (lambda f: f.assign(score="3,500"), "a comma may mean thousands"),
        (lambda f: f.assign(score="fine, I think"), "no number"),
        (lambda f: f.rename(columns={"score": "x"}), "no column 'score'"),
    ],
)
def test_sheets_that_are_refused(run: Run, rate: Rate, edit: Any, message: str) -> None:
    run("select", "pool.csv", "--budget", 20, "-o", "s.csv")
    rate("s.csv")
    edit(pd.read_csv("s.csv", dtype=str)).to_csv("s.csv", index=False)
    result = run("estimate", "s.csv", code=3)
    assert message in result.stderr
    assert result.stderr.startswith("error: ")
    assert not result.stdout


def test_a_changed_pool_is_refused(run: Run, rate: Rate, table: pd.DataFrame) -> None:
    run("select", "pool.csv", "--budget", 20, "-o", "s.csv")
    rate("s.csv")
    table.assign(bleu=table["bleu"] + 0.001).to_csv("pool.csv", index=False)
    assert "metric bleu changed" in run("estimate", "s.csv", code=3).stderr
    table.drop(columns="bleu").to_csv("pool.csv", index=False)
    assert "unknown column 'bleu'" in run("estimate", "s.csv", code=3).stderr
    table.to_csv("kept.csv", index=False)
    run("estimate", "s.csv", "--pool", "kept.csv")
    Path("pool.csv").unlink()
    assert "--pool" in run("estimate", "s.csv", code=3).stderr
    Path("s.csv.design.json").unlink()
    assert "no design file" in run("estimate", "s.csv", code=3).stderr


def test_standard_input_and_output(run: Run, rate: Rate, folder: Path) -> None:
    text = Path("pool.csv").read_text()
    args = ("select", "-", "--budget", 9, "-o", "-", "--seed", 4)
    result = run(*args, "--design", "d.json", stdin=text)
    assert result.stdout.startswith("id,document,source,score\n")
    assert len(result.stdout.splitlines()) == 10
    assert "9 of 150 segments" in result.stderr
    assert "--design" in run(*args, stdin=text, code=2).stderr
    assert "--json" in run(*args, "--design", "e.json", "--json", stdin=text, code=2).stderr
    Path("s.csv").write_text(result.stdout)
    rate("s.csv")
    sheet = Path("s.csv").read_text()
    end = ("--design", "d.json", "--json")
    assert "standard input" in run("estimate", "-", *end, stdin=sheet, code=3).stderr
    first = run("estimate", "-", *end, "--pool", "pool.csv", stdin=sheet)
    second = run("estimate", "s.csv", *end, "--pool", "-", stdin=text)
    first, second = json.loads(first.stdout), json.loads(second.stdout)
    assert {**first, "file": ""} == {**second, "file": ""}
    assert run("estimate", "-", *end, "--pool", "-", stdin=sheet, code=2)
    assert run("estimate", "-", stdin=sheet, code=2)


def test_cost_budgets_that_are_no_numbers(run: Run) -> None:
    args = ("select", "pool.csv", "--cost", "cost", "-o", "a.csv", "--cost-budget")
    assert "expected a number, such as 0.5; got 'x'" in run(*args, "x", code=2).stderr
    said = run(*args, 600, "--risk", "y", code=2).stderr
    assert "expected a share, such as 0.9 or 90%; got 'y'" in said


def test_cost_budgets(run: Run, table: pd.DataFrame) -> None:
    cost = 12 + 0.7 * table["words"]
    args = ("select", "pool.csv", "--cost", "12+0.7*words", "--json", "-q", "--seed", 1)
    got = json.loads(run(*args, "--cost-budget", 600, "-o", "a.csv").stdout)
    pool = sheets.build_pool(table, {**COLUMNS, "cost": "12+0.7*words"})
    sampler = registry.strategy("docs-balanced+ridge", pool).sampler
    assert got["n"] == sampler.count(pool, Cost(600)) > 5
    assert got["pool_cost"] == pytest.approx(cost.sum())
    chosen = io.read_table("a.csv")["id"]
    assert got["cost"] == pytest.approx(cost[table["segment"].isin(chosen)].sum())
    safe = json.loads(run(*args, "--cost-budget", 600, "--risk", 0.05, "-o", "b.csv").stdout)
    assert safe["n"] == sampler.count(pool, Cost(600, 0.05)) <= got["n"]
    shown = run(*args[:4], "--cost-budget", 600, "-o", "c.csv", "--seed", 1)
    assert " cost " in shown.stdout
    assert "costs" in run(*args, "--cost-budget", 1, "-o", "d.csv", code=3).stderr
    bare = ("select", "pool.csv", "--cost-budget", 60, "-o", "d.csv")
    assert "--cost" in run(*bare, code=3).stderr
    assert "risk" in run(*args, "--cost-budget", 60, "--risk", 2, "-o", "d.csv", code=3).stderr


def test_words_of_a_text_column_as_cost(run: Run, rate: Rate, table: pd.DataFrame) -> None:
    args = ("select", "pool.csv", "--cost", "5+2*words(source)", "--budget", 30, "-o", "a.csv")
    got = json.loads(run(*args, "--json").stdout)
    assert got["pool_cost"] == sum(5 + 2 * len(t.split()) for t in table["source"])
    rate("a.csv")
    run("estimate", "a.csv")


def test_options_of_estimate(run: Run, rate: Rate, table: pd.DataFrame) -> None:
    run(
        "select",
        "pool.csv",
        "--budget",
        40,
        "-o",
        "s.csv",
        "--strategy",
        "random+ridge",
        "--seed",
        1,
    )
    rate("s.csv")

    def value(*args: Any) -> dict[str, Any]:
        return dict(json.loads(run("estimate", "s.csv", "--json", *args).stdout))

    base = value()
    assert value("--confidence", "99%")["low"] < base["low"]
    assert value("--estimator", "mean")["value"] == pytest.approx(base["plain_mean"], rel=1e-12)
    guaranteed = value("--estimator", "mean", "--bound", "hoeffding", "--limits", "0,25")
    assert guaranteed["bound_kind"] == "guaranteed"
    assert guaranteed["high"] > base["high"]
    pool = sheets.build_pool(table, COLUMNS)
    ratings = registry.strategy("random", pool).select(pool, 40, rng=1).rate(gold_of(table))
    for flag, better in (("--higher-is-better", True), ("--lower-is-better", False)):
        expected = Ridge(higher_is_better=better).estimate(ratings).value
        assert value(flag)["value"] == pytest.approx(float(expected), rel=1e-12)
    note = run("estimate", "s.csv", "--estimator", "mean", "--higher-is-better").stderr
    assert "does not use the direction" in note
    usage = [
        ("--bound", "hoeffding"),
        ("--bound", "exact"),
        ("--limits", "25"),
        ("--limits", "25,0"),
        ("--confidence", "95"),
        ("--confidence", "x"),
    ]
    for wrong in usage:
        run("estimate", "s.csv", *wrong, code=2)
    tuned = run("estimate", "s.csv", "--bound", "bernstein", "--limits", "0,25", code=3)
    assert "tuned on these ratings" in tuned.stderr
    assert "Did you mean" in run("estimate", "s.csv", "--estimator", "rige", code=3).stderr
    assert "outside the scale" in run("estimate", "s.csv", "--limits", "0,2", code=3).stderr
    frame = pd.read_csv("s.csv", dtype=str)
    frame.assign(a=frame["score"], b=frame["score"]).to_csv("s.csv", index=False)
    assert value("--human", "a,b")["value"] == pytest.approx(base["value"], rel=1e-12)
    assert value("--human", "a")["value"] == base["value"]


def test_a_guaranteed_bound_on_a_design_it_does_not_cover(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 40, "-o", "s.csv", "--strategy", "docs-sys+mean")
    rate("s.csv")
    result = run("estimate", "s.csv", "--bound", "bernstein", "--limits", "0,25", code=3)
    assert "--bound student" in result.stderr


def test_what_estimate_shows(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 40, "-o", "s.csv", "--seed", 1)
    rate("s.csv")
    text = run("estimate", "s.csv").stdout
    interval = ("95% interval", "approximate)", "standard error")
    whole = ("all 150 segments", "40 of 150", "est:ridge|design:docs-balanced|n:40|N:150")
    for part in (*interval, *whole, "plain random sample of 40"):
        assert part in text
    rows = run("estimate", "s.csv", "--format", "csv").stdout.splitlines()
    assert len(rows) == 2
    assert rows[0].startswith("value,se,low,high")
    assert run("estimate", "s.csv", "--format", "latex").stdout.startswith(r"\begin{tabular}")


def test_what_a_random_sample_would_have_had(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 40, "-o", "s.csv", "--seed", 1, "--strategy", "random")
    rate("s.csv")
    got = json.loads(run("estimate", "s.csv", "--json").stdout)
    assert got["random_se"] == pytest.approx(got["se"], rel=1e-12)  # it is one


def test_one_rating_is_too_few_and_says_so(run: Run, rate: Rate) -> None:
    run("select", "pool.csv", "--budget", 1, "-o", "s.csv", "--strategy", "random+mean")
    rate("s.csv")
    assert "too few ratings" in run("estimate", "s.csv").stdout
    assert json.loads(run("estimate", "s.csv", "--json").stdout)["se"] is None
    assert np.isfinite(json.loads(run("estimate", "s.csv", "--json").stdout)["value"])
