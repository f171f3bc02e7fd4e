"""The settings of an Argilla dataset for a set of tasks."""

from __future__ import annotations

from typing import Any

from fewgold.formats._export import number, options
from fewgold.formats._layout import AFTER, BEFORE, Layout
from fewgold.formats._model import Tasks

#: Names that a record has already.
RESERVED = (
    "id", "fields", "metadata", "suggestions", "responses", "vectors", "status", "external_id",
    "fewgold",
)  # fmt: skip
_LOWEST, _HIGHEST = 0, 10


def settings(tasks: Tasks) -> dict[str, Any]:
    """What ``rg.Settings.from_json`` reads: the fields to show and the question to ask.

    A scale of whole numbers within 0 and 10 is a rating question, any other one is asked for as
    text.

    >>> from fewgold.formats import Segment
    >>> tasks = Tasks((Segment("fg-0-abc234", "1", {"output": "Hallo"}),), limits=(0, 100))
    >>> settings(tasks)["questions"][0]["description"]
    'A number from 0 to 100.'
    """
    layout = Layout(tasks, RESERVED, lower=True)
    shown = {field: name for name, field in layout.fields.items()} or {"segment_id": "segment"}
    if layout.has_context:
        shown = {
            BEFORE: "context before, do not rate",
            **shown,
            AFTER: "context after, do not rate",
        }
    always = [
        field
        for name, field in layout.fields.items()
        if all(s.texts.get(name) for s in tasks.to_rate)
    ]
    required = always[-1:] or list(shown)[-1:]
    return {
        "guidelines": tasks.instruction,
        "questions": [_question(tasks, layout.score)],
        "fields": [
            {
                "name": field,
                "title": title,
                "required": field in required,
                "type": "text",
                "settings": {"type": "text", "use_markdown": False},
            }
            for field, title in shown.items()
        ],
        "vectors": [],
        "metadata": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
        "mapping": None,
    }


def _question(tasks: Tasks, name: str) -> dict[str, Any]:
    points = options(tasks.limits)
    kind: dict[str, Any] = {"type": "text", "use_markdown": False}
    told = "A number."
    if tasks.limits is not None:
        low, high = map(number, tasks.limits)
        told = f"A number from {low} to {high}."
    if points is not None and points[0] >= _LOWEST and points[-1] <= _HIGHEST:
        kind = {"type": "rating", "options": [{"value": point} for point in points]}
    return {
        "name": name,
        "title": tasks.question,
        "description": f"{told} {tasks.scale.sentence}".strip(),
        "required": True,
        "type": kind["type"],
        "settings": kind,
    }
