"""Sheets with several criteria, from ``select`` to ``estimate``."""

import json

import numpy as np
import pandas as pd
import pytest

from fewgold.datasets import load_demo


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A pool, and a function that fills in a sheet."""
    monkeypatch.chdir(tmp_path)
    pool, penalty = load_demo("zhen")
    frame = pd.DataFrame({"id": pool.ids, "document": pool.documents, **pool.metrics})
    frame.to_csv("pool.csv", index=False)
    rng = np.random.default_rng(2)
    gold = pd.DataFrame({
        "fluency": np.clip(np.round(5 - penalty / 4 + rng.normal(size=len(pool))), 1, 5),
        "adequacy": np.clip(np.round(100 - 4 * penalty), 0, 100),
    }).set_index(pool.ids.astype(str))  # fmt: skip

    def fill(name, skip=0):
        sheet = pd.read_csv(name, dtype=str)
        for column in gold:
            sheet[column] = gold.loc[sheet["id"], column].to_numpy()
        if skip:
            sheet.loc[: skip - 1, "adequacy"] = np.nan
        sheet.to_csv(name, index=False)
        return sheet

    return fill


SELECT = ["select", "pool.csv", "--budget", "60", "--seed", "3", "-o", "s.csv"]
CRITERIA = ["--criteria", "fluency:1-5:higher,adequacy:0-100"]


def test_one_sheet_several_columns_one_estimate(run, files) -> None:
    told = json.loads(run(*SELECT, *CRITERIA, "--json").stdout)
    assert [c["name"] for c in told["criteria"]] == ["fluency", "adequacy"]
    sheet = files("s.csv")
    assert list(sheet.columns) == ["id", "document", "fluency", "adequacy"]
    found = json.loads(run("estimate", "s.csv", "--json").stdout)
    assert list(found) == [
        "criteria", "correlations", "confidence", "simultaneous", "level", "notes", "strategy",
        "seed", "target", "adequate", "file",
    ]  # fmt: skip
    assert [row["limits"] for row in found["criteria"]] == [[1.0, 5.0], [0.0, 100.0]]
    for row, direction in zip(found["criteria"], (["--higher-is-better"], []), strict=True):
        limits = ",".join(f"{end:g}" for end in row["limits"])
        one = ["--human", row["criterion"], "--limits", limits, *direction]
        alone = json.loads(run("estimate", "s.csv", *one, "--json").stdout)
        assert {k: row[k] for k in ("value", "se", "low", "high", "signature")} == {
            k: alone[k] for k in ("value", "se", "low", "high", "signature")
        }
    text = run("estimate", "s.csv", "--simultaneous").output
    assert "hold for all criteria together" in text
    assert "fluency – adequacy" in text
    rows = run("estimate", "s.csv", "--format", "csv").output.splitlines()
    assert len(rows) == 3
    assert rows[1].startswith("fluency,")
    only = json.loads(run("estimate", "s.csv", "--criteria", "adequacy", "--json").stdout)
    assert [row["criterion"] for row in only["criteria"]] == ["adequacy"]
    assert only["criteria"][0]["limits"] == [0.0, 100.0]  # as select was told
    whole = json.loads(
        run("estimate", "s.csv", "--criteria", "adequacy", "--total", "--json").stdout
    )
    mean = only["criteria"][0]["value"]
    assert whole["value"] == pytest.approx(mean * whole["pool_size"])
    assert "one criterion at" in run("estimate", "s.csv", "--total", code=2).output


def test_a_further_wave_keeps_the_criteria(run, files) -> None:
    run(*SELECT, *CRITERIA)
    files("s.csv")
    more = ["select", "pool.csv", "--given", "s.csv", "--budget", "30", "--seed", "4"]
    run(*more, "-o", "t.csv")
    files("t.csv")
    found = json.loads(run("estimate", "t.csv", "--json").stdout)
    assert [row["n"] for row in found["criteria"]] == [90, 90]
    assert "already has its criteria" in run(*more, *CRITERIA, "-o", "u.csv", code=2).output


def test_gaps_are_told_by_criterion(run, files) -> None:
    run(*SELECT, *CRITERIA)
    files("s.csv", skip=4)
    assert "'adequacy'" in run("estimate", "s.csv", code=3).output
    found = json.loads(run("estimate", "s.csv", "--gaps", "at-random", "--json").stdout)
    assert [row["missing"] for row in found["criteria"]] == [0, 4]


def test_commands_on_one_score_ask_which_criterion(run, files) -> None:
    run(*SELECT, *CRITERIA, "--strategy", "random")
    files("s.csv")
    stop = ["stop", "s.csv", "--tolerance", "1", "--limits", "1,5"]
    assert "Choose one with --human" in run(*stop, code=3).output
    assert run(*stop, "--human", "fluency").output
    assert "Give one of the two" in run(
        "estimate", "s.csv", "--human", "fluency", "--criteria", "adequacy", code=2
    ).output.replace("\n", " ")
    assert "--simultaneous is for several" in run(
        "estimate", "s.csv", "--human", "fluency", "--simultaneous", code=2
    ).output.replace("\n", " ")


def test_labels_that_exist(run, files) -> None:
    run(*SELECT, *CRITERIA, "--strategy", "random")
    sheet = files("s.csv")[["id", "fluency", "adequacy"]]
    pd.read_csv("pool.csv", dtype=str).merge(sheet, how="left").to_csv("table.csv", index=False)
    chosen = ["--chosen", "random", "--metrics", "comet", "--json"]
    found = json.loads(
        run("estimate", "table.csv", "--criteria", "fluency,adequacy", *chosen).stdout
    )
    assert [row["n"] for row in found["criteria"]] == [60, 60]
    assert found["strategy"] == "labels+ridge"
    sheet.to_csv("labels.csv", index=False)
    joined = ["--labels", "labels.csv", "--on", "id"]
    again = run("estimate", "pool.csv", "--criteria", "fluency,adequacy", *joined, *chosen).stdout
    assert json.loads(again)["criteria"] == found["criteria"]


def test_several_systems_are_compared_one_criterion_at_a_time(run, files) -> None:
    pool = pd.read_csv("pool.csv", dtype=str).head(40)
    pd.concat([pool.assign(system=s) for s in "ab"]).to_csv("two.csv", index=False)
    run("select", "two.csv", "--shared", "--budget", "20", "-o", "s.csv", *CRITERIA)
    sheet = pd.read_csv("s.csv", dtype=str)
    assert list(sheet.columns)[-2:] == ["fluency", "adequacy"]
    sheet.assign(fluency=[3, 4] * 20, adequacy=[50, 40] * 20).to_csv("s.csv", index=False)
    assert "Choose one with --human" in run("compare", "s.csv", code=3).output
    assert run("compare", "s.csv", "--human", "adequacy").output


def test_slices_of_one_criterion_of_existing_labels(run, files) -> None:
    run(*SELECT, *CRITERIA)
    sheet = files("s.csv")
    table = pd.read_csv("pool.csv").merge(sheet[["id", "fluency", "adequacy"]], how="left")
    table.assign(kind=np.where(np.arange(len(table)) % 2, "a", "b")).to_csv("t.csv", index=False)
    args = ["--criteria", "adequacy:0-100", "--chosen", "random", "--by", "kind", "--json"]
    told = json.loads(run("estimate", "t.csv", *args).stdout)
    assert {row["slice"] for row in told["slices"]["slices"]} == {"a", "b"}
    alone = ["--human", "adequacy", *args[2:], "--limits", "0,100"]
    table.drop(columns="fluency").assign(kind=np.where(np.arange(len(table)) % 2, "a", "b")).to_csv(
        "u.csv", index=False
    )
    assert json.loads(run("estimate", "u.csv", *alone).stdout)["slices"] == told["slices"]
