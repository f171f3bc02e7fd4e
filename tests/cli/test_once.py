"""A command does nothing twice: the design file is parsed once, each interval is made once."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fewgold import sheets
from fewgold.estimate import LinearEstimate

from .conftest import Run


def rated_sheet(run: Run, table: pd.DataFrame, strategy: str, *more: str) -> None:
    run(
        "select",
        "pool.csv",
        "--budget",
        30,
        "--seed",
        5,
        "--strategy",
        strategy,
        "-o",
        "s.csv",
        *more,
    )
    sheet = pd.read_csv("s.csv", dtype=str)
    human = dict(zip(table["segment"], table["human"], strict=True))
    sheet.assign(score=sheet["id"].map(human)).to_csv("s.csv", index=False)


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of design files that were parsed."""
    found: list[str] = []
    real = json.loads

    def loads(text: Any, *args: Any, **more: Any) -> Any:
        record = real(text, *args, **more)
        if isinstance(record, dict) and record.get("schema") == sheets.SCHEMA:
            found.append(text)
        return record

    monkeypatch.setattr(sheets.json, "loads", loads)
    return found


@pytest.mark.parametrize(
    "command",
    [
        ("estimate", "s.csv"),
        ("report", "s.csv"),
        ("stop", "s.csv", "--tolerance", "1", "--limits", "mqm"),
        ("plan", "--half-width", "0.3", "--pilot", "s.csv"),
        ("select", "pool.csv", "--given", "s.csv", "--budget", "5", "-o", "t.csv"),
    ],
    ids=lambda command: command[0],
)
def test_the_side_file_is_parsed_once(
    run: Run, table: pd.DataFrame, parsed: list[str], command: tuple[str, ...]
) -> None:
    rated_sheet(run, table, "random+mean", *(["--in-order"] if command[0] == "stop" else []))
    parsed.clear()
    run(*command)
    assert len(parsed) == 1
    assert parsed[0] == Path("s.csv.design.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("strategy", ["random+mean", "docs-sys+ridge"])
@pytest.mark.parametrize("command", ["estimate", "report"])
def test_an_interval_is_made_once(
    run: Run, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, command: str, strategy: str
) -> None:
    rated_sheet(run, table, strategy)
    made: Counter[tuple[str, int]] = Counter()
    real = LinearEstimate.interval

    def interval(self: LinearEstimate, *args: Any, **more: Any) -> Any:
        made[self.method, self.n] += 1
        return real(self, *args, **more)

    monkeypatch.setattr(LinearEstimate, "interval", interval)
    run(command, "s.csv")
    whole = {method: count for (method, n), count in made.items() if n == 30}
    assert whole == dict.fromkeys(whole, 1)
    assert whole["mean"] == 1
