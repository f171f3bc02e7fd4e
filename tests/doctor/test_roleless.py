"""Columns that nothing would use, and texts that raters would miss."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from doctor.tables import pool
from fewgold.doctor import Diagnosis, examine
from fewgold.doctor.findings import Finding


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _replies() -> pd.DataFrame:
    table = pool().rename(columns={"document": "Akte", "source": "prompt"})
    table["Our reply"] = [f"so it is with the number {k}" for k in range(len(table))]
    return table


def _seen(table: pd.DataFrame, **told: str | list[str]) -> Diagnosis:
    table.to_csv("x.csv", index=False)
    return examine("x.csv", **told)  # type: ignore[arg-type]


def _finding(found: Diagnosis, code: str) -> Finding:
    (said,) = [f for f in found.findings if f.code == code]
    return said


def test_an_output_that_raters_would_not_see_is_a_warning() -> None:
    found = _seen(_replies())
    assert found.exit_code == 1
    said = _finding(found, "texts-elsewhere")
    assert (said.severity, said.where) == ("warning", "Our reply")
    assert "only “prompt”" in said.do
    assert "--texts 'prompt,Our reply'" in found.next_commands[0].text


def test_short_outputs_are_texts_too() -> None:
    table = _replies()
    table["Our reply"] = [f"Yes, {k}." for k in range(len(table))]
    table["Agent"] = ["Ann B", "Bob C"] * 30
    found = _seen(table)
    assert _finding(found, "texts-elsewhere").where == "Our reply"
    assert "Agent (2 values)" in _finding(found, "no-role").where


def test_texts_that_are_told_are_enough() -> None:
    found = _seen(_replies(), texts=["prompt", "Our reply"], document="Akte")
    assert found.exit_code == 0
    assert not {"texts-elsewhere", "no-role"} & found.codes


def test_columns_without_a_role() -> None:
    table = _replies().rename(columns={"Our reply": "output"})
    table["hint"] = "some words for the translators " + table["id"]
    table["kind"] = ["a", "b"] * 30
    table["lang"] = "de"
    table["reference"] = "what it should have been like " + table["id"]
    found = _seen(table)
    said = _finding(found, "no-role")
    assert said.severity == "note"
    assert said.where == (
        "Akte (12 values; documents? --document), hint (running text; for raters? --texts), "
        "kind (2 values)"
    )
    assert "no-role" not in _seen(pool()).codes


@pytest.mark.parametrize("name", ["Thread", "ticket_id"])
def test_names_of_support_logs(name: str) -> None:
    found = _seen(_replies().rename(columns={"Akte": name, "Our reply": "Reply"}))
    assert found.exit_code == 0
    assert found.facts["documents"] == f"12 (column {name})"
    assert found.facts["texts"] == ["prompt", "Reply"]
    assert "--" not in found.next_commands[0].text.partition("--budget 50 ")[2].replace("--out", "")
