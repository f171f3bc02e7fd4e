"""Student's interval, corrected for skewness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._shape import Shape, ShapeBound, student_quantile


@dataclass(frozen=True)
class Hall(ShapeBound):
    """hall"""

    name: ClassVar[str] = "hall"
    shrink: float = 0.0

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        f = shape.fraction
        a = shape.skewness / np.sqrt(shape.count * (1 - f))
        a = a * shape.count / (shape.count + self.shrink)
        t = student_quantile(df, confidence)
        return -_untwist(t, a, f), -_untwist(-t, a, f)


def _untwist(u: FloatArray, a: FloatArray, f: FloatArray) -> FloatArray:
    p, q = (2 - f) * a / 6, (1 - 2 * f) * a / 6
    none = np.abs(p) < 1e-9
    safe = np.where(none, 1.0, p)
    return np.asarray(np.where(none, u - q, (np.cbrt(1 + 3 * safe * (u - q)) - 1) / safe))
