"""What is known of raters before any answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fewgold._arrays import FloatArray
from fewgold.bayes._priors import Beta, beta_pair


@dataclass(frozen=True)
class RaterPriors:
    """Beta priors of the success rate and of the hit rates of raters.

    Parameters
    ----------
    alpha
        (a, b) of the Beta prior of α, the share of adequate items; uniform.
    rho, eta
        (a, b) for every human rater: ρ = P(says 1 | adequate) and η = P(says 0 | inadequate). They
        lean to raters who are right, four times of five before any answer is seen: without gold
        nothing else tells adequate from inadequate.
    metric_rho, metric_eta
        (a, b) for a metric that is taken in as one more rater; uniform.

    Examples
    --------
    >>> RaterPriors(rho=(2, 1), eta=(2, 1)).rho
    (2.0, 1.0)
    """

    alpha: Beta = (1.0, 1.0)
    rho: Beta = (4.0, 1.0)
    eta: Beta = (4.0, 1.0)
    metric_rho: Beta = (1.0, 1.0)
    metric_eta: Beta = (1.0, 1.0)

    def __post_init__(self) -> None:
        for name in ("alpha", "rho", "eta", "metric_rho", "metric_eta"):
            object.__setattr__(self, name, beta_pair(name, getattr(self, name)))

    def shapes(self, humans: int, metrics: int) -> tuple[FloatArray, FloatArray]:
        """Shapes a and b of α, then ρ of each rater, then η of each: (1 + 2R,) each."""
        rho = [self.rho] * humans + [self.metric_rho] * metrics
        eta = [self.eta] * humans + [self.metric_eta] * metrics
        a, b = np.array([self.alpha, *rho, *eta]).T
        return a, b
