"""What each rating counts for where slopes are fitted, so that their error is counted in."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import FloatArray, group_sum, spread_out
from fewgold.design import Design


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
    lean *= design.damping
    np.subtract(1.0, lean, out=lean)
    if design.units is None:
        return np.asarray(lean)
    # A unit sways the slopes as a whole: residuals as if it had been left out, to first order.
    units = int(design.units.max()) + 1
    sums = group_sum(dev, design.units[..., None, :], units)
    count = group_sum(np.ones(design.units.shape), design.units, units)
    lever = (sums * (inverse @ sums)).sum(-2) / np.maximum(count, 1.0)
    return np.asarray(lean / (1.0 - np.minimum(spread_out(lever, design.units), 0.8)))
