"""The bias-corrected and accelerated bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from fewgold._arrays import FloatArray
from fewgold.bounds._replicates import by_size, pseudo_samples
from fewgold.bounds._shape import Shape, ShapeBound, student_quantile


def quantiles(values: FloatArray, chance: FloatArray) -> FloatArray:
    """Quantile of each row at a chance of its own: (draws, replicates), (draws,) -> (draws,)."""
    line = np.sort(values, axis=-1)
    place = np.clip(chance, 0.0, 1.0) * (values.shape[-1] - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, values.shape[-1] - 1)
    pick = np.take_along_axis(line, np.stack([below, above], -1), axis=-1)
    part = place - below
    return np.asarray(pick[:, 0] * (1 - part) + pick[:, 1] * part)


@dataclass(frozen=True)
class BCa(ShapeBound):
    """bca"""

    name: ClassVar[str] = "bca"
    replicates: int = 2000

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        low, high = np.empty(df.shape), np.empty(df.shape)
        f = shape.fraction
        a_all = (1 + f) * shape.skewness / (6 * np.sqrt(shape.count * (1 - f)))
        for which, units, size in by_size(shape):
            n = units.shape[-1]
            samples, pools = pseudo_samples(n, size, self.replicates)
            error = units @ (samples - pools).T
            error /= np.sqrt((1 - n / size) / n * size / (size - 1))
            below = (error < 0).mean(-1) + (error == 0).mean(-1) / 2
            edge = 0.5 / self.replicates
            z0 = ndtri(np.clip(below, edge, 1 - edge))
            t = student_quantile(df[which], confidence)
            a = a_all[which]
            out = []
            for u in (-t, t):
                w = z0 + u
                w = np.where(a * w > 0.9, 0.9 / np.where(a == 0, 1, a), w)
                out.append(quantiles(error, ndtr(z0 + w / (1 - a * w))))
            low[which], high[which] = out
        return low, high
