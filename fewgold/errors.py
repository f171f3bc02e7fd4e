"""The exceptions of fewgold. Each message says what was expected, what came and what to do."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class FewgoldError(ValueError):
    """Base of all errors that fewgold raises on purpose."""


class DataError(FewgoldError):
    """The table, the ratings or the file do not hold what was promised."""


class BudgetError(FewgoldError):
    """The budget cannot be spent on this pool."""


class DesignError(FewgoldError):
    """The sample's design does not allow what was asked of it."""


class UnknownNameError(FewgoldError):
    """No sampler, estimator, column or data set has this name."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        names = sorted(known)
        near = get_close_matches(name, names, n=3, cutoff=0.5)
        parts = [f"unknown {kind} {name!r}."]
        if near:
            parts.append(f"Did you mean {' or '.join(repr(n) for n in near)}?")
        parts.append(f"Known: {', '.join(names) if names else 'none'}.")
        if hint:
            parts.append(hint)
        super().__init__(" ".join(parts))
