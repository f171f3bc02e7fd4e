"""Counts, names and lists as they stand in sentences."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """``1 segment``, ``2 segments``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def shorter(name: object, longest: int = 60) -> str:
    """A name that does not fill the page: a long one loses its middle."""
    text = " ".join(str(name).split())
    half = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[:half]}…{text[-half:]}"


def rounded(count: float) -> str:
    """A number of ratings, from a hundred on in tens: an estimate does not bear more.

    >>> rounded(163.4), rounded(12.6), rounded(1391)
    ('160', '13', '1390')
    """
    return str(int(round(count, -1) if count >= 100 else round(count)))


def listed(names: list[str], most: int = 12) -> str:
    """Names with commas, the last of many left out and counted."""
    shown = [shorter(name, 40) for name in names[:most]]
    return ", ".join(shown) + (f" and {len(names) - most} more" if len(names) > most else "")
