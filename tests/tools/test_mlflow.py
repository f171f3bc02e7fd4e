"""MLflow: an evaluation with scorers of its own, and scores of people back in its traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from fewgold.formats import logs
from tools.conftest import NASTY, Tool, command, estimated

pytestmark = pytest.mark.tools
TOOL = "mlflow"
ITEMS = 24
ALONE = {
    "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "true",
    "MLFLOW_TRACKING_URI": "sqlite:///store.db", "MLFLOW_GENAI_EVAL_MAX_WORKERS": "1",
    "MLFLOW_SQLALCHEMYSTORE_POOL_SIZE": "50", "GIT_PYTHON_REFRESH": "quiet",
}  # fmt: skip
RUN = f"""
import mlflow
from mlflow.genai.scorers import scorer

mlflow.set_experiment("sums")


@scorer
def share(outputs):
    return int(outputs.split()[1]) / {ITEMS}


@scorer
def sure(outputs):
    return "sure" in outputs


rows = [
    {{
        "inputs": {{"question": f"Question {{k}} " + {NASTY!r}}},
        "outputs": f"Answer {{k}} " + ("sure" if k % 3 else "perhaps"),
        "expectations": {{"expected_response": str(k)}},
    }}
    for k in range({ITEMS})
]
table = mlflow.genai.evaluate(data=rows, scorers=[share, sure]).result_df
table.to_csv("table.csv", index=False)
table.to_json("table.json", orient="split")
table.to_json("table.jsonl", orient="records", lines=True)
"""
TRACES = """
import sys
import mlflow

mlflow.set_experiment("sums")
with open(sys.argv[1], "w", encoding="utf-8") as out:
    for trace in mlflow.search_traces(return_type="list", max_results=100):
        out.write(trace.to_json() + "\\n")
"""
BACK = """
import json
import mlflow
from mlflow.entities import AssessmentSource

for line in open("scores.jsonl", encoding="utf-8"):
    row = json.loads(line)
    mlflow.log_feedback(**row | {"source": AssessmentSource(**row["source"])})
"""


def test_scores_of_people_go_back_to_its_traces(tool: Tool, tmp_path: Path) -> None:
    for name, text in (("run.py", RUN), ("traces.py", TRACES), ("back.py", BACK)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    tool.run("python", "run.py", cwd=tmp_path, **ALONE)
    tool.run("python", "traces.py", "traces.jsonl", cwd=tmp_path, **ALONE)
    for name in ("table.csv", "table.json", "table.jsonl", "traces.jsonl"):
        found = logs.recognise(tmp_path / name)
        assert found is not None and found.name == "mlflow"
        table = logs.read(tmp_path / name).frame()
        table.index = [int(o.split()[1]) for o in table["output"]]
        assert sorted(table.index) == list(range(ITEMS))
        for k in range(ITEMS):
            assert table["input"][k] == f"Question {k} {NASTY}"
            assert table["reference"][k] == str(k)
            assert table["share"][k] == k / ITEMS and table["sure"][k] == (k % 3 > 0)
        # What was expected is neither a metric nor, though people said it, a human score.
        assert not [c for c in table if "expected" in c or c.startswith("human")]
    sheet = estimated(tmp_path / "traces.jsonl", tmp_path, "--metrics", "share,sure")
    scores = dict(zip(sheet["id"], map(float, sheet["score"]), strict=True))
    command("export", tmp_path / "sheet.csv", "-o", tmp_path / "scores.jsonl", "-q")
    tool.run("python", "back.py", cwd=tmp_path, **ALONE)
    tool.run("python", "traces.py", "again.jsonl", cwd=tmp_path, **ALONE)
    table = logs.read(tmp_path / "again.jsonl").frame()
    rated = table[table["human"].notna()]
    assert dict(zip(rated["trace_id"], rated["human"], strict=True)) == scores
    assert set(rated["share"]) <= {k / ITEMS for k in range(ITEMS)} and len(table) == ITEMS
