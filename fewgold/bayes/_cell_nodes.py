"""What a prior makes of the ratings of categories: a mixture over the nodes of a rule."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from fewgold._arrays import FloatArray

#: Panels of the rule for θ: for distributions, and for mean and sd.
PANELS, FEW_PANELS = 64, 32


class Nodes(NamedTuple):
    """A mixture: with chance ``weight`` (D, M, P) the v_j are independent Beta(a, b), (D, M, P, J).

    The P points of each of the M models are those of `fejer`, or a single one.
    """

    weight: FloatArray
    a: FloatArray
    b: FloatArray


class CellPrior(Protocol):
    """Turns ratings (D, J, 2) and the number of items of each category (D, J) into a mixture.

    ``panels`` says how finely a rate is cut where it is summed over.
    """

    def nodes(self, rated: FloatArray, items: FloatArray, panels: int = PANELS) -> Nodes: ...


@lru_cache(maxsize=8)
def fejer(panels: int) -> tuple[FloatArray, FloatArray]:
    """Nodes (1 + cos(kπ/n))/2, k = 1 … n − 1, and weights of Fejér's second rule on [0, 1].

    Every second node is one of the rule with half the panels.
    """
    angle = np.pi / panels * np.arange(1, panels)
    odd = np.arange(1, panels, 2)
    sums = (np.sin(np.multiply.outer(angle, odd)) / odd).sum(-1)
    return 0.5 * (1 + np.cos(angle)), 2 * np.sin(angle) / panels * sums


@lru_cache(maxsize=2)
def interpolation(panels: int, skip: int) -> FloatArray:
    """From every ``skip``-th node of the Fejér rule to all of them, by the barycentric formula."""
    x, _ = fejer(panels)
    k = np.arange(skip, panels, skip)
    own = (-1.0) ** (k // skip) * np.sin(np.pi * k / panels) ** 2
    gaps = x[:, None] - x[k - 1]
    gaps[k - 1] = 1.0
    matrix = own / gaps
    matrix[k - 1] = np.eye(k.size)
    return np.asarray(matrix / matrix.sum(1, keepdims=True))


def single_node(rated: FloatArray, a: float, b: float) -> Nodes:
    """Where nothing is summed over: v_j ~ Beta(a, b), with the ratings (D, J, 2) counted in."""
    cells = rated[:, None, None]
    return Nodes(np.ones((len(rated), 1, 1)), a + cells[..., 1], b + cells[..., 0])
