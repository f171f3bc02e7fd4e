"""Numbers with as many digits as their error justifies."""

from __future__ import annotations

import math

_MOST = 9  # decimals before the exponent is written


def number(
    value: float | None, error: float | None = None, *, percent: bool = False, digits: int = 3
) -> str:
    """A number for people to read.

    The error is given to one digit, or to two if the first is a 1, and the value to the same
    place. Without an error the value has ``digits`` digits that count.

    >>> number(0.17134, 0.0041)
    '0.171 ± 0.004'
    >>> number(0.17134, 0.0012, percent=True)
    '17.13 ± 0.12%'
    >>> number(2.12218), number(float("nan"), 0.1), number(float("inf"))
    ('2.12', '–', '∞')
    """
    known = _float(value)
    if math.isnan(known):
        return "–"
    unit = "%" if percent else ""
    known *= 100 if percent else 1
    if math.isinf(known):
        return "−∞" if known < 0 else "∞"
    spread = _float(error) * (100 if percent else 1)
    if not (math.isfinite(spread) and spread > 0):
        return fixed(known, _places(known, digits)) + unit
    first, size = f"{spread:e}"[0], int(f"{spread:e}".partition("e")[2])
    places = max((1 if first == "1" else 0) - size, 0)
    return f"{fixed(known, places)} ± {fixed(spread, places)}{unit}"


def fixed(value: float, places: int) -> str:
    """A number with so many decimals, a true minus sign, and no minus before nought."""
    text = f"{value:.{places}f}" if places <= _MOST else f"{value:.2e}"
    if text.startswith("-") and not text.strip("-0."):
        text = text[1:]
    return text.replace("-", "−")


def _places(value: float, digits: int) -> int:
    """The decimals that give a number so many digits that count."""
    if value == 0:
        return 0
    size = int(f"{value:.{digits - 1}e}".partition("e")[2])  # once rounded: 9.996 is 10.0
    return max(digits - 1 - size, 0)


def _float(value: float | None) -> float:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # None, pandas.NA
        return math.nan
