"""The configuration of a Potato server for a set of tasks, as YAML."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fewgold.formats._export import clean, number, options
from fewgold.formats._layout import AFTER, BEFORE, Layout
from fewgold.formats._model import Tasks

#: Names that an instance has already.
RESERVED = ("id", "instance_id", "user_id", "displayed_text", "fewgold")


def config(tasks: Tasks, data: str = "tasks.jsonl") -> str:
    """The server's configuration, for ``potato start``; written for Potato 2.

    A scale of few whole numbers is one button each, any other one a field for a number. A slider
    would start somewhere, and nobody could tell an answer from that.

    Parameters
    ----------
    data
        The file of tasks, which stands beside the configuration.

    >>> from fewgold.formats import Segment
    >>> tasks = Tasks((Segment("fg-0-abc234", "1", {"output": "Hallo"}),), limits=(0, 100))
    >>> print(config(tasks).partition("annotation_schemes:")[2])
    <BLANKLINE>
      - annotation_type: "number"
        name: "score"
        description: "Rate this output. (0 to 100)"
        label_requirement:
          required: true
        min_value: 0
        max_value: 100
    user_config:
      allow_all_users: true
      users: []
    <BLANKLINE>
    """
    layout = Layout(tasks, RESERVED)
    shown = [(field, name) for name, field in layout.fields.items()]
    shown = shown or [("segment_id", "segment")]
    body = shown[-1][0]
    if layout.has_context:
        told = "context {}, do not rate"
        shown = [(BEFORE, told.format("before")), *shown, (AFTER, told.format("after"))]
    made: dict[str, Any] = {
        "annotation_task_name": tasks.name,
        "task_dir": ".",
        "data_files": [data],
        "item_properties": {"id_key": "id", "text_key": body},
        "output_annotation_dir": f"{Path(data).stem}_output",
        "instance_display": {
            "fields": [{"key": key, "type": "text", "label": label} for key, label in shown]
        },
        "annotation_schemes": [_scheme(tasks, layout.score)],
        "user_config": {"allow_all_users": not tasks.raters, "users": list(tasks.raters)},
    }
    return "\n".join(_yaml(made)) + "\n"


def _scheme(tasks: Tasks, name: str) -> dict[str, Any]:
    points = options(tasks.limits)
    made: dict[str, Any] = {
        "annotation_type": "number" if points is None else "radio",
        "name": name,
        "description": tasks.instruction,
        "label_requirement": {"required": True},
    }
    if points is not None:
        return {**made, "labels": [str(point) for point in points]}
    if tasks.limits is not None:
        low, high = map(number, tasks.limits)
        made |= {"min_value": low, "max_value": high}
    return made


def _yaml(value: dict[str, Any], indent: str = "") -> list[str]:
    """Objects, lists and scalars as YAML; text in quotes, as JSON writes it."""
    lines: list[str] = []
    for name, inner in value.items():
        if isinstance(inner, dict) and inner:
            lines += [f"{indent}{name}:", *_yaml(inner, f"{indent}  ")]
        elif isinstance(inner, list) and inner:
            lines.append(f"{indent}{name}:")
            for item in inner:
                if isinstance(item, dict):
                    first, *rest = _yaml(item, f"{indent}    ")
                    lines += [f"{indent}  - {first.lstrip()}", *rest]
                else:
                    lines.append(f"{indent}  - {_scalar(item)}")
        else:
            lines.append(f"{indent}{name}: {_scalar(inner)}")
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        value = clean(value).replace("\u2028", " ").replace("\u2029", " ").replace("\ufeff", "")
    return json.dumps(value, ensure_ascii=False)
