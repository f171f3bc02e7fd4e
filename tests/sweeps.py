"""Sweeps over many cases: some of them in the quick suite, all of them with `make theory`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import groupby
from typing import Any

import pytest


def quick(cases: Iterable[Any], which: Collection[Any] | slice) -> list[Any]:
    """The cases for ``parametrize``, all but ``which`` of them marked as slow.

    ``which`` holds cases, or names of a mapping of cases, or is a slice such as ``[::3]``.
    """
    listed = list(cases)
    chosen = listed[which] if isinstance(which, slice) else which
    if not isinstance(which, slice):
        assert all(one in listed for one in which), "no such case"
    named = cases if isinstance(cases, Mapping) else None
    return [
        pytest.param(
            *_several(case if named is None else named[case]),
            marks=() if case in chosen else pytest.mark.slow,
            id=None if named is None else str(case),
        )
        for case in listed
    ]


def _several(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)


def mark_slow_combinations(items: Iterable[pytest.Item]) -> None:
    """Of a test marked ``sweep``, leave so many combinations that each value occurs once.

    With ``sweep(2)`` each pair of values of two parameters does. The others are marked as slow.
    """
    swept = [i for i in items if i.get_closest_marker("sweep") and hasattr(i, "callspec")]
    for _, together in groupby(swept, key=lambda item: item.nodeid.partition("[")[0]):
        group = list(together)
        mark = group[0].get_closest_marker("sweep")
        pairs = bool(mark and mark.args == (2,))
        wanted = [_values(item.callspec.params, pairs) for item in group]  # type: ignore[attr-defined]
        missing = set().union(*wanted)
        left = dict(enumerate(wanted))
        while missing:
            best = max(left, key=lambda k: len(left[k] & missing))
            missing -= left.pop(best)
        for k in left:
            group[k].add_marker(pytest.mark.slow)


def _values(params: dict[str, Any], pairs: bool) -> set[Any]:
    single = [(name, id(value)) for name, value in sorted(params.items())]
    if not pairs or len(single) < 2:
        return set(single)
    return {(a, b) for k, a in enumerate(single) for b in single[:k]}
