"""The studentised bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._replicates import by_size, pseudo_samples
from fewgold.bounds._shape import Shape, ShapeBound, student_quantile


@dataclass(frozen=True)
class BootstrapT(ShapeBound):
    """boot"""

    name: ClassVar[str] = "bootstrap-t"
    replicates: int = 2000
    floor: float = 0.3333

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        low, high = np.empty(df.shape), np.empty(df.shape)
        miss = (1 - confidence) / 2
        for which, units, size in by_size(shape):
            n = units.shape[-1]
            samples, pools = pseudo_samples(n, size, self.replicates)
            error = units @ (samples - pools).T
            mean = units @ samples.T
            var = ((units**2) @ samples.T - mean**2) * n / (n - 1)
            s = np.sqrt(np.maximum(var, self.floor**2))
            t = error / (s * np.sqrt((1 - n / size) / n))
            t.sort(axis=-1)
            q = np.quantile(t[0], [miss, 1 - miss]) if False else (_at(t, miss), _at(t, 1 - miss))
            grow = student_quantile(df[which], confidence) / student_quantile(
                np.full(which.size, n - 1.0), confidence
            )
            low[which], high[which] = -q[1] * grow, -q[0] * grow
        return low, high


def _at(line: FloatArray, chance: float) -> FloatArray:
    place = chance * (line.shape[-1] - 1)
    below = int(place)
    above = min(below + 1, line.shape[-1] - 1)
    return np.asarray(line[:, below] + (place - below) * (line[:, above] - line[:, below]))
