"""Decimal commas are numbers; among points, a command mends them, and no row is called unrated."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from doctor.shell import runs
from doctor.tables import pool
from fewgold.doctor import examine


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _commas(column: pd.Series) -> list[str]:
    return [str(v).replace(".", ",") for v in column]


@pytest.mark.parametrize("names", [["comet", "bleu"], ["comet", "human"]])
def test_columns_of_decimal_commas_are_numbers(names: list[str]) -> None:
    table = pool(human=True)
    table["human"] += 0.5
    table.to_csv("points.csv", index=False)
    table.assign(**{n: _commas(table[n]) for n in names}).to_csv("x.csv", index=False, sep=";")
    found, plain = examine("x.csv"), examine("points.csv")
    assert found.exit_code == 0
    assert found.facts == plain.facts
    told = [c.text.replace("x.csv", "points.csv") for c in found.next_commands]
    assert told == [c.text for c in plain.next_commands]


@pytest.mark.parametrize(("names", "exit_code"), [(["comet", "bleu"], 1), (["comet", "human"], 3)])
def test_the_command_writes_points(names: list[str], exit_code: int) -> None:
    table = pool(human=True)
    table["human"] += 0.5
    half = {n: [*_commas(table[n][:30]), *map(str, table[n][30:])] for n in names}
    table.assign(**half).to_csv("x.csv", index=False, sep=";")
    found = examine("x.csv")
    assert found.exit_code == exit_code
    first, then = found.next_commands[:2]
    assert then.text == "fewgold doctor x-points.csv"
    runs(first.text, Path())
    again = pd.read_csv("x-points.csv")
    pd.testing.assert_frame_equal(again[["id", *names]], table[["id", *names]])
    assert "decimal-comma" not in examine("x-points.csv").codes


def test_points_between_thousands_go_and_points_of_others_stay() -> None:
    cells = ["1.234,5", "2,25", "3.5", ""] * 15
    pool().assign(bleu=cells).to_csv("x.csv", index=False)
    runs(examine("x.csv").next_commands[0].text, Path())
    found = pd.read_csv("x-points.csv")["bleu"]
    assert found.dropna().tolist() == [1234.5, 2.25, 3.5] * 15
    assert found.isna().sum() == 15


def test_no_command_where_a_comma_may_be_either() -> None:
    pool().assign(bleu=["1,234.5", "0,12"] * 30).to_csv("x.csv", index=False)
    found = examine("x.csv")
    assert "decimal-comma" in found.codes
    assert not [c for c in found.next_commands if "replace" in c.text]


def test_a_sheet_of_decimal_commas_is_rated() -> None:
    pool().to_csv("pool.csv", index=False)
    assert runs("fewgold select pool.csv --budget 20 --seed 1 -o s.csv", Path()).returncode == 0
    sheet = pd.read_csv("s.csv", dtype=str)
    sheet["score"] = ["4", *(f"{k % 5},5" for k in range(19))]
    sheet.to_csv("s.csv", index=False, sep=";")
    found = examine("s.csv")
    assert found.exit_code == 0
    assert found.facts["rated"] == "20 of 20 rows"
    estimate = runs("fewgold estimate s.csv --json", Path())
    assert estimate.returncode == 0, estimate.stderr
    sheet.assign(score=sheet["score"].str.replace(",", ".")).to_csv("s.csv", index=False)
    assert examine("s.csv").facts == found.facts
    assert runs("fewgold estimate s.csv --json", Path()).stdout == estimate.stdout


def test_a_sheet_of_commas_and_points_is_mended() -> None:
    pool().to_csv("pool.csv", index=False)
    assert runs("fewgold select pool.csv --budget 20 --seed 1 -o s.csv", Path()).returncode == 0
    sheet = pd.read_csv("s.csv", dtype=str)
    sheet["score"] = ["4.5", *(f"{k % 5},5" for k in range(19))]
    sheet.to_csv("s.csv", index=False, sep=";")
    found = examine("s.csv")
    assert found.facts["rated"] == "20 of 20 rows"
    assert "scale" not in found.facts  # not from the one score that can be read
    assert {f.code for f in found.findings} == {"decimal-comma"}
    first, then = found.next_commands
    runs(first.text, Path())
    done = runs(then.text, Path())
    assert done.returncode == 0, done.stderr
    assert "20 of 60" in done.stdout

    sheet.loc[6, "score"] = ""
    sheet.to_csv("s.csv", index=False, sep=";")
    (said,) = [f for f in examine("s.csv").findings if f.code == "partly-rated"]
    assert said.what == "1 row of 20 not rated"
