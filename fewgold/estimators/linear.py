"""The weighted mean, and control variates: the mean adjusted by metrics with known pool means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fewgold.bounds import Auto, Bound
from fewgold.common.arrays import BoolArray, FloatArray, IntArray, batches, group_sum, spread_out
from fewgold.common.checks import as_names, check_choice
from fewgold.common.text import spelled
from fewgold.design import Design
from fewgold.errors import DataError
from fewgold.estimate import FittedControls, LinearEstimate
from fewgold.estimator import Estimator
from fewgold.sample import Ratings
from fewgold.samplers import Sampler, SimpleRandom

# Fewest ratings that must be informative about a slope.
_LEAST_INFORMATIVE = 5
# Numbers to process at a time: few enough for the processor's cache.
_CELLS = 1 << 17
# Largest row sum of an inverse, in units of the trace, at which it is still trusted.
_ILL_CONDITIONED = 1e5
# Mean square of a standardised control in a sample below which sums of products lose digits.
_HARDLY = 1e-6


@dataclass(frozen=True)
class Mean(Estimator):
    """The weighted mean of the ratings, without a control, so the offset is 0.

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
    """The mean without a control, also used by other estimators if there are too few ratings."""
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
    """The notes, plus one on a biased design if needed."""
    if ratings.sample.design.unbiased:
        return notes
    return (*notes, "this design, as printed in the paper, does not give an unbiased mean")


