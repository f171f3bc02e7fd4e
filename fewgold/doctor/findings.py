"""What the doctor says: findings, what a file supports, and commands to run."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
_ORDER = {"error": 0, "warning": 1, "note": 2}
_SHOWN = ("severity", "code", "what", "where", "do")


@dataclass(frozen=True)
class Finding:
    """Something about a file that its owner should know.

    Parameters
    ----------
    severity
        ``error``: not usable before it is mended; ``warning``: usable, but look; ``note``: no
        harm.
    code
        A short name that stays the same from version to version, for scripts.
    what
        A sentence.
    where
        Rows, columns or the first ids.
    do
        What to do about it.
    data
        What the sentences were made of, by name.
    """

    severity: Severity
    code: str
    what: str
    where: str = ""
    do: str = ""
    data: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True)
class Support:
    """Whether something can be done with a file, and how or why not."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True)
class Command:
    """A command and what it is for; ``now`` is False where something has to happen before."""

    text: str
    why: str
    now: bool = True


@dataclass(frozen=True)
class Diagnosis:
    """All that the doctor has to say about a file.

    Parameters
    ----------
    path
        The file.
    kind
        A short name of what it is, such as ``table``, ``sheet``, ``campaign`` or ``unknown``.
    title
        The same in a phrase.
    facts
        What it holds, in plain JSON values.
    findings
        What is wrong or worth knowing, the gravest first.
    supports
        What can be done with it, and what not.
    next_commands
        What to run: the first is the one to run next.
    """

    path: str
    kind: str
    title: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    supports: tuple[Support, ...] = ()
    next_commands: tuple[Command, ...] = ()

    def __post_init__(self) -> None:
        ordered = sorted(self.findings, key=lambda f: _ORDER[f.severity])
        object.__setattr__(self, "findings", tuple(ordered))

    @property
    def exit_code(self) -> int:
        """0: fine, 1: usable with warnings, 3: not usable as it is."""
        found = {f.severity for f in self.findings}
        return 3 if "error" in found else 1 if "warning" in found else 0

    @property
    def codes(self) -> frozenset[str]:
        """The short names of all findings."""
        return frozenset(f.code for f in self.findings)

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis in plain values, fit for JSON."""
        return {
            "path": self.path,
            "kind": self.kind,
            "title": self.title,
            "exit_code": self.exit_code,
            "facts": dict(self.facts),
            "findings": [{n: getattr(f, n) for n in _SHOWN} for f in self.findings],
            "supports": [asdict(s) for s in self.supports],
            "next_commands": [asdict(c) for c in self.next_commands],
        }

    def summary(self) -> str:
        """Text for people, 80 columns wide."""
        return _render(self)

    def brief(self) -> str:
        """The findings that matter and the next command, a line each."""
        lines = [f"{f.severity}: {f.what}" for f in self.findings if f.severity != "note"]
        lines += [f"next: {c.text}" for c in self.next_commands[:1]]
        return "\n".join(lines or ["fine"])


def some(items: Sequence[Any], count: int = 3) -> str:
    """The first few of a list, and how many there are beyond."""
    shown = ", ".join(str(i) for i in items[:count])
    return shown + (f" and {len(items) - count} more" if len(items) > count else "")


def plural(count: int, noun: str) -> str:
    """``1 row``, ``2 rows``, ``1,234 rows``."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


# A diagnosis as text for people: 80 columns, no colour needed -------------------------------------

_WIDTH = 80
_VERDICT = {
    0: "Fine: nothing stands in the way.",
    1: "Usable; read the warnings first.",
    3: "Not usable as it is.",
}


def _render(found: Diagnosis) -> str:
    parts = ["\n".join(_wrap(f"{found.path}: {found.title}", "", ""))]
    wide = max((len(str(name)) for name in found.facts), default=0)
    facts = [_wrap(_shown(v), f"  {name:<{wide}}  ") for name, v in found.facts.items()]
    wide = max((len(s.name) for s in found.supports), default=0)
    supports = [
        _wrap(s.detail, f"  {'yes' if s.ok else 'no '}  {s.name:<{wide}}  ") for s in found.supports
    ]
    findings = list(map(_finding, found.findings))
    for title, blocks in (("Holds", facts), ("Findings", findings), ("Supports", supports)):
        if blocks:
            parts.append("\n".join([title, *(line for block in blocks for line in block)]))
    parts.append(_VERDICT[found.exit_code])
    if found.next_commands:
        first, *more = found.next_commands
        parts.append(("Next\n" if first.now else "Later\n") + _command(first))
        for head, now in (("Then", False), ("Or", True)):
            if those := [_command(c) for c in more if c.now is now]:
                parts.append("\n".join([head, *those]))
    return "\n\n".join(parts)


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
