"""Control variates with one metric, the mean of the metrics, or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fewgold._arrays import FloatArray
from fewgold._pretty import spelled
from fewgold._validate import as_names, check_choice
from fewgold.bounds import Auto, Bound
from fewgold.errors import DataError
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators._mean import with_design_note
from fewgold.estimators._regression import Fit, regression_fit
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Sampler, SimpleRandom


@dataclass(frozen=True)
class ControlVariates(Estimator):
    """Correct the mean by metrics whose pool means are known.

    Parameters
    ----------
    metrics
        Names of metrics, or one name; None for all of them; ``"mean"`` for their mean as a single
        control.
    form
        ``regression``: slopes of least variance under the design. ``printed``: the slopes of
        Saldías et al. (2022), eq. 3 and 4, E[XZ] from the sample without centring and the
        population covariance of Z; kept for reproduction, since adding a constant to all scores
        changes its error (its bias is about -μ(1-n/N)/n).
    slopes
        Slopes on the standardised metrics that were fixed before the ratings came, such as last
        year's. The estimate is then exactly unbiased, and guaranteed bounds accept it.

    References
    ----------
    Saldías et al. (2022), section 2.2; Cochran (1977), chapter 7, for the regression form.
    """

    metrics: tuple[str, ...] | str | None = None
    form: str = "regression"
    slopes: Mapping[str, float] | None = field(default=None, hash=False)
    sampler: Sampler = SimpleRandom()
    bound: Bound | str = Auto()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("form", self.form, ("regression", "printed"))
        if self.metrics is not None and not isinstance(self.metrics, str | tuple | list):
            raise DataError(
                "metrics must be names of metrics; got "
                f"{type(self.metrics).__name__}. For a learned control write Learned(control)."
            )
        if self.metrics is not None and self.metrics != "mean":
            object.__setattr__(self, "metrics", as_names(self.metrics))

    @property
    def name(self) -> str:
        chosen = (self.metrics,) if isinstance(self.metrics, str) else self.metrics
        what = "multi" if chosen is None else "-".join(chosen)
        return f"cv-{what}" + ("-printed" if self.form == "printed" else "")

    @property
    def _told(self) -> tuple[str, ...]:
        return (*super()._told, "metrics", "form")

    def _controls(self, pool: Pool) -> FloatArray:
        """Standardised controls over the pool: (p, N)."""
        if self.slopes is not None:
            return pool.standardised(self.slopes)
        if self.metrics == "mean":
            return pool.standard_composite()[None]
        return pool.standardised(self.metrics)

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        controls = self._controls(sample.pool)
        if self.slopes is not None:
            return self._fixed(ratings, controls)
        p = len(controls)
        fit = (self._printed if self.form == "printed" else regression_fit)(ratings, controls)
        notes: tuple[str, ...] = ()
        if self.form == "printed":
            notes = ("slopes as printed in the paper: not shift-invariant, biased at small n",)
        elif (fit.spent < p).any():
            notes = (f"{ratings.n} ratings are too few for {p} slopes: the plain mean was used",)
        # The printed slopes are not fitted by least squares and take no freedom beyond the last.
        parameters = np.minimum(fit.spent, np.maximum(sample.design.freedom - 1, 0))
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),  # controls have mean 0 over the pool
            residuals=fit.residuals,
            ratings=ratings,
            bound=self._bound,
            method=self.spelled,
            tuned=True,
            parameters=parameters,
            weighing=fit.weighing,
            notes=with_design_note(ratings, notes),
        )

    def _printed(self, ratings: Ratings, controls: FloatArray) -> Fit:
        z, y = ratings.sample.columns(controls), ratings.scores
        gram = ratings.sample.pool.gram(self.metrics)
        beta = (z * y[..., None, :]).mean(-1) @ np.linalg.pinv(gram, hermitian=True)
        left = y - (beta[..., None, :] @ z)[..., 0, :]
        return Fit(left, np.full(y.shape[:-1], float(len(controls))), None)

    def _fixed(self, ratings: Ratings, controls: FloatArray) -> LinearEstimate:
        assert self.slopes is not None
        z = ratings.sample.columns(controls)
        beta = np.array(list(self.slopes.values()), dtype=np.float64)
        least, most = ratings.sample.pool.range_of(self.slopes, beta)
        limits = None
        if ratings.limits is not None:
            low, high = ratings.limits
            limits = (low - most, high - least)
        return LinearEstimate(
            offset=np.zeros(ratings.scores.shape[:-1]),
            residuals=ratings.scores - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self._bound,
            method=spelled("cv-fixed", self, self._told),
            limits=limits,
            control_range=most - least,
            notes=with_design_note(ratings),
        )
