"""Scores of people on their way back to the evaluation tool."""

from __future__ import annotations

import json
import math
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from fewgold.cli import app
from fewgold.io import read_table
from fewgold.sheets import open_table
from formats import log_samples as made


def run(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, [*words])
    assert done.exit_code == code, f"{words}: {done.output}{done.exception!r}"
    return done


def rated(path: str, *more: str, gap: bool = False) -> pd.Series:
    """A sheet of twenty rated outputs of a log; the scores by id."""
    run("select", path, "--budget", "20", "--seed", "3", "-o", "sheet.csv", *more)
    table = pd.read_csv("sheet.csv", dtype=str, keep_default_na=False)
    table["score"] = [str(k % 5) for k in range(len(table))]
    if gap:
        table.loc[0, "score"] = ""
    table.to_csv("sheet.csv", index=False)
    return pd.to_numeric(table.set_index("id")["score"])


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("file", ["log.json", "epochs.json", "log.eval"])
def test_a_copy_of_an_inspect_log_has_the_scores_and_the_estimate(file: str) -> None:
    path = made.MAKERS["inspect"][file](Path(file))
    before = path.read_bytes()
    scores = rated(file)
    out = f"scored{path.suffix}"
    told = json.loads(run("export", "sheet.csv", "-o", out, "--json", "-q").stdout)
    assert told["format"] == "inspect" and told["count"] == 20 and path.read_bytes() == before
    again = open_table(out).set_index("id")["human"].dropna()
    assert again.to_dict() == scores.astype(float).to_dict()
    old, new = (open_table(p).drop(columns="human", errors="ignore") for p in (file, out))
    pd.testing.assert_frame_equal(old, new)
    estimate = json.loads(run("estimate", "sheet.csv", "--json", "-q").stdout)
    if path.suffix == ".eval":
        with zipfile.ZipFile(out) as packed:
            header = json.loads(packed.read("header.json"))
            brief = json.loads(packed.read("summaries.json"))
            assert len(packed.namelist()) == len(set(packed.namelist()))
        assert sum("human" in s["scores"] for s in brief) == 20
    else:
        header = json.loads(Path(out).read_text())
    results = header["results"]["scores"]
    assert [r["name"] for r in results] == ["match", "human"]
    metrics = {k: v["value"] for k, v in results[1]["metrics"].items()}
    assert metrics["estimate"] == estimate["value"] and metrics["ci_low"] == estimate["low"]
    assert metrics["mean_of_rated"] == pytest.approx(scores.mean())
    assert results[1]["scored_samples"] == 20


def test_scores_of_langfuse_are_those_of_its_api() -> None:
    made.MAKERS["langfuse"]["traces.jsonl"](Path("traces.jsonl"))
    scores = rated("traces.jsonl", gap=True)
    run("export", "sheet.csv", "-o", "scores.jsonl", "--name", "correct")
    rows = [json.loads(line) for line in Path("scores.jsonl").read_text().splitlines()]
    assert {r["traceId"]: r["value"] for r in rows} == scores.dropna().to_dict() and len(rows) == 19
    assert {(r["name"], r["dataType"]) for r in rows} == {("correct", "NUMERIC")}
    assert len({r["id"] for r in rows}) == 19
    run("export", "sheet.csv", "-o", "again.jsonl", "--name", "correct")
    assert Path("again.jsonl").read_text() == Path("scores.jsonl").read_text()
    run("export", "sheet.csv", "-o", "again.jsonl", code=2)


def test_feedback_of_langsmith_is_about_runs() -> None:
    made.MAKERS["langsmith"]["runs.jsonl"](Path("runs.jsonl"))
    run("select", "runs.jsonl", "--shared", "--budget", "20", "--seed", "3", "-o", "sheet.csv")
    table = pd.read_csv("sheet.csv", dtype=str, keep_default_na=False)
    table.assign(score=[str(k % 5) for k in range(len(table))]).to_csv("sheet.csv", index=False)
    run("export", "sheet.csv", "-o", "feedback.jsonl")
    rows = [json.loads(line) for line in Path("feedback.jsonl").read_text().splitlines()]
    side = json.loads(Path("sheet.csv.design.json").read_text())
    wanted = {}
    runs = open_table("runs.jsonl").set_index(["id", "system"])["run_id"]
    for k, row in enumerate(table["id"]):
        key = next(r for r in side["systems"]["rows"] if r["id"] == row)
        wanted[runs[key["segment"], key["system"]]] = float(k % 5)
    assert {r["run_id"]: r["score"] for r in rows} == wanted and len(rows) == 40
    assert {r["key"] for r in rows} == {"human"}


def test_a_table_of_mlflow_gets_a_column() -> None:
    made.MAKERS["mlflow"]["eval_results_table.json"](Path("table.json"))
    scores = rated("table.json")
    run("export", "sheet.csv", "-o", "scored.json")
    whole = json.loads(Path("scored.json").read_text())
    assert whole["columns"][-1] == "human/v1/score"
    found = {str(k): row[-1] for k, row in enumerate(whole["data"], 1) if row[-1] is not None}
    assert found == scores.to_dict() and len(whole["data"]) == made.N