@dataclass(frozen=True)
class ControlVariates(Estimator):
    """Control variates: adjust the mean with metrics whose pool means are known.

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
        Slopes on the standardised metrics, fixed before any rating is known, such as last year's.
        The estimate is then exactly unbiased, and guaranteed bounds accept it.

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
                f"metrics must be names of metrics; got {type(self.metrics).__name__}. For a "
                "learned control use Learned(control)."
            )
        if self.metrics is not None and self.metrics != "mean":
            object.__setattr__(self, "metrics", as_names(self.metrics))

    @property
    def name(self) -> str:
        chosen = (self.metrics,) if isinstance(self.metrics, str) else self.metrics
        what = "multi" if chosen is None else "-".join(chosen)
        return f"cv-{what}" + ("-printed" if self.form == "printed" else "")

    @property
    def _named_fields(self) -> tuple[str, ...]:
        return (*super()._named_fields, "metrics", "form")

    def estimate(self, ratings: Ratings) -> LinearEstimate:
        sample, y = ratings.sample, ratings.scores
        if self.slopes is not None:
            return self._fixed(ratings, self.slopes)
        if self.metrics == "mean":
            controls = sample.pool._standard_composite()[None]
        else:
            controls = sample.pool.standardised(self.metrics)
        fit = (self._printed if self.form == "printed" else regression_fit)(ratings, controls)
        notes: tuple[str, ...] = ()
        if self.form == "printed":
            notes = ("slopes as printed in the paper: not shift-invariant, biased at small n",)
        elif (fit.n_slopes < (p := len(controls))).any():
            notes = (f"{ratings.n} ratings are too few for {p} slopes: the plain mean was used",)
        # The printed slopes are not fitted by least squares; they leave at least one degree of
        # freedom.
        parameters = np.minimum(fit.n_slopes, np.maximum(sample.design._slope_df - 1, 0))
        return LinearEstimate(
            offset=np.zeros(y.shape[:-1]),  # controls have mean 0 over the pool
            residuals=fit.residuals,
            ratings=ratings,
            bound=self._bound,
            method=self.spelled,
            tuned=True,
            parameters=parameters,
            g_weights=fit.g_weights,
            beside_weights=self.form != "printed"
            and sample.design._fit_beside_weights(len(controls)),
            notes=with_design_note(ratings, notes),
            controls=_controls(ratings, controls, fit) if self.form == "regression" else None,
        )

    def _printed(self, ratings: Ratings, controls: FloatArray) -> RegressionFit:
        z, y = ratings.sample._columns(controls), ratings.scores
        gram = ratings.sample.pool._gram(self.metrics)
        beta = (z * y[..., None, :]).mean(-1) @ np.linalg.pinv(gram, hermitian=True)
        left = y - (beta[..., None, :] @ z)[..., 0, :]
        return RegressionFit(left, np.full(y.shape[:-1], float(len(controls))), None, beta)

    def _fixed(self, ratings: Ratings, slopes: Mapping[str, float]) -> LinearEstimate:
        z = ratings.sample.standardised(slopes)
        beta = np.array(list(slopes.values()), dtype=np.float64)
        least, most = ratings.sample.pool._range_of(slopes, beta)
        limits = None
        if ratings.limits is not None:
            low, high = ratings.limits
            limits = (low - most, high - least)
        return LinearEstimate(
            offset=np.zeros(ratings.scores.shape[:-1]),
            residuals=ratings.scores - (beta[..., None, :] @ z)[..., 0, :],
            ratings=ratings,
            bound=self._bound,
            method=spelled("cv-fixed", self, self._named_fields),
            limits=limits,
            control_range=most - least,
            notes=with_design_note(ratings),
            controls=pool_controls(ratings, ratings.sample.pool.standardised(slopes), beta),
        )


class RegressionFit(NamedTuple):
    """Residuals (..., n), number of fitted slopes (...), `g_weights`, and the slopes."""

    residuals: FloatArray
    n_slopes: FloatArray
    g_weights: FloatArray | None
    slopes: FloatArray


def pool_controls(
    ratings: Ratings,
    table: FloatArray,
    slopes: FloatArray,
    sway: FloatArray | None = None,
    inflation: FloatArray | None = None,
) -> FittedControls | None:
    """The controls of one study from their values over the pool (p, N)."""
    if ratings.scores.ndim > 1 or not ratings.sample.pool._rows_in_memory:
        return None
    at = table[:, ratings.sample.indices]

    def centred(weights: FloatArray) -> FloatArray:
        return np.asarray(at - (table @ weights / weights.sum())[:, None])

    return FittedControls(slopes, centred, sway, inflation)


def _controls(ratings: Ratings, table: FloatArray, fit: RegressionFit) -> FittedControls | None:
    if ratings.scores.ndim > 1 or not ratings.sample.pool._rows_in_memory:
        return None
    z = table[:, ratings.sample.indices]
    sway = slope_sway(ratings.sample.design, z, fit.slopes)
    return pool_controls(ratings, table, fit.slopes, sway)


def slope_sway(design: Design, z: FloatArray, slopes: FloatArray) -> FloatArray:
    """Derivative of the least-squares slopes (p,) on controls (p, n) by each score."""
    dev = design.scatter(z, beside_weights=design._fit_beside_weights(len(z)))
    dev *= (slopes != 0)[:, None]
    return np.asarray(np.linalg.pinv(dev @ dev.T, hermitian=True) @ dev * design.influence)


def regression_fit(ratings: Ratings, controls: FloatArray) -> RegressionFit:
    """Fit the slopes of least variance on controls over the pool (p, N), some draws at a time."""
    design, rows, y = ratings.sample.design, ratings.sample.indices, ratings.scores
    at_once = _CELLS // (y.shape[-1] * (1 + len(controls)))
    if y.ndim == 1 or len(y) <= at_once:
        return _fit(design if y.ndim == 1 else design._of_draws(slice(None)), rows, y, controls)
    shapes = (y.shape, y.shape[:-1], y.shape, (*y.shape[:-1], len(controls)))
    fit = RegressionFit(*(np.empty(shape) for shape in shapes))
    for part in batches(len(y), at_once):
        some = _fit(design._of_draws(part), rows[part], y[part], controls)
        for whole, values in zip(fit, some, strict=True):
            whole[part] = values  # type: ignore[index]
    return fit


def _fit(design: Design, rows: IntArray, y: FloatArray, controls: FloatArray) -> RegressionFit:
    if design._equal and y.ndim > 1 and controls.shape[-1] <= rows.size:
        fit = (_fit_alike if len(controls) > 1 else _fit_single)(design, rows, y, controls)
        if fit is not None:
            return fit
    columns = np.empty((1 + len(controls), *y.shape))
    np.subtract(y, y[..., :1], out=columns[0])
    np.take(controls, rows, axis=1, out=columns[1:], mode="clip")  # "raise" would copy once more
    columns = columns.swapaxes(0, -2)  # of one draw or of a batch: `moveaxis` takes longer
    beta, n_slopes, g = regression_slopes(design, columns)
    return RegressionFit(y - combine(beta, columns[..., 1:, :]), n_slopes, g, beta)


def _fit_alike(
    design: Design, rows: IntArray, y: FloatArray, controls: FloatArray
) -> RegressionFit | None:
    """The same for a batch of simple random samples, from sums of products: in fewer passes.

    None where that would lose too many digits, since a control hardly varies in some sample.
    """
    (p, size), n = controls.shape, y.shape[-1]
    if design._slope_df < max(3 * p, p + 2):
        return None
    table = np.empty((size, 1 + p))
    table[:, 0], table[:, 1:] = 1.0, controls.T
    z = np.take(table, rows, axis=0, mode="clip")
    turned = np.swapaxes(z, -1, -2)
    products, with_y = turned @ z, (turned @ (y - y[..., :1])[..., None])[..., 0]
    off = products[..., 0, 1:] / n
    gram = products[..., 1:, 1:] - products[..., 1:, :1] * off[..., None, :]
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    if (squares < _HARDLY * n * (1 + np.square(off))).any():
        return None
    # The largest square is looked up only where it might be a fifth of the sum.
    several = _LEAST_INFORMATIVE * np.square(np.abs(controls).max(-1) + np.abs(off)) <= squares
    draw, k = np.nonzero(~several)
    squared = np.square(z[draw, :, 1 + k] - off[draw, k, None])
    several[draw, k] = _LEAST_INFORMATIVE * np.vecdot(squared, squared) <= squares[draw, k] ** 2
    inverse = inverse_of(gram, several)
    cross = with_y[..., 1:] - with_y[..., :1] * off
    # Slopes, and g-weights as in `g_weights`: both are sums over the columns of the table.
    both = np.empty((len(y), 2, 1 + p))
    both[:, 0, 0], both[:, 0, 1:] = 0.0, np.vecdot(inverse, cross[:, None])
    sway = -n * np.vecdot(inverse, off[:, None])
    both[:, 1, 0], both[:, 1, 1:] = 1 - np.vecdot(sway, off), sway
    fitted = both @ turned
    slopes = np.full(len(y), float(p))
    return RegressionFit(y - fitted[:, 0], slopes, fitted[:, 1], both[:, 0, 1:])


def _fit_single(
    design: Design, rows: IntArray, y: FloatArray, controls: FloatArray
) -> RegressionFit | None:
    """The same as `_fit_alike` for one control; None also if few ratings are informative."""
    z, n = np.take(controls[0], rows, mode="clip"), y.shape[-1]
    off = z.mean(-1, keepdims=True)
    dev = z - off
    squares = np.vecdot(dev, dev)[..., None]
    if design._slope_df < 3 or (squares < _HARDLY * n * (1 + np.square(off))).any():
        return None
    squared = np.square(dev)
    if (_LEAST_INFORMATIVE * np.vecdot(squared, squared)[..., None] > np.square(squares)).any():
        return None
    beta = np.vecdot(dev, y - y[..., :1])[..., None] / squares
    g = 1.0 - n * off / squares * dev
    return RegressionFit(y - beta * z, np.ones(len(y)), g, beta)


def combine(coefficients: FloatArray, columns: FloatArray) -> FloatArray:
    """Weighted sum of columns: (..., p) and (..., p, n) to (..., n)."""
    if columns.shape[-2] == 1:  # a matrix product takes longer
        return np.asarray(coefficients * columns[..., 0, :])
    return np.asarray((coefficients[..., None, :] @ columns)[..., 0, :])


def regression_slopes(
    design: Design, columns: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slopes of least variance under the design (..., p), their number (...), and g-weights.

    ``columns`` (..., 1 + p, n) are the scores, minus the first one so that huge scores keep their
    digits, and the controls, which should be of order 1.

    With fewer than three degrees of freedom per slope none is fitted: slopes from so few ratings
    lose more than they gain, and a perfect fit would give a standard error of 0.
    """
    z, p = columns[..., 1:, :], columns.shape[-2] - 1
    dev = design.scatter(columns, pivot=False, beside_weights=design._fit_beside_weights(p))
    # Not the square of the scores, which would overflow at 1e200.
    if p == 1:  # a matrix product takes longer
        products = np.vecdot(dev, dev[..., 1:, :])[..., None]
    else:
        products = dev @ np.swapaxes(dev[..., 1:, :], -1, -2)
    cross, gram, dev = products[..., :1, :], products[..., 1:, :], dev[..., 1:, :]
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    off = design.means(z)
    # No slope for a control that is constant in the sample up to rounding errors, nor for one about
    # which only two or three ratings are informative, such as a metric that is constant in nearly
    # all strata: (Σa²)²/Σa⁴ counts the informative ratings.
    size = np.square(off) + np.square(z[..., 0])
    rounding = 1e-20 * z.shape[-1] * size * design._max_squared_influence[..., None]
    fourth = np.empty(squares.shape)
    for k in range(p):  # one by one: a copy of all of them would not fit in the cache
        squared = np.square(dev[..., k, :])
        np.vecdot(squared, squared, out=fourth[..., k])
    several = _LEAST_INFORMATIVE * fourth <= np.square(squares)
    informative = (squares > rounding) & several
    enough = design._slope_df >= max(3 * p, p + 2)
    inverse = inverse_of(gram, np.asarray(informative))
    if not enough.all():
        inverse = np.where(enough[..., None, None], inverse, 0.0)
    beta = np.asarray(np.vecdot(inverse, cross))
    return beta, np.where(enough, float(p), 0.0), g_weights(design, dev, off, inverse)


