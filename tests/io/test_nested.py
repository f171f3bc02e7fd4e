"""Paths into nested cells in place of columns, and datasets of Hugging Face."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.ipc as ipc
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from fewgold import io
from fewgold.cli import app
from fewgold.doctor import examine
from fewgold.io.columns import nested_paths, roles, with_paths
from fewgold.sheets import open_table


def rows(n: int = 40) -> list[dict[str, Any]]:
    return [
        {
            "data": {"id": f"x{k}", "talk": f"t{k // 4}", "judge": [k % 5, 7 * k % 11 / 10]},
            "turns": [{"text": f"How many are {k} apples?"}, {"text": f"There are {k} of them."}],
            "model": "one",
        }
        for k in range(n)
    ]


def lines(path: Path, made: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(r) + "\n" for r in made), encoding="utf-8")
    return path


def run(*words: str) -> Any:
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == 0, f"{words}: {done.output}{done.exception!r}"
    return done


NAMED = (
    "--id", "data.id", "--document", "data.talk", "--metrics", "data.judge.1",
    "--texts", "turns.0.text,turns.-1.text",
)  # fmt: skip


def test_paths_name_columns_from_select_to_estimate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines(Path("pool.jsonl"), rows())
    found = examine("pool.jsonl")
    assert any(f.code == "nested-fields" and "data.id" in f.where for f in found.findings)
    run("select", "pool.jsonl", *NAMED, "--budget", "20", "-o", "sheet.csv")
    sheet = pd.read_csv("sheet.csv", dtype=str)
    assert set(sheet["id"]) <= {f"x{k}" for k in range(40)}
    assert sheet["turns.-1.text"].str.startswith("There are").all()
    sheet.assign(score=[str(len(i) % 3 + 1) for i in sheet["id"]]).to_csv("sheet.csv", index=False)
    result = json.loads(run("estimate", "sheet.csv", "--json", "-q").stdout)
    assert result["n"] == 20 and math.isfinite(result["value"])
    run("init", "study", "pool.jsonl", *NAMED)


def test_ids_of_several_columns_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = [{"talk": f"t{k // 4}", "turn": {"n": k % 4}, "comet": k % 7} for k in range(40)]
    lines(Path("pool.jsonl"), made)
    run("select", "pool.jsonl", "--id", "talk,turn.n", "--texts", "none", "--budget", "20",
        "-o", "sheet.csv")  # fmt: skip
    sheet = pd.read_csv("sheet.csv", dtype=str)
    assert sheet["id"].str.fullmatch(r"t\d:\d").all()
    sheet.assign(score=["1", "2"] * 10).to_csv("sheet.csv", index=False)
    assert json.loads(run("estimate", "sheet.csv", "--json", "-q").stdout)["n"] == 20


def test_other_commands_take_paths(tmp_path: Path) -> None:
    made = [{**r, "human": {"score": k % 5 + r["data"]["judge"][0]}} for k, r in enumerate(rows())]
    path = str(lines(tmp_path / "rated.jsonl", made))
    named = ("--id", "data.id", "--document", "data.talk", "--metrics", "data.judge.1")
    run("simulate", path, *named, "--human", "human.score", "--strategies", "random+mean",
        "--budgets", "20%", "--draws", "4")  # fmt: skip
    run("reliability", path, "--score", "human.score", "--document", "data.talk", "--orders", "2",
        "--draws", "4")  # fmt: skip
    run("estimate", path, "--human", "human.score", "--chosen", "random", "--id", "data.id",
        "--metrics", "data.judge.1")  # fmt: skip


def test_lists_and_cells_of_json_are_walked() -> None:
    frame = pd.DataFrame({"a": ['{"b": [1, {"c": "x"}]}', "", None], "b.c": [1, 2, 3]})
    found = with_paths(frame, ["a.b.1.c", "a.b.-2", "a.z", "b.c", None])
    assert list(found.columns) == ["a", "b.c", "a.b.1.c", "a.b.-2"]
    assert found["a.b.1.c"].tolist()[0] == "x" and found["a.b.-2"].tolist()[0] == 1
    assert nested_paths(pd.DataFrame({"a": [{"b": {"c": 1}, "d": [2, 3]}]})) == ["a.b.c", "a.d.0"]


def table(n: int = 30) -> pa.Table:
    made = [
        {"id": k, "question": f"What is {k} and why?", "answer": f"It is {k}, no doubt.",
         "comet": 0.1 * k % 1, "meta": {"level": k % 3}}
        for k in range(n)
    ]  # fmt: skip
    return pa.Table.from_pylist(made)


def saved(folder: Path, part: pa.Table, name: str = "data-00000-of-00001.arrow") -> None:
    """As `Dataset.save_to_disk` lays it out: a stream of Arrow, and what it is made of."""
    folder.mkdir(parents=True, exist_ok=True)
    with ipc.new_stream(str(folder / name), part.schema) as stream:
        stream.write_table(part)
    state = {"_data_files": [{"filename": name}], "_fingerprint": "ab", "_split": None}
    (folder / "state.json").write_text(json.dumps(state), encoding="utf-8")
    (folder / "dataset_info.json").write_text("{}", encoding="utf-8")


def test_a_saved_dataset_is_a_table(tmp_path: Path) -> None:
    saved(tmp_path / "set", table())
    found = open_table(tmp_path / "set")
    assert len(found) == 30 and roles(found).metrics == ("comet",)
    assert with_paths(found, ["meta.level"])["meta.level"].tolist()[:3] == [0, 1, 2]
    assert examine(tmp_path / "set").exit_code in (0, 1)


def test_of_several_splits_the_test_is_read(tmp_path: Path) -> None:
    root = tmp_path / "set"
    for split, size in (("train", 9), ("test", 30)):
        saved(root / split, table(size))
    (root / "dataset_dict.json").write_text('{"splits": ["train", "test"]}', encoding="utf-8")
    file = io.read_file(root)
    assert len(file) == 30 and file.notes == ("only the split 'test' is read, not train.",)
    (root / "test").rename(root / "valid")
    with pytest.raises(io.TableError, match="none is called test"):
        io.read_file(root)
    assert examine(root).exit_code == 3
    assert len(open_table(root / "valid")) == 30


def test_the_layout_of_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "set" / "data"
    data.mkdir(parents=True)
    whole = table()
    pq.write_table(whole.slice(0, 20), data / "test-00000-of-00002.parquet")
    pq.write_table(whole.slice(20), data / "test-00001-of-00002.parquet")
    pq.write_table(whole.slice(0, 5), data / "train-00000-of-00001-9f2c.parquet")
    assert open_table(tmp_path / "set")["id"].tolist() == list(range(30))
    monkeypatch.chdir(tmp_path)
    run("select", "set", "--budget", "20", "-o", "sheet.csv")
    run("init", "study", "set")


def test_damaged_datasets_are_refused_in_a_sentence(tmp_path: Path) -> None:
    root = tmp_path / "set"
    saved(root, table())
    part = root / "data-00000-of-00001.arrow"
    part.write_bytes(part.read_bytes()[:200])
    with pytest.raises(io.TableError, match="cannot be read as an Arrow file"):
        io.read_file(root)
    part.unlink()
    with pytest.raises(io.TableError, match="which is missing"):
        io.read_file(root)
    (root / "state.json").unlink()
    with pytest.raises(io.TableError, match="no Arrow or Parquet"):
        io.read_file(root)
    (tmp_path / "a.arrow").write_bytes(b"ARROW1\0\0nonsense")
    with pytest.raises(io.TableError, match="as an Arrow file"):
        io.read_file(tmp_path / "a.arrow")
