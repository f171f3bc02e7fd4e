"""Several raters on the command line, and sheets where no spreadsheet can be written."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

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
