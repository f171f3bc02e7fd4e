"""Student's interval, corrected for skewness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._shape import Shape, ShapeBound
from fewgold.bounds._student import student_quantile


@dataclass(frozen=True)
class Hall(ShapeBound):
    """Student's interval, its statistic turned straight by Hall's cubic, with a finite population.

    The studentised mean of skewed scores is skewed itself, the other way. With
    ``A = γ̂/sqrt(n(1−f))``, γ̂ the skewness of the ratings and f = n/N, the function
    ``g(u) = (∛(1 + 3p(u−q)) − 1)/p``, p = (2−f)A/6 and q = (1−2f)A/6, undoes that up to terms in
    1/n, and the interval is ``[x̄ − se·g(t), x̄ − se·g(−t)]``.

    Approximate: covers more often than Student's on skewed scores, but is very wide now and
    then, where few ratings happen to be very skewed. Covers every design and estimate through the
    deviations of its units.
    """

    name: ClassVar[str] = "hall"
    reference: ClassVar[str] = (
        "Hall (1992), On the removal of skewness by transformation, JRSS B 54; Sugden, Smith and "
        "Jones (2000), Cochran's rule for simple random sampling, JRSS B 62, for the finite pool"
    )

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        f = shape.fraction
        a = shape.skewness / np.sqrt(shape.members * (1 - f))
        t = student_quantile(df, confidence)
        return -_straight(t, a, f), -_straight(-t, a, f)


def _straight(u: FloatArray, a: FloatArray, f: FloatArray) -> FloatArray:
    """The value of the skewed statistic at which the straight one is ``u``."""
    p, q = (2 - f) * a / 6, (1 - 2 * f) * a / 6
    none = np.abs(p) < 1e-9
    safe = np.where(none, 1.0, p)
    return np.asarray(np.where(none, u - q, (np.cbrt(1 + 3 * safe * (u - q)) - 1) / safe))
