"""Several raters on the command line, and sheets where no spreadsheet can be written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from fewgold.campaign import Campaign
from fewgold.cli import exchange

Run = Callable[..., Any]


def _fill(score: int, out: str, rows: int = 99) -> None:
    sheet = pd.read_csv("sheet.csv", dtype=str, keep_default_na=False)
    due = sheet.index[sheet["rate"] == "yes"][:rows]
    sheet.loc[due, "score"] = str(score)
    sheet.to_csv(out, index=False)


def _begin(run: Run) -> None:
    run("init", "study", "pool.csv", "--limits", "0,25", "--seed", 3, "--each", 2)
    run("select", "study", "--budget", 20, "-o", "sheet.csv")


def test_sheets_without_names_are_two_people_if_one_says_so(run: Run) -> None:
    _begin(run)
    _fill(2, "a.csv")
    _fill(4, "b.csv", rows=15)
    run("import", "study", "a.csv", "--by", "ann")
    run("import", "study", "b.csv", "--by", "bob")
    with Campaign("study") as campaign:
        assert campaign.status().raters == {"ann": 20, "bob": 15}
        assert sorted(set(campaign.scores().tolist())) == [2.0, 3.0]
    assert "--what incomplete" in run("status", "study").stdout
    assert "--what incomplete" in run("export", "study", "-o", "w.csv", code=3).stderr
    made = run("export", "study", "-o", "w.csv", "--what", "incomplete", "--json")
    assert json.loads(made.stdout)["count"] == 5
    _fill(4, "c.csv")
    run("import", "study", "c.csv", "--by", "bob")
    assert "enough raters" in run(
        "export", "study", "-o", "v.csv", "--what", "incomplete", code=3
    ).stderr  # fmt: skip


def test_names_in_the_file_win_and_missing_ones_are_told(run: Run) -> None:
    _begin(run)
    _fill(2, "a.csv")
    sheet = pd.read_csv("a.csv", dtype=str, keep_default_na=False)
    sheet.loc[sheet.index[sheet["rate"] == "yes"][0], "rater"] = "cy"
    sheet.to_csv("a.csv", index=False)
    run("import", "study", "a.csv", "--by", "ann")
    with Campaign("study") as campaign:
        assert campaign.status().raters == {"ann": 19, "cy": 1}
    _fill(3, "b.csv")
    run("import", "study", "b.csv")
    told = " ".join(run("status", "study").stdout.split())
    assert "20 answers without the name of a rater" in told


def test_nothing_is_drawn_if_the_sheet_cannot_be_written(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("init", "study", "pool.csv", "--seed", 3)
    monkeypatch.setattr(exchange, "find_spec", lambda name: None)
    assert "a .csv file" in run(
        "select", "study", "--budget", 20, "-o", "sheet.xlsx", code=3
    ).stderr  # fmt: skip
    with Campaign("study") as campaign:
        assert not campaign.waves


def test_a_report_with_gaps_says_what_to_type(run: Run) -> None:
    _begin(run)
    _fill(2, "a.csv", rows=15)
    run("import", "study", "a.csv")
    said = run("report", "study", "-o", "r.md", code=3).stderr
    assert "--gaps at-random" in said and "at_random()" not in said


def test_the_files_of_raters_are_named(run: Run) -> None:
    _begin(run)
    shown = run("export", "study", "-o", "rate.csv", "--raters", "ann,bob").stdout
    assert "to rate to rate-ann.csv, rate-bob.csv." in " ".join(shown.split())
    assert Path("rate-ann.csv").is_file() and not Path("rate.csv").exists()


def test_a_stray_word_does_not_spoil_a_sheet_of_words(run: Run) -> None:
    run("init", "study", "pool.csv", "--limits", "0,1", "--seed", 3)
    run("select", "study", "--budget", 20, "-o", "sheet.csv")
    sheet = pd.read_csv("sheet.csv", dtype=str, keep_default_na=False)
    due = sheet.index[sheet["rate"] == "yes"]
    sheet.loc[due, "score"] = ["Yes", "no"] * 10
    sheet.loc[due[4], "score"] = "yes?"
    sheet.to_csv("back.csv", index=False)
    shown = " ".join(run("import", "study", "back.csv").stdout.split())
    assert "Stored 19 new answers" in shown
    assert "has 'yes?' as its score, but the others are yes and no." in shown
    with Campaign("study") as campaign:
        assert np.nansum(campaign.scores()) == 9


def test_a_column_that_a_campaign_did_not_keep(run: Run) -> None:
    _begin(run)
    _fill(2, "a.csv")
    run("import", "study", "a.csv", "--by", "ann")
    asked = ("monitor", "study", "--batch", "week", "--drop", 1)
    assert "fewgold init --by" in " ".join(run(*asked, code=3).stderr.split())


def test_what_compare_says_of_columns_and_of_files(run: Run) -> None:
    _begin(run)
    told = run("compare", "study", "--system", "model", code=2).stderr
    assert "fewgold estimate --by COLUMN" in " ".join(told.replace("│", "").split())
    told = run("compare", "study", "-o", "figure.pdf", code=2).stderr
    assert "-o names a folder" in told and not Path("figure.pdf").exists()
