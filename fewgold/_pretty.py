"""What people read: side files as JSON, and numbers with the digits that count."""

from __future__ import annotations

import json
import math
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


def decimals(error: float | None) -> int:
    """Digits after the point that show an error of this size to three digits.

    >>> decimals(0.357), decimals(12.0), decimals(None)
    (3, 1, 4)
    """
    if error is None or not (math.isfinite(error) and error > 0):
        return 4
    return min(max(2 - math.floor(math.log10(error)), 0), 12)
