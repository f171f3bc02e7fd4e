"""Sheets of fewgold select, their design files, and campaigns."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doctor.shell import runs
from doctor.tables import pool
from fewgold.doctor import Diagnosis, examine

SHEET, SIDE = "sheet.csv", "sheet.csv.design.json"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pool with ids such as 007, a sheet of 20 segments drawn from it, and a campaign."""
    made = tmp_path_factory.mktemp("template")
    frame = pool(200)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        frame.assign(id=[f"{k:03d}" for k in range(200)]).to_csv("pool.csv", index=False)
        draw()
        for text in (
            "fewgold init study pool.csv --limits 1,5 --seed 1",
            "fewgold select study --budget 10 --seed 1",
        ):
            assert runs(text, made).returncode == 0
    return made


@pytest.fixture(autouse=True)
def _drawn(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(template, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def draw(*options: str) -> None:
    text = f"fewgold select pool.csv --budget 20 --seed 1 --out {SHEET} --force"
    assert runs(" ".join([text, *options]), Path()).returncode == 0


def fill(rows: slice = slice(None)) -> pd.DataFrame:
    frame = pd.read_csv(SHEET, dtype=str, keep_default_na=False)
    frame.loc[frame.index[rows], "score"] = [str(k % 5 + 1) for k in range(len(frame))][rows]
    frame.to_csv(SHEET, index=False)
    return frame


def works(found: Diagnosis) -> None:
    for command in found.next_commands:
        if command.now:
            done = runs(command.text, Path())
            assert done.returncode == 0, f"{command.text}\n{done.stderr}"


def test_nobody_has_rated() -> None:
    found = examine(SHEET)
    assert (found.kind, found.exit_code, found.codes) == ("sheet", 1, {"unrated"})
    assert found.next_commands[0].text == "fewgold estimate sheet.csv"
    assert not found.next_commands[0].now


def test_all_rated() -> None:
    fill()
    found = examine(SHEET)
    assert found.exit_code == 0 and not found.findings
    assert [c.text.split()[1] for c in found.next_commands] == ["estimate", "select", "plan"]
    assert found.facts["scale"] == "1 to 5?"
    works(found)
    topped = examine("sheet-more.csv")
    assert topped.facts["before"] == "20 ratings of an earlier wave"


def test_guaranteed_bounds_of_a_plain_sample() -> None:
    draw("--strategy", "random+mean")
    fill()
    found = examine(SHEET)
    assert "--bound star --limits 1,5" in found.next_commands[1].text
    works(found)


def test_partly_rated() -> None:
    fill(slice(3, 9))
    found = examine(SHEET)
    assert (found.exit_code, found.codes) == (1, {"partly-rated"})
    assert found.facts["rated"] == "6 of 20 rows"
    assert any("--gaps at-random" in c.text for c in found.next_commands)
    works(found)


def test_rated_from_the_top_may_be_enough() -> None:
    draw("--strategy", "random", "--in-order")
    fill(slice(0, 9))
    found = examine(SHEET)
    assert found.next_commands[0].text.startswith("fewgold stop sheet.csv --tolerance")
    works(found)


def test_zeros_that_a_spreadsheet_dropped() -> None:
    frame = fill()
    frame["id"] = [str(int(i)) for i in frame["id"]]
    frame.to_csv(SHEET, index=False)
    found = examine(SHEET)
    assert found.exit_code == 3 and "lost-zeros" in found.codes
    short = next(i for i in frame["id"] if len(i) < 3)
    assert f"{short} was {int(short):03d}" in found.findings[0].where


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda f: f.assign(id=["x1", *f["id"][1:]]), "foreign-ids"),
        (lambda f: pd.concat([f, f.iloc[:1]]), "duplicate-ids"),
        (lambda f: f.iloc[2:], "rows-missing"),
        (lambda f: f.rename(columns={"score": "points"}), "column-missing"),
        (lambda f: f.assign(score=["3,5", "2.5", *f["score"][2:]]), "decimal-comma"),
        (lambda f: f.assign(score=["good", *f["score"][1:]]), "mixed-types"),
    ],
)
def test_sheets_that_raters_changed(change, code) -> None:  # type: ignore[no-untyped-def]
    change(fill()).to_csv(SHEET, index=False)
    found = examine(SHEET)
    assert code in found.codes and found.exit_code == 3
    assert not any(c.now for c in found.next_commands if c.text.startswith("fewgold"))


