"""The exceptions of fewgold. Each message says what was expected, what was found and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any


class FewgoldError(ValueError):
    """Base of all errors that fewgold raises on purpose.

    Parameters
    ----------
    message
        What was expected and what was found.
    code
        A short name for programs that act on the error; the sentences may change.
    hints
        What to do about it, by audience: ``"python"`` (shown by ``str``), ``"cli"``, ``"web"``.
    """

    def __init__(
        self, message: str, *, code: str = "", hints: Mapping[str, str] | None = None
    ) -> None:
        self.message, self.code, self.hints = message, code, dict(hints or {})
        super().__init__(self.message_for("python"))

    def message_for(self, audience: str) -> str:
        """The message with the hint for this audience, or the Python hint if there is none."""
        hint = self.hints.get(audience, self.hints.get("python", ""))
        return f"{self.message} {hint}".rstrip()

    def __reduce__(self) -> tuple[Any, ...]:
        # Subclasses have other constructor arguments, so the default pickling would fail in
        # workers.
        return type(self).__new__, (type(self), *self.args), self.__dict__


class DataError(FewgoldError):
    """The table, the ratings or the file do not have the expected form."""


class BudgetError(FewgoldError):
    """The budget does not fit this pool."""


class DesignError(FewgoldError):
    """The sample's design does not allow this analysis."""


class UnknownNameError(FewgoldError):
    """No sampler, estimator, column or data set has this name."""

    def __init__(
        self, kind: str, name: str, known: Iterable[str], hint: str | Mapping[str, str] = ""
    ) -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=3, cutoff=0.5)
        parts = [f"unknown {kind} {name!r}."]
        if near:
            parts.append(f"Did you mean {' or '.join(repr(n) for n in near)}?")
        parts.append(f"Known: {', '.join(names) if names else 'none'}.")
        self.kind, self.name, self.known = kind, name, tuple(names)
        hints = {"python": hint} if isinstance(hint, str) else hint
        super().__init__(" ".join(parts), code="unknown-name", hints=hints)
