"""From single ratings to the biases of the raters and how far they agree."""

from __future__ import annotations

import numpy as np

from fewgold._arrays import IntArray
from fewgold.agreement import krippendorff
from fewgold.comparison._rater_fit import best_fit
from fewgold.comparison._raters import Raters
from fewgold.comparison._table import Scored

_LEAST_COMMON = 10


def rater_effects(rated: Scored) -> Raters:
    """Bias and spread of each rater by least squares, and how far the raters agree.

    From outputs that two or more rated. Where that does not tie all raters together, as when each
    output was rated once, from what they gave to different systems on the same segments:
    score = segment + system + rater.

    Examples
    --------
    The second rater gives one point more.

    >>> rated = Scored(np.array([0, 0, 1, 1, 2]), np.zeros(5, int), np.array([0, 1, 0, 1, 0]),
    ...                np.array([2., 3, 5, 6, 4]), ("ann", "bob"))
    >>> rater_effects(rated).bias.round(6).tolist()
    [-0.5, 0.5]
    """
    size, y = len(rated.raters), rated.score
    _, item = rated.outputs()
    per = np.bincount(item)
    count = np.bincount(rated.rater, minlength=size)
    fit, basis = best_fit(rated, item)
    return Raters(
        names=rated.raters,
        count=count,
        mean=np.bincount(rated.rater, y, minlength=size) / np.maximum(count, 1),
        bias=fit.bias,
        bias_se=np.sqrt(np.clip(np.diag(fit.covariance), 0, None))
        + np.where(np.isnan(fit.bias), np.nan, 0.0),
        spread=fit.spread,
        alpha=krippendorff(y, item),
        correlation=_correlation(rated, item, per.size),
        outputs=int(per.size),
        shared=int((per > 1).sum()),
        connected=fit.circles <= 1,
        basis=basis,
        covariance=fit.covariance,
    )


def _correlation(rated: Scored, item: IntArray, items: int) -> float:
    size = len(rated.raters)
    wide = np.full((size, items), np.nan)
    wide[rated.rater, item] = rated.score
    total = weight = 0.0
    for a in range(size):
        for b in range(a):
            both = np.isfinite(wide[[a, b]]).all(0)
            x, z = wide[a, both], wide[b, both]
            if both.sum() >= _LEAST_COMMON and np.ptp(x) > 0 and np.ptp(z) > 0:
                total += both.sum() * float(np.corrcoef(x, z)[0, 1])
                weight += both.sum()
    return total / weight if weight else float("nan")
