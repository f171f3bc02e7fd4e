"""Which numbers of documents are tried, and in how many orders."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fewgold._arrays import IntArray
from fewgold._validate import check_choice, check_count
from fewgold.errors import FewgoldError

STEPS = 30  # numbers of documents that are tried if the caller does not say which


def count_orders(orders: str | int) -> int:
    if isinstance(orders, str):
        raise FewgoldError(
            f"orders must be 'file' or a number of random orders, such as 20; got {orders!r}."
        )
    return check_count("orders", orders)


def steps_of(at: Sequence[int] | str | None, total: int, first: int) -> IntArray:
    """The numbers of documents to try."""
    if at is None and total > STEPS:
        # Rounding makes the first ones fall together, so ask for more until there are enough.
        for tried in range(STEPS, 20 * STEPS):
            steps = np.unique(np.geomspace(first, total, tried).round().astype(np.int64))
            if steps.size >= STEPS:
                break
        return steps
    if at is None or isinstance(at, str):
        if isinstance(at, str):
            check_choice("at", at, ("all",))
        return np.arange(first, total + 1)
    steps = np.unique(np.array([check_count("at", d) for d in at], dtype=np.int64))
    if not steps.size or steps[0] < first or steps[-1] > total:
        raise FewgoldError(
            f"at must be numbers of documents from {first} to {total}; got {list(at)!r}."
        )
    return steps
