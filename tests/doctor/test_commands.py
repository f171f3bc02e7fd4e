"""The commands that the doctor proposes work when they are pasted into a shell."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from doctor.shell import in_shell, runs
from doctor.tables import pool
from fewgold.doctor import Diagnosis, examine
from fewgold.errors import UnknownNameError


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def first_runs(found: Diagnosis, folder: Path) -> str:
    """Run the next command, which must be one for now, and return what it printed."""
    command = found.next_commands[0]
    assert command.now, found.summary()
    done = runs(command.text, folder)
    assert done.returncode == 0, f"{command.text}\n{done.stderr}"
    return done.stdout


def all_run(found: Diagnosis, folder: Path) -> list[str]:
    """Run every command in turn, those for later too; return the commands' names."""
    for command in found.next_commands:
        done = runs(command.text, folder)
        assert done.returncode in (0, 1), f"{command.text}\n{done.stdout}{done.stderr}"
        assert done.returncode == 0 or command.text.startswith("fewgold doctor")
    return [" ".join(c.text.split()[:2]) for c in found.next_commands]


def test_an_unrated_pool_is_selected_from(tmp_path: Path) -> None:
    pool().to_csv("my pool.csv", index=False)
    found = examine("my pool.csv")
    assert found.kind == "table" and found.exit_code == 0
    assert all_run(found, tmp_path) == ["fewgold select", "fewgold select", "fewgold init"]
    sheet = pd.read_csv("my pool-to-rate.csv")
    assert list(sheet.columns) == ["id", "document", "source", "score"]
    again = examine("my pool.csv")
    assert "my pool-to-rate-2.csv" in again.next_commands[0].text


def test_systems_are_selected_together(tmp_path: Path) -> None:
    pool(systems=3).to_csv("pool.csv.gz", index=False)
    found = examine("pool.csv.gz")
    assert "--shared" in found.next_commands[0].text
    first_runs(found, tmp_path)
    sheet = examine("pool-to-rate.csv")
    assert sheet.kind == "shared-sheet" and sheet.exit_code == 1 and "unrated" in sheet.codes
    frame = pd.read_csv("pool-to-rate.csv", dtype=str)
    frame.assign(score=np.arange(len(frame)) % 5 + 1).to_csv("pool-to-rate.csv", index=False)
    rated = examine("pool-to-rate.csv")
    assert rated.exit_code == 0
    assert "sys1" in first_runs(rated, tmp_path)


def test_rated_systems_are_compared(tmp_path: Path) -> None:
    pool(systems=3, human=True).to_csv("rated.csv", index=False)
    found = examine("rated.csv")
    assert all_run(found, tmp_path)[:2] == ["fewgold compare", "fewgold simulate"]


def test_raters_in_rows(tmp_path: Path) -> None:
    two = [pool(systems=2, human=True).assign(rater=name) for name in ("ann", "bob")]
    two[1]["human"] = 6 - two[1]["human"]
    pd.concat(two).to_csv("rated.csv", index=False)
    found = examine("rated.csv")
    assert found.exit_code == 0, found.summary()
    assert "--rater rater" in found.next_commands[0].text
    assert all_run(found, tmp_path)[:2] == ["fewgold compare", "fewgold simulate"]


def test_raters_in_columns(tmp_path: Path) -> None:
    frame = pool(systems=2, human=True).rename(columns={"human": "rater1"})
    frame.assign(rater2=frame["rater1"].iloc[::-1].to_numpy()).to_csv("rated.csv", index=False)
    found = examine("rated.csv")
    assert "--human rater1,rater2" in found.next_commands[0].text
    all_run(found, tmp_path)