def test_the_pool_is_gone_or_changed() -> None:
    fill()
    frame = pd.read_csv("pool.csv", dtype=str)
    frame.loc[3, "comet"] = "0.5"
    frame.to_csv("pool.csv", index=False)
    found = examine(SHEET)
    assert found.codes == {"pool-changed"} and "metric comet changed" in found.findings[0].what
    Path("pool.csv").unlink()
    found = examine(SHEET)
    assert found.codes == {"pool-missing"} and found.exit_code == 3


def test_a_design_file_leads_to_its_sheet() -> None:
    found = examine(SIDE)
    assert (found.kind, found.exit_code) == ("design", 0)
    assert found.next_commands[0].text == "fewgold doctor sheet.csv"
    Path(SHEET).unlink()
    assert examine(SIDE).codes == {"sheet-missing"}


def test_a_design_file_that_was_edited() -> None:
    record = json.loads(Path(SIDE).read_text())
    del record["sample"]
    Path(SIDE).write_text(json.dumps(record))
    assert examine(SHEET).codes == {"design-damaged"}
    Path(SIDE).write_text("{")
    assert examine(SHEET).codes == {"design-damaged"}


def test_a_sheet_without_its_design() -> None:
    Path(SIDE).unlink()
    found = examine(SHEET)
    assert "design-missing" in found.codes and found.exit_code == 3


@pytest.mark.parametrize("place", ["another", "another.fewgold"])
def test_a_campaign(place: str) -> None:
    assert runs(f"fewgold init {place} pool.csv --limits 1,5 --seed 1", Path()).returncode == 0
    found = examine(place)
    assert (found.kind, found.exit_code) == ("campaign", 0)
    works(found)
    found = examine(place)
    assert found.facts["drawn"] == 50 and found.codes == {"unrated"}
    assert [c.text.split()[1] for c in found.next_commands] == ["export", "status"]
    works(found)
    frame = pd.read_csv("pool.csv", dtype=str)
    rng = np.random.default_rng(0)
    answers = frame.assign(score=rng.integers(1, 6, len(frame)))[["id", "score"]]
    answers.to_csv("answers.csv", index=False)
    assert runs(f"fewgold import {place} answers.csv --human score", Path()).returncode == 0
    found = examine(place)
    assert found.facts["rated"] == 50 and found.codes == {"foreign-ids"}
    assert found.next_commands[0].text == f"fewgold estimate {place}"
    works(found)


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("csv", "t.csv"), ("tsv", "t.tsv"), ("xlsx", "t.xlsx"), ("jsonl", "t.jsonl"),
        ("label-studio", "t.json"), ("pearmut", "t.json"), ("argilla", "t.json"),
        ("appraise", "t.json"), ("mqm", "t.tsv"), ("mt-metrics-eval", "tree"),
    ],
)  # fmt: skip
def test_tasks_that_nobody_has_answered(form: str, file: str) -> None:
    assert runs(f"fewgold export study --to {form} -o {file}", Path()).returncode == 0
    found = examine(file)
    assert (found.kind, found.exit_code, found.codes) == (form, 1, {"unrated"}), found.summary()
    assert not any(c.now for c in found.next_commands)


@pytest.mark.parametrize("answered", [10, 6])
def test_answers_find_their_campaign(answered: int) -> None:
    assert runs("fewgold export study --context 0 -o t.csv", Path()).returncode == 0
    frame = pd.read_csv("t.csv", dtype=str, keep_default_na=False)
    frame["score"] = [str(k % 5 + 1) if k < answered else "" for k in range(10)]
    frame.to_csv("t.csv", index=False)
    found = examine("t.csv")
    assert found.kind == "csv" and found.exit_code == (0 if answered == 10 else 1)
    assert found.next_commands[0].text == "fewgold import study t.csv"
    works(found)
    assert examine("study").facts["rated"] == answered


def test_databases_of_others() -> None:
    with sqlite3.connect("other.db") as database:
        database.execute("CREATE TABLE t (a)")
    database.close()
    assert examine("other.db").codes == {"other-database"}
    Path("cut.fewgold").write_bytes(Path("other.db").read_bytes()[:40])
    found = examine("cut.fewgold")
    assert found.exit_code == 3


def test_folders() -> None:
    Path("empty").mkdir()
    found = examine("empty")
    assert found.exit_code == 3 and "it is empty" in found.summary()


def test_damaged_campaigns_give_a_sentence() -> None:
    whole = Path("study/campaign.fewgold").read_bytes()
    rng = np.random.default_rng(2)
    codes = set()
    for _ in range(40):
        data = bytearray(whole)
        for place in rng.integers(100, len(data), 30).tolist():
            data[place] = int(rng.integers(0, 256))
        Path("damaged.fewgold").write_bytes(bytes(data))
        codes |= examine("damaged.fewgold").codes
    assert "database-damaged" in codes