def g_weights(design: Design, dev: FloatArray, off: FloatArray, inverse: FloatArray) -> FloatArray:
    """g-weights: the factor by which fitted slopes change the weight of each rating (..., n).

    The estimate is Σ w g y with g = 1 − z̄ᵀ S⁻¹ (z − z̄): if a sample mean of a metric is off,
    ratings on the other side get more weight. The variance of Σ w g (y − βz) includes the error of
    the slopes (Särndal, Swensson and Wretman 1992, section 6.6).

    ``dev`` (..., p, n) are the deviations of z by `Design.scatter`, ``off`` (..., p) its means z̄,
    both divided by the same scale if any, and ``inverse`` (..., p, p) maps products of the
    deviations with those of y to the slopes.
    """
    g = combine(combine(off, inverse), dev)
    g *= design._root_fpc
    np.subtract(1.0, g, out=g)
    if design.units is None:
        return np.asarray(g)
    # A unit influences the slopes as a whole, so use leave-one-unit-out residuals, to first order.
    units = int(design.units.max()) + 1
    sums = group_sum(dev, design.units[..., None, :], units)
    count = group_sum(np.ones(design.units.shape), design.units, units)
    leverage = (sums * (inverse @ sums)).sum(-2) / np.maximum(count, 1.0)
    return np.asarray(g / (1.0 - np.minimum(spread_out(leverage, design.units), 0.8)))


