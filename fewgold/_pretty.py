"""What people read: side files as JSON, numbers with the digits that count, methods by name."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
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


def spelled(name: str, thing: Any, told: Collection[str] = ()) -> str:
    """The name of a method, and in brackets its fields that were chosen otherwise than usual.

    ``told`` are the fields that the name tells already.
    """
    parts = _chosen(thing, told)
    return f"{name}({','.join(parts)})" if parts else name


def _chosen(thing: Any, told: Collection[str] = ()) -> list[str]:
    found: list[str] = []
    for f in fields(thing) if is_dataclass(thing) else ():
        value = getattr(thing, f.name)
        if f.name in told or (type(value) is type(f.default) and value == f.default):
            continue
        if is_dataclass(value) and not isinstance(value, type):  # a method within another
            found += _chosen(value, getattr(value, "_told", ()))
        elif not hasattr(value, "get_params") or not repr(value).endswith("()"):
            found.append(f"{f.name}={_word(value)}")
    return found


def _word(value: Any) -> str:
    """A value as a word without spaces and bars, the same in every process."""
    if isinstance(value, Mapping):
        return "+".join(f"{k}={_word(v)}" for k, v in value.items())
    if isinstance(value, tuple | list):
        return "+".join(map(_word, value))
    return re.sub(r"[\s|]+| at 0x[0-9a-f]+", "", str(value))
