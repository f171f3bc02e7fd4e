"""Control variates with one metric, the mean of the metrics, or several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, group_sum, spread_out
from fewgold._validate import check_choice
from fewgold.bounds import Bound, Student
from fewgold.design import Design
from fewgold.errors import DataError
from fewgold.estimate import LinearEstimate
from fewgold.estimator import Estimator
from fewgold.estimators._mean import with_design_note
from fewgold.pool import Pool
from fewgold.sample import Ratings
from fewgold.samplers import Sampler, SimpleRandom

# Ratings that must tell about a slope, at the least.
_TELLING = 5
# Sum of a row of an inverse, in units of the trace, from which on it is not to be trusted.
_STEEP = 1e5


@dataclass(frozen=True)
class ControlVariates(Estimator):
    """Correct the mean by metrics whose pool means are known.

    Parameters
    ----------
    metrics
        Names of metrics; None for all of them; ``"mean"`` for their mean as a single control.
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
    bound: Bound = Student()

    def __post_init__(self) -> None:
        check_choice("form", self.form, ("regression", "printed"))
        if self.metrics is not None and not isinstance(self.metrics, str | tuple | list):
            raise DataError(
                "metrics must be names of metrics; got "
                f"{type(self.metrics).__name__}. For a learned control write Learned(control)."
            )
        if isinstance(self.metrics, list):
            object.__setattr__(self, "metrics", tuple(self.metrics))
        if isinstance(self.metrics, str) and self.metrics != "mean":
            raise DataError(
                f"metrics must be a tuple of names, None for all, or 'mean'; got {self.metrics!r}. "
                f"For a single metric write metrics=({self.metrics!r},)."
            )

    @property
    def name(self) -> str:
        chosen = (self.metrics,) if isinstance(self.metrics, str) else self.metrics
        what = "multi" if chosen is None else "-".join(chosen)
        return f"cv-{what}" + ("-printed" if self.form == "printed" else "")

    def _controls(self, pool: Pool) -> FloatArray:
        """Standardised controls over the pool: (p, N)."""
        if self.slopes is not None:
            return pool.standardised(self.slopes)
        if self.metrics == "mean":
            mean = pool.composite()
            spread = mean.std()
            return np.asarray((mean - mean.mean()) / (spread if spread > 0 else 1.0))[None]
        return pool.standardised(self.metrics)

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        pool_controls = self._controls(sample.pool)
        z = sample.columns(pool_controls)
        if self.slopes is not None:
            return self._fixed(ratings, pool_controls, z)
        p = z.shape[-2]
        notes: tuple[str, ...] = ()
        if self.form == "printed":
            gram = pool_controls @ pool_controls.T / len(sample.pool)
            beta = (z * y[..., None, :]).mean(-1) @ np.linalg.pinv(gram, hermitian=True)
            notes = ("slopes as printed in the paper: not shift-invariant, biased at small n",)
            spent, weighing = np.full(y.shape[:-1], float(p)), None
        else:
            beta, spent, weighing = regression_slopes(ratings, z)
            if (spent < p).any():
                few = f"{ratings.n} ratings are too few for {p} slopes: the plain mean was used"
                notes = (few,)
        # The printed slopes are not fitted by least squares and take no freedom beyond the last.
        parameters = np.minimum(spent, np.maximum(sample.design.freedom - 1, 0))
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),  # controls have mean 0 over the pool
            residuals=y - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self.bound,
            method=self.name,
            tuned=True,
            parameters=parameters,
            weighing=weighing,
            notes=with_design_note(ratings, notes),
        )

    def _fixed(self, ratings: Ratings, controls: FloatArray, z: FloatArray) -> LinearEstimate:
        assert self.slopes is not None
        beta = np.array(list(self.slopes.values()), dtype=np.float64)
        shift = beta @ controls
        limits = None
        if ratings.limits is not None:
            low, high = ratings.limits
            limits = (low - float(shift.max()), high - float(shift.min()))
        return LinearEstimate(
            offset=np.zeros(ratings.scores.shape[:-1]),
            residuals=ratings.scores - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self.bound,
            method="cv-fixed",
            limits=limits,
            control_range=float(np.ptp(shift)),
            notes=with_design_note(ratings),
        )


