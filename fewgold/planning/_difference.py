"""The smallest difference between two systems that a study can tell, and its power."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from fewgold._arrays import FloatArray, RNGLike, as_rng
from fewgold._validate import check_choice
from fewgold.bayes import Priors
from fewgold.errors import FewgoldError
from fewgold.planning._sampled import Sampled, sample_estimates
from fewgold.planning._setting import Setting


def measurable_difference(
    *,
    alpha: ArrayLike,
    human: ArrayLike,
    metric: ArrayLike = 0,
    rho: ArrayLike | None = None,
    eta: ArrayLike | None = None,
    paired: ArrayLike | None = None,
    level: ArrayLike = 0.05,
    power: ArrayLike | None = None,
    known: bool = False,
    priors: Priors | None = None,
    pairs: str = "sample",
    calibration_share: ArrayLike | None = None,
    method: str = "expected",
    draws: int = 200,
    rng: RNGLike = None,
) -> FloatArray:
    """The difference between two success rates that is significant, or found with some power.

    Both systems are rated with as many items, in the same way, and independently. All numbers may
    be arrays; they broadcast.

    Without ``power`` this is ε_γ = √2 σ z of the papers, σ being the posterior sd: the *observed*
    difference from which on a two-sided test is significant. **A true difference of that size is
    found in only one of two studies**: its power is ½. To plan a study, say ``power=0.8``; then it
    is √2 σ (z_{1−γ/2} + z_{0.8}), 1.43 times as much.

    Parameters
    ----------
    alpha, human, metric, rho, eta, paired, known, priors, pairs, calibration_share
        The study of each of the two systems: see `Setting`. ``alpha`` lies midway between them.
        By default all human ratings are paired with ratings of the metric.
    level
        Significance level γ of the two-sided test.
    power
        Chance to find the difference, in the right direction.
    method
        ``"expected"``: σ at the expected counts (von Däniken et al. 2022). ``"sampled"``: the mean
        of σ over ``draws`` random studies (von Däniken 2023); `sample_estimates` says more.
    draws, rng
        For the sampled method.

    References
    ----------
    von Däniken et al. (2022), On the effectiveness of automated metrics for text generation
    systems, section 4 and appendix B. von Däniken (2023), section 5.3, whose Tables 5.8 and 5.9
    leave out the √2.

    Examples
    --------
    How much do 10,000 ratings of a metric add to 100 or 1000 human ones?

    >>> study = dict(alpha=0.6, rho=0.9, eta=0.9, human=[[100], [1000]], metric=[0, 10_000])
    >>> measurable_difference(**study).round(3)
    array([[0.134, 0.086],
           [0.043, 0.028]])
    >>> measurable_difference(**study, power=0.8).round(3)
    array([[0.191, 0.123],
           [0.061, 0.04 ]])
    """
    check_choice("method", method, ("expected", "sampled"))
    factor = standard_errors(level, power)
    setting = Setting(
        alpha=alpha, human=human, metric=metric, rho=rho, eta=eta, paired=paired, known=known,
        priors=priors or Priors(), pairs=pairs, calibration_share=calibration_share,
    )  # fmt: skip
    if method == "sampled":
        return np.asarray(factor * Sampled.of(setting, draws, rng).sd)[()]
    return np.asarray(factor * setting.sd())[()]


def standard_errors(level: ArrayLike, power: ArrayLike | None = None) -> FloatArray:
    """√2 (z_{1−γ/2} + z_power): a difference in posterior sds of one system."""
    gamma = np.asarray(level, dtype=np.float64)
    if not np.all((gamma > 0) & (gamma < 1)):
        raise FewgoldError(f"level must lie between 0 and 1, such as 0.05; got {level!r}.")
    z = -ndtri(gamma / 2)
    if power is None:
        return np.asarray(np.sqrt(2) * z)
    wanted = np.asarray(power, dtype=np.float64)
    if not np.all((wanted > gamma / 2) & (wanted < 1)):
        raise FewgoldError(
            f"power must lie between level/2, which no difference at all has, and 1; got {power!r}."
        )
    return np.asarray(np.sqrt(2) * (z + ndtri(wanted)))


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
