"""Which method serves a study: by the number of metric-only ratings and the shapes of the Betas."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import BoolArray
from fewgold.bayes._shapes import Shapes

# Above so many metric-only ratings the mixture costs more than the quadrature.
LARGE = 200_000


def promising(shape: Shapes) -> BoolArray:
    """Where the reverse factorisation may converge: a flat tilt, and no near-empty cells."""
    up, down = shape.a0 - shape.ar - shape.br, shape.b0 - shape.ae - shape.be
    tilt = np.maximum(np.abs(up), np.abs(down))
    cell = np.min([shape.ar, shape.br, shape.ae, shape.be], axis=0)
    return np.asarray((tilt <= 50) & (cell >= np.where(shape.total > LARGE, 2, 5)))


def by_mixture(shape: Shapes) -> BoolArray:
    """Whether the mixture is the better choice."""
    return np.asarray((shape.total <= LARGE) | ~smooth(shape))


def smooth(shape: Shapes) -> BoolArray:
    """Whether no shape below 1 makes the quadrature crude."""
    return np.asarray(np.min([shape.ar, shape.br, shape.ae, shape.be], axis=0) >= 1)
