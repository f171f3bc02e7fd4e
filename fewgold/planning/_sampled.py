"""Bias and sd of the estimate of α over studies drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fewgold._arrays import FloatArray, RNGLike
from fewgold._validate import check_count
from fewgold.bayes import Priors
from fewgold.planning._setting import Setting

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Sampled:
    """What the posterior of α does over random studies.

    Attributes
    ----------
    setting
        The study that was drawn.
    means, sds
        Posterior mean and sd of each draw: (*shape, draws).
    """

    setting: Setting
    means: FloatArray
    sds: FloatArray

    @classmethod
    def of(cls, setting: Setting, draws: int, rng: RNGLike = None) -> Sampled:
        """Draw studies of a setting."""
        check_count("draws", draws, 2)
        return cls(setting, *setting.moments(setting.sampled(draws, rng)))

    @property
    def draws(self) -> int:
        """Number of studies drawn."""
        return int(self.means.shape[-1])

    @property
    def bias(self) -> FloatArray:
        """Mean of posterior mean − α. With uniform priors and humans alone (1 − 2α)/(n + 2)."""
        return np.asarray(self.means.mean(-1) - self.setting.alpha)

    @property
    def bias_spread(self) -> FloatArray:
        """Its sd from study to study: the standard error of the posterior mean."""
        return np.asarray(self.means.std(-1, ddof=1))

    @property
    def bias_mc(self) -> FloatArray:
        """Monte-Carlo error of `bias`."""
        return np.asarray(self.bias_spread / np.sqrt(self.draws))

    @property
    def sd(self) -> FloatArray:
        """Mean of the posterior sd."""
        return np.asarray(self.sds.mean(-1))

    @property
    def sd_spread(self) -> FloatArray:
        """Its sd from study to study."""
        return np.asarray(self.sds.std(-1, ddof=1))

    @property
    def sd_mc(self) -> FloatArray:
        """Monte-Carlo error of `sd`."""
        return np.asarray(self.sd_spread / np.sqrt(self.draws))

    def frame(self) -> pd.DataFrame:
        """One row a setting: sizes, rates, and what was found."""
        import pandas as pd

        s = self.setting
        sizes = {"human": s.alone + s.both, "paired": s.both, "metric": s.metric}
        rates = {"alpha": s.alpha, "rho": s.rho, "eta": s.eta}
        names = ("bias", "bias_spread", "bias_mc", "sd", "sd_spread", "sd_mc")
        found = {name: getattr(self, name) for name in names}
        columns = rates | sizes | found
        return pd.DataFrame({name: np.ravel(value) for name, value in columns.items()})


def sample_estimates(
    *,
    alpha: ArrayLike,
    human: ArrayLike,
    metric: ArrayLike = 0,
    rho: ArrayLike | None = None,
    eta: ArrayLike | None = None,
    paired: ArrayLike | None = None,
    known: bool = False,
    priors: Priors | None = None,
    pairs: str = "sample",
    calibration_share: ArrayLike | None = None,
    draws: int = 200,
    rng: RNGLike = None,
) -> Sampled:
    """Bias and sd of the estimate of α, with their spread, over studies drawn at random.

    Parameters
    ----------
    alpha, human, metric, rho, eta, paired, known, priors, pairs, calibration_share
        The study: see `Setting`.
    draws
        Studies to draw for each setting; 50 in the thesis.
    rng
        A seed or a generator.

    References
    ----------
    von Däniken (2023), Algorithm 2. Its line 6 draws the true negatives with ρ; here it is η. What
    it calls ``vars`` are standard deviations.

    Examples
    --------
    >>> found = sample_estimates(
    ...     alpha=0.9, rho=0.9, eta=0.9, human=100, metric=[0, 5000], draws=400, rng=0
    ... )
    >>> print(found.frame()[["metric", "bias", "bias_mc", "sd", "sd_spread"]].round(4))
       metric    bias  bias_mc      sd  sd_spread
    0       0 -0.0109   0.0015  0.0306     0.0039
    1    5000 -0.0055   0.0012  0.0238     0.0024
    """
    setting = Setting(
        alpha=alpha, human=human, metric=metric, rho=rho, eta=eta, paired=paired, known=known,
        priors=priors or Priors(), pairs=pairs, calibration_share=calibration_share,
    )  # fmt: skip
    return Sampled.of(setting, draws, rng)
