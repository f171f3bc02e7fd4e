"""Weights of the mixtures of many studies at once.

The convolution f ∗ g and the factor S of `_mixture`, in rows of like size. A row for which an FFT
is not exact enough is handed to `mixture`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from fewgold._arrays import IntArray
from fewgold.bayes._mixture import mixture
from fewgold.bayes._shapes import Shapes
from fewgold.bayes._urn_rows import span_of
from fewgold.bayes._weight_rows import Weights, both_urns, weight_rows

_AT_ONCE = 1 << 17  # values, so that they stay in the cache
_HUGE = 200_000  # components


def weights(
    shape: Shapes, rates: tuple[float, float] | None = None
) -> Iterator[tuple[IntArray, Weights]]:
    """The mixtures of shapes (B,): groups of rows of like size, with the weights of each."""
    if rates is not None:
        yield from _singly(shape, rates, np.arange(shape.a0.size))
        return
    huge = shape.total > _HUGE
    if huge.any():
        for row in np.flatnonzero(huge):
            yield np.array([row]), _huge(*(float(x) for x in shape.draw(row)))
        left = np.flatnonzero(~huge)
        for rows, found in weights(shape.draw(left)):
            yield left[rows], found
        return
    spans = [span_of(a, b, n) for a, b, n in both_urns(shape)]
    width = np.sum([left + right + 1 for _, left, right in spans], axis=0)
    order = np.argsort(width, kind="stable")
    hard, start = [], 0
    while start < order.size:
        some = order[start : start + max(1, _AT_ONCE // int(width[order[start]]))]
        found, good = weight_rows(
            shape.draw(some), [tuple(x[some] for x in span) for span in spans]
        )
        if good.any():
            yield some[good], Weights(found.first[good], found.mass[good])
        hard.append(some[~good])
        start += some.size
    if hard:
        yield from _singly(shape, None, np.concatenate(hard))


@lru_cache(maxsize=1)
def _huge(*values: float) -> Weights:
    """Of one study, kept: the next question is likely to be about the same."""
    shape = Shapes(*(np.array([x]) for x in values))
    spans = [span_of(a, b, n) for a, b, n in both_urns(shape)]
    found, good = weight_rows(shape, [*spans])
    if good[0]:
        return found
    part = mixture(shape.draw(0))
    return Weights(np.array([part.first]), part.weights[None])


def _singly(
    shape: Shapes, rates: tuple[float, float] | None, rows: IntArray
) -> Iterator[tuple[IntArray, Weights]]:
    """One by one, by the way that keeps all digits."""
    for row in rows:
        part = mixture(shape.draw(row), rates)
        yield np.array([row]), Weights(np.array([part.first]), part.weights[None])
