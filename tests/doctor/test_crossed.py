"""Rows that two columns tell apart together, and roles that the user names."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doctor.shell import runs
from fewgold.doctor import Diagnosis, examine
from fewgold.errors import DataError, UnknownNameError


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _bots(number: str = "F{:03d}") -> pd.DataFrame:
    rng = np.random.default_rng(5)
    rows = [
        {
            "Fall-Nr": number.format(i),
            "Modell": model,
            "Frage": f"wie geht das mit der Nummer {i}",
            "Antwort": f"bei {model} geht es mit Nummer {i}",
            "BERTScore": round(rng.random(), 3),
        }
        for i in range(1, 41)
        for model in ("alt", "neu", "lang")
    ]
    return pd.DataFrame(rows)


def _seen(table: pd.DataFrame, **told: str) -> Diagnosis:
    table.to_csv("bots.csv", index=False, sep=";")
    return examine("bots.csv", **told)


@pytest.mark.parametrize("number", ["F{:03d}", "{}"])
def test_two_crossed_columns_are_segments_and_systems(number: str) -> None:
    found = _seen(_bots(number))
    assert "no-ids" not in found.codes
    (said,) = [f for f in found.findings if f.code == "crossed-columns"]
    assert said.what == "rows are identified by “Fall-Nr” and “Modell” together"
    first = found.next_commands[0].text
    assert first.startswith("fewgold select bots.csv ")
    assert "--shared --id Fall-Nr --system Modell" in first
    done = runs(first, Path())
    assert done.returncode == 0, done.stderr
    sheet = pd.read_csv("bots-to-rate.csv")
    assert len(sheet) == 3 * 40  # as few segments as these are all drawn


def test_a_few_outputs_may_be_missing() -> None:
    found = _seen(_bots().drop(index=[4, 17, 50]))
    assert {"crossed-columns", "not-crossed"} <= found.codes


def test_ids_under_their_name_and_systems_under_another() -> None:
    found = _seen(_bots().rename(columns={"Fall-Nr": "id"}))
    assert "duplicate-ids" not in found.codes
    assert "--shared --system Modell" in found.next_commands[0].text


@pytest.mark.parametrize("name", ["Fall", "Fall-Nr"])
def test_numbered_segments_of_systems_under_their_name(name: str) -> None:
    found = _seen(_bots("{}").rename(columns={"Fall-Nr": name, "Modell": "model"}))
    assert f"--shared --id {name}" in found.next_commands[0].text
    assert "crossed-columns" not in found.codes  # the name says that these are systems


def test_rows_that_are_numbered() -> None:
    table = _bots().drop(columns=["Fall-Nr", "Modell"])
    table.insert(0, "Antwort-Nr", range(1, 121))
    assert "--id Antwort-Nr" in _seen(table).next_commands[0].text


def test_columns_that_are_not_crossed_are_left_alone() -> None:
    table = _bots()
    table["Fall-Nr"] = [f"F{k % 7}" for k in range(len(table))]
    assert "no-ids" in _seen(table).codes
    # Half of the pairs is no crossing.
    assert "no-ids" in _seen(_bots().iloc[::2]).codes


def test_roles_that_are_told_are_used_and_passed_on() -> None:
    table = _bots().assign(Akte=[f"A{k // 12}" for k in range(120)], extra=1.5)
    table["extra"] += np.arange(120)
    found = _seen(table, id="Fall-Nr", system="Modell", document="Akte", texts="Antwort",
                  metrics="BERTScore")  # fmt: skip
    assert not {"crossed-columns", "ids-elsewhere", "texts-elsewhere"} & found.codes
    assert list(found.facts["metrics"]) == ["BERTScore"]
    assert found.facts["texts"] == ["Antwort"]
    assert found.next_commands[0].text.startswith(
        "fewgold select bots.csv --budget 40 --shared --id Fall-Nr --document Akte --system Modell "
        "--texts Antwort --metrics BERTScore"
    )


def test_the_options_of_the_command_line() -> None:
    _seen(_bots())
    done = runs(
        "fewgold doctor bots.csv --id Fall-Nr --system Modell --metrics none --json", Path()
    )
    told = json.loads(done.stdout)
    assert told["facts"]["metrics"] == "none"
    assert "crossed-columns" not in {f["code"] for f in told["findings"]}
    with pytest.raises(UnknownNameError, match="Fallnr"):
        _seen(_bots(), id="Fallnr")


def test_options_that_a_sheet_does_not_need_are_not_dropped_silently() -> None:
    _seen(_bots())
    assert runs("fewgold select bots.csv --shared --id Fall-Nr --system Modell --texts Frage "
                "--budget 10 --out sheet.csv --seed 1", Path()).returncode == 0  # fmt: skip
    assert "options-unused" in examine("sheet.csv", id="Fall-Nr").codes
    assert "options-unused" not in examine("sheet.csv").codes


def test_a_report_of_a_sheet_of_several_systems_names_the_comparison() -> None:
    _seen(_bots())
    assert runs("fewgold select bots.csv --shared --id Fall-Nr --system Modell --budget 10 "
                "--out sheet.csv --seed 1", Path()).returncode == 0  # fmt: skip
    done = runs("fewgold report sheet.csv -o report.html", Path())
    assert "plots: fewgold compare sheet.csv -o results" in done.stderr


@pytest.mark.parametrize("name", list(_bots().columns))
def test_any_column_in_any_role_ends_in_a_diagnosis(name: str) -> None:
    table = _bots().assign(human=1)
    for role in ("id", "document", "system", "texts", "metrics", "human"):
        found = _seen(table, **{role: name})
        assert found.kind == "table", (role, found.summary())
        assert found.summary()


def test_a_column_has_one_role() -> None:
    with pytest.raises(DataError, match="'Modell' is given two roles"):
        _seen(_bots(), id="Modell", system="Modell")
