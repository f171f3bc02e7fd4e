"""``fewgold doctor`` on the command line: text, JSON, exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_text_says_what_and_what_next(run: Run) -> None:
    shown = run("doctor", "pool.csv").stdout
    assert shown.startswith("pool.csv: a table (CSV)")
    for part in ("Holds", "Supports", "Next", "150 (column segment)", "fewgold simulate pool.csv"):
        assert part in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "\x1b" not in shown


def test_json(run: Run) -> None:
    record = json.loads(run("doctor", "pool.csv", "--json").stdout)
    assert record["kind"] == "table" and record["exit_code"] == 0
    assert record["facts"]["metrics"] == {
        "comet": "larger is better", "bleu": "larger is better", "words": "covariate"
    }  # fmt: skip
    assert record["next_commands"][0]["now"] is True


def test_warnings_exit_with_1_and_errors_with_3(run: Run, folder: Path) -> None:
    Path("small.csv").write_text("id,comet\n" + "".join(f"s{k},0.{k}\n" for k in range(1, 9)))
    assert "warning" in run("doctor", "small.csv", code=1).stdout
    Path("junk.bin").write_bytes(b"\x00\x01\x02" * 100)
    shown = run("doctor", "junk.bin", code=3).stdout
    assert "neither text nor" in shown
    assert json.loads(run("doctor", "junk.bin", "--json", code=3).stdout)["exit_code"] == 3
    assert "no such file" in run("doctor", "nowhere.csv", code=3).stdout


def test_quiet_is_a_line_a_finding(run: Run, folder: Path) -> None:
    assert run("doctor", "pool.csv", "-q").stdout.count("\n") == 1
    shown = run("doctor", "nowhere.csv", "-q", code=3).stdout
    assert shown == "error: there is no such file.\n"


def test_human_columns_are_checked(run: Run) -> None:
    assert "--human words" in run("doctor", "pool.csv", "--human", "words").stdout
    found = run("doctor", "pool.csv", "--human", "nobody", code=3)
    assert "unknown column 'nobody'" in found.stderr


@pytest.mark.parametrize("name", ["pool.csv", "sheet.csv", "sheet.csv.design.json"])
def test_the_loop(run: Run, rate: Callable[[str], None], name: str) -> None:
    run("select", "pool.csv", "--budget", 30, "--seed", 1, "--out", "sheet.csv")
    rate("sheet.csv")
    shown = run("doctor", name).stdout
    assert "fewgold " in shown.split("Next")[1]
