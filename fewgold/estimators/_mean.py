"""The weighted mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold.bounds import Auto, Bound
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
    bound: Bound | str = Auto()

    @property
    def name(self) -> str:
        return "mean"

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        return plain_mean(ratings, self._bound, self.spelled)


def plain_mean(
    ratings: Ratings, bound: Bound, method: str, notes: tuple[str, ...] = ()
) -> LinearEstimate:
    """The mean without any control, also for estimators that have too few ratings for one."""
    return LinearEstimate(
        offset=np.zeros(ratings.scores.shape[:-1]),
        residuals=ratings.scores,
        ratings=ratings,
        bound=bound,
        method=method,
        limits=ratings.limits,
        notes=with_design_note(ratings, notes),
    )


def with_design_note(ratings: Ratings, notes: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The notes, and what must be said about the design whatever the estimator."""
    if ratings.sample.design.unbiased:
        return notes
    return (*notes, "this design, as printed in the paper, does not give an unbiased mean")
