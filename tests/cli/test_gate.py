"""``fewgold gate``: exit codes, parts, and bad data that can be told apart."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def log(folder: Path) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    n = 1200
    good = rng.random(n) < np.where(np.arange(n) < 900, 0.9, 0.6)
    made = pd.DataFrame({"id": np.arange(n), "release": [f"v{1 + k // 300}" for k in range(n)]})
    made["date"] = pd.Timestamp("2026-01-05") + pd.to_timedelta(np.arange(n) // 43, unit="D")
    made["judge"] = np.where(rng.random(n) < 0.9, good, ~good).astype(float)
    made["passed"] = np.where(rng.random(n) < 0.25, good.astype(float), np.nan)
    made.to_csv("log.csv", index=False)
    return made


GIVEN = ("log.csv", "--chosen", "random", "--human", "passed")


def test_the_exit_code_is_the_verdict(run: Run) -> None:
    for bar, code, verdict in ((0.7, 0, "better"), (0.95, 1, "worse"), (0.83, 3, "unknown")):
        told = json.loads(run("gate", *GIVEN, "--bar", bar, "--json", code=code).stdout)
        assert (told["verdict"], told["exit_code"]) == (verdict, code)
        shown = run("gate", *GIVEN, "--bar", bar, code=code).stdout
        assert told["sentence"].split(",")[0] in " ".join(shown.split())
    assert "more ratings would decide" in " ".join(shown.split())
    run("gate", *GIVEN, "--bar", 0.83, "--unknown-passes", code=0)
    run("gate", *GIVEN, "--bar", 0.95, "--unknown-passes", code=1)


def test_it_says_what_estimate_says(run: Run) -> None:
    told = json.loads(run("gate", *GIVEN, "--bar", 0.7, "--json").stdout)
    made = json.loads(run("estimate", *GIVEN, "--confidence", "0.9", "--json").stdout)
    assert told["value"] == pytest.approx(made["value"], rel=1e-9)
    assert (told["low"], told["high"]) == pytest.approx((made["low"], made["high"]), abs=0.005)


def test_direction(run: Run) -> None:
    run("gate", *GIVEN, "--bar", 0.95, "--lower-is-better", code=0)
    run("gate", *GIVEN, "--bar", 0.7, "--lower-is-better", code=1)


def test_the_last_batch_or_another(run: Run) -> None:
    def part(*more: str, code: int) -> dict[str, Any]:
        args = ("gate", *GIVEN, "--bar", "0.77", "--json", *more)
        return dict(json.loads(run(*args, code=code).stdout))

    assert part("--by", "release", code=1)["of"] == "mean of v4"
    assert part("--by", "release", "--part", "v1", code=0)["of"] == "mean of v1"
    assert part("--by", "date", "--every", "month", code=3)["of"] == "mean of 2026-02"
    last = "only rows with the last value of release in the table count, v4"
    at = ("gate", *GIVEN, "--bar", "0.77", "--by")
    assert last in " ".join(run(*at, "release", code=1).stderr.split())
    for more, code in ((("release", "--part", "v4"), 1), (("date", "--every", "month"), 3)):
        assert "last value" not in run(*at, *more, code=code).stderr
    args = ("gate", *GIVEN, "--bar", 1, "--by", "release", "--part", "v9")
    assert "unknown value of release" in run(*args, code=3).stderr


def test_bad_data_are_told_apart_from_not_yet_known(run: Run) -> None:
    found = run("gate", "log.csv", "--human", "passed", "--bar", 0.8, "--json", code=3)
    told = json.loads(found.stdout)
    assert told["verdict"] == "error" and told["passed"] is None
    assert found.stderr.startswith("error: ") and "--chosen" in told["error"]
    silent = run("gate", "log.csv", "--human", "passed", "--bar", 0.8, code=3)
    assert silent.stdout == ""
    # Not even where "not yet known" passes.
    run("gate", "log.csv", "--human", "passed", "--bar", 0.8, "--unknown-passes", code=3)


@pytest.mark.parametrize(
    "args",
    [
        ["--bar", "high"],
        ["--bar", "0.8", "--confidence", "0.5"],
        ["--bar", "0.8", "--part", "v1"],
        ["--bar", "0.8", "--looks", "0"],
        ["--bar", "0.8", "--by", "release", "--target", "process"],
        ["--bar", "0.8", "--waves", "1"],
        [],
    ],
)
def test_wrong_options_exit_with_2(run: Run, args: list[str]) -> None:
    run("gate", *GIVEN, *args, code=2)


def test_a_sheet_and_a_campaign(run: Run, table: pd.DataFrame) -> None:
    run("select", "pool.csv", "--budget", "60", "--seed", "1", "-o", "s.csv")
    sheet = pd.read_csv("s.csv", dtype={"id": str})
    scores = table.set_index("segment")["human"]
    sheet.assign(score=sheet["id"].map(scores)).to_csv("s.csv", index=False)
    run("gate", "s.csv", "--bar", "20", "--limits", "mqm", code=0)
    run("gate", "s.csv", "--bar", "0.5", "--limits", "mqm", code=1)
    run("gate", "s.csv", "--bar", "20", "--limits", "mqm", "--higher-is-better", code=1)
    run("gate", "s.csv", "--bar", "0.5", "--share", "<=8", "--confidence", "0.9", code=0)
    run("init", "study", "pool.csv", "--limits", "0,25", "--lower-is-better", "--seed", "1")
    run("select", "study", "--budget", "60", "-o", "tasks.csv")
    tasks = pd.read_csv("tasks.csv", dtype={"id": str})
    tasks.assign(score=tasks["id"].map(scores)).to_csv("answers.csv", index=False)
    run("import", "study", "answers.csv")
    run("gate", "study", "--bar", "20", code=0)
    run("gate", "study", "--bar", "0.5", code=1)


@pytest.mark.parametrize("word", ["", "NA"])
def test_labels_that_are_all_missing_are_no_verdict(run: Run, word: str) -> None:
    """A crash would exit with 1, which says that the score is worse."""
    rows = "".join(f"{k},0.{k},{word}\n" for k in range(1, 30))
    Path("empty.csv").write_text("id,judge,human\n" + rows, encoding="utf-8")
    done = run("gate", "empty.csv", "--chosen", "random", "--bar", 0.5, code=3)
    assert "no row has a label: the column 'human' is empty" in " ".join(done.stderr.split())
