"""The posterior sd of a success rate to expect of a study.

Expected counts are not rounded: the sd would jump by more from one size to the next than sizes near
the best differ.
"""

from __future__ import annotations

import numpy as np

from fewgold.bayes import Counts, Priors, moments
from fewgold.planning._setting import Setting

_FEW = 1000  # ratings of the metric


def expected_sd(setting: Setting, human: int, metric: int) -> float:
    """With ``human`` ratings by people and ``metric`` more by the metric alone."""
    alpha, rho, eta = (float(x) for x in (setting.alpha, setting.rho, setting.eta))
    up, down = human * alpha, human * (1 - alpha)
    a, b = setting.priors.alpha
    # Counts are whole; as parts of the priors the expected ones need not be.
    priors = Priors((a + up, b + down), rho, eta)
    if not setting.known:
        (ra, rb), (ea, eb) = setting.priors.rho, setting.priors.eta  # type: ignore[misc]
        hits = (ra + up * rho, rb + up * (1 - rho))
        priors = Priors(priors.alpha, hits, (ea + down * eta, eb + down * (1 - eta)))
    expected = float(setting.chance) * metric
    # Ratings of the metric are whole: few of them are rounded both ways, and the variances
    # weighted by how near each is.
    low = np.floor(expected) if metric < _FEW else np.rint(expected)
    share = max(expected - low, 0.0) if metric < _FEW else 0.0
    ones = np.array([low, low + (share > 0)])
    sds = moments(Counts(metric_ones=ones, metric_total=metric), priors)[1]
    return float(np.sqrt((1 - share) * sds[0] ** 2 + share * sds[1] ** 2))
