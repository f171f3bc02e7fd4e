"""``fewgold monitor``: the line, plans, anchors and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Callable[..., Any]
GIVEN = ("log.csv", "--chosen", "random", "--human", "passed", "--metrics", "judge")


@pytest.fixture(autouse=True)
def log(folder: Path) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 10 * 140
    day = np.arange(n) // 20
    good = rng.random(n) < np.where(day < 49, 0.9, 0.5)
    made = pd.DataFrame({"id": np.arange(n)})
    made["date"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(day, unit="D")
    made["judge"] = np.where(rng.random(n) < 0.9, good, ~good).astype(float)
    made["passed"] = np.where(rng.random(n) < 0.25, good.astype(float), np.nan)
    made.to_csv("log.csv", index=False)
    return made


def test_the_line_and_the_alarm(run: Run) -> None:
    args = ("monitor", *GIVEN, "--batch", "date", "--every", "week", "--drop", "0.2")
    told = json.loads(run(*args, "--json").stdout)
    assert told["alarm"]["began"] == "2026-W09" and len(told["batches"]) == 10
    shown = run(*args).stdout
    assert "Alarm at" in shown and "ALARM" in shown and told["signature"] in shown
    rows = run(*args, "--format", "csv").stdout.splitlines()
    assert len(rows) == 11 and rows[0].startswith("batch,n,size,value,se,low,high")
    run(*args, "--fail-alarm", code=1)
    run(*args, "--against", "0.3", "--fail-alarm", code=0)


def test_files(run: Run, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    args = ("monitor", *GIVEN, "--batch", "date", "--every", "week", "--drop", "0.2", "-o")
    for name in ("line.html", "line.csv", "line.svg"):
        run(*args, name)
        assert (folder / name).stat().st_size > 500
    run(*args, "line.csv", code=2)
    run(*args, "line.csv", "--force")
    run(*args, "line.txt", code=2)


def test_plans(run: Run) -> None:
    args = ("monitor", "--plan", "--drop", "0.1,0.3", "--ratings", "20,80")
    told = json.loads(run(*args, "--sd", "0.3", "--size", "140", "--delay", "4", "--json").stdout)
    assert [row["ratings"] for row in told["plan"]["delays"]] == [20, 20, 80, 80]
    needed = {row["drop"]: row["ratings"] for row in told["plan"]["needed"]}
    assert needed[0.3] < needed[0.1]
    assert "Batches until the alarm" in run(*args, "--sd", "0.3").stdout
    seen = json.loads(run(*args, *GIVEN, "--batch", "date", "--every", "week", "--json").stdout)
    assert seen["plan"]["sd"] == pytest.approx(seen["unit_sd"]) and seen["plan"]["size"] == 140


def test_the_next_batch(run: Run) -> None:
    args = ("monitor", *GIVEN, "--batch", "date", "--every", "week", "--drop", "0.2")
    told = json.loads(run(*args, "--budget", "600", "--batches", "15", "--json").stdout)
    assert told["next"]["batches"] == 5 and told["next"]["suspicious"]
    assert "Rate" in run(*args, "--budget", "600", "--batches", "15").stdout


def test_anchors(run: Run) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {"id": k, "week": w, "llm": int(rng.random() < (0.9 if w < 4 else 0.3))}
        for w in range(1, 7) for k in range(40)
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv("anchors.csv", index=False)
    args = ("monitor", "--anchor", "anchors.csv", "--batch", "week", "--judge", "llm")
    told = json.loads(run(*args, "--json").stdout)
    assert ["llm", "4"] in told["drift"]["alarms"]
    assert "llm has drifted" in run(*args).stdout
    run(*args, "--fail-alarm", code=1)


def test_sheets_and_campaigns(run: Run, table: pd.DataFrame) -> None:
    wide = table.assign(release=[f"r{k // 50}" for k in range(len(table))])
    wide.drop(columns="human").to_csv("pool.csv", index=False)
    run("select", "pool.csv", "--budget", "90", "--seed", "1", "-o", "s.csv")
    sheet = pd.read_csv("s.csv", dtype={"id": str})
    scores = table.set_index("segment")["human"]
    sheet.assign(score=sheet["id"].map(scores)).to_csv("s.csv", index=False)
    args = ("monitor", "s.csv", "--batch", "release", "--limits", "mqm", "--drop", "2", "--json")
    told = json.loads(run(*args).stdout)
    assert not told["higher_is_better"]
    assert [row["batch"] for row in told["batches"]] == ["r0", "r1", "r2"]
    truth = wide.groupby("release")["human"].mean()
    for row in told["batches"]:
        assert row["low_all"] < truth[row["batch"]] < row["high_all"]


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["log.csv"],
        ["--plan", "--sd", "0.3"],
        [*GIVEN, "--batch", "date", "--drop", "0.1,0.2"],
        [*GIVEN, "--batch", "date", "--drop", "none"],
        [*GIVEN, "--batch", "date", "--delay", "3"],
        [*GIVEN, "--batch", "date", "--budget", "300"],
        [*GIVEN, "--batch", "date", "--looks", "some"],
        [*GIVEN, "--batch", "date", "--average-run", "0.5"],
        ["--anchor", "anchors.csv", "--batch", "week"],
    ],
)
def test_wrong_options_exit_with_2(run: Run, args: list[str]) -> None:
    run("monitor", *args, code=2)


def test_bad_data_exit_with_3(run: Run) -> None:
    assert "unknown column" in run("monitor", *GIVEN, "--batch", "dat", code=3).stderr
    assert "must hold dates" in run(
        "monitor", *GIVEN, "--batch", "id", "--every", "week", code=3
    ).stderr  # fmt: skip
    none = run("monitor", "--plan", "--sd", "0", "--drop", "0.1", code=3)
    assert "standard deviation of a rating must be above 0" in none.stderr
    far = run("monitor", *GIVEN, "--batch", "date", "--drop", "0.1", "--against", "85", code=3)
    assert "target must lie on the scale of the scores, from 0 to 1" in far.stderr


def test_ratings_are_divided_over_batches_without_any(run: Run) -> None:
    rng = np.random.default_rng(5)
    week = np.repeat([1, 2, 3, 4], [100, 100, 10, 200])
    passed = np.where((week < 3) & (rng.random(410) < 0.4), rng.random(410) < 0.8, np.nan)
    pd.DataFrame({"week": week, "passed": passed}).to_csv("some.csv", index=False)
    words = ["monitor", "some.csv", "--chosen", "random", "--batch", "week", "-q", "--divide"]
    made = json.loads(run(*words, "40", "--json").stdout)["divided"]
    assert [m["batch"] for m in made] == ["3", "4"] and sum(m["ratings"] for m in made) == 40
    assert made[0]["ratings"] < made[1]["ratings"]  # of a smaller batch fewer are as sure
    said = run(*words, "400").stdout
    assert "3: 10 of 10" in said and "190 are left" in said


def test_the_doctor_names_the_command(run: Run) -> None:
    made = json.loads(run("doctor", "log.csv", "--json", code=1).stdout)["next_commands"]
    (text,) = [c["text"] for c in made if c["text"].startswith("fewgold monitor")]
    assert "--batch date --every week" in text
    assert "alarm" in json.loads(run(*text.split()[1:], "--json", "-q").stdout)
