"""The weighted mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold.bounds import Bound, Student
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.sample import Ratings
from fewgold.samplers import Sampler, SimpleRandom


@dataclass(frozen=True)
class Mean(Estimator):
    """Weighted mean of the ratings: no control, so the offset is nought.

    On a stratified sample it is the stratified mean Σ N_h/N x̄_h (Saldías et al. 2022, eq. 1).
    """

    sampler: Sampler = SimpleRandom()
    bound: Bound = Student()

    @property
    def name(self) -> str:
        return "mean"

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        return plain_mean(ratings, self.bound, self.name)


def plain_mean(
    ratings: Ratings, bound: Bound, method: str, notes: tuple[str, ...] = ()
) -> LinearEstimate:
    """The mean without any control, also for estimators that have too few ratings for one."""
    if not ratings.sample.design.unbiased:
        notes = (*notes, "this design, as printed in the paper, does not give an unbiased mean")
    return LinearEstimate(
        offset=np.zeros(ratings.scores.shape[:-1]),
        residuals=ratings.scores,
        ratings=ratings,
        bound=bound,
        method=method,
        limits=ratings.limits,
        notes=notes,
    )
