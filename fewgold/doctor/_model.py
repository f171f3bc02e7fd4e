"""What the doctor says: findings, what a file supports, and commands to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from fewgold.errors import DataError
from fewgold.tables import TableError

Severity = Literal["error", "warning", "note"]
_ORDER = {"error": 0, "warning": 1, "note": 2}


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
    """

    severity: Severity
    code: str
    what: str
    where: str = ""
    do: str = ""


def unreadable(error: DataError) -> Finding:
    """What the commands say of a file that they cannot read."""
    if isinstance(error, TableError):
        return Finding("error", error.code, error.what, error.where, error.do)
    return Finding("error", "unreadable", str(error))


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
            "findings": [asdict(f) for f in self.findings],
            "supports": [asdict(s) for s in self.supports],
            "next_commands": [asdict(c) for c in self.next_commands],
        }

    def summary(self) -> str:
        """Text for people, 80 columns wide."""
        from fewgold.doctor._text import render

        return render(self)

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
