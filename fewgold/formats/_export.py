"""What the writers of annotation tools share: exact numbers, scales, names that tools accept."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from fewgold.errors import DataError

_MOST_OPTIONS = 11


def dumps(value: Any, indent: int | None = None) -> str:
    """JSON in readable letters, or in escapes where a text holds what no file can."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def clean(text: str) -> str:
    """Text that every file can hold: control characters and lone surrogates become U+FFFD."""
    return re.sub("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


def number(score: float) -> int | float:
    """The score as people write it: 4 rather than 4.0.

    >>> number(4.0), number(0.25)
    (4, 0.25)
    """
    if not math.isfinite(score):
        raise DataError(f"a score must be a number, got {score}.")
    return int(score) if score == int(score) and abs(score) < 2**53 else float(score)


def as_number(text: str) -> int | float | str:
    """The number that reads back as exactly this text, or the text.

    >>> as_number("12"), as_number("012"), as_number("1771.5"), as_number("x")
    (12, '012', 1771.5, 'x')
    """
    for kind in (int, float):
        try:
            made = kind(text)
        except (ValueError, OverflowError):
            continue
        if math.isfinite(made) and repr(made) == text:
            return made
    return text


def is_number(value: Any) -> bool:
    """True for a finite number that is no verdict."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def extra(details: Mapping[str, Any], **lost: str) -> dict[str, Any]:
    """What a tool has no field for, as an object to keep beside the answer."""
    kept: dict[str, Any] = {name: text for name, text in lost.items() if text}
    if details:
        kept["details"] = dict(details)
    return kept


def options(limits: tuple[float, float] | None) -> list[int] | None:
    """The points of a scale of few whole numbers, such as 1 to 5; None for any other scale."""
    if limits is None or any(not math.isfinite(end) or end != int(end) for end in limits):
        return None
    low, high = map(int, limits)
    return list(range(low, high + 1)) if 0 < high - low < _MOST_OPTIONS else None


def step(limits: tuple[float, float]) -> int | float:
    """A step fine enough for a scale: 1 where its ends are whole and far apart."""
    whole = all(end == int(end) for end in limits)
    return 1 if whole and limits[1] - limits[0] >= _MOST_OPTIONS - 1 else 0.01


def identifier(text: str, taken: Collection[str], lower: bool = False) -> str:
    """A name of plain letters, digits and underscores that is not taken yet.

    >>> identifier("machine output", ()), identifier("id", ("id",)), identifier("原文", ())
    ('machine_output', 'id_2', 'text')
    """
    name = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_") or "text"
    name = f"text_{name}" if name[0].isdigit() else name
    name = name.lower() if lower else name
    held = {t.lower() for t in taken}
    made, count = name, 1
    while made.lower() in held:
        count += 1
        made = f"{name}_{count}"
    return made


def beside(path: str | Path, ending: str) -> Path:
    """A file next to another: ``tasks.json`` and ``.config.xml`` give ``tasks.config.xml``."""
    path = Path(path)
    return path.with_name(f"{path.name.removesuffix(path.suffix) or path.name}{ending}")