def regression_slopes(ratings: Ratings, z: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slopes of least variance under the design (..., p), how many were spent (...), weighing.

    With fewer than three degrees of freedom a slope there are none: slopes from so few ratings
    cost more than they bring, and a line through the points would claim an error of nought.
    """
    design = ratings.sample.design
    p = z.shape[-2]
    dev, y = design.scatter(z), design.scatter(ratings.scores[..., None, :])
    gram = dev @ np.swapaxes(dev, -1, -2)
    cross = dev @ np.swapaxes(y, -1, -2)
    real = _telling(design, dev, z, np.diagonal(gram, axis1=-2, axis2=-1))
    enough = design.freedom >= max(3 * p, p + 2)
    inverse = np.where(enough[..., None, None], _inverse(gram, real), 0.0)
    beta = np.asarray((inverse @ cross)[..., 0])
    return beta, np.where(enough, float(p), 0.0), weighing(design, dev, z, inverse)


def _telling(design: Design, dev: FloatArray, z: FloatArray, size: FloatArray) -> BoolArray:
    """Which controls the sample tells enough about to have a slope: (..., p).

    ``dev`` (..., p, n) are their deviations, with the sums of squares ``size``.
    """
    # A control that is constant in the sample varies by rounding errors only.
    force = np.vecdot(z, z) * np.square(design.influence).max(-1)[..., None]
    # Nor is there a slope for one that only two or three ratings tell about, such as a metric that
    # is constant in nearly all strata: (Σa²)²/Σa⁴ counts those ratings.
    part = np.square(dev)
    part /= np.where(size > 0, size, 1.0)[..., None]
    return np.asarray((size > 1e-20 * force) & (_TELLING * np.vecdot(part, part) <= 1.0))


def _inverse(gram: FloatArray, real: BoolArray) -> FloatArray:
    """Inverse of the part of ``gram`` (..., p, p) that belongs to ``real`` controls, else 0.

    A pseudo-inverse where metrics (nearly) follow from each other.
    """
    if gram.shape[-1] == 1:
        return np.asarray(real[..., None] / np.where(real[..., None], gram, 1.0))
    kept = real[..., None, :] & real[..., None]
    scale = np.where(real, np.diagonal(gram, axis1=-2, axis2=-1), 0.0).sum(-1)[..., None, None]
    scale = np.where(scale > 0, scale, 1.0)
    gram = gram * (kept / scale)
    try:
        # The identity holds the place of controls without a slope.
        inverse = np.linalg.inv(gram + _identity(~real)) * kept
        steep = np.abs(inverse).sum(-1).max(-1) > _STEEP
    except np.linalg.LinAlgError:
        inverse, steep = np.empty_like(gram), np.ones(gram.shape[:-2], dtype=bool)
    if steep.any():
        inverse[steep] = np.linalg.pinv(gram[steep], rcond=1e-10, hermitian=True)
    return np.asarray(inverse / scale)


def _identity(where: BoolArray) -> FloatArray:
    """(..., p) -> (..., p, p) with 1 on the diagonal, where asked for."""
    return np.asarray(where[..., None] * np.eye(where.shape[-1]))


def weighing(
    design: Design,
    dev: FloatArray,
    z: FloatArray,
    inverse: FloatArray,
    scale: FloatArray | float = 1.0,
) -> FloatArray:
    """How much each rating counts for, relative to its weight, when slopes are fitted (..., n).

    The estimate is Σ w g y with g = 1 − z̄ᵀ S⁻¹ (z − z̄): where the sample means of the metrics are
    off, ratings on the other side weigh more. The variance of Σ w g (y − βz) counts the error of
    the slopes in (Särndal, Swensson and Wretman 1992, section 6.6).

    ``dev`` (..., p, n) are the deviations of z by `Design.scatter`, divided by ``scale``, and
    ``inverse`` (..., p, p) leads from their products with those of y to the slopes.
    """
    off = (design.means(z) / scale)[..., None, :]
    lean = (off @ inverse @ dev)[..., 0, :]
    lean *= -design.influence / design.weights
    lean += 1.0
    if design.units is None:
        return np.asarray(lean)
    # A unit sways the slopes as a whole: residuals as if it had been left out, to first order.
    units = int(design.units.max()) + 1
    sums = group_sum(dev, design.units[..., None, :], units)
    count = group_sum(np.ones(design.units.shape), design.units, units)
    lever = (sums * (inverse @ sums)).sum(-2) / np.maximum(count, 1.0)
    return np.asarray(lean / (1.0 - np.minimum(spread_out(lever, design.units), 0.8)))
