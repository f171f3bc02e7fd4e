"""Rate more where it matters: ``--uncertainty``, ``--history``, ``--uniform`` in every command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold import sheets
from fewgold.campaign import Campaign
from fewgold.samplers import Chances, spread_of_probability

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def tables(folder: Path, table: pd.DataFrame) -> pd.DataFrame:
    """``pool.csv`` without human scores, with a judge's probability; last year's ratings."""
    rng = np.random.default_rng(5)
    wide = table.drop(columns="human").assign(
        judge=np.round(1 / (1 + np.exp(-2 * table["comet"])), 4),
        doubt=np.round(rng.gamma(2.0, 1.0, len(table)), 3),
    )
    wide.to_csv("pool.csv", index=False)
    wide.assign(human=table["human"]).to_csv("rated.csv", index=False)
    later = table.assign(doc_id="earlier " + table["doc_id"], comet=table["comet"] + 0.1)
    later.to_csv("last.csv", index=False)
    return wide


def selected(run: Run, *args: Any) -> dict[str, Any]:
    out = ("--budget", "40", "--seed", "1", "-o", "s.csv", "--force", "--json")
    return dict(json.loads(run("select", "pool.csv", *out, *args).stdout))


def test_a_spread_is_followed_and_is_no_metric(run: Run, tables: pd.DataFrame) -> None:
    made = selected(run, "--uncertainty", "doubt")
    assert made["strategy"] == "docs-uneven+ridge" and made["recommended"]
    assert made["chances"]["uncertainty"]["kind"] == "spread"
    assert "doubt" not in made["columns"]["metrics"] and "judge" in made["columns"]["metrics"]
    record = sheets.read_record("s.csv.design.json")
    pool = sheets.load_pool(record)
    np.testing.assert_array_equal(pool.spread, tables["doubt"])
    sample = sheets.load_sample(record, pool)
    chance = Chances().inclusion(pool, 40)
    np.testing.assert_allclose(sample.design.inclusion, chance[sample.indices])


def test_a_strategy_with_equal_chances_says_that_it_ignores_the_spread(run: Run) -> None:
    out = ("--budget", "40", "--seed", "1", "-o", "s.csv", "--uncertainty", "doubt")
    said = " ".join(
        str(run("select", "pool.csv", *out, "--strategy", "docs-sys+mean").stdout).split()
    )
    assert "does not use the column of --uncertainty" in said
    said = " ".join(str(run("select", "pool.csv", *out, "--force").stdout).split())
    assert "does not go by" not in said


@pytest.mark.parametrize(
    ("option", "kind"),
    [("judge", "probability"), ("judge:spread", "spread"), ("judge:probability", "probability")],
)
def test_a_probability_of_the_judge(run: Run, tables: pd.DataFrame, option: str, kind: str) -> None:
    made = selected(run, "--uncertainty", option)
    assert made["chances"]["uncertainty"]["kind"] == kind
    assert ("judge" in made["columns"]["metrics"]) == (kind == "probability")
    q = tables["judge"].to_numpy()
    expected = spread_of_probability(q) if kind == "probability" else q
    np.testing.assert_array_equal(sheets.load_pool("s.csv.design.json").spread, expected)
    text = run("select", "pool.csv", "--budget", "9", "-o", "t.csv", "--uncertainty", option).stdout
    other = "spread" if kind == "probability" else "probability"
    assert f"--uncertainty judge:{other}" in text


def test_a_name_that_tells_wins(run: Run, tables: pd.DataFrame) -> None:
    named = tables.rename(columns={"judge": "judge_sd"})
    named.to_csv("pool.csv", index=False)
    assert selected(run, "--uncertainty", "judge_sd")["chances"]["uncertainty"]["kind"] == "spread"


def test_a_history_adds_a_metric_and_a_spread(run: Run) -> None:
    made = selected(run, "--history", "last.csv")
    told = made["chances"]["history"]
    assert made["strategy"] == "docs-uneven+ridge"
    assert (told["ratings"], told["metrics"], told["same_segments"]) == (
        150, ["comet", "bleu", "words"], 0,
    )  # fmt: skip
    assert "history" not in made["columns"]["metrics"]
    Path("last.csv").unlink()  # the design file knows all that is needed
    pool = sheets.load_pool("s.csv.design.json")
    assert "history" in pool.metrics and pool.spread is not None


def test_what_was_done_about_a_history_names_its_file(run: Run) -> None:
    last = pd.read_csv("last.csv")
    last["comet"] = last["comet"].mask(last.index < 2)
    last.to_csv("gaps.csv", index=False)
    asked = ("select", "pool.csv", "--budget", "40", "-o", "s.csv", "--history")
    made = run(*asked, "gaps.csv")
    assert "gaps.csv: gaps in metrics, filled with the mean of the metric: comet (2)" in made.stderr
    last.head(12).to_csv("short.csv", index=False)
    refused = run(*asked, "short.csv", "--force", code=3)
    assert "--history: short.csv: a history needs at least 30 ratings" in refused.stderr


def test_a_column_outweighs_the_spread_of_a_history(run: Run, tables: pd.DataFrame) -> None:
    selected(run, "--history", "last.csv", "--uncertainty", "doubt")
    pool = sheets.load_pool("s.csv.design.json")
    assert "history" in pool.metrics
    np.testing.assert_array_equal(pool.spread, tables["doubt"])


def test_the_same_segments_of_other_systems_count(run: Run, table: pd.DataFrame) -> None:
    others = [table.assign(model=m, human=table["human"] + k) for k, m in enumerate("bc")]
    pd.concat(others).to_csv("others.csv", index=False)
    told = selected(run, "--history", "others.csv")["chances"]["history"]
    assert (told["systems"], told["ratings"], told["same_segments"]) == (2, 300, 150)


def test_estimate_and_top_up_without_the_history_file(run: Run, rate: Callable[..., None]) -> None:
    selected(run, "--history", "last.csv", "--uniform", "30%")
    Path("last.csv").unlink()
    rate("s.csv")
    made = json.loads(run("estimate", "s.csv", "--json").stdout)
    assert made["n"] == 40 and made["low"] < made["value"] < made["high"]
    more = ("--given", "s.csv", "--budget", "20", "--seed", "2", "-o", "t.csv", "--json")
    second = json.loads(run("select", "pool.csv", *more).stdout)
    assert second["strategy"] == "docs-uneven+ridge"
    assert second["chances"]["uniform"] == 0.3
    rate("t.csv")
    assert json.loads(run("estimate", "t.csv", "--json").stdout)["n"] == 60
    refused = run("select", "pool.csv", *more, "--force", "--history", "s.csv", code=2)
    assert "--given already has the columns" in refused.stderr


def test_a_changed_pool_or_side_file_is_refused(run: Run, rate: Callable[..., None]) -> None:
    selected(run, "--history", "last.csv")
    rate("s.csv")
    side = Path("s.csv.design.json")
    record = json.loads(side.read_text(encoding="utf-8"))
    record["pool"]["added"]["spread"][3] *= 1.5
    side.write_text(json.dumps(record), encoding="utf-8")
    assert "spread changed" in run("estimate", "s.csv", code=3).stderr
    record["pool"]["added"]["spread"].pop()
    side.write_text(json.dumps(record), encoding="utf-8")
    assert "spread is gone" in " ".join(run("estimate", "s.csv", code=3).stderr.split())
    selected(run, "--history", "last.csv")
    rate("s.csv")
    pool = pd.read_csv("pool.csv", dtype={"segment": str})
    pool.iloc[:-1].to_csv("pool.csv", index=False)
    assert "it has 149 segments now and had 150" in run("estimate", "s.csv", code=3).stderr


def test_two_waves(run: Run, rate: Callable[..., None]) -> None:
    first = ("--strategy", "docs-two-wave+ridge", "--budget", "40", "-o", "one.csv")
    text = run("select", "pool.csv", *first).stdout
    assert "This is the first wave" in text and "--given one.csv" in " ".join(text.split())
    rate("one.csv")
    second = run("select", "pool.csv", "--given", "one.csv", "--budget", "30", "-o", "two.csv")
    assert "learnt from the 40 earlier ratings" in second.stdout
    chance = [
        s["inclusion"] for s in sheets.read_record("two.csv.design.json")["sample"]["segments"]
    ]
    assert len(set(chance)) > 1
    rate("two.csv")
    assert json.loads(run("estimate", "two.csv", "--json").stdout)["n"] == 70


def test_ranks_and_chances_that_are_equal_are_told(run: Run) -> None:
    def text(strategy: str) -> str:
        made = run("select", "pool.csv", "--budget", "9", "--strategy", strategy, "-o", "t.csv",
                   "--force")  # fmt: skip
        return " ".join(made.stdout.split())

    assert "the rank of the metrics: the worse an output seems" in text("docs-uneven-rank+ridge")
    assert "not pass or fail or Likert scales" in text("docs-uneven-rank+ridge")
    assert "so all segments had the same chance" in text("docs-uneven+ridge")


def test_without_documents_or_metrics(run: Run, tables: pd.DataFrame) -> None:
    none = ("--uncertainty", "doubt", "--metrics", "none")
    assert selected(run, *none)["strategy"] == "docs-sys-uneven+mean"
    assert selected(run, *none, "--document", "none")["strategy"] == "random-uneven+mean"
    alone = selected(run, "--uncertainty", "doubt", "--document", "none")
    assert alone["strategy"] == "docs-uneven+ridge" and alone["documents"] is None


def test_a_shared_sheet_averages_over_the_systems(
    run: Run, tables: pd.DataFrame, table: pd.DataFrame
) -> None:
    second = tables.assign(model="beta", doubt=tables["doubt"] + 1)
    pd.concat([tables, second]).to_csv("both.csv", index=False)
    options = ("--shared", "--texts", "source", "--uncertainty", "doubt", "--budget", "30")
    made = json.loads(run("select", "both.csv", *options, "-o", "b.csv", "--json").stdout)
    assert made["strategy"] == "docs-uneven+ridge" and made["systems"] == 2
    record = sheets.read_record("b.csv.design.json")
    np.testing.assert_allclose(record["pool"]["added"]["spread"], tables["doubt"] + 0.5)
    sheet = pd.read_csv("b.csv", dtype={"id": str, "segment": str})
    gold = dict(zip(table["segment"], table["human"], strict=True))
    sheet["score"] = [gold[s] + k % 2 for k, s in enumerate(sheet["segment"])]
    sheet.to_csv("b.csv", index=False)
    found = json.loads(run("compare", "b.csv", "--lower-is-better", "--json").stdout)
    assert {s["system"] for s in found["scores"]} == {"alpha", "beta"}
    refused = run("select", "both.csv", *options, "--history", "last.csv", "-o", "c.csv", code=2)
    assert "--shared cannot be combined with --history" in refused.stderr


def test_a_campaign_keeps_the_spread(run: Run, rate: Callable[..., None]) -> None:
    begin = (
        "init",
        "study",
        "pool.csv",
        "--seed",
        "3",
        "--history",
        "last.csv",
        "--uniform",
        "0.4",
    )
    made = json.loads(run(*begin, "--json").stdout)
    assert made["strategy"] == "docs-uneven+ridge" and "history" in made["metrics"]
    assert made["chances"]["history"]["ratings"] == 150
    Path("last.csv").unlink()
    run("select", "study", "--budget", "30", "-o", "w.csv")
    rate("w.csv")
    run("import", "study", "w.csv")
    run("select", "study", "--more", "20")
    with Campaign("study") as campaign:
        pool, settings = campaign.pool, campaign.settings
        assert pool.spread is not None and settings.uniform == 0.4
        first = campaign.store.sample(1)
        chance = Chances(uniform=0.4).inclusion(pool, 30)
        np.testing.assert_allclose(first.design.inclusion, chance[first.indices])
        assert "40% was the same for all segments" in settings.chances
    page = json.loads(run("report", "study", "-o", "r.md", "--gaps", "at-random", "--json").stdout)
    assert "was learnt from earlier ratings" in page["methods"]


@pytest.mark.parametrize("limits", ["binary", "1,5", "likert7"])
def test_ranks_do_not_suit_short_scales(run: Run, limits: str) -> None:
    rank = ("--strategy", "docs-uneven-rank+ridge", "--limits", limits)
    told = " ".join(run("init", "study", "pool.csv", *rank, code=3).stderr.split())
    assert "suit error counts, but not a scale from" in told and "with --uncertainty" in told
    run("init", "other", "pool.csv", "--strategy", "docs-uneven-rank+ridge", "--limits", "mqm")


def test_simulate_tells_whether_it_pays(run: Run) -> None:
    names = "docs-balanced+ridge,docs-uneven+ridge,docs-two-wave+ridge"
    call = ("simulate", "rated.csv", "--strategies", names, "--budgets", "20%", "--draws", "20")
    made = json.loads(run(*call, "--uncertainty", "doubt", "--json").stdout)
    assert [row["strategy"] for row in made["uneven"]] == [
        "docs-uneven+ridge",
        "docs-two-wave+ridge",
    ]
    assert all(row["gain_mc"] > 0 for row in made["uneven"])
    text = " ".join(run(*call, "--uncertainty", "doubt").stdout.split())
    assert "(Monte-Carlo error)" in text and "that of docs-balanced+ridge:" in text


def test_the_usual_strategies_follow_what_is_known(run: Run) -> None:
    call = ("simulate", "rated.csv", "--budgets", "20%", "--draws", "2", "--json")

    def names(*options: str) -> set[str]:
        cells = json.loads(run(*call, *options).stdout)["ranking"]
        return {c["strategy"] for c in cells if "uneven" in c["strategy"]}

    assert names() == {"docs-uneven-rank+ridge"}
    assert names("--uncertainty", "doubt", "--uniform", "0.2") == {"docs-uneven+ridge"}
    assert names("--adequate", "<=4") == set()


def test_a_simulation_never_learns_from_what_it_replays(run: Run, table: pd.DataFrame) -> None:
    both = [
        table.assign(model=m, human=np.round(table["human"] * (1 + k), 3))
        for k, m in enumerate("ab")
    ]
    pd.concat(both).to_csv("both.csv", index=False)
    options = ("--strategies", "docs-uneven+ridge", "--budgets", "20%", "--draws", "2")
    made = run("simulate", "both.csv", *options, "--history", "both.csv")
    assert "history of a: 150 ratings in both.csv, by" in made.stderr
    refused = run("simulate", "rated.csv", *options, "--history", "rated.csv", code=3)
    assert "holds only the ratings of all that are replayed" in refused.stderr


def test_plan_with_a_column(run: Run) -> None:
    call = ("plan", "--history", "rated.csv", "--half-width", "0.6", "--draws", "20", "--json")
    made = json.loads(run(*call, "--uncertainty", "doubt").stdout)
    assert [n["strategy"] for n in made["strategies"]][-1] == "docs-uneven+ridge"
    alone = run("plan", "--sd", "2", "--half-width", "0.6", "--uncertainty", "doubt", code=2)
    assert "names a column of the table of --history" in alone.stderr


def test_whole_documents_cost(run: Run, rate: Callable[..., None], table: pd.DataFrame) -> None:
    whole = ("--strategy", "docs-whole+mean", "--budget", "48", "-o", "w.csv", "--seed", "1")
    text = " ".join(run("select", "pool.csv", *whole).stdout.split())
    record = sheets.read_record("w.csv.design.json")
    sizes = np.bincount([s["unit"] for s in record["sample"]["segments"]])
    effect = 1 + ((sizes**2).sum() / 48 - 1) * 0.2
    assert f"48 segments in whole documents are worth about {round(48 / effect)} scattered" in text
    assert "docs-chunks3, or docs-balanced" in text and "typically 0.20" in text
    rate("w.csv")
    more = ("--given", "w.csv", "--budget", "30", "-o", "m.csv")
    assert "in the ratings so far" in " ".join(run("select", "pool.csv", *more).stdout.split())
    chunks = ("--strategy", "docs-chunks2+mean", "--budget", "30", "-o", "c.csv")
    known = " ".join(run("select", "pool.csv", *chunks, "--history", "last.csv").stdout.split())
    assert "30 segments in chunks are worth about" in known and "in the ratings so far" in known


# What does not fit


def broken(tables: pd.DataFrame, **columns: Any) -> None:
    tables.assign(**columns).to_csv("pool.csv", index=False)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (-1.0, "needs a number of at least 0 in every row of 'doubt'; rows without one: 1, first"),
        (np.nan, "rows without one: 1, first that of id 00007. Fill them in"),
        ("much", "rows without one: 1, first that of id 00007"),
    ],
)
def test_values_that_are_no_spread(
    run: Run, tables: pd.DataFrame, values: Any, sentence: str
) -> None:
    doubt = tables["doubt"].astype(object)
    doubt[7] = values
    broken(tables, doubt=doubt)
    call = ("select", "pool.csv", "--budget", "9", "-o", "s.csv", "--uncertainty", "doubt:spread")
    assert sentence in " ".join(run(*call, code=3).stderr.split())


def test_other_things_that_do_not_fit(run: Run, tables: pd.DataFrame, table: pd.DataFrame) -> None:
    def told(*options: str, code: int = 3) -> str:
        call = ("select", "pool.csv", "--budget", "9", "-o", "s.csv")
        return " ".join(run(*call, *options, code=code).stderr.split())

    assert "unknown column of --uncertainty 'dout'. Did you mean 'doubt'" in told(
        "--uncertainty", "dout"
    )
    assert "a number from 0 to 1 in every row of 'doubt'" in told(
        "--uncertainty", "doubt:probability"
    )
    for share in ("0", "1.5", "-0.2", "half"):
        assert "share" in told("--uncertainty", "doubt", f"--uniform={share}", code=2)
    assert "--history-human needs --history" in told("--history-human", "mqm", code=2)
    assert "draws every segment with the same chance" in told("--uniform", "0.5")
    table[["segment", "doc_id", "human"]].to_csv("bare.csv", index=False)
    assert "bare.csv and the pool have no metric in common. The pool has comet" in told(
        "--history", "bare.csv"
    )
    table.drop(columns="human").to_csv("unrated.csv", index=False)
    assert "Name it with --history-human" in told("--history", "unrated.csv")
    table.head(20).to_csv("few.csv", index=False)
    assert "at least 30 ratings to learn from; got 20. Leave out --history" in told(
        "--history", "few.csv"
    )
    assert "unknown column 'mqm'" in told("--history", "last.csv", "--history-human", "mqm")
    broken(tables, doubt=0.0)
    assert "the expected spread is 0 in every row of 'doubt'" in told("--uncertainty", "doubt")
    broken(tables, history=tables["comet"])
    assert "a metric called 'history' already. Rename the column" in told("--history", "last.csv")


def test_budgets_up_to_the_whole_pool(run: Run) -> None:
    whole = ("select", "pool.csv", "--uncertainty", "doubt", "-o", "s.csv", "--force", "--json")
    assert json.loads(run(*whole, "--budget", "100%").stdout)["n"] == 150
    assert json.loads(run(*whole, "--budget", "149").stdout)["n"] == 149
    assert "from 1 to 150" in run(*whole, "--budget", "151", code=3).stderr


def test_options_where_they_have_no_meaning(run: Run, tables: pd.DataFrame) -> None:
    run("init", "study", "pool.csv")
    told = run(
        "select", "study", "--budget", "9", "--uncertainty", "doubt", "--uniform", "1", code=2
    )
    assert "--uncertainty, --uniform cannot be given with a campaign" in " ".join(
        told.stderr.split()
    )
    told = run("simulate", "demo-ende", "--uncertainty", "comet", code=2)
    assert "--uncertainty names a column of a table" in told.stderr
    told = run("simulate", "rated.csv", "--strategies", "random+mean", "--uniform", "0.3", code=2)
    assert "--uniform is for strategies with uneven chances" in " ".join(told.stderr.split())
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    tables.to_parquet("p.parquet")
    disk = ("select", "p.parquet", "--engine", "duckdb", "--budget", "9", "-o", "s.csv")
    told = run(*disk, "--history", "rated.csv", code=2)
    assert "--history needs a pool that is loaded" in " ".join(told.stderr.split())
    told = run(*disk, "--uncertainty", "doubt", "--json")
    assert json.loads(told.stdout)["strategy"] == "docs-uneven+ridge"
    sampled = sheets.read_record("s.csv.design.json")["sample"]["segments"]
    assert len({s["inclusion"] for s in sampled}) > 1
