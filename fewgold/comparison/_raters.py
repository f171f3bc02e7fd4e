"""What the raters add of their own: bias, spread and agreement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from fewgold._arrays import FloatArray, IntArray
from fewgold.comparison._table import Scored

if TYPE_CHECKING:
    import pandas as pd

_LEAST_COMMON = 10


@dataclass(frozen=True, eq=False)
class Raters:
    """An additive fit, score = output + rater, over all outputs that two or more people rated.

    Parameters
    ----------
    names
        R raters.
    count, mean
        (R,) ratings and their mean.
    bias, bias_se
        (R,) how far above the average rater each scores the same outputs; NaN for a rater who
        shares no output with another one.
    spread
        (R,) standard deviation of what output and bias leave over.
    alpha
        Krippendorff's α for interval data: 1 is perfect agreement, 0 that of chance.
    correlation
        Mean over pairs of raters with ten outputs in common, weighted by their number.
    outputs, shared
        Outputs rated, and those rated by two or more.
    connected
        False where the raters fall into circles with no output in common: then biases compare
        raters of the same circle only.
    """

    names: tuple[str, ...]
    count: IntArray
    mean: FloatArray
    bias: FloatArray
    bias_se: FloatArray
    spread: FloatArray
    alpha: float
    correlation: float
    outputs: int
    shared: int
    connected: bool

    def to_frame(self) -> pd.DataFrame:
        """A row a rater."""
        import pandas as pd

        return pd.DataFrame(
            {
                "rater": self.names,
                "ratings": self.count,
                "mean": self.mean,
                "bias": self.bias,
                "bias_se": self.bias_se,
                "spread": self.spread,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "alpha": self.alpha,
            "correlation": self.correlation,
            "outputs": self.outputs,
            "shared_outputs": self.shared,
            "connected": self.connected,
            "raters": self.to_frame().to_dict("records"),
        }


def rater_effects(rated: Scored) -> Raters:
    """Bias and spread of each rater by least squares, and how far the raters agree.

    The effect of each output is eliminated, so that the system to solve has one row a rater,
    whatever the number of outputs, and gaps need no care.

    Examples
    --------
    The second rater gives one point more.

    >>> rated = Scored(np.array([0, 0, 1, 1, 2]), np.zeros(5, int), np.array([0, 1, 0, 1, 0]),
    ...                np.array([2., 3, 5, 6, 4]), ("ann", "bob"))
    >>> rater_effects(rated).bias.round(6).tolist()
    [-0.5, 0.5]
    """
    size, y = len(rated.raters), rated.score
    wide = int(rated.segment.max()) + 1
    _, item = np.unique(rated.system * wide + rated.segment, return_inverse=True)
    per = np.bincount(item)
    k = per[item]
    count = np.bincount(rated.rater, minlength=size)
    mean = np.bincount(rated.rater, y, minlength=size) / np.maximum(count, 1)
    deviation = y - (np.bincount(item, y) / per)[item]
    table = np.zeros((size, size))
    for r in range(size):
        mine = rated.rater == r
        hit = np.zeros(per.size)
        hit[item[mine]] = 1.0 / per[item[mine]]
        table[r] = -np.bincount(rated.rater, hit[item], minlength=size)
        table[r, r] += mine.sum()
    # A bias that all raters of a circle share cannot be told from their outputs: that eigenvalue
    # is 0 but for rounding.
    values, axes = np.linalg.eigh(table)
    told = values > 1e-9 * max(float(values[-1]), 1.0)
    inverse = (axes * np.where(told, 1 / np.where(told, values, 1.0), 0.0)) @ axes.T
    known = np.diag(table) > 1e-9
    bias = inverse @ np.bincount(rated.rater, deviation, minlength=size)
    circles = int(known.sum() - told.sum())
    if circles == 1:
        bias = bias - bias[known].mean()
    free = y - bias[rated.rater]
    left = free - (np.bincount(item, free) / per)[item]
    dof = float((per - 1).sum() - (known.sum() - circles))
    noise = float(np.square(left).sum() / dof) if dof > 0 else np.nan
    part = np.bincount(rated.rater, 1 - 1 / k, minlength=size)
    own = np.bincount(rated.rater, left**2, minlength=size)
    lost = np.where(known, 0.0, np.nan)
    return Raters(
        names=rated.raters,
        count=count,
        mean=mean,
        bias=bias + lost,
        bias_se=np.sqrt(noise * np.clip(np.diag(inverse), 0, None)) + lost,
        spread=np.sqrt(own / np.where(part > 0, part, 1.0)) + lost,
        alpha=krippendorff(y, item),
        correlation=_correlation(rated, item, per.size),
        outputs=int(per.size),
        shared=int((per > 1).sum()),
        connected=circles <= 1,
    )


def krippendorff(y: FloatArray, item: IntArray) -> float:
    """Krippendorff's α for interval data; NaN where no item has two ratings.

    Squared differences of two values sum to 2m times their squared deviations, so no pair of
    values need be looked at (Krippendorff 2019, Content Analysis, section 12.3).
    """
    per = np.bincount(item)
    kept = per[item] > 1
    y, item = y[kept], item[kept]
    if not y.size:
        return float("nan")
    per = np.bincount(item)
    squares = np.square(y - (np.bincount(item, y) / np.maximum(per, 1))[item])
    weight = per / np.maximum(per - 1, 1)
    observed = (weight[item] * squares).sum() / y.size
    expected = np.square(y - y.mean()).sum() / (y.size - 1)
    return float(1 - observed / expected) if expected > 0 else float("nan")


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


def shifts(rated: Scored, raters: Raters, systems: int) -> FloatArray:
    """What uneven raters add to each system's mean: the mean bias of those who rated it, (S,)."""
    bias = np.nan_to_num(raters.bias)[rated.rater]
    wide = int(rated.segment.max()) + 1
    cells, item = np.unique(rated.system * wide + rated.segment, return_inverse=True)
    each = np.bincount(item, bias) / np.bincount(item)
    owner = cells // wide
    return np.asarray(
        np.bincount(owner, each, minlength=systems) / np.bincount(owner, minlength=systems)
    )
