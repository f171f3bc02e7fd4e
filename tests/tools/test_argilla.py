"""Argilla's client: its settings and records, answered and written by its own classes.

The server of Argilla needs Elasticsearch and is not run. Everything up to the server is the client:
`Settings.from_json`, `Record.from_dict`, `Response`, and what `Dataset.records.to_json` calls.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.conftest import Study, Tool

pytestmark = pytest.mark.tools
TOOL = "argilla"

ANSWER = """
import json, sys, uuid
import argilla as rg
from types import SimpleNamespace
from unittest.mock import MagicMock
from argilla.records._io import JsonIO

rg.Argilla._default_client = MagicMock()  # there is no server to talk to

settings = rg.Settings.from_json("tasks.settings.json")
settings.validate()
(question,) = settings.questions
fields = {f.name for f in settings.fields}
required = {f.name for f in settings.fields if f.required}
records = JsonIO._records_from_json("tasks.json")
opinions = json.load(open("opinions.json"))
raters = [uuid.UUID(int=k) for k in (1, 2)]
for record in records:
    record._dataset = SimpleNamespace(settings=settings)
    given = {k for k, v in record.fields.items() if v is not None}
    assert required <= given <= fields, (required, given, fields)
    score = opinions[record.id]
    if question.type == "rating":
        score = int(score)
        assert score in question.values, question.values
    else:
        score = f"{score:g}"
    for rater in raters:
        record.responses.add(rg.Response(question.name, score, rater, status="submitted"))
    record.api_model()  # what is sent to the server
JsonIO.to_json(records, "answered.json")
print(question.type)
"""


@pytest.mark.parametrize("limits", [(0, 100), (1, 5)], ids=["text", "rating"])
def test_all_answers_come_back(
    study: Callable[..., Study], tool: Tool, tmp_path: Path, limits: tuple[float, float]
) -> None:
    made = study("argilla", "tasks.json", limits=limits, each=2)
    (tmp_path / "opinions.json").write_text(json.dumps(made.opinions), encoding="utf-8")
    (tmp_path / "answer.py").write_text(ANSWER, encoding="utf-8")
    kind = tool.run("python", "answer.py", cwd=tmp_path).strip()
    assert kind == ("text" if made.tasks.limits == (0, 100) else "rating")
    made.check(tmp_path / "answered.json", raters=2, format="argilla")
