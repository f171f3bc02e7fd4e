"""The bias-corrected and accelerated bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from fewgold._arrays import FloatArray
from fewgold._validate import check_count
from fewgold.bounds._replicates import by_size, enough, pseudo_samples, quantiles
from fewgold.bounds._shape import Shape, ShapeBound
from fewgold.bounds._student import student_quantile

_HAIR = 1e-9


@dataclass(frozen=True)
class BCa(ShapeBound):
    """Bias-corrected and accelerated bootstrap interval with a finite population.

    Quantiles of the error in samples from pools made of copies of the sample, moved by the bias
    z₀ and the acceleration a. For a share f of the pool, ``a = (1+f) γ̂ / (6 sqrt(n(1−f)))`` makes
    the interval agree with Hall's up to terms in 1/n; at f = 0 it is the usual one, that of
    `scipy.stats.bootstrap`, which has no finite pools. Student's quantile takes the place of the
    normal one.

    Approximate. The replicates come from a fixed seed and depend on n and N alone. Covers every
    design and estimate through the deviations of its units.

    Parameters
    ----------
    replicates
        Number of bootstrap samples; more are drawn where a higher confidence asks for them.
    """

    replicates: int = 2000

    name: ClassVar[str] = "bca"
    reference: ClassVar[str] = (
        "Efron (1987), Better bootstrap confidence intervals, JASA 82; Booth, Butler and Hall "
        "(1994), Bootstrap methods for finite populations, JASA 89"
    )

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, least=100)

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        ends = np.empty((2, *df.shape))
        f = shape.fraction
        accelerate = (1 + f) * shape.skewness / (6 * np.sqrt(shape.members * (1 - f)))
        replicates = enough(self, self.replicates, confidence)
        edge = 0.5 / replicates
        for which, units, size in by_size(shape):
            n = units.shape[-1]
            samples, pools = pseudo_samples(n, size, replicates)
            error = units @ (samples - pools).T
            error /= np.sqrt((1 - n / size) / n * size / (size - 1))
            # Errors of nought count half, as they do where rounding makes them a hair more or less.
            below = ((error < -_HAIR).mean(-1) + (error < _HAIR).mean(-1)) / 2
            bias = ndtri(np.clip(below, edge, 1 - edge))
            t, a = student_quantile(df[which], confidence), accelerate[which]
            for end, u in zip(ends, (-t, t), strict=True):
                w = bias + u
                # At a·w = 1 the move has no end: the last quantile is all that is left.
                move = w / np.maximum(1 - a * w, 0.1)
                end[which] = quantiles(error, ndtr(bias + move))
        return ends[0], ends[1]
