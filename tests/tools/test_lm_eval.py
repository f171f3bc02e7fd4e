"""lm-evaluation-harness with its dummy model, and Hugging Face datasets, which come with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fewgold.formats import logs
from fewgold.sheets import open_table
from tools.conftest import NASTY, Tool, estimated

pytestmark = pytest.mark.tools
TOOL = "lm-eval"
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
ITEMS = 24

TASK = """
dataset_path: json
dataset_kwargs: {data_files: {test: items.jsonl}}
test_split: test
doc_to_text: "{{question}}"
metadata: {version: 1.0}
"""
TASKS = {
    "sums": """
task: sums
output_type: generate_until
doc_to_target: "{{answer}}"
generation_kwargs: {until: ["\\n\\n"]}
metric_list: [{metric: exact_match}]
""",
    # The dummy model draws likelihoods, so that some answers are right.
    "pick": """
task: pick
output_type: multiple_choice
doc_to_choice: ["one", "two é", "three"]
doc_to_target: "{{answer | int % 3}}"
metric_list: [{metric: acc}, {metric: acc_norm}]
""",
}


def test_samples_go_from_the_doctor_to_an_estimate(tool: Tool, tmp_path: Path) -> None:
    items = [{"question": f"Question {k} {NASTY}", "answer": str(k)} for k in range(ITEMS)]
    lines = "".join(json.dumps(i, ensure_ascii=False) + "\n" for i in items)
    (tmp_path / "items.jsonl").write_text(lines, encoding="utf-8")
    for name, text in TASKS.items():
        (tmp_path / f"{name}.yaml").write_text(text + TASK, encoding="utf-8")
    tool.run(
        "lm_eval", "--model", "dummy", "--tasks", "sums,pick", "--include_path", ".",
        "--output_path", "out", "--log_samples", cwd=tmp_path, **OFFLINE,
    )  # fmt: skip
    (totals,) = (tmp_path / "out").glob("*/results_*.json")
    told = json.loads(totals.read_text(encoding="utf-8"))
    # The folder that was named, with a folder for the model, holds both tasks.
    table = logs.read(tmp_path / "out").frame().set_index("id")
    assert set(table.index) == {f"{t}:{k}" for t in TASKS for k in range(ITEMS)}
    assert set(table["system"]) == {told["model_name"]}
    for k, item in enumerate(items):
        assert table["input"][f"sums:{k}"] == table["input"][f"pick:{k}"] == item["question"]
        assert table["output"][f"sums:{k}"] == "lol"  # all that the dummy says
        assert table["output"][f"pick:{k}"] in ("one", "two é", "three")
        right = ("one", "two é", "three")[k % 3] == table["output"][f"pick:{k}"]
        assert table["acc"][f"pick:{k}"] == right
    for metric in ("acc", "acc_norm"):
        assert table[metric].mean() == pytest.approx(told["results"]["pick"][f"{metric},none"])
    (log,) = (tmp_path / "out").glob("*/samples_pick_*.jsonl")
    estimated(log, tmp_path, "--metrics", "acc")


DATASETS = f"""
from datasets import Dataset, DatasetDict
rows = {{
    "id": [f"q{{k}}" for k in range({ITEMS})],
    "source": [f"Question {{k}} " + {NASTY!r} for k in range({ITEMS})],
    "output": [f"Answer {{k}}" for k in range({ITEMS})],
    "comet": [k / {ITEMS} for k in range({ITEMS})],
}}
whole = Dataset.from_dict(rows)
whole.save_to_disk("one", num_shards=3)
split = DatasetDict(train=whole.select(range(5)), test=whole.select(range(5, {ITEMS})))
split.save_to_disk("two")
"""


def test_folders_of_datasets_are_tables(tool: Tool, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    tool.run("python", "-c", DATASETS, cwd=tmp_path, **OFFLINE)
    table = open_table(tmp_path / "one")
    assert table["id"].tolist() == [f"q{k}" for k in range(ITEMS)]
    assert table["source"].tolist() == [f"Question {k} {NASTY}" for k in range(ITEMS)]
    assert table["comet"].tolist() == [k / ITEMS for k in range(ITEMS)]
    estimated(tmp_path / "one", tmp_path)
    assert open_table(tmp_path / "two")["id"].tolist() == [f"q{k}" for k in range(5, ITEMS)]
