"""Logs in JSON lines whose cells are objects: every command takes paths into them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fewgold.campaign import Campaign

Run = Callable[..., Any]
METRICS = ("--metrics", "scores.llm")


@pytest.fixture
def log(folder: Path) -> Path:
    """240 answers of 80 conversations, 60 of them with a thumb, and two rows twice."""
    rng = np.random.default_rng(5)
    rows = []
    for k in range(240):
        good = rng.random() < 0.7
        row = {
            "id": f"m{k:03}",
            "conversation": {"id": f"c{k // 3:02}", "turn": k % 3},
            "response": {"text": f"Answer {k}.", "latency": int(rng.integers(100, 900))},
            "scores": {"llm": round(float(good + rng.normal(0, 0.3)), 3)},
            "area": "ab"[k % 2],
        }
        if k % 4 == 0:
            row["feedback"] = {"thumb": "up" if good else "down"}
        rows.append(row)
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, *rows[:2]]))
    return path


@pytest.fixture
def once(log: Path) -> Path:
    path = log.with_name("once.jsonl")
    path.write_text("".join(f"{line}\n" for line in dict.fromkeys(log.read_text().splitlines())))
    return path


def test_the_command_that_removes_repeated_rows_runs(run: Run, log: Path) -> None:
    found = json.loads(run("doctor", log.name, "--json", code=3).stdout)
    (told,) = [c["text"] for c in found["next_commands"]]
    (code,) = re.findall(r'python -c "(.*)"$', told)
    subprocess.run([sys.executable, "-c", code], check=True)
    kept = [json.loads(line) for line in Path("log-once.jsonl").read_text().splitlines()]
    kept = [{name: value for name, value in row.items() if value is not None} for row in kept]
    assert kept == [json.loads(line) for line in log.read_text().splitlines()[:240]]


def test_objects_are_neither_documents_nor_texts(run: Run, once: Path) -> None:
    facts = json.loads(run("doctor", once.name, "--json").stdout)["facts"]
    assert not {"documents", "texts"} & set(facts)
    run("select", once.name, "--budget", 9, "-o", "sheet.csv")
    assert Path("sheet.csv").read_text().splitlines()[0] == "id,score"
    told = run("select", once.name, "--budget", 9, "--document", "conversation", "-o", "x.csv",
               code=3).stderr  # fmt: skip
    assert "'conversation' are objects with fields. Name a field, such as conversation.id" in told


def test_suggested_commands_name_the_paths(run: Run, once: Path) -> None:
    told = ("--document", "conversation.id", "--texts", "response.text", *METRICS)
    found = json.loads(run("doctor", once.name, *told, "--json").stdout)
    command = found["next_commands"][0]["text"]
    for part in ("--document conversation.id", "--texts response.text", "--metrics scores.llm"):
        assert part in command
    assert found["facts"]["documents"].startswith("80 ")


def test_thumbs_up_and_down_are_labels(run: Run, once: Path) -> None:
    told = ("--human", "feedback.thumb", *METRICS, "--chosen", "random")
    found = json.loads(run("estimate", once.name, *told, "--json").stdout)
    thumbs = [json.loads(line).get("feedback") for line in once.read_text().splitlines()]
    ups = [thumb["thumb"] == "up" for thumb in thumbs if thumb]
    assert found["n"] == len(ups) == 60
    assert found["low"] < np.mean(ups) < found["high"]


def test_doctor_does_not_call_words_an_empty_column(run: Run, once: Path) -> None:
    once.write_text(once.read_text().replace('"up"', '"so"').replace('"down"', '"lala"'))
    told = run("doctor", once.name, "--human", "feedback.thumb", code=1).stdout
    assert "feedback.thumb: no numbers" in told
    assert "“feedback.thumb” may be human ratings, but holds no numbers" in " ".join(told.split())


def test_judge_takes_paths(run: Run, once: Path) -> None:
    told = ("--human", "feedback.thumb", "--judge", "scores.llm", "--by", "conversation.turn")
    shown = run("judge", once.name, *told, "--chosen", "random").stdout
    assert "60 of 240 segments rated" in shown and "conversation.turn" in shown


def test_plan_takes_the_metrics_of_a_pilot(run: Run, once: Path) -> None:
    asked = ("plan", "--half-width", 0.05, "--pilot", once.name, "--human", "feedback.thumb",
             "--chosen", "random")  # fmt: skip
    plain = run(*asked, "--metrics", "none").stdout
    better = run(*asked, *METRICS).stdout
    assert "random+ridge" not in plain and "random+ridge" in better
    wrong = run("plan", "--half-width", 0.05, "--sd", 1, *METRICS, code=2).stderr
    assert "is the number of metrics" in wrong


def test_a_history_takes_paths(run: Run, once: Path) -> None:
    told = ("--history", once.name, "--history-human", "feedback.thumb", "--budget", 20)
    shown = run("select", once.name, *METRICS, *told, "-o", "sheet.csv").stdout
    assert "60 ratings in once.jsonl" in shown and "scores.llm" in shown


def test_objects_are_not_kept_for_slices(run: Run, once: Path) -> None:
    run("init", "study", once.name, *METRICS, "--limits", "0,1")
    with Campaign("study") as campaign:
        assert list(campaign.labels) == ["area"]
