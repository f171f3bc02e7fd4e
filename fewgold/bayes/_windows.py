"""Where a function has its mass, and Gauss–Legendre rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from fewgold._arrays import FloatArray

LogFunction = Callable[[FloatArray], FloatArray]


@lru_cache(maxsize=16)
def gauss_legendre(n: int) -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * (1 + x), 0.5 * w


def shrink(
    log_f: LogFunction,
    low: FloatArray,
    high: FloatArray,
    drop: float,
    points: int = 16,
    passes: int = 12,
) -> tuple[FloatArray, FloatArray]:
    """The part of [low, high] (...) where ``log_f`` is within ``drop`` of its maximum.

    ``log_f`` takes (..., points). A grid is laid over each interval, all of it that lies lower is
    cut off, and a finer grid over the rest, until no interval shrinks by much. Of a function with
    one peak nothing within the drop is ever lost: the peak lies next to the highest grid point.
    """
    steps = (np.arange(points) + 0.5) / points
    done = np.zeros(np.shape(low), dtype=bool)
    for _ in range(passes):
        width = high - low
        values = log_f(low[..., None] + width[..., None] * steps)
        near = values >= values.max(-1, keepdims=True) - drop
        first = near.argmax(-1)
        last = points - 1 - near[..., ::-1].argmax(-1)
        upto = np.where(last == points - 1, high, low + width * ((last + 1.5) / points))
        since = np.where(first == 0, low, low + width * ((first - 0.5) / points))
        # Each goes by itself, so that an interval does not depend on the others of its batch.
        low, high = np.where(done, low, since), np.where(done, high, upto)
        done = done | (high - low > 0.5 * width)
        if done.all():
            break
    return low, high
