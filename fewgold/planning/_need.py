"""What one strategy needs to reach a goal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

#: The note of a strategy that reaches the goal with the whole pool only.
ALL_OF_THEM = "all of them: nothing less reaches the goal"


@dataclass(frozen=True)
class Need:
    """What one strategy needs: ratings, what they reach, and how far the goal is from reach."""

    strategy: str
    n: int
    reached: float
    curve: Mapping[int, float]
    note: str = ""


def with_curve(
    strategy: str, n: int, size: int | None, reached: Callable[[int], float], note: str = ""
) -> Need:
    """What ``n`` ratings reach, and what fewer and more of them would."""
    curve = {k: reached(k) for k in _around(n, size)}
    return Need(strategy, n, reached(n), curve, note)


def _around(n: int, size: int | None) -> list[int]:
    """Sizes from a fifth to three times as many, for a curve."""
    top = 3 * n if size is None else min(3 * n, size)
    points = np.unique(np.geomspace(max(n / 5, 4), max(top, 5), 25).round().astype(int))
    return sorted({*(int(k) for k in points if size is None or k <= size), n})