def test_pass_or_fail_and_a_judge(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    judge = rng.integers(0, 2, 200)
    passed = np.where(rng.random(200) < 0.8, judge, 1 - judge).astype(object)
    passed[80:] = ""
    pd.DataFrame({"id": range(1, 201), "judge": judge, "passed": passed}).to_csv(
        "j.csv", index=False
    )
    found = examine("j.csv")
    assert found.next_commands[0].text == "fewgold alpha j.csv --human passed --metric judge"
    all_run(found, tmp_path)


def test_a_leak_is_kept_out(tmp_path: Path) -> None:
    frame = pool(human=True)
    frame.assign(judge=frame["human"] * 20.0).to_csv("x.csv", index=False)
    found = examine("x.csv")
    assert "--metrics comet,bleu" in found.next_commands[0].text
    first_runs(found, tmp_path)


def test_a_column_that_the_user_names(tmp_path: Path) -> None:
    pool(human=True).rename(columns={"human": "verdict"}).to_csv("x.csv", index=False)
    assert "leak" not in examine("x.csv").codes
    found = examine("x.csv", human="verdict")
    assert "--human verdict" in found.next_commands[0].text
    all_run(found, tmp_path)


def _drawn(name: str, folder: Path) -> str:
    """The sheet that the first command proposed for a file draws from it."""
    command = examine(name).next_commands[0]
    assert command.now and command.text.startswith("fewgold select ")
    done = runs(f"{command.text} --seed 1", folder)
    assert done.returncode == 0, done.stderr
    return Path(command.text.split()[-1]).read_text()


@pytest.mark.sweep
@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("packed", [False, True])
def test_text_in_other_encodings_is_selected_from(
    encoding: str, packed: bool, tmp_path: Path
) -> None:
    table = pool().assign(source=[f"schön für {k} Äpfel" for k in range(60)])
    table.to_csv("plain.csv", index=False)
    data = table.to_csv(index=False).encode(encoding)
    name = "x.csv.gz" if packed else "x.csv"
    Path(name).write_bytes(gzip.compress(data) if packed else data)
    found = examine(name)
    marked = encoding == "utf-8-sig"
    assert found.codes == ({"byte-order-mark"} if marked else {"encoding"})
    assert found.exit_code == (0 if marked else 1)
    assert found.facts == examine("plain.csv").facts
    sheet = _drawn(name, tmp_path)
    assert sheet == _drawn("plain.csv", tmp_path)
    assert "Äpfel" in sheet


@pytest.mark.parametrize(
    ("name", "separator"), [("x.csv", "\t"), ("x.csv", "|"), ("x.tsv", ","), ("x.tsv", ";")]
)
def test_any_separator_is_selected_from(name: str, separator: str, tmp_path: Path) -> None:
    pool().to_csv("plain.csv", index=False)
    pool().to_csv(name, sep=separator, index=False)
    found, plain = examine(name), examine("plain.csv")
    assert (found.facts, found.findings) == (plain.facts, plain.findings)
    assert _drawn(name, tmp_path) == _drawn("plain.csv", tmp_path)


def test_ids_of_two_columns(tmp_path: Path) -> None:
    """Both columns can be named, and the proposed commands name them, too."""
    talks = np.repeat([f"talk {k}" for k in range(10)], 4)
    table = pd.DataFrame({"conversation": talks, "turn": [*range(4)] * 10})[:-3]
    table["output"] = [f"text {k}" for k in range(37)]
    path = tmp_path / "talks.csv"
    table.to_csv(path, index=False)
    assert examine(path).exit_code == 3
    assert "--id conversation,turn" in str(examine(path).findings[0])
    table.assign(turn=table["turn"] ** 2).to_csv("squares.csv", index=False)
    assert "conversation,turn" not in str(examine("squares.csv").findings[0])
    found = examine(path, id="conversation,turn")
    assert found.exit_code == 0
    assert "--id conversation,turn" in found.next_commands[0].text
    with pytest.raises(UnknownNameError, match="unknown column 'trun'"):
        examine(path, id="conversation,trun")


def test_a_named_id_is_part_of_every_command_that_needs_it() -> None:
    """Without it, the number of the turn would be taken for a metric."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"conversation": np.repeat([f"talk {k}" for k in range(40)], 5)})
    table["turn"], table["judge"] = [*range(5)] * 40, rng.normal(size=200).round(2)
    table["human"] = np.where(rng.random(200) < 0.5, rng.integers(1, 6, 200), np.nan)
    table["output"] = [f"text {k}" for k in range(200)]
    table.to_csv("talks.csv", index=False)
    said = [c.text for c in examine("talks.csv", id="conversation,turn").next_commands]
    (estimate,) = [text for text in said if text.startswith("fewgold estimate")]
    assert "--id conversation,turn" in estimate


@pytest.mark.parametrize("broken", ["no-ids", "ids-by-document", "duplicate-rows"])
def test_ids_are_mended(broken: str, tmp_path: Path) -> None:
    frame = pool()
    if broken == "no-ids":
        frame = frame.drop(columns=["id", "source"])
    elif broken == "ids-by-document":
        frame["id"] = [str(k % 5) for k in range(len(frame))]
    else:
        frame = pd.concat([frame, frame.iloc[:4]])
    frame.to_csv("x.csv", index=False)
    found = examine("x.csv")
    assert broken in found.codes and found.exit_code == 3
    first_runs(found, tmp_path)
    (made,) = (p for p in tmp_path.glob("x-*.csv"))
    after = examine(made.name)
    assert after.exit_code == 0 and int(after.facts["rows"]) == 60, after.summary()


def test_text_is_80_wide_and_commands_paste_as_printed(tmp_path: Path) -> None:
    pool(systems=3, human=True).to_csv("a_table_with_a_rather_long_name.csv", index=False)
    found = examine("a_table_with_a_rather_long_name.csv")
    lines = found.summary().splitlines()
    assert max(map(len, lines)) <= 80
    start = next(k for k, line in enumerate(lines) if "fewgold simulate a_" in line)
    stop = next(k for k in range(start, len(lines)) if not lines[k].endswith("\\"))
    printed = "\n".join(lines[start : stop + 1])
    assert stop > start
    assert in_shell(printed, tmp_path).returncode == 0


@pytest.mark.parametrize("name", ["comet_missing", "has_reference", "is_long", "ref_ok", "seen"])
def test_a_flag_is_not_proposed_as_a_judge(tmp_path: Path, name: str) -> None:
    """A column of 0 and 1 that marks rows judges nothing, however well it goes with the ratings."""
    rng = np.random.default_rng(3)
    passed = rng.integers(0, 2, 80)
    table = pd.DataFrame({"id": [f"s{k}" for k in range(80)], "human": passed})
    table["judge"] = np.where(rng.random(80) < 0.6, passed, 1 - passed)
    table[name] = np.where(rng.random(80) < 0.8, passed, 1 - passed)
    table["reference"] = np.where(table[name] == 1, "some words", "")
    if name == "seen":  # tells where a metric has gaps, by its cells and not by its name
        table["reference"] = "words"
        table["comet"] = np.where(table[name] == 1, np.nan, rng.normal(size=80))
    path = tmp_path / "judged.csv"
    table.to_csv(path, index=False)
    # The judge says why where an output fails: it judges all the same.
    table["explanation"] = np.where(table["judge"] == 1, "", "wrong name")
    table.to_csv(path, index=False)
    said = [c.text for c in examine(str(path)).next_commands]
    (alpha,) = [text for text in said if text.startswith("fewgold alpha")]
    assert "--metric judge" in alpha
    table.drop(columns="judge").to_csv(path, index=False)
    said = [c.text for c in examine(str(path)).next_commands]
    assert not [text for text in said if text.startswith("fewgold alpha")]
