"""Adjusted empirical likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bounds._empirical import furthest
from fewgold.bounds._shape import Shape, ShapeBound
from fewgold.bounds._student import student_quantile
from fewgold.errors import FewgoldError


@dataclass(frozen=True)
class Likelihood(ShapeBound):
    """Adjusted empirical likelihood: means that weights on the ratings can have without effort.

    A mean m is in the interval if −2 log R(m) ≤ t²(1 − f), where R is the largest product of n
    times the weights of the units, the weights having the mean m. One unit is added, ``extra``
    times as far from m as the units' mean and on the other side, so that there are such weights
    for every m. The interval reaches further to the side of the long tail, as it should, without
    any formula for skewness, and it cannot blow up as Hall's can. t is Student's quantile, and
    1 − f the finite population correction.

    Infinite for very few units (fewer than 10 at 95 %), which cannot refuse any mean.

    Approximate: right in the limit, and of all intervals here the one that comes nearest to 95 %
    for its width on skewed scores. Covers every design and estimate through the deviations of its
    units.

    Parameters
    ----------
    extra
        How far out the added unit lies. Chen et al. take max(1, ln(n)/2). A constant suffices
        (Liu and Chen 2010), and beside Student's quantile more than this would only widen the
        intervals of many ratings.
    """

    extra: float = 1.5

    name: ClassVar[str] = "likelihood"
    reference: ClassVar[str] = (
        "Owen (1988), Empirical likelihood ratio confidence intervals for a single functional; "
        "Chen, Variyath and Abraham (2008), Adjusted empirical likelihood and its properties"
    )

    def __post_init__(self) -> None:
        if not 0 < self.extra < np.inf:
            raise FewgoldError(f"extra must be a number above 0, such as 1; got {self.extra!r}.")

    def _ends(
        self, shape: Shape, df: FloatArray, confidence: float
    ) -> tuple[FloatArray, FloatArray]:
        left = 1 - shape.fraction
        most = student_quantile(df, confidence) ** 2 * left
        ends = np.empty((2, *df.shape))
        for n in np.unique(shape.members).astype(np.int64):
            which = np.flatnonzero(shape.members == n)
            units, goal = shape.units[which, :n], most[which]
            far = furthest(np.concatenate([-units, units]), np.tile(goal, 2), self.extra)
            scale = np.sqrt(n / left[which])
            ends[0, which], ends[1, which] = -far[: which.size] * scale, far[which.size :] * scale
        return ends[0], ends[1]