def inverse_of(gram: FloatArray, used: BoolArray) -> FloatArray:
    """Inverse of the part of ``gram`` (..., p, p) that belongs to ``used`` controls, else 0.

    A pseudo-inverse if metrics are (nearly) collinear.
    """
    if gram.shape[-1] == 1:
        return np.asarray(used[..., None] / np.where(used[..., None], gram, 1.0))
    squares = np.diagonal(gram, axis1=-2, axis2=-1)
    if used.all():
        return _stable_inverse(gram, gram, squares.sum(-1))
    kept = used[..., None, :] & used[..., None]
    trace = np.where(used, squares, 0.0).sum(-1)
    gram = gram * kept
    # Controls without a slope get the trace on the diagonal as a placeholder.
    unused = ~used[..., None] * np.eye(used.shape[-1])
    held = np.where(trace > 0, trace, 1.0)[..., None, None] * unused
    return _stable_inverse(gram, gram + held, trace) * kept


def _stable_inverse(gram: FloatArray, filled: FloatArray, trace: FloatArray) -> FloatArray:
    """Inverse of ``filled``, or pseudo-inverse of ``gram`` if that is ill-conditioned."""
    try:
        inverse = np.asarray(_swept(filled) if _many_small(filled) else np.linalg.inv(filled))
        size = np.abs(inverse)
        if (
            size.max() * trace.max() * gram.shape[-1] <= _ILL_CONDITIONED
        ):  # certainly not ill-conditioned
            return np.asarray(inverse, dtype=np.float64)
        # Written so that NaN counts as ill-conditioned.
        ill = ~(size.sum(-1).max(-1) * trace <= _ILL_CONDITIONED)
    except np.linalg.LinAlgError:
        inverse, ill = np.empty_like(gram), np.ones(gram.shape[:-2], dtype=bool)
    if ill.any():
        inverse[ill] = np.linalg.pinv(gram[ill], rcond=1e-10, hermitian=True)
    return np.asarray(inverse, dtype=np.float64)


def _many_small(matrices: FloatArray) -> bool:
    """Whether sweeping all matrices at once is faster than calling LAPACK for each."""
    p = matrices.shape[-1]
    return bool(p <= 8 and matrices.size >= 32 * p * p)


def _swept(matrices: FloatArray) -> FloatArray:
    """Inverses of positive definite matrices (..., p, p), vectorised over the batch.

    The sweep operator: Goodnight (1979), A tutorial on the sweep operator, American Statistician
    33. Infinite or NaN if a matrix is singular.
    """
    batch, p = matrices.shape[:-2], matrices.shape[-1]
    a = matrices.reshape(-1, p, p).transpose(1, 2, 0).copy()
    with np.errstate(all="ignore"):
        for k in range(p):
            pivot = a[k, k].copy()
            row = a[k] / pivot
            a -= a[k][:, None] * row
            a[k] = a[:, k] = row
            a[k, k] = -1 / pivot
    return np.asarray(-a.transpose(2, 0, 1).reshape(*batch, p, p))
