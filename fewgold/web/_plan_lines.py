"""Lines of Python and of a shell that give the numbers of a page again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any


def arguments(values: Mapping[str, Any]) -> str:
    """``alpha=0.6, human=500``: what is None is left out.

    >>> arguments({"alpha": 0.6, "paired": None, "known": True})
    'alpha=0.6, known=True'
    """
    return ", ".join(f"{k}={v!r}" for k, v in values.items() if v is not None)


def command(name: str, options: Mapping[str, Any]) -> str:
    """A line for a shell. True is an option without a value; None and False are left out.

    >>> command("fewgold plan", {"half_width": 0.3, "known": True, "size": None})
    'fewgold plan --half-width 0.3 --known'
    """
    parts = [name]
    for key, value in options.items():
        if value is None or value is False:
            continue
        parts.append(f"--{key.replace('_', '-')}")
        if value is not True:
            parts.append(shlex.quote(value if isinstance(value, str) else repr(value)))
    return " ".join(parts)


def wrapped(call: str, parts: list[str]) -> str:
    """A call on one line if it fits, else an argument a line.

    >>> print(wrapped("plan", ["goal", "outlook"]))
    plan(goal, outlook)
    """
    line = f"{call}({', '.join(parts)})"
    return line if len(line) < 88 else "\n".join([f"{call}(", *(f"    {p}," for p in parts), ")"])
