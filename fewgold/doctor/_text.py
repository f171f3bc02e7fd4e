"""A diagnosis as text for people: 80 columns, no colour needed."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

from fewgold.doctor._model import Command, Diagnosis, Finding

_WIDTH = 80
_VERDICT = {
    0: "Fine: nothing stands in the way.",
    1: "Usable; read the warnings first.",
    3: "Not usable as it is.",
}


def render(found: Diagnosis) -> str:
    """The whole diagnosis."""
    parts = ["\n".join(_wrap(f"{found.path}: {found.title}", "", ""))]
    if found.facts:
        parts.append("Holds\n" + "\n".join(_pairs(found.facts)))
    if found.findings:
        parts.append("Findings\n" + "\n".join(line for f in found.findings for line in _finding(f)))
    if found.supports:
        lines = []
        for s in found.supports:
            mark = "yes" if s.ok else "no "
            lines += _wrap(s.detail, f"  {mark}  {s.name:<{_name_width(found)}}  ")
        parts.append("Supports\n" + "\n".join(lines))
    parts.append(_VERDICT[found.exit_code])
    if found.next_commands:
        first, *more = found.next_commands
        parts.append(("Next\n" if first.now else "Later\n") + _command(first))
        for head, those in (
            ("Then", [c for c in more if not c.now]),
            ("Or", [c for c in more if c.now]),
        ):
            if those:
                parts.append(f"{head}\n" + "\n".join(map(_command, those)))
    return "\n\n".join(parts)


def _name_width(found: Diagnosis) -> int:
    return max(len(s.name) for s in found.supports)


def _pairs(facts: Mapping[str, Any]) -> list[str]:
    width = max(len(str(name)) for name in facts)
    lines: list[str] = []
    for name, value in facts.items():
        lines += _wrap(_shown(value), f"  {name:<{width}}  ")
    return lines


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        said: dict[str, list[str]] = {}
        for name, what in value.items():
            said.setdefault(str(what), []).append(str(name))
        if len(said) == len(value):
            return "; ".join(f"{k}: {v}" for k, v in value.items())
        return "; ".join(f"{what}: {', '.join(names)}" for what, names in said.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _finding(found: Finding) -> list[str]:
    where = f" ({found.where})" if found.where else ""
    lines = _wrap(f"{found.what.removesuffix('.')}{where}.", f"  {found.severity:<7}  ")
    return lines + (_wrap(found.do, " " * 11, " " * 11) if found.do else [])


def _command(command: Command) -> str:
    lines = _wrap(f"# {command.why}", "  ", "  # ")
    return "\n".join([*lines, *_continued(command.text)])


def _continued(text: str) -> list[str]:
    """A command over several lines that pastes as one; quoted parts stay whole."""
    if len(text) <= _WIDTH - 2 or " -c " in text:
        return [f"  {text}"]
    first, *options = text.split(" --")
    lines = [f"  {first}"]
    for option in options:
        joined = f"{lines[-1]} --{option}"
        if len(joined) <= _WIDTH - 2:
            lines[-1] = joined
        else:
            lines.append(f"    --{option}")
    return [f"{line} \\" for line in lines[:-1]] + [lines[-1]]


def _wrap(text: str, lead: str, rest: str | None = None) -> list[str]:
    rest = " " * len(lead) if rest is None else rest
    return textwrap.wrap(
        text, _WIDTH, initial_indent=lead, subsequent_indent=rest, break_on_hyphens=False
    ) or [lead.rstrip()]
