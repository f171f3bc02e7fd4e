"""Argument checks in one style: what was expected, what came."""

from __future__ import annotations

from fewgold.errors import FewgoldError


def check_confidence(confidence: float) -> float:
    """A confidence level strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise FewgoldError(
            f"confidence must lie between 0 and 1, such as 0.95; got {confidence!r}."
        )
    return float(confidence)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """One of a few words."""
    if value not in choices:
        raise FewgoldError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
    return value


def check_count(name: str, value: int, least: int = 1) -> int:
    """A whole number of at least ``least``."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise FewgoldError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)
