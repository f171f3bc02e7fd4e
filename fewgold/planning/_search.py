"""The search that plans have in common: more ratings only ever help."""

from __future__ import annotations

from collections.abc import Callable


def least_enough(enough: Callable[[int], bool], low: int, high: int) -> int:
    """The least number from ``low`` on that is enough; ``high`` where none below it is.

    Examples
    --------
    >>> least_enough(lambda n: n * n >= 50, 1, 100)
    8
    """
    while low < high:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle + 1
    return low
