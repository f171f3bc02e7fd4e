"""JSON for side files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def pretty(record: Mapping[str, Any]) -> str:
    """JSON that people can read and compare: segments and other details one to a line."""

    def text(value: Any, depth: int) -> str:
        if depth < 2 and isinstance(value, Mapping):
            items = [f"{json.dumps(k)}: {text(v, depth + 1)}" for k, v in value.items()]
            left, right = "{", "}"
        elif isinstance(value, list) and value and isinstance(value[0], Mapping):
            items, (left, right) = [text(v, 9) for v in value], "[]"
        else:
            return json.dumps(value, ensure_ascii=False, allow_nan=False)
        pad = "\n" + " " * (depth + 1)
        return left + pad + ("," + pad).join(items) + "\n" + " " * depth + right

    return text(record, 0) + "\n"
