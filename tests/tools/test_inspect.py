"""Inspect AI: an evaluation with its mock model, and our scores read by `read_eval_log`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from tools.conftest import Tool, command

pytestmark = pytest.mark.tools
TOOL = "inspect"

RUN = """
import sys
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import match

samples = [Sample(id=f"q{i}", input=f"Question {i}?\\u2028Yes", target=str(i)) for i in range(12)]
said = [ModelOutput.from_content("mockllm/model", str(i if i % 3 else -1)) for i in range(12)]
for output in said:
    output.usage = ModelUsage()  # else tokens are counted by a table from the net
model = get_model("mockllm/model", custom_outputs=said)
(log,) = eval(
    Task(samples, scorer=match(), name="sums"), model=model, log_dir="logs",
    log_format=sys.argv[1], display="none", max_samples=1, max_connections=1,
)
assert log.status == "success", log.error
"""
READ = """
import json, sys
from inspect_ai.log import read_eval_log
log = read_eval_log(sys.argv[1])
print(json.dumps({
    "status": log.status,
    "human": {s.id: s.scores["human"].value for s in log.samples if "human" in s.scores},
    "match": {s.id: s.scores["match"].value for s in log.samples},
    "totals": {s.name: {k: m.value for k, m in s.metrics.items()} for s in log.results.scores},
}))
"""


@pytest.mark.parametrize("kind", ["eval", "json"])
def test_scores_go_back_into_the_log(
    tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    (tmp_path / "run.py").write_text(RUN, encoding="utf-8")
    (tmp_path / "read.py").write_text(READ, encoding="utf-8")
    tool.run("python", "run.py", kind, cwd=tmp_path)
    (log,) = (tmp_path / "logs").glob(f"*.{kind}")
    monkeypatch.chdir(tmp_path)
    command(*f"select {log} --budget 6 --strategy random --seed 1 -o sheet.csv -q".split())
    sheet = pd.read_csv("sheet.csv", dtype=str, keep_default_na=False)
    assert len(sheet) == 6
    scores = {row: k % 5 + 1 for k, row in enumerate(sheet["id"])}
    sheet["score"] = [str(scores[i]) for i in sheet["id"]]
    sheet.to_csv("sheet.csv", index=False)
    command("export", "sheet.csv", "-o", f"scored.{kind}", "--quiet")
    told = json.loads(tool.run("python", "read.py", f"scored.{kind}", cwd=tmp_path))
    assert told["status"] == "success"
    assert told["human"] == scores
    assert told["match"] == {f"q{i}": "C" if i % 3 else "I" for i in range(12)}
    found = told["totals"]["human"]
    assert math.isclose(found["mean_of_rated"], sum(scores.values()) / 6)
    assert 1 <= found["estimate"] <= 5
