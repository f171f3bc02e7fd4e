"""The studentised bootstrap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._validate import check_count
from fewgold.bounds._replicates import by_size, enough, pseudo_samples, quantiles
from fewgold.bounds._shape import Shape, ShapeBound
from fewgold.bounds._student import student_quantile


@dataclass(frozen=True)
class BootstrapT(ShapeBound):
    """Bootstrap-t interval with a finite population.

    Samples of the same size are drawn from pools made of copies of the sample, without replacement
    as the sample itself was, and the quantiles of their studentised errors take the place of
    Student's. A replicate's standard deviation counts as a third of the sample's at the least:
    where most scores are equal some replicates have next to no spread, and their statistic no
    meaning.

    Approximate. The replicates come from a fixed seed and depend on n and N alone, so that the
    interval is a function of the ratings. Covers every design and estimate through the deviations
    of its units.

    Parameters
    ----------
    replicates
        Number of bootstrap samples; more are drawn where a higher confidence asks for them.
    """

    replicates: int = 2000

    name: ClassVar[str] = "bootstrap-t"
    reference: ClassVar[str] = (
        "Efron (1981); Booth, Butler and Hall (1994), Bootstrap methods for finite populations, "
        "JASA 89"
    )

    def __post_init__(self) -> None:
        check_count("replicates", self.replicates, least=100)

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        low, high = np.empty(df.shape), np.empty(df.shape)
        miss = (1 - confidence) / 2
        replicates = enough(self, self.replicates, confidence)
        for which, units, size in by_size(shape):
            n = units.shape[-1]
            samples, pools = pseudo_samples(n, size, replicates)
            mean = units @ samples.T
            variance = (np.square(units) @ samples.T - mean**2) * n / (n - 1)
            np.maximum(variance, 1 / 9, out=variance)
            error = units @ (samples - pools).T
            t = error / np.sqrt(variance * ((1 - n / size) / n))
            # Degrees of freedom that slopes or uneven weights took are not seen by the replicates.
            grow = student_quantile(df[which], confidence)
            grow = grow / student_quantile(np.full(which.size, n - 1.0), confidence)
            low[which] = -quantiles(t, np.full(which.size, 1 - miss)) * grow
            high[which] = -quantiles(t, np.full(which.size, miss)) * grow
        return low, high
