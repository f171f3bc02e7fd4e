"""The chance that a study finds a difference between two systems: by formula, and by simulation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from fewgold._arrays import FloatArray, RNGLike, as_rng
from fewgold.bayes import Priors
from fewgold.errors import FewgoldError
from fewgold.planning._difference import standard_errors
from fewgold.planning._sampled import sample_estimates
from fewgold.planning._setting import Setting


def detection_power(
    difference: ArrayLike,
    *,
    alpha: ArrayLike,
    human: ArrayLike,
    metric: ArrayLike = 0,
    rho: ArrayLike | None = None,
    eta: ArrayLike | None = None,
    paired: ArrayLike | None = None,
    level: ArrayLike = 0.05,
    known: bool = False,
    priors: Priors | None = None,
    pairs: str = "sample",
    calibration_share: ArrayLike | None = None,
) -> FloatArray:
    """Chance that two systems which differ by ``difference`` come out significantly so.

    In the right direction, by the normal approximation: the inverse of `measurable_difference`
    with ``power=``. `simulated_power` draws whole studies instead, and shows what the approximation
    is worth with few ratings.

    Examples
    --------
    >>> detection_power([0.02, 0.05, 0.1], alpha=0.6, human=1000).round(2)
    array([0.15, 0.63, 1.  ])
    """
    setting = Setting(
        alpha=alpha, human=human, metric=metric, rho=rho, eta=eta, paired=paired, known=known,
        priors=priors or Priors(), pairs=pairs, calibration_share=calibration_share,
    )  # fmt: skip
    z = standard_errors(level) / np.sqrt(2)
    gap = np.abs(np.asarray(difference, dtype=np.float64)) / (np.sqrt(2) * setting.sd())
    return np.asarray(ndtr(gap - z))[()]


class SimulatedPower(NamedTuple):
    """Share of simulated studies that found the difference, and its Monte-Carlo error."""

    power: float
    mc: float


def simulated_power(
    difference: float,
    *,
    alpha: float,
    human: int,
    metric: int = 0,
    rho: float | None = None,
    eta: float | None = None,
    paired: int | None = None,
    level: float = 0.05,
    known: bool = False,
    priors: Priors | None = None,
    pairs: str = "sample",
    draws: int = 2000,
    rng: RNGLike = None,
) -> SimulatedPower:
    """Power by drawing studies of two systems with rates alpha ± difference/2.

    Each pair of studies is tested as in the papers: |μ1 − μ2| > z √(σ1² + σ2²).

    Examples
    --------
    >>> found = simulated_power(0.05, alpha=0.6, human=1000, rng=0)
    >>> round(found.power, 2), round(found.mc, 2)
    (0.62, 0.01)
    """
    ends = alpha + abs(difference) / 2, alpha - abs(difference) / 2
    if not (ends[1] >= 0 and ends[0] <= 1):
        raise FewgoldError(
            f"both rates, alpha ± difference/2, must lie between 0 and 1; got {ends[1]:g} and "
            f"{ends[0]:g}."
        )
    generator = as_rng(rng)
    high, low = (
        sample_estimates(
            alpha=end, human=human, metric=metric, rho=rho, eta=eta, paired=paired, known=known,
            priors=priors, pairs=pairs, draws=draws, rng=generator,
        )
        for end in ends
    )  # fmt: skip
    z = float(standard_errors(level)) / np.sqrt(2)
    hits = high.means - low.means > z * np.hypot(high.sds, low.sds)
    share = float(hits.mean())
    padded = (hits.sum() + 2) / (draws + 4)  # so that 100 of 100 has an error too
    return SimulatedPower(share, float(np.sqrt(padded * (1 - padded) / (draws + 4))))
