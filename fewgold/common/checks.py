"""Argument checks with messages in one style: what was expected and what was found."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

from fewgold.errors import DataError, FewgoldError, UnknownNameError

#: Ends of common rating scales, by name.
SCALES = {
    "mqm": (0.0, 25.0),
    "da": (0.0, 100.0),
    "binary": (0.0, 1.0),
    "likert5": (1.0, 5.0),
    "likert7": (1.0, 7.0),
}
Limits: TypeAlias = tuple[float, float] | str
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


def no_number(value: object) -> str:
    """A hint about a cell that should hold a number but does not.

    >>> no_number("0,853")
    'Write 0.853: a comma may mean thousands.'
    >>> no_number("good")
    'Is it the right column?'
    """
    text = str(value).strip()
    if _DECIMAL_COMMA.fullmatch(text):
        return f"Write {text.replace(',', '.')}: a comma may mean thousands."
    return "Is it the right column?"


def as_limits(limits: Limits | None) -> tuple[float, float] | None:
    """Ends of the rating scale, given as two numbers or by the name of a known scale."""
    if limits is None:
        return None
    if isinstance(limits, str):
        if limits.lower() not in SCALES:
            raise UnknownNameError(
                "rating scale", limits, SCALES, "Or give its ends, such as (0, 25)."
            )
        return SCALES[limits.lower()]
    try:
        low, high = (float(end) for end in limits)
    except (TypeError, ValueError):
        low = high = 0.0
    if not -float("inf") < low < high < float("inf"):
        raise DataError(
            f"limits must be (low, high) with low < high, or a scale such as 'mqm'; got {limits!r}."
        )
    return low, high


def as_names(names: str | Iterable[str]) -> tuple[str, ...]:
    """Names as a tuple; a bare string is one name, not a sequence of letters.

    >>> as_names("comet"), as_names(["comet", "bleu"])
    (('comet',), ('comet', 'bleu'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


def check_confidence(confidence: float) -> float:
    """Check that a confidence level lies strictly between 0 and 1."""
    if not 0.0 < confidence < 1.0:
        raise FewgoldError(
            f"confidence must lie between 0 and 1, such as 0.95; got {confidence!r}."
        )
    return float(confidence)


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Check that a value is one of a few words."""
    if value not in choices:
        raise FewgoldError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")
    return value


def check_count(name: str, value: int, least: int = 1) -> int:
    """Check that a value is a whole number of at least ``least``."""
    if isinstance(value, bool) or int(value) != value or value < least:
        raise FewgoldError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return int(value)
