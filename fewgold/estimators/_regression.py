"""Regression of the scores on controls: the slopes of least variance under the design."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fewgold._arrays import BoolArray, FloatArray, IntArray, batches
from fewgold.design import Design
from fewgold.estimators._inverse import inverse_of
from fewgold.estimators._weighing import weighing
from fewgold.sample import Ratings

# Ratings that must tell about a slope, at the least.
_TELLING = 5
# Numbers to work on at a time: few enough for the processor's own memory.
_CELLS = 1 << 16


class Fit(NamedTuple):
    """Residuals (..., n), how many slopes were spent (...), and `weighing`."""

    residuals: FloatArray
    spent: FloatArray
    weighing: FloatArray | None


def regression_fit(ratings: Ratings, controls: FloatArray) -> Fit:
    """The slopes of least variance on controls over the pool (p, N), some draws at a time."""
    design, rows, y = ratings.sample.design, ratings.sample.indices, ratings.scores
    if y.ndim == 1:
        return _fit(design, rows, y, controls)
    left, weighing, spent = np.empty(y.shape), np.empty(y.shape), np.empty(y.shape[:-1])
    for part in batches(len(y), _CELLS // (y.shape[-1] * (1 + len(controls)))):
        some = _fit(design.scatter_of(part), rows[part], y[part], controls)
        left[part], spent[part], weighing[part] = some
    return Fit(left, spent, weighing)


def _fit(design: Design, rows: IntArray, y: FloatArray, controls: FloatArray) -> Fit:
    columns = np.empty((1 + len(controls), *y.shape))
    np.subtract(y, y[..., :1], out=columns[0])
    np.take(controls, rows, axis=1, out=columns[1:], mode="clip")  # "raise" would copy once more
    columns = np.moveaxis(columns, 0, -2)
    beta, spent, weighing = regression_slopes(design, columns)
    left = y - (beta[..., None, :] @ columns[..., 1:, :])[..., 0, :]
    return Fit(left, spent, weighing)


def regression_slopes(
    design: Design, columns: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Slopes of least variance under the design (..., p), how many were spent (...), weighing.

    ``columns`` (..., 1 + p, n) are the scores, less one of them so that huge ones keep their
    digits, and the controls, which should be about 1 in size.

    With fewer than three degrees of freedom a slope there are none: slopes from so few ratings
    cost more than they bring, and a line through the points would claim an error of nought.
    """
    z, p = columns[..., 1:, :], columns.shape[-2] - 1
    dev = design.scatter(columns, pivot=False)
    # Not the square of the scores, which would overflow at 1e200.
    products = dev @ np.swapaxes(dev[..., 1:, :], -1, -2)
    cross, gram, dev = products[..., :1, :], products[..., 1:, :], dev[..., 1:, :]
    real = _telling(design, dev, z, np.diagonal(gram, axis1=-2, axis2=-1))
    enough = design.freedom >= max(3 * p, p + 2)
    inverse = inverse_of(gram, real)
    if not enough.all():
        inverse = np.where(enough[..., None, None], inverse, 0.0)
    beta = np.asarray(np.vecdot(inverse, cross))
    return beta, np.where(enough, float(p), 0.0), weighing(design, dev, z, inverse)


def _telling(design: Design, dev: FloatArray, z: FloatArray, size: FloatArray) -> BoolArray:
    """Which controls the sample tells enough about to have a slope: (..., p).

    ``dev`` (..., p, n) are their deviations, with the sums of squares ``size``.
    """
    # A control that is constant in the sample varies by rounding errors only.
    force = np.vecdot(z, z) * design.strongest[..., None]
    # Nor is there a slope for one that only two or three ratings tell about, such as a metric that
    # is constant in nearly all strata: (Σa²)²/Σa⁴ counts those ratings.
    square = np.square(dev)
    return np.asarray(
        (size > 1e-20 * force) & (_TELLING * np.vecdot(square, square) <= np.square(size))
    )