def test_traces_of_mlflow_get_feedback() -> None:
    made.MAKERS["mlflow"]["traces.jsonl"](Path("traces.jsonl"))
    scores = rated("traces.jsonl")
    run("export", "sheet.csv", "-o", "feedback.jsonl")
    rows = [json.loads(line) for line in Path("feedback.jsonl").read_text().splitlines()]
    assert {r["trace_id"]: r["value"] for r in rows} == scores.to_dict()
    assert rows[0]["source"]["source_type"] == "HUMAN"


@pytest.mark.parametrize(
    ("tool", "file", "join"),
    [("deepeval", "run.json", "name"), ("openai-evals", "events.jsonl", "id"),
     ("lm-eval", "samples_choice.jsonl", "task")],
)  # fmt: skip
def test_tools_that_take_no_scores_get_a_table_to_join(tool: str, file: str, join: str) -> None:
    made.MAKERS[tool][file](Path(file))
    scores = rated(file)
    done = run("export", "sheet.csv", "-o", "scores.csv")
    assert "cannot read scores back" in done.output and "a table to join" in done.output
    table = read_table("scores.csv")
    assert dict(zip(table["id"], map(float, table["human"]), strict=True)) == scores.to_dict()
    assert join in table.columns
    run("export", "sheet.csv", "-o", "scores.parquet", code=3)


def test_a_campaign_writes_each_answer() -> None:
    made.MAKERS["langfuse"]["traces.jsonl"](Path("traces.jsonl"))
    run("init", "study", "traces.jsonl", "--seed", "2")
    run("select", "study", "--budget", "20")
    run("export", "study", "-o", "tasks.csv")
    for rater in ("ann", "bob"):
        table = pd.read_csv("tasks.csv", dtype=str, keep_default_na=False)
        rate = [str(k % 5) if r == "yes" else "" for k, r in enumerate(table["rate"])]
        table.assign(score=rate, rater=rater).to_csv("answers.csv", index=False)
        run("import", "study", "answers.csv")
    run("export", "study", "-o", "scores.jsonl", "--to", "langfuse", "--log", "traces.jsonl")
    rows = [json.loads(line) for line in Path("scores.jsonl").read_text().splitlines()]
    assert len(rows) == 40 and {r["metadata"]["rater"] for r in rows} == {"ann", "bob"}
    assert len({r["id"] for r in rows}) == 40
    run("export", "study", "-o", "other.jsonl", "--to", "langfuse", code=2)


def test_a_log_is_written_as_a_table() -> None:
    made.MAKERS["inspect"]["epochs.json"](Path("epochs.json"))
    for name in ("pool.csv", "pool.jsonl", "pool.tsv"):
        run("export", "epochs.json", "-o", name)
        table = read_table(name)
        assert len(table) == 3 * made.N and {"id", "document", "match"} <= set(table.columns)
    one, two = (open_table(n) for n in ("epochs.json", "pool.jsonl"))
    assert (
        one["id"].tolist() == two["id"].tolist() and one["match"].tolist() == two["match"].tolist()
    )
    assert not math.isnan(float(read_table("pool.csv")["match"][0]))


def test_another_log_is_refused() -> None:
    made.MAKERS["inspect"]["log.json"](Path("log.json"))
    rated("log.json")
    made.dump(
        Path("other.json"), {**made.inspect_log(), "samples": made.inspect_log()["samples"][:3]}
    )
    done = run("export", "sheet.csv", "-o", "out.json", "--log", "other.json", code=3)
    assert "are not in the log" in done.output
    done = run("export", "sheet.csv", "-o", "out.json", "--to", "langfuse", code=3)
    assert "a log of Inspect AI" in done.output
    assert not Path("out.json").exists()


def test_an_inspect_log_that_is_packed_with_zstandard(tmp_path: Path) -> None:
    """As newer versions of Inspect write it; Python knows the method from 3.14 on."""
    import io

    import pyarrow as pa

    plain, out = tmp_path / "plain.eval", tmp_path / "packed.eval"
    made.MAKERS["inspect"]["log.eval"](plain)
    with zipfile.ZipFile(plain) as old:
        bodies = {name: old.read(name) for name in old.namelist()}
    packed = {name: pa.compress(body, "zstd", asbytes=True) for name, body in bodies.items()}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as new:
        for name, body in packed.items():
            new.writestr(name, body)
        for info in new.infolist():  # the directory at the end tells method, size and checksum
            info.compress_type, info.file_size = 93, len(bodies[info.filename])
            info.CRC = zlib.crc32(bodies[info.filename])
    out.write_bytes(held.getvalue())
    assert open_table(out).equals(open_table(plain))
    rated(str(out))
    run("export", "sheet.csv", "-o", str(tmp_path / "scored.eval"))
    assert open_table(tmp_path / "scored.eval")["human"].notna().sum() == 20
