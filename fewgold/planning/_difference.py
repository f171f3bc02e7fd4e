"""The smallest difference between two systems that a study can tell."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from fewgold._arrays import FloatArray, RNGLike
from fewgold._validate import check_choice
from fewgold.bayes import Priors
from fewgold.errors import FewgoldError
from fewgold.planning._sampled import Sampled
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
